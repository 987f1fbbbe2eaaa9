"""Join orders in a memo, where rules may move another operator in between the joins.

Joins that stand together are put in order by arithmetic, and their orders never enter the memo. So no rule
sees the join of two inputs that only another order joins first. That leaves plans out where a rule moves an
operator across joins: duplicate elimination above a ⋈ b ⋈ c can go below, to stand above a ⋈ c, if that join
is in the memo. Such orders are entered, as long as few inputs meet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import permutations, product
from typing import overload

from midstream.optimizer.cost import CostModel
from midstream.optimizer.cost.work import least_join_step
from midstream.optimizer.rules import Rule, Shape, apply
from midstream.optimizer.rules.filters.filtered import Parts, parts_of
from midstream.optimizer.rules.linking import is_free_join
from midstream.optimizer.search.clusters import FEW_INPUTS, Cluster, are_apart
from midstream.optimizer.search.join_graph import Products
from midstream.optimizer.search.join_problem import Alternative, JoinProblem
from midstream.optimizer.search.memo import Group, Memo
from midstream.optimizer.search.reordering import reorder
from midstream.plans.algebra.operators import Filter, Join
from midstream.plans.algebra.plan import Node
from midstream.plans.equivalence.certificate import Step
from midstream.plans.expressions.expressions import conjunction
from midstream.plans.values.errors import StatisticsError

ALIKE = 1 + 1e-9
"""Tolerance for rounding."""
MOST = 16
"""Greatest number of clusters of a group whose orders are entered."""


class EnteredOrders:
    """Enters the orders of joins into a memo, where one of some rules may use them.

    `is_complete` is true if all orders that rules may use were entered so far. `filters_pay` is true if the
    objective is processing: then orders are not entered for a filter that pays as far below as it can go.
    """

    def __init__(
        self, memo: Memo, rules: Sequence[Rule], model: CostModel, products: Products, *, filters_pay: bool
    ) -> None:
        self._memo = memo
        self._model = model
        self._products = products
        self._filters_pay = filters_pay
        self._step = least_join_step(model.units)
        looking = [rule for rule in rules if any(not below.is_any for below in _below(rule.shape))]
        self._across_above = [rule for rule in looking if any(map(_takes_join, _below(rule.shape)))]
        """Rules that look from another operator into a join."""
        self._across_below = [rule for rule in looking if _takes_join(rule.shape)]
        """Rules that look from a join into its inputs."""
        self._entered: set[frozenset[Node]] = set()
        """Sets of inputs of which all orders are in the memo, by nodes that stood for groups."""
        self._widest: dict[Group, list[Cluster]] = {}
        self._has_all_clusters = self.is_complete = True

    def enter(self) -> Iterator[None]:
        """Enter the orders that rules may use; pauses before each join."""
        self._widest = {}
        needed = [
            cluster
            for group in self._memo.groups()
            for cluster in self._clusters(group)
            if len(cluster.leaves) > 2 and not self._has(cluster) and self._is_needed(group, cluster)
        ]
        self.is_complete = self._has_all_clusters and all(
            len(cluster.leaves) <= FEW_INPUTS for cluster in needed
        )
        if self.is_complete:  # otherwise some orders would be missing anyhow
            for cluster in needed:
                yield from self._enter(cluster)

    def has_all(self, group: Group) -> bool:
        """True if all orders of a group's joins are in the memo."""
        return all(len(each.leaves) == 2 or self._has(each) for each in self._clusters(group))

    def begin_reading(self) -> None:
        """Forget what was known of groups that may have changed since."""
        self._widest = {}
        self._entered = {frozenset(map(self._standing, leaves)) for leaves in self._entered}

    def _standing(self, node: Node) -> Node:
        return self._memo.group(node).node

    def _has(self, cluster: Cluster) -> bool:
        return frozenset(cluster.leaves) in self._entered

    def _clusters(self, group: Group) -> list[Cluster]:
        """The joins of a group over inputs that are no joins themselves, one order for each set of inputs."""
        if group in self._widest:
            return self._widest[group]
        self._widest[group] = []  # for a group that is below itself
        found: dict[frozenset[Node], Cluster] = {}
        for join in filter(is_free_join, group.expressions):
            sides = [
                self._clusters(self._memo.group(child)) or [Cluster(child, (child,))] for child in join.inputs
            ]
            pairs = [(left, right) for left, right in product(*sides) if are_apart(left, right)]
            for left, right in pairs:
                tree = join.with_inputs((left.tree, right.tree))
                leaves = (*left.leaves, *right.leaves)
                found.setdefault(frozenset(leaves), Cluster(tree, leaves))
            if not pairs:
                found.setdefault(frozenset(join.inputs), Cluster(join, join.inputs))
        self._has_all_clusters &= len(found) <= MOST
        self._widest[group] = list(found.values())[:MOST]
        return self._widest[group]

    def _is_needed(self, group: Group, cluster: Cluster) -> bool:
        """True if a rule may look across the border of a cluster, from above or from below."""
        if any(self._may_enter(reader, group, cluster) for reader in list(group.readers)):
            return True
        wanted = {kind for rule in self._across_below for below in _below(rule.shape) for kind in below.kinds}
        kinds = tuple(wanted - {Join})
        leaves = [leaf for leaf in cluster.leaves if self._has_kind(leaf, kinds)]
        return bool(leaves) and self._may_leave(cluster, leaves)

    def _has_kind(self, leaf: Node, kinds: tuple[type, ...]) -> bool:
        return any(isinstance(each.operator, kinds) for each in self._memo.group(leaf).expressions)

    def _may_enter(self, reader: Node, group: Group, cluster: Cluster) -> bool:
        """True if a rule may move an operator above the joins in between them."""
        if reader not in self._memo.group(reader).expressions:
            return False
        places = [i for i, child in enumerate(reader.inputs) if self._memo.group(child) is group]
        looked_at = any(
            isinstance(reader.operator, rule.shape.kinds) and _takes_join(rule.shape.of_input(place))
            for rule in self._across_above
            for place in places
            if not isinstance(reader.operator, Join)
        )
        return looked_at and not (isinstance(reader.operator, Filter) and self._pays_below(reader, cluster))

    def _may_leave(self, cluster: Cluster, leaves: list[Node]) -> bool:
        """True if a rule moves an operator of an input above a join with another input."""
        with suppress(StatisticsError):
            problem = self._problem(cluster)
            for i, j in permutations(range(len(cluster.leaves)), 2):
                if cluster.leaves[i] in leaves:
                    join = problem.join(1 << i, 1 << j, cluster.leaves[i], cluster.leaves[j])
                    if any(self._applies(rule, join) for rule in self._across_below):
                        return True
        return False

    def _applies(self, rule: Rule, join: Node) -> bool:
        return any(
            next(apply(rule, join.with_inputs(inputs)), None) is not None
            for inputs in self._memo.bindings(join, rule.shape)
        )

    def _pays_below(self, node: Node, cluster: Cluster) -> bool:
        """True if no plan is cheaper because a filter above joins, or parts of it, are evaluated later.

        At the bottom, each part sees all rows of one input. It saves the least that a join takes for a row
        that does not pass. The plan with all parts at the bottom has to be in the memo.
        """
        if not self._filters_pay:
            return False
        by_leaf: dict[Node, Parts] = {leaf: () for leaf in cluster.leaves}
        for part in parts_of(node):
            below = [leaf for leaf in cluster.leaves if part.columns() <= {*leaf.schema.names}]
            if not below:
                return False
            for leaf in below:
                by_leaf[leaf] = (*by_leaf[leaf], part)
        with suppress(StatisticsError):
            filtered = {frozenset(leaf.schema.names): self._pays(leaf, by_leaf[leaf]) for leaf in by_leaf}
            return all(rate is not None for rate in filtered.values()) and any(
                self._is_filtered(other, filtered) for other in self._clusters(self._memo.group(node))
            )
        return False

    def _pays(self, leaf: Node, parts: Parts) -> float | None:
        """The rate of an input below a filter; None if rows cost more there than they save."""
        before = self._model.estimate(leaf)
        if not parts:
            return before.rate
        after = self._model.estimate(Node(Filter(conjunction(parts)), (leaf,)))
        return after.rate if after.cost <= (before.rate - after.rate) * self._step else None

    def _is_filtered(self, cluster: Cluster, rates: Mapping[frozenset[str], float | None]) -> bool:
        """True if the inputs of a cluster, by their columns, have no greater rates than these."""
        leaves = {frozenset(leaf.schema.names): leaf for leaf in cluster.leaves}
        return leaves.keys() == rates.keys() and all(
            rate is not None and self._model.estimate(leaves[names]).rate <= rate * ALIKE
            for names, rate in rates.items()
        )

    def _problem(self, cluster: Cluster) -> JoinProblem:
        inputs = [(Alternative(leaf, self._model.estimate(leaf), 0.0),) for leaf in cluster.leaves]
        return cluster.problem(inputs, self._model)

    def _enter(self, cluster: Cluster) -> Iterator[None]:
        """Enter the joins of all sets of a cluster's inputs."""
        with suppress(StatisticsError):  # inputs that the original plan does not have
            problem = self._problem(cluster)
            trees = {1 << i: leaf for i, leaf in enumerate(cluster.leaves)}
            trees[problem.every] = cluster.tree
            sets = {1 << i: frozenset({leaf}) for i, leaf in enumerate(cluster.leaves)}
            for left, right in problem.graph(self._products).pairs():
                yield
                both = left | right
                join = problem.join(left, right, trees[left], trees[right])
                known = trees.setdefault(both, join)
                sets[both] = sets[left] | sets[right]
                self._memo.group(known)
                self._memo.equate(known, join, _Reordered(known, join, cluster.leaves))
            self._entered.update(sets.values())


class _Reordered(Sequence[Step]):
    """The steps from an order of joins to another one, computed when somebody reads them."""

    def __init__(self, before: Node, after: Node, leaves: Sequence[Node]) -> None:
        self._of = before, after, leaves
        self._steps: list[Step] | None = None

    def __len__(self) -> int:
        return len(self._all())

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> list[Step]: ...
    def __getitem__(self, index: int | slice) -> Step | list[Step]:
        return self._all()[index]

    def _all(self) -> list[Step]:
        if self._steps is None:
            self._steps = reorder(*self._of)
        return self._steps


def _below(shape: Shape) -> tuple[Shape, ...]:
    """The shapes of the inputs that a shape looks into."""
    return (*shape.inputs, *([shape.each] if shape.each else []))


def _takes_join(shape: Shape) -> bool:
    return not shape.is_any and issubclass(Join, shape.kinds)
