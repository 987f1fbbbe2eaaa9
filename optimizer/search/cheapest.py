"""The cheapest plan in a memo, by dynamic programming over its groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from midstream.optimizer.cost import CostModel
from midstream.optimizer.cost.estimate import Estimate
from midstream.optimizer.rules.linking import is_free_join
from midstream.optimizer.search.clusters import Cluster, Clusters
from midstream.optimizer.search.entered_orders import EnteredOrders
from midstream.optimizer.search.join_graph import Products
from midstream.optimizer.search.join_orders import JoinOrders, order_joins
from midstream.optimizer.search.join_problem import Alternative
from midstream.optimizer.search.memo import Group, Memo
from midstream.plans.algebra.operators import AntiJoin, Difference, StrictDifference, Union
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import logical
from midstream.plans.values.errors import StatisticsError

ALIKE = 1 + 1e-9
"""Tolerance for rounding: costs whose ratio is below it count as equal."""
MOST = 8
"""Greatest number of alternatives kept for a group, the cheapest ones."""

SUBTRACTING = (AntiJoin, Difference, StrictDifference)
"""Operators that have the more results, the fewer rows their second input has."""


@dataclass(frozen=True)
class PlanSource:
    """A source of plans for a group: an operator over plans of its inputs, or a cluster of joins."""

    group: Group
    of: Node | Cluster

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Nodes that stand for the groups whose plans are needed."""
        return self.of.leaves if isinstance(self.of, Cluster) else self.of.inputs


@dataclass(frozen=True)
class Ordered:
    """A join order that was found for a cluster, with the alternatives of its inputs."""

    cluster: Cluster
    inputs: tuple[tuple[Alternative, ...], ...]

    def origin(self, plan: Node) -> tuple[Node, list[Node]]:
        """The equivalent joins in the memo's order, and the plans of the inputs that the given plan uses."""
        plans = {node: i for i, one in enumerate(self.inputs) for node in (each.node for each in one)}
        used: dict[int, Node] = {}
        stack = [plan]
        while stack:
            node = stack.pop()
            if node in plans:
                used[plans[node]] = node
            else:
                stack.extend(node.inputs)
        leaves = [used[i] for i in range(len(self.inputs))]
        return self.cluster.over(leaves), leaves


class Cheapest:
    """Finds the undominated plans of each group below some roots: the cheapest, or those with fewer results.

    Fewer results mean less work for the operators above. The model prices each operator over the inputs that
    it has in the plan; `value`, if given, converts its estimate to a cost. An operator that a plan contains
    in two places counts twice here; price the plan to count it once. With `orders_joins`, adjacent joins are
    ordered all at once, with at most `pairs` priced pairs of inputs for each cluster; otherwise the memo
    holds the orders.
    """

    def __init__(
        self,
        memo: Memo,
        model: CostModel,
        *,
        orders: EnteredOrders | None,
        products: Products,
        pairs: int,
        value: Callable[[Estimate], float] | None = None,
    ) -> None:
        self._memo = memo
        self._model = model
        self._orders = orders
        self._clusters = Clusters(memo)
        self._products = products
        self._pairs = pairs
        self._value = value
        self._alternatives: dict[Group, list[Alternative]] = {}
        self._is_priced: set[tuple[object, ...]] = set()
        self._is_monotonic = True
        """True if plans with fewer rows never mean more rows above, by what the model says of both."""
        self.ordered: dict[Node, Ordered] = {}
        """By plan that results from ordering joins, its origin."""
        self.priced = 0
        """Number of priced subplans."""
        self._has_all_orders = self._has_all_plans = True
        self._contradicted: set[Group] = set()
        """Groups of which plans have different numbers of valid rows, as if they were not equivalent."""

    @property
    def is_exact(self) -> bool:
        """True if no plan was left out that may be the cheapest."""
        return self._has_all_orders and self._has_all_plans and self._clusters.is_all and self._is_monotonic

    def of(self, node: Node) -> list[Alternative]:
        """The alternatives of the group of a subplan, the cheapest first."""
        return self._alternatives.get(self._memo.group(node), [])

    def compare(self, roots: Iterable[Node]) -> Iterator[None]:
        """Price the memo until no group gets another alternative; pauses now and then."""
        if self._orders is not None:
            self._orders.begin_reading()
        sources = self._sources(roots)
        readers: dict[Group, list[int]] = {}
        for number, source in enumerate(sources):
            for child in source.inputs:
                readers.setdefault(self._memo.group(child), []).append(number)
        # Inputs come first, so that most sources are priced only once.
        waiting = set(range(len(sources)))
        while waiting:
            number = min(waiting)
            waiting.remove(number)
            if (yield from self._look_at(sources[number])):
                waiting.update(readers.get(sources[number].group, ()))
        above = self._above(self._contradicted, sources)
        self._is_monotonic = not any(
            self._memo.group(child) in above for source in sources for child in _not_monotonic(source.of)
        )

    def _above(self, groups: Iterable[Group], sources: Sequence[PlanSource]) -> set[Group]:
        """Some groups, and all groups with plans over them."""
        above = set(groups)
        size = -1
        while len(above) > size:
            size = len(above)
            for source in sources:
                if any(self._memo.group(child) in above for child in source.inputs):
                    above.add(source.group)
        return above

    def _sources(self, roots: Iterable[Node]) -> list[PlanSource]:
        """Everything needed for some roots; inputs precede consumers, except in cycles."""
        found: list[PlanSource] = []
        seen: set[Group] = set()

        def visit(group: Group) -> None:
            if group in seen:
                return
            seen.add(group)
            sources = [PlanSource(group, one) for one in self._of_group(group)]
            for source in sources:
                for child in source.inputs:
                    visit(self._memo.group(child))
            found.extend(sources)

        for root in roots:
            visit(self._memo.group(root))
        return found

    def _of_group(self, group: Group) -> list[Node | Cluster]:
        if self._orders is None or self._orders.has_all(group):
            return list(group.expressions)
        others = [each for each in group.expressions if not is_free_join(each)]
        # Two inputs have one order: a join's sides are interchangeable.
        found = self._clusters.of(group)
        return [*others, *(each.tree if len(each.leaves) == 2 else each for each in found)]

    def _look_at(self, source: PlanSource) -> Generator[None, None, bool]:
        """Price what has not been priced yet; return True if the group has got another alternative."""
        found = [tuple(self.of(child)) for child in source.inputs]
        if isinstance(source.of, Cluster):
            return (yield from self._order(source.group, source.of, found)) if all(found) else False
        has_changed = False
        # Below an input of the plan nothing need be known; it is the same in all plans.
        is_input = not all(found) and not logical(source.of).is_snapshot_reducible
        for inputs in [()] if is_input else product(*found):
            if self._is_new(source.of, *(one.node for one in inputs)):
                has_changed |= self._price(source.group, source.of, inputs)
                yield
        return has_changed

    def _is_new(self, *key: object) -> bool:
        is_new = key not in self._is_priced
        self._is_priced.add(key)
        return is_new

    def _price(self, group: Group, expression: Node, inputs: Sequence[Alternative]) -> bool:
        """Price a plan of a group; return True if it is kept."""
        node = expression.with_inputs(tuple(one.node for one in inputs)) if inputs else expression
        try:
            estimate = self._model.estimate(node)
        except StatisticsError:
            return False  # an input that the original plan does not have
        self.priced += 1
        own = estimate.cost if self._value is None else self._value(estimate)
        cost = math.fsum([own, *(one.cost for one in inputs)])
        return self._keep(group, Alternative(node, estimate, cost))

    def _order(
        self, group: Group, cluster: Cluster, inputs: Sequence[tuple[Alternative, ...]]
    ) -> Generator[None, None, bool]:
        """Order the joins of a cluster; return True if a plan is kept."""
        if not self._is_new(cluster.tree, *(one.node for alternatives in inputs for one in alternatives)):
            return False
        search = order_joins(cluster.problem(inputs, self._model, self._value), self._pairs, self._products)
        has_changed, least = False, math.inf
        for orders, is_last in _results(search):
            # Better orders are kept at once: the search may end at any pause.
            if is_last or orders.cost * ALIKE < least:
                least = orders.cost
                has_changed |= self._keep_orders(group, cluster, inputs, orders)
            if is_last:
                self.priced += orders.pairs
                self._has_all_orders &= orders.is_exact
            else:
                yield
        return has_changed

    def _keep_orders(
        self, group: Group, cluster: Cluster, inputs: Sequence[tuple[Alternative, ...]], orders: JoinOrders
    ) -> bool:
        has_changed = False
        for plan in orders.plans:
            self.ordered[plan.node] = Ordered(cluster, tuple(inputs))
            has_changed |= self._keep(group, plan)
        return has_changed

    def _keep(self, group: Group, new: Alternative) -> bool:
        kept = self._alternatives.setdefault(group, [])
        if kept and not math.isclose(kept[0].estimate.valid, new.estimate.valid, rel_tol=1e-6):
            self._contradicted.add(group)
        if any(_beats(one, new) for one in kept):
            return False
        kept[:] = [one for one in kept if not _beats(new, one)]
        kept.append(new)
        kept.sort(key=lambda one: one.cost)
        self._has_all_plans &= len(kept) <= MOST
        del kept[MOST:]
        return new in kept


def _not_monotonic(source: Node | Cluster) -> tuple[Node, ...]:
    """The inputs of an operator of which fewer rows may mean more results further above.

    The values of a union are those of its inputs, weighted by rates: with fewer rows of one input, a larger
    share of rows may satisfy a condition above.
    """
    if isinstance(source, Cluster):
        return ()
    if isinstance(source.operator, Union):
        return source.inputs
    return source.inputs[1:] if isinstance(source.operator, SUBTRACTING) else ()


def _beats(one: Alternative, other: Alternative) -> bool:
    """True if a plan neither costs more nor has more results per chronon than another."""
    return one.cost <= other.cost * ALIKE and one.estimate.rate <= other.estimate.rate * ALIKE


def _results(search: Generator[JoinOrders, None, JoinOrders]) -> Iterator[tuple[JoinOrders, bool]]:
    """Intermediate results of a search and its final one, each with True if it is the final one."""
    while True:
        try:
            yield next(search), False
        except StopIteration as end:
            orders: JoinOrders = end.value
            yield orders, True
            return
