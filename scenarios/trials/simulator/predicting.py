"""Predictions of the cost model for a running plan, from the elements that arrived lately."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

from midstream.optimizer import Sample, Statistics, StreamStatistics, price
from midstream.plans.algebra.operators import Source
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.streams import Element
from midstream.scenarios.trials.simulator.input import Portion
from midstream.scenarios.trials.simulator.results import Series

SAMPLED = 1000
"""The largest number of rows of a stream in a sample."""


class Predicted(NamedTuple):
    """Predicted costs of a plan once all its windows are full.

    state    elements that it keeps
    rate     results per chronon
    cost     microseconds of processing per chronon
    """

    state: float
    rate: float
    cost: float


def with_predictions(
    series: Series, plans: Sequence[Plan | None], portions: Iterable[Portion], every: int, span: int
) -> Series:
    """A run's series with the predictions of `predicted`."""
    expected = list(predicted(plans, portions, every, span))
    rates = [0.0 if one is None else one.rate for one in expected]
    seconds = [0.0 if one is None else one.cost * every / 1e6 for one in expected]
    return replace(
        series,
        predicted_state=tuple(None if one is None else one.state for one in expected),
        predicted_results=tuple(rate * every for rate in rates),
        predicted_cpu=tuple(accumulate(seconds)),
    )


def predicted(
    plans: Sequence[Plan | None], portions: Iterable[Portion], every: int, span: int
) -> Iterator[Predicted | None]:
    """Predictions at the end of each bucket of the grid, from the arrivals of the `span` before it.

    plans     the physical plan that runs at the end of each bucket; None during migrations
    every     the grid, in chronons

    Output    None as long as some stream has had no element in that time.
    State     The arrivals of a span.
    """
    arriving = iter([(one.at, one.stream, element) for one in portions for element in one.batch or ()])
    recent: deque[tuple[int, str, Element]] = deque()
    ahead = next(arriving, None)
    for number, plan in enumerate(plans, 1):
        end = number * every
        while ahead is not None and ahead[0] < end:
            recent.append(ahead)
            ahead = next(arriving, None)
        while recent and recent[0][0] < end - span:
            recent.popleft()
        streams: dict[str, list[Element]] = {}
        for _, stream, element in recent:
            streams.setdefault(stream, []).append(element)
        yield None if plan is None else _expected(plan, streams, min(span, end))


def _expected(plan: Plan, streams: Mapping[str, Sequence[Element]], span: int) -> Predicted | None:
    known = {}
    for node in plan.nodes:
        if isinstance(node.operator, Source):
            rows = [row for _, _, row in streams.get(node.operator.stream, ())]
            if not rows:
                return None
            sample = Sample(node.schema, rows[:: math.ceil(len(rows) / SAMPLED)])
            known[node] = StreamStatistics(span / len(rows), 1.0, sample=sample)
    cost = price(plan, Statistics(known))
    return Predicted(cost.state, sum(cost.operators[output].rate for output in cost.outputs), cost.total)
