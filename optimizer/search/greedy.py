"""Greedy join orders: join, again and again, the two plans whose join looks best.

Source   L. Fegaras, A New Heuristic for Optimizing Large Queries, DEXA 1998 (GOO)
"""

from __future__ import annotations

from collections.abc import Callable, Generator

from midstream.optimizer.search.join_costs import JoinCosts, JoinTree
from midstream.optimizer.search.join_graph import JoinGraph

Criterion = Callable[[JoinTree, JoinTree, JoinTree], tuple[float, ...]]
"""Rates a join of two plans, from the join and its sides; less is better."""


def fewest_results(joined: JoinTree, left: JoinTree, right: JoinTree) -> tuple[float, ...]:
    """Prefer the join with the smallest intermediate result."""
    return joined.estimate.valid, joined.rate


def lowest_cost(joined: JoinTree, left: JoinTree, right: JoinTree) -> tuple[float, ...]:
    """Prefer the cheapest join."""
    return joined.cost - left.cost - right.cost, joined.rate


def strongest_selection(joined: JoinTree, left: JoinTree, right: JoinTree) -> tuple[float, ...]:
    """Prefer the join with the lowest selectivity."""
    pairs = left.estimate.valid * right.estimate.valid
    return (joined.estimate.valid / pairs if pairs else 0.0), joined.rate


def greatest_saving(joined: JoinTree, left: JoinTree, right: JoinTree) -> tuple[float, ...]:
    """Prefer the join whose output rate exceeds its input rates least."""
    return joined.rate - left.rate - right.rate, joined.rate


OTHER_CRITERIA: tuple[Criterion, ...] = (fewest_results, strongest_selection, greatest_saving)
"""The criteria besides the lowest cost, which is tried first."""


def greedy(costs: JoinCosts, graph: JoinGraph, criterion: Criterion) -> Generator[None, None, list[JoinTree]]:
    """The plans in the order that a criterion leads to; pauses after each pair.

    Cost     O(inputs²) pairs.
    """
    trees = [leaves[0] for leaves in costs.leaves]
    joins: dict[tuple[int, int], tuple[tuple[float, ...], JoinTree]] = {}
    while len(trees) > 1:
        best: tuple[tuple[float, ...], JoinTree] | None = None
        for number, left in enumerate(trees):
            for right in trees[:number]:
                if not graph.may_join(left.inputs, right.inputs):
                    continue
                key = left.inputs, right.inputs
                if key not in joins:
                    joined = costs.joined(left, right)
                    joins[key] = criterion(joined, left, right), joined
                    yield
                if best is None or joins[key][0] < best[0]:
                    best = joins[key]
        assert best is not None, "sets that nothing connects may be joined when they are whole"
        tree = best[1]
        trees = [each for each in trees if not each.inputs & tree.inputs] + [tree]
    return costs.of(trees[0].shape)
