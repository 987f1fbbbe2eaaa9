"""Derivations: which rules make one subplan of another, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from midstream.plans.algebra.plan import Node
from midstream.plans.equivalence.certificate import Step, exchanged


class Equations:
    """Equations between subplans, kept such that it can be told how one follows from others.

    Two subplans are connected by steps that lead from one to the other; or because they are the same operator
    over inputs that were connected before. What is connected already needs no further connection, so that
    there is one way between any two.
    """

    def __init__(self) -> None:
        self._steps: dict[Node, dict[Node, Sequence[Step] | None]] = {}

    def connect(self, one: Node, other: Node, steps: Sequence[Step] | None = None) -> None:
        """Two subplans that were not connected; without steps by their inputs."""
        back = None if steps is None else tuple(step.reversed for step in reversed(steps))
        self._steps.setdefault(one, {})[other] = steps
        self._steps.setdefault(other, {})[one] = back

    def steps(self, one: Node, other: Node) -> Iterator[Step]:
        """How the one becomes the other.

        Cost     O(subplans known), for each pair of inputs that differ.
        """
        way = self._way(one, other)
        for before, after in pairwise(way):
            steps = self._steps[before][after]
            if steps is not None:
                yield from steps
                continue
            for number, pair in enumerate(zip(before.inputs, after.inputs, strict=True)):
                yield from (step.below(number) for step in self.steps(*pair))

    def _way(self, one: Node, other: Node) -> list[Node]:
        """The subplans on the way, both ends among them."""
        if one == other:
            return [one]
        came_from = {other: other}
        layer = [other]
        while one not in came_from:
            layer = self._next(layer, came_from)
        way = [one]
        while way[-1] != other:
            way.append(came_from[way[-1]])
        return way

    def _next(self, layer: list[Node], came_from: dict[Node, Node]) -> list[Node]:
        reached: list[Node] = []
        for node in layer:
            for neighbour in self._steps[node]:
                if neighbour not in came_from:
                    came_from[neighbour] = node
                    reached.append(neighbour)
        assert reached, "the subplans are not connected"
        return reached


def without_detours(root: Node, steps: Iterable[Step]) -> list[Step]:
    """Steps that lead from a subplan to another one, without those that lead back to where it has been."""
    kept: list[Step] = []
    met = [root]
    numbers = {root: 0}
    for step in steps:
        root = exchanged(root, step.place, step.after)
        if root in numbers:
            last = numbers[root]
            for left in met[last + 1 :]:
                del numbers[left]
            del kept[last:], met[last + 1 :]
        else:
            kept.append(step)
            met.append(root)
            numbers[root] = len(kept)
    return kept
