"""How well a chart follows what changes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, TypeVar

P = TypeVar("P", bound=Hashable)


class Chooses(Protocol[P]):
    """Divides what may change into places, and has a plan for each: a chart, or a tree."""

    def place(self, point: Sequence[float]) -> P:
        """The place with a point."""
        ...

    def number_at(self, place: P) -> int:
        """Which plan is best at a place."""
        ...


@dataclass(frozen=True, slots=True)
class Step:
    """A round: what was seen, at which place that is, and which plan the chart chose."""

    point: tuple[float, ...]
    place: Hashable
    number: int


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A stream's way over a chart.

    moves       how often a round was at another place than the one before
    switches    how often it had another plan
    """

    steps: tuple[Step, ...]

    @property
    def moves(self) -> int:
        return sum(one.place != other.place for one, other in pairwise(self.steps))

    @property
    def switches(self) -> int:
        return sum(one.number != other.number for one, other in pairwise(self.steps))


def trajectory(chart: Chooses[P], points: Iterable[Sequence[float]]) -> Trajectory:
    """What a chart chooses, round by round.

    Source   OM, Algorithm 2
    """
    steps = []
    for point in points:
        place = chart.place(point)
        steps.append(Step(tuple(point), place, chart.number_at(place)))
    return Trajectory(tuple(steps))


@dataclass(frozen=True, slots=True)
class Followed:
    """What became of rounds in which a chart chose the plan.

    hits        rounds in which that was the best one
    moves       how often a round was at another place than the one before
    switches    how often it had another plan
    """

    rounds: int
    hits: int
    moves: int
    switches: int

    @property
    def fidelity(self) -> float | None:
        """The share of hits; None without rounds."""
        return self.hits / self.rounds if self.rounds else None


def follow(chart: Chooses[P], rounds: Iterable[tuple[Sequence[float], int]]) -> Followed:
    """Let a chart choose in each round; told are the point as it was estimated, and the plan that was best.

    Source   OM, Algorithm 2 and 5.1
    """
    told = list(rounds)
    way = trajectory(chart, (point for point, _ in told))
    hits = sum(step.number == best for step, (_, best) in zip(way.steps, told, strict=True))
    return Followed(len(told), hits, way.moves, way.switches)
