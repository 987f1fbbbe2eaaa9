"""Queries whose plans charts choose among: two filters of a stream, and the orders of a join.

Source   OM, Table 2
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from midstream.optimizer import Statistics, StreamStatistics
from midstream.optimizer.charts.chart import Chart, Dimension
from midstream.optimizer.charts.making import cheapest, make_chart
from midstream.optimizer.charts.measures import Measure, rate_of, selectivity_of
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.schema import Type

FINE, COARSE = (5, 10, 20, 40), (2, 4, 6, 8, 10)

WINDOW = 60
"""The window of joins, in chronons."""


@dataclass(frozen=True)
class Experiment:
    """A query whose statistics change.

    plans       to choose from
    measures    the statistics that change, a dimension each
    statistics  all of them; those that change have any value
    parts       numbers of parts of each dimension, tried in turn
    """

    name: str
    plans: Sequence[Plan]
    measures: Sequence[Measure]
    statistics: Statistics
    parts: Sequence[int]

    def at(self, point: Sequence[float]) -> Statistics:
        """The statistics of a round."""
        here = self.statistics
        for measure, value in zip(self.measures, point, strict=True):
            here = measure.change(here, value)
        return here

    def best(self, point: Sequence[float]) -> list[int]:
        """The numbers of the plans that cost least in a round; several if their costs are equal."""
        return cheapest(self.plans, self.at(point))

    def chart(self, dimensions: Sequence[Dimension]) -> Chart:
        """The chart over some dimensions, which belong to the measures."""
        return make_chart(self.plans, self.statistics, list(zip(dimensions, self.measures, strict=True)))

    @cached_property
    def names(self) -> list[str]:
        """The names of the measures."""
        return [measure.name for measure in self.measures]


def two_filters() -> Experiment:
    """A stream of packets that goes through two filters, in either order."""
    packets = stream("packets", length="integer")
    short, long = packets["length"] <= 64, packets["length"] >= 64
    return Experiment(
        "two filters",
        [packets.filter(short).filter(long).plan(), packets.filter(long).filter(short).plan()],
        [selectivity_of(short), selectivity_of(long)],
        Statistics({packets.node: StreamStatistics(d=1.0, l=1.0)}),
        FINE,
    )


def three_orders(streams: int = 3) -> Experiment:
    """Streams that are joined by one key with ten equally likely values.

    The orders begin with different pairs of streams, and go on from left to right: three for three streams,
    six for four.
    """
    sources = [stream(name, {name: Type.INTEGER}) for name in "abcdef"[:streams]]
    return Experiment(
        "orders of a join",
        [_order(sources, i, j) for j in range(streams) for i in range(j)],
        [rate_of(source) for source in sources],
        Statistics({source.node: StreamStatistics(d=1.0, l=1.0) for source in sources}),
        COARSE,
    )


def _order(sources: Sequence[Stream], first: int, second: int) -> Plan:
    """The plan that joins two streams first, then the others in turn."""
    joined = sources[first].window(WINDOW)
    rest = [second, *(i for i in range(len(sources)) if i not in (first, second))]
    for i in rest:
        joined = joined.join(sources[i].window(WINDOW), on=[("abcdef"[first], "abcdef"[i])])
    return joined.plan()
