"""The plans that a memo contains."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from midstream.optimizer.search.memo import Group, Memo
from midstream.plans.algebra.plan import Node, Plan

Choices = Callable[[Group], Iterable[Node]]
"""Maps a group to the expressions that a plan may use."""


class Trees:
    """All choices of one expression for each group of a plan, such that no group is below itself."""

    def __init__(self, memo: Memo, choices: Choices) -> None:
        self._memo = memo
        self._choices = choices
        self._built: dict[tuple[Node, tuple[Node, ...]], Node] = {}

    def plans(self, roots: Mapping[str, Node]) -> Iterator[Plan]:
        """All plans with these outputs, in a fixed order."""
        groups = {name: self._memo.group(root) for name, root in roots.items()}
        for chosen in self._chosen(list(groups.values()), {}):
            built: dict[Group, Node] = {}
            yield Plan({name: self._build(group, chosen, built) for name, group in groups.items()})

    def _chosen(self, pending: list[Group], chosen: dict[Group, Node]) -> Iterator[dict[Group, Node]]:
        """All complete choices; each is valid only until the next one is asked for."""
        while pending and pending[-1] in chosen:
            pending = pending[:-1]
        if not pending:
            yield chosen
            return
        *rest, group = pending
        for expression in self._choices(group):
            below = [self._memo.group(child) for child in expression.inputs]
            if not self._reaches(group, below, chosen):
                chosen[group] = expression
                yield from self._chosen([*rest, *below], chosen)
                del chosen[group]

    def _reaches(self, group: Group, start: list[Group], chosen: Mapping[Group, Node]) -> bool:
        """True if a group is below some groups, as far as expressions are chosen."""
        stack, seen = list(start), set()
        while stack:
            one = stack.pop()
            if one is group:
                return True
            if one in chosen and one not in seen:
                seen.add(one)
                stack.extend(map(self._memo.group, chosen[one].inputs))
        return False

    def _build(self, group: Group, chosen: Mapping[Group, Node], built: dict[Group, Node]) -> Node:
        if group not in built:
            expression = chosen[group]
            inputs = tuple(self._build(self._memo.group(c), chosen, built) for c in expression.inputs)
            key = (expression, inputs)
            if key not in self._built:
                self._built[key] = expression.with_inputs(inputs)
            built[group] = self._built[key]
        return built[group]
