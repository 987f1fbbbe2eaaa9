"""The cheapest orders of the joins of a problem, within a budget."""

from __future__ import annotations

import math
import random
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from midstream.optimizer.search.connected_pairs import cheapest_by_pairs, pairs_within
from midstream.optimizer.search.greedy import OTHER_CRITERIA, greedy, lowest_cost
from midstream.optimizer.search.join_costs import JoinCosts, JoinTree, undominated
from midstream.optimizer.search.join_graph import JoinGraph, Products
from midstream.optimizer.search.join_problem import Alternative, JoinProblem
from midstream.optimizer.search.linearised import cheapest_in_sequence, leaves, moved, turned

SLICE = 64
"""Approximate number of pairs priced between two pauses: some milliseconds."""

BUDGET = 30_000
"""Default limit of priced pairs: the number of pairs of a clique of 10 inputs."""


LISTED = 4
"""Factor by which the listed pairs may exceed the limit, if most of them are likely to be skipped."""

Trees = list[JoinTree]
T = TypeVar("T")


@dataclass(frozen=True)
class JoinOrders:
    """The undominated plans found so far for a problem, the cheapest first.

    `is_exact` is true if no order costs less; `pairs` counts the priced pairs.
    """

    costs: JoinCosts
    trees: tuple[JoinTree, ...]
    is_exact: bool
    pairs: int

    @property
    def cost(self) -> float:
        """Cost of the cheapest plan: of its joins, and of the plans of the inputs below them."""
        return self.trees[0].cost

    @cached_property
    def plans(self) -> tuple[Alternative, ...]:
        """The plans as subplans, each with the estimate of its output and the cost of all its operators."""
        return tuple(Alternative(self.costs.node(tree), tree.estimate, tree.cost) for tree in self.trees)


def order_joins(
    problem: JoinProblem, budget: int | None = BUDGET, products: Products = "auto", seed: int = 0
) -> Generator[JoinOrders, None, JoinOrders]:
    """Search for the cheapest join order; pauses now and then, with the best plans so far.

    If the pairs of connected sets that may lead to the cheapest order are no more than the budget, all of
    them are priced, and the result is exact (see `connected_pairs`). Otherwise several greedy orders are
    made, and then orders near the best of them (see `linearised`), until as many pairs are priced as the
    budget allows; with a budget of None, as long as the caller goes on. The problem's initial order is
    yielded first, and the result costs no more.

    The result depends only on the arguments. If a caller stops by the clock, it depends on the machine.

    Cost     O(1) per pair: tens of microseconds.
    """
    costs = JoinCosts(problem)
    graph = problem.graph(products)
    best = undominated(costs.of(problem.initial)) if problem.initial is not None else []
    if best:
        yield JoinOrders(costs, tuple(best), False, costs.priced)
    search = _search(costs, graph, best, BUDGET if budget is None else budget, random.Random(seed))
    for step, (best, is_exact) in enumerate(search, 1):
        if is_exact or (budget is not None and costs.priced >= budget):
            return JoinOrders(costs, tuple(best), is_exact, costs.priced)
        if step % SLICE == 0:
            yield JoinOrders(costs, tuple(best), False, costs.priced)
    raise AssertionError("a search that is not exact goes on for ever")


def _search(
    costs: JoinCosts, graph: JoinGraph, best: Trees, limit: int, rng: random.Random
) -> Iterator[tuple[Trees, bool]]:
    """Yield the best plans so far, and True once they are the best of all."""
    found = yield from _meanwhile(greedy(costs, graph, lowest_cost), best)
    best = undominated([*best, *found])
    pairs = yield from _meanwhile(pairs_within(graph, LISTED * limit if costs.have_one_rate else limit), best)
    if pairs is not None:
        # Plans dearer than a greedy order lead to nothing better.
        most = math.inf if len(pairs) <= limit else limit / 2
        table = yield from _meanwhile(cheapest_by_pairs(costs, pairs, best[0].cost, most), best)
        if table is not None:
            yield undominated([*best, *table.get(costs.problem.every, [])]), True
            return
    for criterion in OTHER_CRITERIA:
        found = yield from _meanwhile(greedy(costs, graph, criterion), best)
        best = undominated([*best, *found])
    sequence = leaves(best[0])
    while True:
        table = yield from _meanwhile(cheapest_in_sequence(costs, graph, sequence), best)
        best = undominated([*best, *table.get(costs.problem.every, [])])
        # The best order, and others, are among the orders of the next sequence, or of one that differs
        # from it by a moved stretch.
        sequence = turned(best[0], rng)
        if rng.random() < 0.5:
            sequence = moved(sequence, rng)


def _meanwhile(steps: Generator[None, None, T], best: Trees) -> Generator[tuple[Trees, bool], None, T]:
    """Run a search; yield the best plans so far at each of its pauses."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: T = end.value
            return found
        yield best, False
