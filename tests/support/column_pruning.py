"""How much memory it saves to drop columns that nobody reads, on a join of three recorded streams.

Of a plan, what is counted is what its operators keep, in bytes as a Box measures them, on average over time.
The plan as written and the plans that the optimizer chooses read the same elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from midstream.operators.engine.running.planner import physical_plan
from midstream.optimizer import MEMORY, Sample, Statistics, StreamStatistics, optimize
from midstream.optimizer.rules import PRUNING, RULES
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators import Project
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.streams import Element, Payload
from midstream.scenarios.trials.costs.measuring import measure

Recorded = Sequence[tuple[int, Payload]]
"""Timestamps in order, each with a row."""

SAMPLE = 1_000
"""Of how many rows the optimizer knows the sizes and the values."""


@dataclass(frozen=True)
class Pruned:
    """Bytes kept by a join of which so many columns are wanted.

    written    by the plan as written
    ordered    by the plan of least memory without column pruning
    pruned     by the plan of least memory with column pruning
    """

    wanted: int
    written: float
    ordered: float
    pruned: float
    plan: Plan
    """The last of these plans."""

    @property
    def share(self) -> float:
        """The bytes with column pruning, by those of the plan as written."""
        return self.pruned / self.written


def compare_columns(
    streams: Mapping[str, Recorded],
    columns: Mapping[str, str],
    window: int,
    wanted: Iterable[int],
    *,
    looks: int = 200,
) -> list[Pruned]:
    """Join three streams of the same columns, given with their types, on the first column of each, and ask
    for so many columns of the first stream.

    Cost     A run of each different plan, with so many looks at what operators keep.
    """
    inputs = [_named(name, columns).window(window) for name in streams]
    elements = {name: _elements(recorded) for name, recorded in streams.items()}
    first, second, third = inputs
    keys = [one.schema.names[0] for one in inputs]
    joined = first.join(second, on=[(keys[0], keys[1])]).join(third, on=[(keys[0], keys[2])])
    known = _statistics(inputs, streams, window)
    measured: dict[Node, float] = {}

    def kept(plan: Plan) -> float:
        """The bytes that a plan keeps. Projections on top keep nothing, and plans that differ only there are
        measured once."""
        below = plan.root
        while isinstance(below.operator, Project):
            (below,) = below.inputs
        if below not in measured:
            measured[below] = _bytes(Plan(below), elements, looks)
        return measured[below]

    found = []
    for number in wanted:
        query = joined.select(*first.schema.names[:number]).plan()
        ordered = optimize(query, known, rules=RULES, objective=MEMORY).plan
        pruned = optimize(query, known, rules=(*RULES, *PRUNING), objective=MEMORY).plan
        found.append(Pruned(number, kept(query), kept(ordered), kept(pruned), pruned))
    return found


def _named(name: str, columns: Mapping[str, str]) -> Stream:
    """A stream with columns of its own."""
    return stream(name, {f"{name}.{column}": type_ for column, type_ in columns.items()})


def _elements(recorded: Recorded) -> list[Element]:
    return [(time, time + 1, row) for time, row in recorded]


def _statistics(inputs: Sequence[Stream], streams: Mapping[str, Recorded], window: int) -> Statistics:
    random = Random(1)
    known = {}
    for one, recorded in zip(inputs, streams.values(), strict=True):
        rows = [row for _, row in random.sample(recorded, min(SAMPLE, len(recorded)))]
        distance = (recorded[-1][0] - recorded[0][0]) / len(recorded)
        known[one.node] = StreamStatistics(distance, float(window), sample=Sample(one.schema, rows))
    return Statistics(known)


def _bytes(plan: Plan, elements: Mapping[str, Sequence[Element]], looks: int) -> float:
    """What the operators of a plan keep, on average over time."""
    times = [found[place][0] for found in elements.values() for place in (0, -1)]
    seen = measure(physical_plan(plan), elements, int(min(times)), int(max(times)), looks)
    return sum(one.bytes for one in seen.values())
