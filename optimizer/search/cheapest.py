"""The cheapest plan that stands in a memo, by dynamic programming over its groups."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from midstream.optimizer.cost import CostModel
from midstream.optimizer.search.memo import Group, Memo
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import logical
from midstream.plans.values.errors import StatisticsError

ALIKE = 1 + 1e-9
"""Rounding differs between plans that cost the same; what costs less costs less by more than that."""
MOST = 4
"""How many alternatives of a group are kept at most, the cheapest ones."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """A plan of a group.

    cost    microseconds of processing per chronon, of all its operators
    rate    results per chronon: what is above has more to do where there are more
    """

    node: Node
    cost: float
    rate: float

    def beats(self, other: Alternative) -> bool:
        """Whether it is no worse in any respect."""
        return self.cost <= other.cost * ALIKE and self.rate <= other.rate * ALIKE


class Cheapest:
    """Finds for each group the plans that no other one beats.

    A plan's operators cost what the model says of them over the inputs that they have in it. An operator that
    stands in a plan in two places counts twice here; whoever wants to know prices the plan.
    """

    def __init__(self, memo: Memo, model: CostModel) -> None:
        self._memo = memo
        self._model = model
        self._alternatives: dict[Group, list[Alternative]] = {}
        self._is_priced: set[tuple[Node, tuple[Node, ...]]] = set()

    @property
    def priced(self) -> int:
        """How many subplans were priced."""
        return len(self._is_priced)

    def of(self, node: Node) -> list[Alternative]:
        """The alternatives of the group of a subplan, the cheapest first."""
        return self._alternatives.get(self._memo.group(node), [])

    def compare(self) -> Iterator[None]:
        """Price what stands in the memo until no group gets a further alternative; pauses after each
        subplan."""
        waiting = dict.fromkeys(e for group in self._memo.groups() for e in group.expressions)
        while waiting:
            expression = next(iter(waiting))
            del waiting[expression]
            group = self._memo.group(expression)
            for inputs in list(self._inputs(expression)):
                key = (expression, tuple(one.node for one in inputs))
                if key in self._is_priced:
                    continue
                self._is_priced.add(key)
                if self._price(group, expression, inputs):
                    waiting.update(dict.fromkeys(group.readers))
                yield

    def _inputs(self, expression: Node) -> Iterator[tuple[Alternative, ...]]:
        """The alternatives of the inputs of an expression, in every combination. Where plans begin, there are
        none: what is below is the same in all."""
        if not logical(expression).is_snapshot_reducible:
            return iter([()])
        return product(*(self._alternatives.get(self._memo.group(c), []) for c in expression.inputs))

    def _price(self, group: Group, expression: Node, inputs: Sequence[Alternative]) -> bool:
        """Price a plan of a group; gives whether it is one to be kept."""
        node = expression.with_inputs(tuple(one.node for one in inputs)) if inputs else expression
        try:
            estimate = self._model.estimate(node)
        except StatisticsError:
            return False  # an input that the given plan does not have
        cost = math.fsum([estimate.cost, *(one.cost for one in inputs)])
        return self._keep(group, Alternative(node, cost, estimate.rate))

    def _keep(self, group: Group, new: Alternative) -> bool:
        kept = self._alternatives.setdefault(group, [])
        if any(one.beats(new) for one in kept):
            return False
        kept[:] = [one for one in kept if not new.beats(one)]
        kept.append(new)
        kept.sort(key=lambda one: one.cost)
        del kept[MOST:]
        return new in kept
