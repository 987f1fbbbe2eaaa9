"""The costs of switching between orders, with those of migrations, by the cost series of autopilots.

Switching policies: none, so that one order runs all the time; always the best, in hindsight; the best by
the buckets before each bucket; repeat last best; and the clairvoyant, the cheapest of all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from midstream.autopilot.costs.bill import Bill, Move, clairvoyant
from midstream.autopilot.costs.policies import Now, replay
from midstream.autopilot.costs.series import CostSeries
from midstream.plans.algebra.plan import Plan
from midstream.scenarios.stages.what_if.objectives import WEIGHTED
from midstream.scenarios.stages.what_if.prices import GIVEN, Path, Prices

STRATEGIES = ("genmig", "moving-states")
"""The strategies that migrate."""

MOST_ORDERS = 32
"""The most orders between which policies switch: the clairvoyant's time grows with their square."""

HINDSIGHT, BY_PAST, REPEATED = "best in hindsight", "best by the past", "repeat last best"
CLAIRVOYANT = "clairvoyant"


@dataclass(frozen=True)
class SwitchingCost:
    """The cost of a switching policy.

    name      of the policy; of a fixed order, its label
    free      the cost if moves were free; None for the clairvoyant, who would always be the best
    paid      by strategy, the cost with migrations, and the number of moves
    """

    name: str
    free: float | None
    paid: Mapping[str, tuple[float, int]]


def all_courses(
    prices: Prices, plans: Sequence[Plan], window: int, lasting: Sequence[int]
) -> tuple[CostSeries, CostSeries]:
    """The prices of some orders as cost series: in hindsight, and by the buckets before each bucket."""
    kept = compared_orders(prices)
    shared = (
        prices.starts,
        window,
        prices.aim.name if prices.aim.unit == WEIGHTED else _counted(prices),
        tuple(plans[prices.orders[order].plans[0]] for order in kept),
        tuple(prices.orders[order].label for order in kept),
    )
    hindsight, past = (
        CostSeries(*shared, tuple(rates[order] for order in kept), tuple(lasting))
        for rates in (prices.rates, prices.past)
    )
    return hindsight, past


def _counted(prices: Prices) -> str:
    words = {"processing": "µs of processing", "intermediate": "intermediate results"}
    return words.get(prices.aim.name, f"{prices.aim.unit} of {prices.aim.name}")


def compared_orders(prices: Prices) -> list[int]:
    """The orders between which policies switch: the given one, those of any policy, and the cheapest."""
    taken = [prices.totals[0].order.number, *prices.best, *prices.by_past, *prices.repeated]
    cheapest = [total.order.number for total in prices.totals]
    return list(dict.fromkeys([GIVEN, *taken, *cheapest]))[:MOST_ORDERS]


def switching_costs(prices: Prices, courses: CostSeries, shown: int) -> list[SwitchingCost]:
    """The costs of all policies; of fixed orders only the cheapest, `shown` of them, and the given one."""
    kept = {order: position for position, order in enumerate(compared_orders(prices))}
    fixed = [total for total in prices.totals if total.order.number in kept]
    some = [total for i, total in enumerate(fixed) if i < shown or total.is_given]
    found = [
        SwitchingCost(total.order.label, total.spent, dict.fromkeys(STRATEGIES, (total.spent, 0)))
        for total in some
    ]
    for name, path in ((HINDSIGHT, prices.best), (BY_PAST, prices.by_past), (REPEATED, prices.repeated)):
        wanted = [kept.get(order, -1) for order in path]
        paid = {one: _paid(prices, follow(courses, wanted, one)) for one in STRATEGIES}
        found.append(SwitchingCost(name, prices.cost_of(path), paid))
    best = {one: _paid(prices, clairvoyant(courses, (one,))) for one in STRATEGIES}
    return [*found, SwitchingCost(CLAIRVOYANT, None, best)]


def follow(courses: CostSeries, wanted: Path, strategy: str) -> Bill:
    """The bill of moving, at the start of each bucket, to the plan that is wanted in it.

    During a migration there is no further move. A plan of −1 is not in the cost series, so the running one
    stays.
    """
    policy = _Following(courses, wanted, strategy)
    return replay(courses, policy, max(0, wanted[0]) if wanted else 0)


@dataclass(frozen=True)
class _Following:
    """A policy with a wanted plan in each bucket."""

    courses: CostSeries
    wanted: Path
    strategy: str

    def decide(self, now: Now) -> Move | None:
        """The wanted plan of the bucket."""
        plan = self.wanted[self.courses.starts.index(now.time)]
        return None if plan in (now.running, -1) else Move(now.time, plan, self.strategy)


def _paid(prices: Prices, found: Bill) -> tuple[float, int]:
    """The total in the unit of the objective, and the number of moves."""
    total = (
        found.total if prices.aim.is_flow else found.total / (prices.starts.step * len(prices.starts) or 1)
    )
    return total, len(found.moves)


def lasting(starts: range, ends: Mapping[int, int], window: int) -> list[int]:
    """By bucket, for how many chronons the elements valid at its start stay valid.

    `ends` has, by the bucket in which elements start, the instant at which the last of them expires.

    >>> lasting(range(0, 400, 100), {0: 130, 200: 260}, 60)
    [0, 30, 0, 0]
    """
    found, latest = [], starts.start
    for start in starts:
        found.append(min(window, max(0, latest - start)))
        latest = max(latest, ends.get(start, latest))
    return found
