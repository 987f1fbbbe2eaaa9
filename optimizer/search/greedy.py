"""Join orders made by taking, again and again, the two plans whose join looks best.

Source   L. Fegaras, A New Heuristic for Optimizing Large Queries, DEXA 1998 (GOO)
"""

from __future__ import annotations

from collections.abc import Callable, Generator

from midstream.optimizer.search.join_costs import JoinCosts, JoinTree
from midstream.optimizer.search.join_graph import JoinGraph

Criterion = Callable[[JoinTree, JoinTree, JoinTree], tuple[float, ...]]
"""How good a join of two plans looks, the smaller the better."""


def fewest_results(joined: JoinTree, one: JoinTree, other: JoinTree) -> tuple[float, ...]:
    """The smallest intermediate result first."""
    return joined.estimate.valid, joined.rate


def lowest_cost(joined: JoinTree, one: JoinTree, other: JoinTree) -> tuple[float, ...]:
    """The cheapest join first."""
    return joined.cost - one.cost - other.cost, joined.rate


def strongest_selection(joined: JoinTree, one: JoinTree, other: JoinTree) -> tuple[float, ...]:
    """The join first that leaves the least of the pairs that it is given."""
    pairs = one.estimate.valid * other.estimate.valid
    return (joined.estimate.valid / pairs if pairs else 0.0), joined.rate


def greatest_saving(joined: JoinTree, one: JoinTree, other: JoinTree) -> tuple[float, ...]:
    """The join first that gives the least above what it is given."""
    return joined.rate - one.rate - other.rate, joined.rate


OTHER_CRITERIA: tuple[Criterion, ...] = (fewest_results, strongest_selection, greatest_saving)
"""Those besides the lowest cost, which is tried first."""


def greedy(costs: JoinCosts, graph: JoinGraph, criterion: Criterion) -> Generator[None, None, list[JoinTree]]:
    """The plans in the order that a criterion leads to; pauses after each pair. Cost: O(inputs²) pairs."""
    trees = [leaves[0] for leaves in costs.leaves]
    joins: dict[tuple[int, int], tuple[tuple[float, ...], JoinTree]] = {}
    while len(trees) > 1:
        best: tuple[tuple[float, ...], JoinTree] | None = None
        for number, one in enumerate(trees):
            for other in trees[:number]:
                if not graph.may_join(one.inputs, other.inputs):
                    continue
                key = one.inputs, other.inputs
                if key not in joins:
                    joined = costs.joined(one, other)
                    joins[key] = criterion(joined, one, other), joined
                    yield
                if best is None or joins[key][0] < best[0]:
                    best = joins[key]
        assert best is not None, "sets that nothing connects may be joined when they are whole"
        tree = best[1]
        trees = [one for one in trees if not one.inputs & tree.inputs] + [tree]
    return costs.of(trees[0].shape)
