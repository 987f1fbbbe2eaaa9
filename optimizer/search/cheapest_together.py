"""Plans of several queries in a memo, among which are those that cost least together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from midstream.optimizer.cost import CostModel
from midstream.optimizer.search.cheapest import ALIKE, Cheapest
from midstream.optimizer.search.join_problem import Alternative
from midstream.optimizer.search.memo import Group, Memo
from midstream.plans.algebra.plan import Node
from midstream.plans.values.errors import StatisticsError

MOST = 32
"""Greatest number of plans kept for a group."""


@dataclass(frozen=True)
class Sharing(Alternative):
    """A plan that may share operators with other queries.

    `cost` is that of all operators that do not run already. `common` holds the operators that other queries
    may use as well.
    """

    common: frozenset[Node]


class CheapestTogether(Cheapest):
    """Finds plans of groups as `Cheapest` does, but running operators cost nothing, and sharing counts.

    All readers of a group may read the same plan of it. So a plan beats another one if it is no dearer even
    when it pays for everything below it, while other queries pay for all operators below the other plan that
    they may use. A plan that is dearer alone is kept if it may be better when others share its operators.
    """

    def __init__(self, memo: Memo, model: CostModel, running: Set[Node]) -> None:
        super().__init__(memo, model, orders=None, products="all", pairs=0)
        self._running = running
        self._shareable: Set[Group] = frozenset()
        self._left_out = False

    @property
    def is_exact(self) -> bool:
        """True if no plan was left out that may be the best one."""
        return not self._left_out

    def begin(self, roots: Iterable[Node]) -> None:
        """Find the groups that several roots may share, and enter running operators as plans."""
        seen: set[Group] = set()
        shareable: set[Group] = set()
        for root in roots:
            below = {source.group for source in self._sources([root])}
            shareable |= seen & below
            seen |= below
        self._shareable = shareable
        for node in self._running:
            if node in self._memo and self._memo.group(node) in seen:
                try:
                    estimate = self._model.estimate(node)
                except StatisticsError:
                    continue  # it reads inputs that the queries do not have
                self._keep(self._memo.group(node), Sharing(node, estimate, 0.0, frozenset()))

    def _price(self, group: Group, expression: Node, inputs: Sequence[Alternative]) -> bool:
        node = expression.with_inputs(tuple(one.node for one in inputs)) if inputs else expression
        if node in self._running:
            return False
        try:
            estimate = self._model.estimate(node)
        except StatisticsError:
            return False
        self.priced += 1
        common = frozenset[Node]().union(*map(self._common, inputs))
        cost = math.fsum([estimate.cost, *(one.cost for one in inputs)])
        return self._keep(group, Sharing(node, estimate, cost, common))

    def _common(self, plan: Alternative) -> frozenset[Node]:
        """The operators of an input that others may use, including the input itself."""
        assert isinstance(plan, Sharing)
        is_common = self._memo.group(plan.node) in self._shareable and plan.node not in self._running
        return plan.common | {plan.node} if is_common else plan.common

    def _keep(self, group: Group, new: Alternative) -> bool:
        kept = self._alternatives.setdefault(group, [])
        if any(self._beats(one, new) for one in kept):
            return False
        kept[:] = [one for one in kept if not self._beats(new, one)]
        kept.append(new)
        kept.sort(key=lambda one: one.cost)
        self._left_out |= len(kept) > MOST
        del kept[MOST:]
        return new in kept

    def _beats(self, one: Alternative, other: Alternative) -> bool:
        assert isinstance(one, Sharing)
        assert isinstance(other, Sharing)
        if one.estimate.rate > other.estimate.rate * ALIKE:
            return False
        saved = math.fsum(self._model.estimate(node).cost for node in other.common - one.common)
        return one.cost <= (other.cost - saved) * ALIKE
