"""Fidelity: how closely the choices of a chart follow the best plans."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, TypeVar

P = TypeVar("P", bound=Hashable)


class Chooses(Protocol[P]):
    """A chart or a tree: it divides the points into places and has a plan for each."""

    def place(self, point: Sequence[float]) -> P:
        """The place that contains a point."""
        ...

    def number_at(self, place: P) -> int:
        """The position of the best plan at a place."""
        ...


@dataclass(frozen=True, slots=True)
class Step:
    """A round: the observed point, its place, and the position of the chosen plan."""

    point: tuple[float, ...]
    place: Hashable
    number: int


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The path of a stream over a chart.

    moves       number of rounds at another place than the previous one
    switches    number of rounds with another plan than the previous one
    """

    steps: tuple[Step, ...]

    @property
    def moves(self) -> int:
        return sum(one.place != other.place for one, other in pairwise(self.steps))

    @property
    def switches(self) -> int:
        return sum(one.number != other.number for one, other in pairwise(self.steps))


def trajectory(chart: Chooses[P], points: Iterable[Sequence[float]]) -> Trajectory:
    """The choices of a chart, round by round.

    Source   OM, Algorithm 2
    """
    steps = []
    for point in points:
        place = chart.place(point)
        steps.append(Step(tuple(point), place, chart.number_at(place)))
    return Trajectory(tuple(steps))


@dataclass(frozen=True, slots=True)
class Followed:
    """Counts of rounds in which a chart chose the plan.

    hits        rounds in which the chosen plan was the best one, or one of the best
    moves       number of rounds at another place than the previous one
    switches    number of rounds with another plan than the previous one
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
    """Lets charts of the same plans choose, round by round, and counts.

    A new chart may replace the previous one; that is no move.

    Source   OM, Algorithm 2 and 5.1
    """

    def __init__(self) -> None:
        self._rounds = self._hits = self._moves = self._switches = 0
        self._before: tuple[object, Hashable, int] | None = None

    def take(self, chart: Chooses[P], point: Sequence[float], best: Container[int]) -> None:
        """Take a round: the estimated point, and the positions of the best plans."""
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
        """The counts of the rounds so far."""
        return Followed(self._rounds, self._hits, self._moves, self._switches)


def follow(chart: Chooses[P], rounds: Iterable[tuple[Sequence[float], Container[int]]]) -> Followed:
    """Let one chart choose in each round, given as the estimated point and the best plans."""
    follower = Follower()
    for point, best in rounds:
        follower.take(chart, point, best)
    return follower.followed
