"""Exploring: apply rules in a memo until no new expression appears."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from midstream.optimizer.rules import Rule, Shape, Stage, apply, flat
from midstream.optimizer.rules.rule import staged
from midstream.optimizer.search.memo import Memo
from midstream.optimizer.search.simplifying import Simplifier, link
from midstream.plans.algebra.operators import Join
from midstream.plans.algebra.plan import Node, Operator
from midstream.plans.equivalence.certificate import Step


class Exploration:
    """Applies rules to all expressions of a memo, in rounds; each round looks at the results of the last one.

    Simplifying rules are applied from the first round on. Exploring rules come in stages: the next stage
    begins when the previous ones bring nothing new, so it uses the rest of a budget. The result of an
    exploring rule is simplified, and its joins are linked, before it enters the memo. With `raises_alike`,
    rules may not remove errors either.
    """

    def __init__(self, memo: Memo, rules: Sequence[Rule | Stage], *, raises_alike: bool = False) -> None:
        self._memo = memo
        self._raises_alike = raises_alike
        every = flat(rules)
        simplifying = (rule for rule in every if rule.is_simplifying)
        self._simplifier = Simplifier(simplifying, raises_alike=raises_alike)
        self._height = max((_height(rule.shape) for rule in every), default=0)
        self._rules = self._simplifier.rules
        self._stages = deque(_exploring(rules))
        self._begin_stage()
        self._is_done: set[tuple[str, Node, tuple[Node, ...]]] = set()
        """Applications of rules that were tried: name, expression and inputs."""

    @property
    def is_complete(self) -> bool:
        """True if no new expression can appear."""
        return not self._memo.added and not self._stages

    def round(self) -> Iterator[None]:
        """Look at all new expressions; pauses before each application of a rule."""
        if not self._memo.added and self._stages:
            self._begin_stage()
            self._memo.added = [each for group in self._memo.groups() for each in group.expressions]
        for expression in self._due():
            if expression in self._memo.group(expression).expressions:
                for rule in self._rules_for(expression):
                    yield from self._apply(rule, expression)

    def _begin_stage(self) -> None:
        if self._stages:
            self._rules = (*self._rules, *self._stages.popleft())
        self._by_kind: dict[type[Operator], Sequence[Rule]] = {}

    def _rules_for(self, expression: Node) -> Sequence[Rule]:
        """The rules that match such operators."""
        kind = type(expression.operator)
        if kind not in self._by_kind:
            self._by_kind[kind] = [
                rule for rule in self._rules if rule.shape.is_any or issubclass(kind, rule.shape.kinds)
            ]
        return self._by_kind[kind]

    def _due(self) -> list[Node]:
        """The new expressions, and those from which rules may reach them."""
        new, self._memo.added = self._memo.added, []
        due = dict.fromkeys(new)
        layer: Iterable[Node] = new
        for _ in range(self._height):
            layer = [reader for node in layer for reader in self._memo.group(node).readers]
            due.update(dict.fromkeys(layer))
        return list(due)

    def _apply(self, rule: Rule, expression: Node) -> Iterator[None]:
        for inputs in list(self._memo.bindings(expression, rule.shape)):
            key = (rule.name, expression, inputs)
            if key in self._is_done:
                continue
            yield
            self._is_done.add(key)
            binding = expression.with_inputs(inputs)
            for result in apply(rule, binding, raises_alike=self._raises_alike):
                self._take(rule, binding, result)

    def _take(self, rule: Rule, binding: Node, result: Node) -> None:
        steps = [Step(rule.name, (), binding, result, rule.equation)]
        if not rule.keeps_links:
            result, simplifying = self._simplifier.simplify(result, self._memo)
            steps += simplifying
            if self._has_new_join(result):
                result, linking = link(result)
                steps += linking
        self._memo.equate(binding, result, steps)

    def _has_new_join(self, node: Node) -> bool:
        """True if a subplan has a join that the memo does not know; joins in the memo are linked."""
        if node in self._memo:
            return False
        return isinstance(node.operator, Join) or any(map(self._has_new_join, node.inputs))


def _exploring(rules: Sequence[Rule | Stage]) -> Iterator[tuple[Rule, ...]]:
    """The exploring rules of each stage; rules without a stage form one together."""
    for stage in staged(rules):
        if exploring := tuple(rule for rule in stage if not rule.is_simplifying):
            yield exploring


def _height(shape: Shape) -> int:
    """Number of levels below its top that a shape looks into."""
    below = [*shape.inputs, *([shape.each] if shape.each else [])]
    return max((1 + _height(one) for one in below if not one.is_any), default=0)
