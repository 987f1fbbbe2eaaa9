"""The several cheapest plans in a memo, by dynamic programming over its groups."""

from __future__ import annotations

import heapq
import math
from bisect import insort
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from midstream.optimizer.cost import CostModel
from midstream.optimizer.cost.estimate import Estimate
from midstream.optimizer.cost.objective import Objective
from midstream.optimizer.search.memo import Group, Memo
from midstream.plans.algebra.operators import Join
from midstream.plans.algebra.plan import Node, Operator
from midstream.plans.values.errors import StatisticsError


@dataclass(frozen=True)
class Ranked:
    """A plan of a group.

    cost      cost of its operators, each counted once
    parts     the plan of each group in it
    sides     number shared by plans that differ only in which input of a join is left
    """

    node: Node
    cost: float
    parts: Mapping[Group, Node]
    sides: int


class Sides:
    """Numbers for plans; equal for those that differ only in which input of a join is left."""

    def __init__(self) -> None:
        self._numbers: dict[Node, int] = {}
        self._known: dict[tuple[Operator, tuple[int, ...]], int] = {}

    def of(self, node: Node) -> int:
        """The number of a plan; O(1) if those of its inputs are known."""
        if node not in self._numbers:
            inputs = tuple(map(self.of, node.inputs))
            if isinstance(node.operator, Join):
                inputs = tuple(sorted(inputs))
            self._numbers[node] = self._known.setdefault((node.operator, inputs), len(self._known))
        return self._numbers[node]


class SeveralCheapest:
    """Finds the cheapest plans of a group, up to a number, the cheapest first.

    The operators above a plan depend only on the cut of its output and on its delay. So each group keeps its
    cheapest plans of each kind: of those whose outputs are alike in this. A plan has one subplan for each
    group in it, and operators that occur in several places are paid once. Plans that differ only in which
    input of a join is left count as one. `objective`, which is additive, compares plans. `combinations`
    limits how often plans of inputs are combined.
    """

    def __init__(
        self, memo: Memo, model: CostModel, number: int, objective: Objective, combinations: float
    ) -> None:
        self._memo = memo
        self._model = model
        self._number = number
        self._objective = objective
        self._left = combinations
        self._kinds: dict[Group, dict[Hashable, list[Ranked]]] = {}
        self._costs: dict[Group, dict[int, float]] = {}
        self._sides = Sides()
        self._has_dropped = self._is_irregular = self._is_over = False
        self.priced = 0
        """Number of priced subplans."""

    @property
    def is_exact(self) -> bool:
        """True if no cheaper plan stands in the memo.

        That is unknown if plans were dropped, and the cheapest plans of inputs exclude each other or share
        costs.
        """
        return not self._is_over and not (self._has_dropped and self._is_irregular)

    def of(self, node: Node) -> list[Ranked]:
        """The cheapest plans of a subplan's group."""
        kinds = self._kinds.get(self._memo.group(node), {})
        return heapq.nsmallest(
            self._number, (one for plans in kinds.values() for one in plans), key=lambda one: one.cost
        )

    def compare(self, root: Node) -> Iterator[None]:
        """Price the memo until no group gets another plan; pauses after each expression."""
        expressions = self._expressions(root)
        readers: dict[Group, list[int]] = {}
        for number, (_, expression) in enumerate(expressions):
            for child in expression.inputs:
                readers.setdefault(self._memo.group(child), []).append(number)
        # Inputs come first, so that most expressions are priced only once.
        waiting = set(range(len(expressions)))
        while waiting and self._left > 0:
            number = min(waiting)
            waiting.remove(number)
            group, expression = expressions[number]
            if self._look_at(group, expression):
                waiting.update(readers.get(group, ()))
            yield
        self._is_over = bool(waiting)

    def _expressions(self, root: Node) -> list[tuple[Group, Node]]:
        """The expressions of all groups below a root; inputs precede consumers, except in cycles."""
        found: list[tuple[Group, Node]] = []
        seen: set[Group] = set()

        def visit(group: Group) -> None:
            if group in seen:
                return
            seen.add(group)
            for expression in group.expressions:
                for child in expression.inputs:
                    visit(self._memo.group(child))
            found.extend((group, expression) for expression in group.expressions)

        visit(self._memo.group(root))
        return found

    def _look_at(self, group: Group, expression: Node) -> bool:
        """Combine an operator with plans of its inputs; return True if the group has got another plan."""
        if not self._model.is_priced(expression):
            return self._keep(group, expression, {})
        has_changed = False
        of_inputs = [self._kinds.get(self._memo.group(child), {}).values() for child in expression.inputs]
        for kinds in list(product(*of_inputs)):
            combined = 0
            for plans in combinations_by_cost([list(one) for one in kinds]):
                self._left -= 1
                parts = self._united(group, plans)
                if parts is not None:
                    node = expression.with_inputs(tuple(one.node for one in plans))
                    has_changed |= self._keep(group, node, parts)
                    combined += 1
                if combined == self._number or self._left <= 0:
                    break
        return has_changed

    def _united(self, group: Group, plans: Sequence[Ranked]) -> dict[Group, Node] | None:
        """The parts of several plans below a group; None if they disagree on the plan of a group."""
        united: dict[Group, Node] = {}
        for plan in plans:
            for below, part in plan.parts.items():
                if below is group or united.setdefault(below, part) != part:
                    self._is_irregular = True
                    return None
        if len(united) < sum(len(plan.parts) for plan in plans):
            self._is_irregular |= any(self._is_paid_twice(part, plans) for part in united.items())
        return united

    def _is_paid_twice(self, part: tuple[Group, Node], plans: Sequence[Ranked]) -> bool:
        below, node = part
        return self._model.is_priced(node) and sum(below in plan.parts for plan in plans) > 1

    def _keep(self, group: Group, node: Node, below: Mapping[Group, Node]) -> bool:
        """Price a plan of a group; return True if it is kept."""
        sides = self._sides.of(node)
        try:
            estimate = self._model.estimate(node)
        except StatisticsError:
            return False  # an input that the original plan does not have
        parts = {**below, group: node}
        operators = (self._model.estimate(one) for one in parts.values() if self._model.is_priced(one))
        cost = math.fsum(map(self._objective.of_operator, operators))
        costs = self._costs.setdefault(group, {})
        if sides in costs and costs[sides] <= cost:
            return False
        self.priced += 1
        costs[sides] = cost
        return self._insert(group, Ranked(node, cost, parts, sides), self._kind(estimate))

    def _insert(self, group: Group, new: Ranked, kind: Hashable) -> bool:
        kinds = self._kinds.setdefault(group, {})
        plans = kinds.setdefault(kind, [])
        plans[:] = [one for one in plans if one.sides != new.sides]
        insort(plans, new, key=lambda one: one.cost)
        if len(plans) > self._number:
            plans.pop()
            self._has_dropped = True
        return new in plans

    def _kind(self, output: Estimate) -> Hashable:
        """A key that is equal for outputs between which the operators above do not distinguish."""
        numbers = [output.rate, output.l, output.valid, output.always]
        if self._objective.memory or self._objective.state:
            numbers += [output.lag, output.delay]  # processing is the same however late elements come
        return (*(f"{number:.9g}" for number in numbers), output.g, output.cut.even)


def combinations_by_cost(plans: Sequence[Sequence[Ranked]]) -> Iterator[tuple[Ranked, ...]]:
    """All tuples with one plan of each list, in order of total cost; each list is in order of cost.

    Cost     O(log n) for each tuple.
    """

    def cost(numbers: tuple[int, ...]) -> float:
        return math.fsum(of[i].cost for of, i in zip(plans, numbers, strict=True))

    first = (0,) * len(plans)
    if not all(plans):
        return
    waiting, seen = [(cost(first), first)], {first}
    while waiting:
        _, numbers = heapq.heappop(waiting)
        yield tuple(of[i] for of, i in zip(plans, numbers, strict=True))
        for place, number in enumerate(numbers):
            after = (*numbers[:place], number + 1, *numbers[place + 1 :])
            if number + 1 < len(plans[place]) and after not in seen:
                seen.add(after)
                heapq.heappush(waiting, (cost(after), after))
