"""A profile as statistics that the optimizer, the autopilot and the simulator read."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from midstream.optimizer.statistics import Sample, Statistics, StreamStatistics
from midstream.plans.algebra.operators import Project
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import logical
from midstream.plans.expressions.expressions import Expression
from midstream.scenarios.recordings.pricing import InputFacts
from midstream.scenarios.stages.profile.conditions import source_columns
from midstream.scenarios.stages.profile.predicates import COUNTED, PredicateProfile
from midstream.scenarios.streams.recorded.inputs import PlanInput, Question

Granules = Mapping[str, int]
"""Granules by stream."""


def source_inputs(inputs: Sequence[PlanInput]) -> tuple[PlanInput, ...]:
    """The sources that a query reads, each once, as inputs that leave nothing out."""
    sources = {node: one.stream for one in inputs for node in one.chain.walk() if not node.inputs}
    return tuple(PlanInput(node, node, stream, 1) for node, stream in sources.items())


def source_questions(
    sources: Sequence[PlanInput], inputs: Sequence[PlanInput]
) -> list[tuple[Question, int | None]]:
    """The questions to each source: some of its elements, and how many there are.

    If an input leaves out none of a source's elements, its number stands beside the question, and only the
    input is counted.
    """
    asked = []
    for source in sources:
        same = next((i for i, one in enumerate(inputs) if _keeps_all(one.chain, source.node)), None)
        asked.append((Question((), True, is_counted=same is None), same))
    return asked


def _keeps_all(chain: Node, source: Node) -> bool:
    while isinstance(logical(chain), Project):
        (chain,) = chain.inputs
    return chain == source


def source_statistics(
    inputs: Sequence[PlanInput],
    sources: Sequence[PlanInput],
    facts: Sequence[InputFacts],
    granules: Granules,
    length: int,
    selectivities: Mapping[Expression, float],
) -> Statistics:
    """Statistics of the sources during some chronons, from the facts of the inputs and then of the sources.

    Values are counted in rows that pass the filters below windows, as others meet no partners. For a column
    that several inputs read, they are counted together.
    """
    streams: dict[Node, StreamStatistics] = {}
    for source, known in zip(sources, facts[len(inputs) :], strict=True):
        streams[source.node] = StreamStatistics(
            d=length / known.count if known.count else math.inf,
            l=1.0,
            g=granules[source.stream.name],
            sample=Sample(source.node.schema, known.rows) if known.rows else None,
            distributions=_distributions(source.node, inputs, facts),
        )
    return Statistics(streams, dict(selectivities))


def _distributions(
    source: Node, inputs: Sequence[PlanInput], facts: Sequence[InputFacts]
) -> dict[str, dict[Any, float]]:
    elements = Counter[str]()
    counts: dict[str, Counter[Any]] = defaultdict(Counter)
    for one, known in zip(inputs, facts, strict=False):
        if source not in set(one.chain.walk()) or not known.count:
            continue
        for name, column in source_columns(one):
            if name in known.frequencies:
                elements[column] += known.count
                counts[column].update(known.frequencies[name])
    return {column: {value: n / elements[column] for value, n in of.items()} for column, of in counts.items()}


def known_selectivities(
    predicates: Iterable[PredicateProfile], classes: Iterable[set[str]]
) -> dict[Expression, float]:
    """The selectivities that override distributions and samples.

    Equalities are left out where three or more columns must be equal: of these, selectivities of pairs
    say less than the distributions do, and joins in another order would have another size.
    """
    many = [names for names in classes if len(names) > 2]
    return {
        one.condition: share
        for one in predicates
        if (share := one.expected) is not None
        and not (one.by == COUNTED and any(one.condition.columns() <= names for names in many))
    }
