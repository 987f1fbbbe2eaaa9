"""Reordering: the steps of rules from one order of joins to another."""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules import Rule, apply
from midstream.optimizer.rules.joins.join_associativity import JOIN_ASSOCIATIVITY
from midstream.optimizer.rules.joins.join_commutativity import JOIN_COMMUTATIVITY
from midstream.plans.algebra.plan import Node
from midstream.plans.equivalence.certificate import NORMAL_FORM, Step, at, exchanged

Place = tuple[int, ...]


def reorder(before: Node, after: Node, leaves: Iterable[Node]) -> list[Step]:
    """The steps of rules that bring joins of some subplans into another order.

    If a column that a join hides prevents a rule, the reordering is a single step: joins of the same subplans
    under the same conditions.
    """
    turned = _Reordering(before, frozenset(leaves))
    try:
        turned.arrange((), after)
    except _Stuck:
        return [_at_once(before, after)]
    steps = turned.steps
    return steps if turned.root == after else [*steps, _at_once(turned.root, after)]


def _at_once(before: Node, after: Node) -> Step:
    return Step(NORMAL_FORM, (), before, after, "joins of the same inputs under the same conditions")


class _Stuck(Exception):
    """A rule does not apply."""


class _Reordering:
    """A tree of joins that is rotated, with positions as places."""

    def __init__(self, root: Node, leaves: frozenset[Node]) -> None:
        self.root = root
        self.steps: list[Step] = []
        self._leaves = leaves

    def arrange(self, place: Place, wanted: Node) -> None:
        """Bring the joins at a place into an order."""
        if wanted in self._leaves:
            return
        self._split(place, self._below(wanted.inputs[0]))
        for number, side in enumerate(wanted.inputs):
            self.arrange((*place, number), side)

    def _split(self, place: Place, wanted: frozenset[Node]) -> None:
        """Move exactly some subplans to the left side of a join."""
        left, right = map(self._below, at(self.root, place).inputs)
        if left == wanted:
            return
        if wanted <= right or (wanted > right and not wanted > left):
            self._commute(place)
            left, right = right, left
        if left == wanted:
            return
        if wanted < left:
            self._split((*place, 0), wanted)
            self._associate(place)
        elif wanted > left:
            self._split((*place, 1), wanted - left)
            self._commute(place)
            self._commute((*place, 0))
            self._associate(place)
            self._commute((*place, 1))
            self._commute(place)
        else:
            self._split((*place, 0), wanted & left)
            self._associate(place)
            self._split(place, wanted)

    def _below(self, node: Node) -> frozenset[Node]:
        if node in self._leaves:
            return frozenset({node})
        return frozenset().union(*map(self._below, node.inputs))

    def _commute(self, place: Place) -> None:
        self._apply(JOIN_COMMUTATIVITY, place)

    def _associate(self, place: Place) -> None:
        self._apply(JOIN_ASSOCIATIVITY, place)

    def _apply(self, rule: Rule, place: Place) -> None:
        before = at(self.root, place)
        after = next(apply(rule, before), None)
        if after is None:
            raise _Stuck
        self.steps.append(Step(rule.name, place, before, after, rule.equation))
        self.root = exchanged(self.root, place, after)
