"""Clusters: joins of a memo that stand right above each other, and can be done in any order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

from midstream.optimizer.cost import CostModel
from midstream.optimizer.rules.linking import stated_conditions
from midstream.optimizer.search.join_problem import Alternative, JoinProblem, Shape
from midstream.optimizer.search.memo import Group, Memo
from midstream.plans.algebra.operators import Join
from midstream.plans.algebra.plan import Node

MOST = 16
"""How many clusters of a group are looked at; it has several where what is joined is an expression of several
kinds, such as a join of sets and a set of pairs."""


@dataclass(frozen=True)
class Cluster:
    """Joins, in one order, and what they join."""

    tree: Node
    leaves: tuple[Node, ...]

    def over(self, leaves: Sequence[Node]) -> Node:
        """The same joins of other plans of the same inputs."""
        exchanged = dict(zip(self.leaves, leaves, strict=True))

        def rebuilt(node: Node) -> Node:
            return exchanged.get(node) or node.with_inputs(tuple(map(rebuilt, node.inputs)))

        return rebuilt(self.tree)

    def problem(self, inputs: Sequence[tuple[Alternative, ...]], model: CostModel) -> JoinProblem:
        """In which order to join such plans of the inputs."""
        assert isinstance(self.tree.operator, Join)
        conditions = tuple(stated_conditions(self.tree, self.leaves))
        left, right = map(self._shape, self.tree.inputs)
        return JoinProblem(tuple(inputs), conditions, self.tree.operator.columns, model, (left, right))

    def _shape(self, node: Node) -> Shape:
        if node in self.leaves:
            return self.leaves.index(node)
        left, right = map(self._shape, node.inputs)
        return left, right


def clusters(memo: Memo, group: Group) -> list[Cluster]:
    """The clusters of a group, each as large as it can be, one for each set of inputs: what they make of the
    same inputs is the same."""
    found: dict[frozenset[Node], Cluster] = {}
    joins = (cluster for join in _joins(group) for cluster in _above(memo, join, (group,)))
    for cluster in islice(joins, MOST):
        found.setdefault(frozenset(cluster.leaves), cluster)
    return list(found.values())


def _joins(group: Group) -> list[Node]:
    return [expression for expression in group.expressions if isinstance(expression.operator, Join)]


def _above(memo: Memo, join: Node, path: tuple[Group, ...]) -> Iterator[Cluster]:
    """The clusters of a join with those of its inputs; with its inputs alone where names are in the way."""
    is_alone = True
    for left, right in product(*(_side(memo, child, path) for child in join.inputs)):
        leaves = (*left.leaves, *right.leaves)
        names = [name for leaf in leaves for name in leaf.schema.names]
        if len(names) == len(set(names)):
            is_alone = False
            yield Cluster(join.with_inputs((left.tree, right.tree)), leaves)
    if is_alone:
        yield Cluster(join, join.inputs)


def _side(memo: Memo, child: Node, path: tuple[Group, ...]) -> list[Cluster]:
    """What a join can have for an input: joins below it, and where there is anything else the input as it
    is."""
    group = memo.group(child)
    joins = [] if group in path else _joins(group)
    found = [cluster for join in joins for cluster in _above(memo, join, (*path, group))]
    if len(joins) < len(group.expressions):
        found.append(Cluster(child, (child,)))
    return found
