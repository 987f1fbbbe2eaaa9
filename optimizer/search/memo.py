"""The memo: all results of rules for a plan, in which equal subplans are stored once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from midstream.optimizer.rules import Shape
from midstream.optimizer.search.derivation import Equations, without_detours
from midstream.plans.algebra.plan import Node
from midstream.plans.equivalence.certificate import Step


class Group:
    """Equivalent subplans, as expressions: operators over groups.

    `node`, the first that was known, stands for all of them as an input. An expression is a node of which
    every input stands for its group.
    """

    __slots__ = ("expressions", "node", "number", "readers")

    def __init__(self, node: Node, number: int) -> None:
        self.node = node
        self.number = number
        self.expressions: dict[Node, None] = {}
        self.readers: dict[Node, None] = {}
        """Expressions of all groups that have this one as an input; some may be outdated."""

    def __repr__(self) -> str:
        return f"<Group {self.number}: {len(self.expressions)} expressions>"


class Memo:
    """Groups of equivalent subplans, with the reasons for their equivalence.

    Every subplan that was ever asked for is known (`group`) and belongs to one group. When two groups turn
    out to be equal, the later one is merged into the earlier one, and expressions over it become expressions
    over that one, which may make further groups equal.
    """

    def __init__(self) -> None:
        self._groups: dict[Node, Group] = {}
        """By known subplan, its group, or one that was merged into another."""
        self._merged: dict[Group, Group] = {}
        self.equations = Equations()
        self.added: list[Node] = []
        """New expressions; whoever processes them empties the list."""
        self._count = 0

    def __contains__(self, node: object) -> bool:
        """True if a subplan is known."""
        return node in self._groups

    def group(self, node: Node) -> Group:
        """The group of a subplan; a new one if it is unknown.

        Cost     O(nodes that are not known yet).
        """
        known = self._groups.get(node)
        if known is not None:
            return self._root(known)
        expression = node.with_inputs(tuple(self.group(child).node for child in node.inputs))
        known = self._groups.get(expression)
        if known is None:
            known = Group(expression, self._count)
            self._count += 1
            self._add(expression, known)
        if expression != node:
            self._groups[node] = known
            self.equations.connect(node, expression)
        return self._root(known)

    def groups(self) -> list[Group]:
        """All groups, in the order in which a subplan of theirs was first known."""
        return list(dict.fromkeys(map(self._root, self._groups.values())))

    def equate(self, before: Node, after: Node, steps: Sequence[Step]) -> bool:
        """Record that two subplans are equivalent, as steps show; return True if that is new."""
        one, other = self.group(before), self.group(after)
        if one is other:
            return False
        self.equations.connect(before, after, steps)
        self._merge(one, other)
        return True

    def rewrite(self, before: Node, after: Node, steps: Sequence[Step]) -> None:
        """As `equate`, but `before`, if unknown, does not become an expression: `after` is better."""
        if before == after or before in self._groups:
            self.equate(before, after, steps)
        else:
            self._groups[before] = self.group(after)
            self.equations.connect(before, after, steps)

    def derivation(self, before: Node, after: Node, output: str) -> list[Step]:
        """The steps from an output of a plan to another subplan of its group, without detours."""
        found = without_detours(before, self.equations.steps(before, after))
        return [replace(step, output=output) for step in found]

    def bindings(self, expression: Node, shape: Shape) -> Iterator[tuple[Node, ...]]:
        """The inputs with which an expression matches a shape.

        Where the shape looks into an input, these are expressions of the input's group; elsewhere the node of
        the group.
        """
        if not shape.is_any and not isinstance(expression.operator, shape.kinds):
            return
        inputs = []
        for place, child in enumerate(expression.inputs):
            below = shape.of_input(place)
            if shape.is_any or below.is_any:
                inputs.append([child])
            elif not (found := list(self._bound(child, below))):
                return
            else:
                inputs.append(found)
        yield from product(*inputs)

    def _bound(self, child: Node, shape: Shape) -> Iterator[Node]:
        for expression in self.group(child).expressions:
            for inputs in self.bindings(expression, shape):
                yield expression.with_inputs(inputs)

    def _add(self, expression: Node, group: Group) -> None:
        self._groups[expression] = group
        group.expressions[expression] = None
        for child in expression.inputs:
            self.group(child).readers[expression] = None
        self.added.append(expression)

    def _root(self, group: Group) -> Group:
        while group in self._merged:
            group = self._merged[group]
        return group

    def _merge(self, one: Group, other: Group) -> None:
        """Merge two groups between whose subplans a connection exists already."""
        readers = deque(self._unite(one, other))
        while readers:
            # One at a time: connected subplans must be in one group before anything else is connected.
            if equal := self._reread(readers.popleft()):
                readers.extend(self._unite(*equal))

    def _unite(self, one: Group, other: Group) -> Iterable[Node]:
        """Merge the later of two groups into the earlier one; return the expressions over it."""
        stays, goes = sorted((one, other), key=lambda group: group.number)
        self._merged[goes] = stays
        stays.expressions.update(goes.expressions)
        self.added.extend(goes.expressions)
        return goes.readers

    def _reread(self, expression: Node) -> tuple[Group, Group] | None:
        """Renew an expression over the merged groups of its inputs; return two groups if they are equal."""
        group = self.group(expression)
        if expression not in group.expressions:
            return None  # another input of it has changed before
        renewed = expression.with_inputs(tuple(self.group(child).node for child in expression.inputs))
        del group.expressions[expression]
        known = self._groups.get(renewed)
        if known is None:
            self._add(renewed, group)
            self.equations.connect(expression, renewed)
            return None
        known = self._root(known)
        if known is group:
            return None
        self.equations.connect(expression, renewed)
        return known, group
