"""CPU time of operators, measured for each by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import process_time_ns

from midstream.arrivals import interleave
from midstream.driving import without_garbage_collector
from midstream.operators.base.operator import Operator
from midstream.operators.engine.running.planner import RUNNING
from midstream.plans.algebra.implementations import implementation_of
from midstream.plans.algebra.operators import Source
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.values.streams import BEGINNING, Batch, Element, Time

BATCH = 1000
"""The number of elements that a single stream delivers at once."""
IN_STEP = 100
"""The number of elements that each of several streams delivers at once.

The cost model prices streams that are in step. In larger batches, a stream is ahead of the other by more
chronons than short windows have, so that joins look at many expired rows: with a list of 100 rows, at four
times as many as the model predicts.
"""


def processing(
    plan: Plan, streams: Mapping[str, Sequence[Element]], since: int, until: int, repetitions: int = 3
) -> dict[Node, float]:
    """Microseconds per chronon that the operators of a physical plan take between two instants.

    For each batch, the least of some repetitions counts, as other work of the machine only adds to it.

    Cost     O(repetitions × what the plan takes).
    """
    batches = list(interleave(streams, BATCH if len(streams) == 1 else IN_STEP))
    first = next(i for i, (_, batch) in enumerate(batches) if batch[0][0] >= since)
    chronons = until - batches[first][1][0][0]
    runs = [_run(plan, batches, first) for _ in range(repetitions)]
    least = {node: map(min, zip(*(run[node] for run in runs), strict=True)) for node in runs[0]}
    return {node: sum(batches) / 1000 / chronons for node, batches in least.items()}


def _run(plan: Plan, batches: Sequence[tuple[str, Batch]], first: int) -> dict[Node, list[int]]:
    """Nanoseconds in each operator by batch, from batch `first` on, without garbage collection."""
    operators: dict[Node, Operator] = {
        node: RUNNING[implementation_of(node)](node) for node in plan.nodes if node.inputs
    }
    taken: dict[Node, list[int]] = {node: [] for node in operators}
    reached: dict[str, Time] = {name: BEGINNING for name, _ in batches}
    with without_garbage_collector():
        for number, (name, batch) in enumerate(batches):
            reached[name] = batch[-1][0]
            given: dict[Node, tuple[Batch, Time]] = {}
            for node in plan.nodes:
                source = logical(node)
                if isinstance(source, Source):
                    mine = source.stream == name
                    given[node] = (batch if mine else [], reached[source.stream])
                    continue
                operator, out = operators[node], []
                begun = process_time_ns()
                for port, child in enumerate(node.inputs):
                    elements, progress = given[child]
                    if elements or progress > operator.reached[port]:
                        out += operator.process(port, elements, progress)
                if number >= first:
                    taken[node].append(process_time_ns() - begun)
                given[node] = (out, operator.progress())
    return taken
