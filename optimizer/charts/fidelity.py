"""How well a chart follows what changes."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Sequence
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

    hits        rounds in which that was the best one, or one of the best
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


class Follower:
    """Lets charts of the same plans choose, round by round, and counts. A chart may take the place of
    another one; that is no move.

    Source   OM, Algorithm 2 and 5.1
    """

    def __init__(self) -> None:
        self._rounds = self._hits = self._moves = self._switches = 0
        self._before: tuple[object, Hashable, int] | None = None

    def take(self, chart: Chooses[P], point: Sequence[float], best: Container[int]) -> None:
        """A round: the point as it was estimated, and the plans that were best."""
        place = chart.place(point)
        chosen = chart.number_at(place)
        self._rounds += 1
        self._hits += chosen in best
        if self._before is not None:
            earlier, there, number = self._before
            self._moves += earlier is chart and there != place
            self._switches += number != chosen
        self._before = chart, place, chosen

    @property
    def followed(self) -> Followed:
        """What became of the rounds so far."""
        return Followed(self._rounds, self._hits, self._moves, self._switches)


def follow(chart: Chooses[P], rounds: Iterable[tuple[Sequence[float], Container[int]]]) -> Followed:
    """Let one chart choose in each round; told are the point as it was estimated, and the best plans."""
    follower = Follower()
    for point, best in rounds:
        follower.take(chart, point, best)
    return follower.followed
