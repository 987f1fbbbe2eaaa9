"""Errors of forecasts of state, by the height of operators in their plans (thesis, 24.4)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from midstream.optimizer.cost.model import CostModel
from midstream.optimizer.statistics import Statistics
from midstream.plans.algebra.operators import Join
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical


@dataclass(frozen=True, slots=True)
class LevelError:
    """Expected and held elements of the joins at a height.

    level      1 for joins of windows and aggregations, 2 for joins of these, and so on
    operators  the number of joins
    expected   their elements by the cost model
    held       their elements, on average over time
    """

    level: int
    operators: int
    expected: float
    held: float

    @property
    def error(self) -> float:
        """The relative error of their sum."""
        return self.expected / self.held - 1 if self.held else 0.0


class ForecastErrors:
    """Compares what operators hold with what the cost model expects, while settings are steady."""

    def __init__(self) -> None:
        self._looks = 0
        self._held: Counter[Node] = Counter()
        self._plans: list[Plan] = []
        self._sums: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)

    def see(self, plans: Iterable[Plan], held: Mapping[Node, int]) -> None:
        """Take the elements of operators by logical node, at an instant of a steady time with equal plans."""
        self._looks += 1
        self._plans = list(plans)
        self._held.update(held)

    def close(self, statistics: Statistics) -> None:
        """End a steady time, and compare."""
        if self._looks:
            model = CostModel(statistics)
            for node, level in levels(self._plans).items():
                pair = model.estimate(node).state, self._held[node] / self._looks
                self._sums[level].append(pair)
        self._looks, self._held = 0, Counter()

    def errors(self) -> tuple[LevelError, ...]:
        """The errors by level; of several steady times together."""
        return tuple(
            LevelError(
                level,
                len(pairs),
                math.fsum(expected for expected, _ in pairs),
                math.fsum(held for _, held in pairs),
            )
            for level, pairs in sorted(self._sums.items())
        )


def overall(errors: Sequence[LevelError]) -> float | None:
    """The relative error of all levels together; None without one.

    >>> round(overall([LevelError(1, 9, 110.0, 100.0), LevelError(2, 9, 105.0, 100.0)]), 3)
    0.075
    """
    held = math.fsum(one.held for one in errors)
    return abs(math.fsum(one.expected for one in errors) / held - 1) if held else None


def growth(errors: Sequence[LevelError]) -> float | None:
    """The mean growth of the absolute error from a level to the next; None with fewer than two.

    >>> round(growth([LevelError(1, 9, 110.0, 100.0), LevelError(3, 9, 84.0, 100.0)]), 3)
    0.03
    """
    if len(errors) < 2:
        return None
    first, last = errors[0], errors[-1]
    return (abs(last.error) - abs(first.error)) / (last.level - first.level)


def levels(plans: Iterable[Plan]) -> dict[Node, int]:
    """The joins of plans, each with its height: the most joins on a way down from it, itself included.

    >>> from midstream.plans.algebra.builder import stream
    >>> a, b, c = (stream(name, {f"{name}k": "integer"}).window(9) for name in "abc")
    >>> plan = a.join(b, on=[("ak", "bk")]).join(c, on=[("ak", "ck")]).plan()
    >>> sorted(levels([plan]).values())
    [1, 2]
    """
    heights: dict[Node, int] = {}
    for plan in plans:
        for node in plan.nodes:
            below = max((heights[child] for child in node.inputs), default=0)
            heights[node] = below + isinstance(logical(node), Join)
    return {node: height for node, height in heights.items() if isinstance(logical(node), Join)}
