"""Clusters: adjacent joins of a memo, which can be done in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from midstream.optimizer.cost import CostModel
from midstream.optimizer.cost.estimate import Estimate
from midstream.optimizer.rules.linking import is_free_join, stated_conditions
from midstream.optimizer.search.join_problem import Alternative, JoinProblem, Shape
from midstream.optimizer.search.memo import Group, Memo
from midstream.plans.algebra.operators import Join
from midstream.plans.algebra.plan import Node

MOST = 16
"""Greatest number of clusters of a group that are explored.

A group has several if an input has expressions of several kinds: a join of distinct rows, and the distinct
rows of a join.
"""
FEW_INPUTS = 5
"""With more inputs than this, clusters of fewer than the largest number of inputs are left out."""


@dataclass(frozen=True)
class Cluster:
    """Adjacent joins, in one order, and their inputs."""

    tree: Node
    leaves: tuple[Node, ...]

    def over(self, leaves: Sequence[Node]) -> Node:
        """The joins over other plans of these inputs."""
        exchanged = dict(zip(self.leaves, leaves, strict=True))

        def rebuilt(node: Node) -> Node:
            return exchanged.get(node) or node.with_inputs(tuple(map(rebuilt, node.inputs)))

        return rebuilt(self.tree)

    def problem(
        self,
        inputs: Sequence[tuple[Alternative, ...]],
        model: CostModel,
        value: Callable[[Estimate], float] | None = None,
    ) -> JoinProblem:
        """The problem of ordering the joins over such plans of the inputs."""
        assert isinstance(self.tree.operator, Join)
        conditions = tuple(stated_conditions(self.tree, self.leaves))
        left, right = map(self._shape, self.tree.inputs)
        columns = self.tree.operator.columns
        return JoinProblem(tuple(inputs), conditions, columns, model, (left, right), value)

    def _shape(self, node: Node) -> Shape:
        if node in self.leaves:
            return self.leaves.index(node)
        left, right = map(self._shape, node.inputs)
        return left, right


class Clusters:
    """Finds the clusters of a memo's groups; `is_all` is true if none was left out so far."""

    def __init__(self, memo: Memo) -> None:
        self._memo = memo
        self.is_all = True

    def of(self, group: Group) -> list[Cluster]:
        """The clusters of a group, the largest first, one for each set of inputs.

        Clusters with the same inputs lead to the same join orders.
        """
        return self._some(cluster for join in _joins(group) for cluster in self._above(join, (group,)))

    def _above(self, join: Node, path: tuple[Group, ...]) -> list[Cluster]:
        """The clusters of a join, including joins below it; the join alone if column names collide."""
        sides = [self._side(child, path) for child in join.inputs]
        pairs = [(left, right) for left, right in product(*sides) if are_apart(left, right)]
        found = (
            Cluster(join.with_inputs((left.tree, right.tree)), (*left.leaves, *right.leaves))
            for left, right in pairs
        )
        return self._some(found) if pairs else [Cluster(join, join.inputs)]

    def _side(self, child: Node, path: tuple[Group, ...]) -> list[Cluster]:
        """Possible inputs of a join: clusters of joins below it, and the input itself unless only joins."""
        group = self._memo.group(child)
        joins = [] if group in path else _joins(group)
        found = [cluster for join in joins for cluster in self._above(join, (*path, group))]
        if len(joins) < len(group.expressions):
            found.append(Cluster(child, (child,)))
        return self._some(found)

    def _some(self, found: Iterable[Cluster]) -> list[Cluster]:
        by_leaves: dict[frozenset[Node], Cluster] = {}
        for cluster in found:
            by_leaves.setdefault(frozenset(cluster.leaves), cluster)
        largest = max((len(leaves) for leaves in by_leaves), default=0)
        kept = [
            cluster
            for leaves, cluster in sorted(by_leaves.items(), key=lambda item: -len(item[0]))
            if largest <= FEW_INPUTS or len(leaves) == largest
        ][:MOST]
        self.is_all &= len(kept) == len(by_leaves)
        return kept


def _joins(group: Group) -> list[Node]:
    return [expression for expression in group.expressions if is_free_join(expression)]


def are_apart(left: Cluster, right: Cluster) -> bool:
    """True if no column has the name of a column on the other side."""
    ours = {name for leaf in left.leaves for name in leaf.schema.names}
    return ours.isdisjoint(name for leaf in right.leaves for name in leaf.schema.names)
