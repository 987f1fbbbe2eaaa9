"""The cheapest orders of the joins of a problem, within a budget."""

from __future__ import annotations

import random
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import cached_property

from midstream.optimizer.search.connected_pairs import Table, cheapest_by_pairs, pairs_within
from midstream.optimizer.search.greedy import CRITERIA, greedy
from midstream.optimizer.search.join_costs import JoinCosts, JoinTree, undominated
from midstream.optimizer.search.join_graph import JoinGraph, Products
from midstream.optimizer.search.join_problem import Alternative, JoinProblem
from midstream.optimizer.search.linearised import cheapest_in_sequence, leaves, moved, turned

SLICE = 64
"""About so many pairs are priced between two pauses: some milliseconds."""

BUDGET = 30_000
"""How many pairs are priced at most unless the caller says otherwise: those of a clique of 10 inputs."""


Trees = list[JoinTree]


@dataclass(frozen=True)
class JoinOrders:
    """The plans found so far for a problem that no other one beats, the cheapest first.

    `is_exact` tells that no order costs less; `pairs` counts the pairs that were priced.
    """

    costs: JoinCosts
    trees: tuple[JoinTree, ...]
    is_exact: bool
    pairs: int

    @property
    def cost(self) -> float:
        """That of the cheapest plan: of its joins, and of the plans of the inputs below them."""
        return self.trees[0].cost

    @cached_property
    def plans(self) -> tuple[Alternative, ...]:
        """The plans as subplans, each with what is estimated for its output and what all its operators
        cost."""
        return tuple(Alternative(self.costs.node(tree), tree.estimate, tree.cost) for tree in self.trees)


def order_joins(
    problem: JoinProblem, budget: int | None = BUDGET, products: Products = "auto", seed: int = 0
) -> Generator[JoinOrders, None, JoinOrders]:
    """Search the cheapest join order; pauses now and then, with the best plans so far.

    Where the pairs of connected sets are no more than the budget, all are priced (`connected_pairs`), and the
    result is exact. Else several greedy orders are made, and from the best of them on others in its
    neighbourhood (`linearised`), until as many pairs are priced as the budget has; without a budget, of None,
    for as long as the caller goes on. What comes out costs no more than the order that the problem is given
    with, whose price the first result is.

    The result depends on nothing but the arguments. Who stops by a clock gets what this machine made of the
    time.

    Cost     O(1) per pair: tens of microseconds.
    """
    costs = JoinCosts(problem)
    graph = problem.graph(products)
    best = undominated(costs.of(problem.given)) if problem.given is not None else []
    if best:
        yield JoinOrders(costs, tuple(best), False, costs.priced)
    pairs = pairs_within(graph, BUDGET if budget is None else budget)
    if pairs is None:
        search, is_exact = _improve(costs, graph, best, random.Random(seed)), False
    else:
        search, is_exact = _exhaust(costs, pairs, best), True
    paused = costs.priced
    for best in search:
        if not is_exact and budget is not None and costs.priced >= budget:
            break
        if costs.priced - paused >= SLICE:
            paused = costs.priced
            yield JoinOrders(costs, tuple(best), False, costs.priced)
    return JoinOrders(costs, tuple(best), is_exact, costs.priced)


def _exhaust(costs: JoinCosts, pairs: list[tuple[int, int]], best: Trees) -> Iterator[Trees]:
    """Price all pairs; gives what is best so far, in the end the best of all."""
    table = yield from _meanwhile(cheapest_by_pairs(costs, pairs), best)
    yield undominated([*best, *table[costs.problem.every]])


def _improve(costs: JoinCosts, graph: JoinGraph, best: Trees, rng: random.Random) -> Iterator[Trees]:
    """Greedy orders, and then for ever others near the best one; gives what is best so far.

    A sequence of the inputs in which the best order is one of those that are compared leads to an order that
    is no worse. Such sequences differ by which side of a join comes first. When they bring nothing more, a
    stretch of inputs is moved.
    """
    for criterion in CRITERIA:
        best = undominated([*best, *greedy(costs, graph, criterion)])
        yield best
    sequence = leaves(best[0])
    while True:
        table = yield from _meanwhile(cheapest_in_sequence(costs, graph, sequence), best)
        best = undominated([*best, *table.get(costs.problem.every, [])])
        yield best
        sequence = turned(best[0], rng)
        if rng.random() < 0.5:
            sequence = moved(sequence, rng)


def _meanwhile(steps: Generator[None, None, Table], best: Trees) -> Generator[Trees, None, Table]:
    """Gives what is best so far at each step."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            table: Table = end.value
            return table
        yield best


def solve(
    problem: JoinProblem, budget: int = BUDGET, products: Products = "auto", seed: int = 0
) -> JoinOrders:
    """The same without a pause."""
    search = order_joins(problem, budget, products, seed)
    while True:
        try:
            next(search)
        except StopIteration as end:
            orders: JoinOrders = end.value
            return orders
