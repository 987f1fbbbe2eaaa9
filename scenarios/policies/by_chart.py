"""The policy that looks up a chart: which order of a join is best for the present rates of pairs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from itertools import product

from midstream.optimizer.charts.chart import Chart, Dimension
from midstream.optimizer.charts.fidelity import Followed, Follower
from midstream.optimizer.charts.ranges import LearnedRange, LearnedRanges
from midstream.optimizer.pair_rates import DecayedCounts, pair_rate
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.schema import Type
from midstream.scenarios.policies.case import Arrival, Case, Order
from midstream.scenarios.policies.policy import How, Move, Now

HALF_LIFE = 2
"""In windows."""

LOOKS = 8
"""In a window."""

NOTHING = 0.01
"""No pairs at all count as so many a window: logarithmic dimensions have no zero."""


class ByChart:
    """Moves to the order that its chart has for what is seen, whatever a move costs.

    A dimension is how many pairs two streams give in a window, by decayed counts of their keys; it has `k`
    parts, each as many times as large as the one before, over a range that is learned on the way. The finer
    the chart, the sooner it moves, and the more often to and fro.

    start   the first order; by default the first one of the case
    """

    def __init__(self, start: Order | None = None, how: How = "genmig", k: int = 10) -> None:
        self._start, self._how, self._k = start, how, k

    def begin(self, case: Case) -> Order:
        """The first order."""
        self._case, self._look_at = case, 0.0
        self._counts: dict[tuple[str, str], DecayedCounts] = defaultdict(
            lambda: DecayedCounts(HALF_LIFE * case.window)
        )
        names = [f"pairs({one} ⋈ {other})" for one, other in case.orders]
        learned = [LearnedRange(0.0, is_logarithmic=True) for _ in names]
        self._ranges = LearnedRanges(names, self._k, learned)
        self._plans = tuple(_first_join(case, order) for order in case.orders)
        self._chart: Chart | None = None
        self._follower = Follower()
        return self._start or case.orders[0]

    def observe(self, arrival: Arrival) -> None:
        """Count its keys."""
        time, name, row = arrival
        for column, key in zip(self._case.columns[name], row, strict=True):
            self._counts[name, column].take(time, key)

    def decide(self, now: Now) -> Move | None:
        """A few times a window, the chart's order, if another one runs."""
        if now.time < self._look_at:
            return None
        self._look_at = now.time + self._case.window / LOOKS
        point = self._point(now.time)
        if self._ranges.see(point) and (dimensions := self._ranges.dimensions) is not None:
            self._chart = least_of(dimensions, self._plans)
        if self._chart is None:
            return None
        least = [i for i, value in enumerate(point) if value == min(point)]
        self._follower.take(self._chart, point, least)
        order = self._case.orders[self._chart.number_at(self._chart.place(point))]
        return None if order == now.running else Move(order, self._how)

    @property
    def followed(self) -> Followed:
        """How often the chart's order had the fewest pairs, and how often the place and the order changed."""
        return self._follower.followed

    def _point(self, time: int) -> tuple[float, ...]:
        """Pairs a window of each order."""
        rates: dict[tuple[str, str], Mapping[Hashable, float]] = {
            of: counts.rates(time) for of, counts in self._counts.items()
        }
        found = []
        for order in self._case.orders:
            one, other = (rates.get(of, {}) for of in zip(order, self._case.on[order], strict=True))
            found.append(max(NOTHING, self._case.window * pair_rate(one, other, self._case.window)))
        return tuple(found)


def least_of(dimensions: Sequence[Dimension], plans: Sequence[Plan]) -> Chart:
    """The chart of plans each of which costs what its own dimension says."""
    middles = [[one.middle(part) for part in range(one.parts)] for one in dimensions]
    best = tuple(min(range(len(plans)), key=point.__getitem__) for point in product(*middles))
    return Chart(tuple(dimensions), tuple(plans), best)


def _first_join(case: Case, order: Order) -> Plan:
    """What an order begins with, all that orders differ in."""
    one, other = (
        stream(name, {column: Type.ANY for column in case.columns[name]}).alias(name).window(case.window)
        for name in order
    )
    first, second = (f"{name}.{column}" for name, column in zip(order, case.on[order], strict=True))
    return one.join(other, on=[(first, second)]).plan()
