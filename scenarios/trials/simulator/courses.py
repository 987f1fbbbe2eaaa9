"""Data for pictures of policies: cumulative costs and moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from midstream.scenarios.trials.simulator.results import Kind, PolicyMove


class CostCurve(NamedTuple):
    """Cumulative costs of a policy or plan by the ends of equal buckets, and its moves.

    start       the plan that ran first
    spent       cumulative intermediate results at the end of each bucket
    """

    name: str
    kind: Kind
    start: str
    spent: Sequence[int]
    moves: Sequence[PolicyMove]


class Times(NamedTuple):
    """A time axis.

    first       the beginning of the first bucket
    every       the length of a bucket
    duration    the length of the whole axis
    scale       chronons per unit of the axis
    """

    first: int
    every: float
    duration: float
    label: str
    scale: float

    def at(self, time: float) -> float:
        """The position of an instant on the axis."""
        return (time - self.first) / self.scale
