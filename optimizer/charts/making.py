"""Makes charts: prices plans in the middle of every place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

from midstream.optimizer.charts.chart import Chart, ChartError, Dimension
from midstream.optimizer.cost import price
from midstream.optimizer.cost.objective import PROCESSING, Objective
from midstream.optimizer.statistics import Statistics
from midstream.plans.algebra.builder import Stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.expressions.expressions import Expression
from midstream.plans.expressions.operands import Operand

Change = Callable[[Statistics, float], Statistics]
"""Statistics with another value of what changes."""


def rate_of(stream: Stream) -> Change:
    """Elements of a stream per chronon."""

    def change(known: Statistics, rate: float) -> Statistics:
        if rate <= 0:
            raise ChartError(f"rate of {stream.node!r}: found {rate}, expected more than 0")
        other = replace(known.stream(stream.node), d=1 / rate)
        return replace(known, streams={**known.streams, stream.node: other})

    return change


def selectivity_of(condition: Operand | Expression) -> Change:
    """The share of rows, or of pairs, that satisfy a condition."""

    def change(known: Statistics, selectivity: float) -> Statistics:
        # Known selectivities are kept by their trees, so the condition replaces itself.
        added = Statistics({}, {condition: selectivity}).selectivities
        return replace(known, selectivities={**known.selectivities, **added})

    return change


def make_chart(
    plans: Sequence[Plan],
    known: Statistics,
    changing: Sequence[tuple[Dimension, Change]],
    objective: Objective = PROCESSING,
) -> Chart:
    """The plan with the least cost in the middle of each place; the first of equals. What does not change
    is `known`.

    A sel-λ chart has a selectivity and a rate, a λ-λ chart the rates of several streams.

    Cost     plans * the product of the dimensions' parts
    Raises   StatisticsError where an input is unknown.
    Source   OM, Algorithm 1 and 4.4.2

    >>> from midstream.optimizer.statistics import StreamStatistics
    >>> from midstream.plans.algebra.builder import stream
    >>> s = stream("s", x="integer", y="integer")
    >>> x, y = s["x"] > 7, s["y"] > 7
    >>> plans = [s.filter(x).filter(y).plan(), s.filter(y).filter(x).plan()]
    >>> known = Statistics({s.node: StreamStatistics(d=1.0, l=1.0)}, {y: 0.5})
    >>> changing = [
    ...     (Dimension("x", 0.0, 1.0, 4), selectivity_of(x)),
    ...     (Dimension("rate", 0.0, 2.0, 2), rate_of(s)),
    ... ]
    >>> chart = make_chart(plans, known, changing)
    >>> chart.best, len(set(chart.regions.values()))
    ((0, 0, 0, 0, 1, 1, 1, 1), 2)
    """
    if not plans:
        raise ChartError("chart: found no plan, expected one or more")
    dimensions = tuple(dimension for dimension, _ in changing)
    best = []
    for place in product(*(range(dimension.parts) for dimension in dimensions)):
        here = known
        for part, (dimension, change) in zip(place, changing, strict=True):
            here = change(here, dimension.middle(part))
        costs = [objective.of(price(plan, here)) for plan in plans]
        best.append(costs.index(min(costs)))
    return Chart(dimensions, tuple(plans), tuple(best))
