"""Charts as decision trees, for more dimensions than a grid can have.

A grid of k parts asks the optimizer k^n times in n dimensions; a tree is learned from fewer answers. It
divides by a value, or by the ratio of two: the best join order depends on which of two streams is faster, the
best order of filters on which of two lets more rows pass.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from midstream.optimizer.charts.chart import ChartError, loaded
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.serialise import plan_from_json, plan_to_json

FORMAT, VERSION = "midstream-chart-tree", 1


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
        data = {
            "format": FORMAT,
            "version": VERSION,
            "dimensions": list(self.names),
            "plans": [plan_to_json(plan) for plan in self.plans],
            "nodes": [
                node.number if isinstance(node, Leaf) else [list(node.by), node.bound, node.below, node.above]
                for node in self.nodes
            ],
        }
        return json.dumps(data, ensure_ascii=False)

    @classmethod
    def loads(cls, text: str) -> ChartTree:
        """Read a tree from JSON; raises ChartError, or PlanError if a plan cannot be read."""
        with loaded("tree", text, FORMAT, VERSION) as data:
            return cls(
                tuple(map(str, data["dimensions"])),
                tuple(plan_from_json(plan) for plan in data["plans"]),
                tuple(_node(node) for node in data["nodes"]),
            )


def _node(data: Any) -> Split | Leaf:
    if isinstance(data, int):
        return Leaf(data)
    by, bound, below, above = data
    return Split(tuple(int(one) for one in by), float(bound), int(below), int(above))


def feature(point: Sequence[float], by: Sequence[int]) -> float:
    """A value of a point, or the ratio of two; 0 / 0 is 1."""
    if len(by) == 1:
        return point[by[0]]
    one, other = point[by[0]], point[by[1]]
    return one / other if other else math.inf if one else 1.0
