"""Derivations: the rules that turn one subplan into another, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from midstream.plans.algebra.plan import Node
from midstream.plans.equivalence.certificate import Step, exchanged


class Equations:
    """Equations between subplans, stored so that a derivation of any of them can be given.

    Two subplans are connected by steps that lead from one to the other; or because they have the same
    operator, and their inputs were connected before. Connected subplans need no further connection, so there
    is exactly one path between any two.
    """

    def __init__(self) -> None:
        self._steps: dict[Node, dict[Node, tuple[Sequence[Step] | None, bool]]] = {}
        """The steps between connected subplans, and True if they lead the other way."""

    def connect(self, start: Node, end: Node, steps: Sequence[Step] | None = None) -> None:
        """Connect two subplans that were not connected, by steps or, without steps, by their inputs."""
        self._steps.setdefault(start, {})[end] = (steps, False)
        self._steps.setdefault(end, {})[start] = (steps, True)

    def steps(self, start: Node, end: Node) -> Iterator[Step]:
        """The steps from one subplan to another.

        Cost     O(subplans known), for each pair of inputs that differ.
        """
        way = self._way(start, end)
        for before, after in pairwise(way):
            steps, is_back = self._steps[before][after]
            if steps is not None:
                # Steps may be computed when they are read, so they are turned round no earlier.
                yield from (step.reversed for step in reversed(steps)) if is_back else steps
                continue
            for number, pair in enumerate(zip(before.inputs, after.inputs, strict=True)):
                yield from (step.below(number) for step in self.steps(*pair))

    def _way(self, start: Node, end: Node) -> list[Node]:
        """The subplans on the path, including both ends."""
        if start == end:
            return [start]
        came_from = {end: end}
        layer = [end]
        while start not in came_from:
            layer = self._next(layer, came_from)
        way = [start]
        while way[-1] != end:
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
    """Steps from a subplan to another one, without those that lead back to a subplan already passed."""
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
