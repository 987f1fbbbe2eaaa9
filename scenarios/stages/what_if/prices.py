"""The cost of each order in each bucket by an objective, with totals, regret, and the best orders.

Costs are known twice: by the statistics of the bucket itself, in hindsight, and by those of the buckets
before it. Nothing here knows Spark.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from midstream.scenarios.recordings.orders import Order
from midstream.scenarios.recordings.pricing import TIE, relative
from midstream.scenarios.stages.what_if.objectives import Aim

Path = list[int]
"""By bucket, the position of the order to run in it."""

GIVEN = 0
"""The position of the order in which the query is written."""


@dataclass(frozen=True)
class OrderTotal:
    """The cost of keeping one order all the time, in the unit of the objective.

    spent      the cost of the whole time; of a level, its mean
    regret     the part of it that the best order of each bucket would have saved; `relative_regret` is
               this as a share of the cost of the best orders
    best_in    in how many contested buckets no order costs less
    is_given   whether the query was written in this order
    """

    order: Order
    spent: float
    regret: float
    relative_regret: float
    best_in: int
    is_given: bool


@dataclass(frozen=True)
class Stretch:
    """Some consecutive buckets, with the costs and regrets of orders in them.

    spent, regret   of each order, as `totals` sorts them
    past_regret     of always the best order by the buckets before
    """

    start: int
    end: int
    spent: tuple[float, ...]
    regret: tuple[float, ...]
    past_regret: float


@dataclass(frozen=True)
class BucketBest:
    """The best order of one bucket, and the costs in it.

    order         the first of the best orders; None where all cost the same
    spent         the cost of the best order, `given_spent` of the given one
    past_order    the best order by the buckets before, and `past_spent` its cost
    """

    start: int
    count: int
    order: Order | None
    spent: float
    given_spent: float
    past_order: Order
    past_spent: float

    def as_dict(self) -> dict[str, Any]:
        """Plain data without the start; None where all orders cost the same."""
        return {
            "count": self.count,
            "best": None if self.order is None else self.order.label,
            "spent": self.spent,
            "given_spent": self.given_spent,
            "past": self.past_order.label,
            "past_spent": self.past_spent,
        }


@dataclass(frozen=True)
class Prices:
    """The cost of each order by an objective, bucket by bucket.

    counts     by bucket, how many elements start in it
    rates      by order and bucket, the cost per chronon, or the level, by the statistics of the bucket
    past       as `rates`, by the statistics of the buckets before
    unpriced   in how many buckets some order's cost was infinite; there all count as costing nothing
    """

    aim: Aim
    starts: range
    counts: tuple[int, ...]
    orders: tuple[Order, ...]
    rates: tuple[tuple[float, ...], ...]
    past: tuple[tuple[float, ...], ...]
    unpriced: int = 0

    @property
    def scale(self) -> int:
        """The factor that turns a rate into the cost of a bucket."""
        return self.aim.scale(self.starts.step)

    @cached_property
    def least_rates(self) -> tuple[float, ...]:
        """By bucket, the lowest cost."""
        return tuple(map(min, zip(*self.rates, strict=True)))

    @cached_property
    def least(self) -> float:
        """The cost of always running the best order, if moves are free."""
        return self._over_time(self.least_rates)

    def is_best(self, order: int, bucket: int) -> bool:
        """True if no order costs less in a bucket."""
        return self.rates[order][bucket] <= self.least_rates[bucket] * (1 + TIE)

    @cached_property
    def contested(self) -> tuple[bool, ...]:
        """By bucket, true if not all orders cost the same."""
        return tuple(
            not all(self.is_best(order, bucket) for order in range(len(self.orders)))
            for bucket in range(len(self.starts))
        )

    @cached_property
    def totals(self) -> tuple[OrderTotal, ...]:
        """The totals of all orders, cheapest first."""
        found = [self._total(position) for position in range(len(self.orders))]
        return tuple(sorted(found, key=lambda total: (total.spent, total.order.plans)))

    def _total(self, position: int) -> OrderTotal:
        regret = self._over_time(self.regrets(position))
        best = [self.is_best(position, bucket) for bucket in range(len(self.starts))]
        return OrderTotal(
            self.orders[position],
            self._over_time(self.rates[position]),
            regret,
            relative(regret, self.least),
            sum(is_best and is_contested for is_best, is_contested in zip(best, self.contested, strict=True)),
            is_given=position == GIVEN,
        )

    def regrets(self, order: int) -> list[float]:
        """By bucket, the part of an order's rate that the best order saves; 0 where the order is as good."""
        return [self._regret(order, bucket) for bucket in range(len(self.starts))]

    def _regret(self, order: int, bucket: int) -> float:
        if self.is_best(order, bucket):
            return 0.0
        return self.rates[order][bucket] - self.least_rates[bucket]

    @cached_property
    def best(self) -> Path:
        """Always the best order, in hindsight; the running one stays while it is as good as the best."""
        return best_path(self.rates)

    @cached_property
    def by_past(self) -> Path:
        """The best order by the buckets before each bucket; the given one while nothing is known."""
        return best_path(self.past, GIVEN)

    @cached_property
    def repeated(self) -> Path:
        """The best order of the bucket before: repeat last best."""
        nothing = [0.0] * min(1, len(self.starts))
        return best_path([[*nothing, *rates[:-1]] for rates in self.rates], GIVEN)

    def cost_of(self, path: Path) -> float:
        """The real cost of a path, if moves are free."""
        return self._over_time([self.rates[order][bucket] for bucket, order in enumerate(path)])

    @property
    def switches(self) -> int:
        """The number of times that the best order changes."""
        return moves_in(self.best)

    def bests(self, buckets: slice) -> list[BucketBest]:
        """The best orders of some buckets."""
        return [self._best_of(bucket) for bucket in range(len(self.starts))[buckets]]

    def _best_of(self, bucket: int) -> BucketBest:
        first = next(order for order in range(len(self.orders)) if self.is_best(order, bucket))
        return BucketBest(
            self.starts[bucket],
            self.counts[bucket],
            self.orders[first] if self.contested[bucket] else None,
            self.scale * self.rates[first][bucket],
            self.scale * self.rates[GIVEN][bucket],
            self.orders[self.by_past[bucket]],
            self.scale * self.rates[self.by_past[bucket]][bucket],
        )

    def stretches(self, most: int) -> list[Stretch]:
        """The whole time in at most `most` stretches of equally many buckets."""
        if not self.starts:
            return []
        length = -(-len(self.starts) // most)
        positions = [self.orders.index(total.order) for total in self.totals]
        regrets = [self.regrets(position) for position in positions]
        by_past = [self._regret(order, bucket) for bucket, order in enumerate(self.by_past)]
        return [
            Stretch(
                self.starts[part.start],
                self.starts[part.start] + length * self.starts.step,
                tuple(self._over_time(self.rates[position][part]) for position in positions),
                tuple(self._over_time(regret[part]) for regret in regrets),
                self._over_time(by_past[part]),
            )
            for part in (slice(first, first + length) for first in range(0, len(self.starts), length))
        ]

    def _over_time(self, rates: Sequence[float]) -> float:
        """The cost of some buckets by the rates in them; the sum is exact, so their order does not matter."""
        return self.scale * math.fsum(rates) / self.aim.over_time(len(rates))


def prices_of(
    aim: Aim, starts: range, orders: Sequence[Order], rows: Sequence[tuple[int, int, int, float, float]]
) -> Prices:
    """The prices in rows (order, start, count, cost, past cost), one for every order and bucket."""
    found = {(order, start): (count, cost, past) for order, start, count, cost, past in rows}
    counts, costs, past = (
        [[found[order.number, start][i] for start in starts] for order in orders] for i in range(3)
    )
    unpriced = [not all(map(math.isfinite, of_bucket)) for of_bucket in zip(*costs, strict=True)]
    return Prices(
        aim,
        starts,
        tuple(int(count) for count in counts[0]),
        tuple(orders),
        _without_infinite(costs),
        _without_infinite(past),
        sum(unpriced),
    )


def _without_infinite(rates: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...]:
    """The rates, with 0 for all orders where one is infinite."""
    is_finite = [all(map(math.isfinite, of_bucket)) for of_bucket in zip(*rates, strict=True)]
    return tuple(
        tuple(rate if known else 0.0 for rate, known in zip(of_order, is_finite, strict=True))
        for of_order in rates
    )


def best_path(rates: Sequence[Sequence[float]], running: int | None = None) -> Path:
    """By bucket, the cheapest order; the running one stays while no other costs less.

    >>> best_path([[1, 1, 3, 2], [2, 1, 1, 2]])
    [0, 0, 1, 1]
    """
    path = []
    for costs in zip(*rates, strict=True):
        least = min(costs) * (1 + TIE)
        if running is None or costs[running] > least:
            running = next(order for order, cost in enumerate(costs) if cost <= least)
        path.append(running)
    return path


def moves_in(path: Path) -> int:
    """The number of moves of a path from one order to another.

    >>> moves_in([0, 0, 1, 1, 0])
    2
    """
    return sum(before != after for before, after in pairwise(path))
