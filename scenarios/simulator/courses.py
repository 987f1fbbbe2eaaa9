"""What is drawn of policies: what each has cost by when, and how it moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from midstream.scenarios.simulator.results import Kind, PolicyMove


class Course(NamedTuple):
    """What something has cost by the ends of equal buckets, and how it moved.

    start       the plan that ran first
    spent       intermediate results so far, at the end of each bucket
    """

    name: str
    kind: Kind
    start: str
    spent: Sequence[int]
    moves: Sequence[PolicyMove]


class Times(NamedTuple):
    """A time axis: when the first bucket begins, the length of a bucket, how long all is; what it is counted
    in, and how many chronons that has."""

    first: int
    every: float
    duration: float
    label: str
    scale: float

    def at(self, time: float) -> float:
        """Where an instant is drawn."""
        return (time - self.first) / self.scale
