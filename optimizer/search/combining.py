"""Combining: choose one plan for each of several queries, such that all operators together cost least."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from midstream.plans.algebra.plan import Node

MANY = 20_000
"""Greatest number of partial choices to try; beyond it, the best choice so far is taken."""

Parts = Mapping[Node, float]
"""The operators of a plan, with the cost of each."""


@dataclass(frozen=True)
class Combination:
    """A choice of one plan for each query.

    numbers     for each query the number of its plan
    cost        cost of all their operators, each counted once
    is_exact    true if no other choice costs less
    """

    numbers: tuple[int, ...]
    cost: float
    is_exact: bool


def combine(candidates: Sequence[Sequence[Parts]], limit: int = MANY) -> Combination:
    """Choose among the plans of each query.

    A branch-and-bound search. A plan bears a share of the cost of each operator that plans of other queries
    may use as well: an equal share for each query. The sum of all shares is a lower bound for the cost of a
    choice, so choices whose bound is not below the best known cost are left out. The first choice is greedy:
    queries in the order of falling cost, each with the plan that adds least.

    Source   T. Sellis, Multiple-query optimization, ACM TODS 1988

    >>> from midstream.plans.algebra.builder import stream
    >>> common, own, other = (stream(name, x="integer").node for name in ("common", "own", "other"))
    >>> combine([[{own: 5.0}, {common: 7.0}], [{other: 4.0}, {common: 7.0}]])
    Combination(numbers=(1, 1), cost=7.0, is_exact=True)
    >>> combine([[{own: 2.0}, {common: 7.0}], [{other: 4.0}, {common: 7.0}]]).numbers
    (0, 0)
    """
    search = _Combining(candidates, limit)
    search.greedy()
    search.extend({}, frozenset(), 0.0)
    numbers = tuple(search.best[query] for query in range(len(candidates)))
    return Combination(numbers, search.least, search.seen <= limit)


class _Combining:
    def __init__(self, candidates: Sequence[Sequence[Parts]], limit: int) -> None:
        self._candidates = candidates
        self._limit = limit
        had = (set().union(*plans) for plans in candidates)
        self._users = Counter(node for nodes in had for node in nodes)
        cheapest = [min(math.fsum(plan.values()) for plan in plans) for plans in candidates]
        self._order = sorted(range(len(candidates)), key=lambda query: -cheapest[query])
        self.best: dict[int, int] = {}
        self.least = math.inf
        self.seen = 0

    def greedy(self) -> None:
        """Choose for each query in turn the plan that adds least."""
        chosen: dict[int, int] = {}
        paid: frozenset[Node] = frozenset()
        total = 0.0
        for query in self._order:
            plans = self._candidates[query]
            number = min(range(len(plans)), key=lambda n: _added(plans[n], paid))
            chosen[query] = number
            total += _added(plans[number], paid)
            paid |= plans[number].keys()
        self._take(chosen, total)

    def extend(self, chosen: dict[int, int], paid: frozenset[Node], cost: float) -> None:
        """Try all choices for the remaining queries that may cost less."""
        self.seen += 1
        if self.seen > self._limit:
            return
        rest = self._order[len(chosen) :]
        if not rest:
            self._take(chosen, cost)
            return
        for number, plan in enumerate(self._candidates[rest[0]]):
            now_paid = paid | plan.keys()
            now = cost + _added(plan, paid)
            least = now + math.fsum(self._least_share(query, now_paid) for query in rest[1:])
            if least < self.least:
                self.extend({**chosen, rest[0]: number}, now_paid, now)

    def _least_share(self, query: int, paid: Set[Node]) -> float:
        """Lower bound for the share of a query in the cost that is not paid yet."""
        return min(
            math.fsum(cost / self._users[node] for node, cost in plan.items() if node not in paid)
            for plan in self._candidates[query]
        )

    def _take(self, chosen: Mapping[int, int], cost: float) -> None:
        if cost < self.least:
            self.least, self.best = cost, dict(chosen)


def _added(plan: Parts, paid: Set[Node]) -> float:
    return math.fsum(cost for node, cost in plan.items() if node not in paid)
