"""Charts as decision trees, for more dimensions than a grid can have.

A grid of k parts asks the optimizer k^n times in n dimensions; a tree is learned from fewer answers. It
divides by a value, or by the ratio of two: the best join order depends on which of two streams is faster, the
best order of filters on which of two lets more rows pass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from midstream.optimizer.charts.chart import ChartError
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.serialise import plan_from_json, plan_to_json
from midstream.plans.values.artefacts import ArtefactError, Header, artefact_text, parsed, read_artefact

HEADER: Header = {"format": "midstream-chart-tree", "version": 1}


@dataclass(frozen=True, slots=True)
class Split:
    """A node that divides by a value, or by the ratio of two: `below` if it is below the bound, else `above`.

    by             the positions of one or two dimensions
    below, above   the positions of the next nodes
    """

    by: tuple[int, ...]
    bound: float
    below: int
    above: int


@dataclass(frozen=True, slots=True)
class Leaf:
    """A part in which one plan is best, with the plan's position."""

    number: int


@dataclass(frozen=True)
class ChartTree:
    """The best of some plans for every point, by a decision tree.

    nodes   the first one is the root

    Cost    O(depth) to look up
    """

    names: tuple[str, ...]
    plans: tuple[Plan, ...]
    nodes: tuple[Split | Leaf, ...]

    def __post_init__(self) -> None:
        if not self.nodes:
            raise ChartError("tree: found no node, expected one or more")
        for i, node in enumerate(self.nodes):
            if isinstance(node, Leaf):
                if not 0 <= node.number < len(self.plans):
                    raise ChartError(f"tree: found plan {node.number}, expected one of {len(self.plans)}")
            elif not (i < node.below < len(self.nodes) and i < node.above < len(self.nodes)):
                raise ChartError(f"tree: found {node} at {i}, expected children with later positions")
            elif not (len(node.by) in (1, 2) and all(0 <= one < len(self.names) for one in node.by)):
                raise ChartError(f"tree: found {node}, expected one or two of {len(self.names)} dimensions")

    def place(self, point: Sequence[float]) -> int:
        """The position of the leaf that contains a point."""
        if len(point) != len(self.names):
            raise ChartError(f"tree: found {len(point)} values, expected {len(self.names)}")
        at = 0
        while isinstance(node := self.nodes[at], Split):
            at = node.below if feature(point, node.by) < node.bound else node.above
        return at

    def number_at(self, place: int) -> int:
        """The position of the best plan at a leaf."""
        leaf = self.nodes[place]
        if isinstance(leaf, Split):
            raise ChartError(f"tree: found {leaf} at {place}, expected a leaf")
        return leaf.number

    def plan(self, point: Sequence[float]) -> Plan:
        """The best plan at a point."""
        return self.plans[self.number_at(self.place(point))]

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return sum(isinstance(node, Leaf) for node in self.nodes)

    def dumps(self) -> str:
        """The tree as JSON that `loads` reads."""
        nodes = tuple(
            node.number
            if isinstance(node, Leaf)
            else (node.by, None if node.bound == math.inf else node.bound, node.below, node.above)
            for node in self.nodes
        )
        return artefact_text(HEADER, _TreeFile(self.names, tuple(map(plan_to_json, self.plans)), nodes))

    @classmethod
    def loads(cls, text: str) -> ChartTree:
        """Read a tree from JSON; raises ChartError, or PlanError if a plan cannot be read."""
        try:
            # Earlier versions wrote an infinite bound as Infinity, which is no JSON.
            file = read_artefact(parsed(text, constant=lambda _: None), HEADER, _TreeFile)
        except ArtefactError as error:
            raise ChartError(f"tree: {error}") from error
        return cls(file.dimensions, tuple(map(plan_from_json, file.plans)), tuple(map(_node, file.nodes)))


_SplitInFile = tuple[tuple[int, ...], float | None, int, int]
"""The fields of a split; null stands for an infinite bound."""


@dataclass(frozen=True)
class _TreeFile:
    dimensions: tuple[str, ...]
    plans: tuple[dict[str, Any], ...]
    nodes: tuple[int | _SplitInFile, ...]


def _node(data: int | _SplitInFile) -> Split | Leaf:
    if isinstance(data, int):
        return Leaf(data)
    by, bound, below, above = data
    return Split(by, math.inf if bound is None else bound, below, above)


def feature(point: Sequence[float], by: Sequence[int]) -> float:
    """A value of a point, or the ratio of two; 0 / 0 is 1."""
    if len(by) == 1:
        return point[by[0]]
    one, other = point[by[0]], point[by[1]]
    return one / other if other else math.inf if one else 1.0
