"""Starts of the elements of a generated stream."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import NamedTuple

from midstream.scenarios.streams.stream_spec import Bursts, Changing, Course, Poisson, Regular, number_at

ROUNDING = 1e-6
"""Tolerance, in chronons, for rounding errors: 29 may come out as 28.999999999999996."""


def instants(process: Regular | Poisson | Bursts, second: int, random: Random, until: int) -> Iterator[int]:
    """The starts of elements before `until`, in order.

        expected number of elements until t  =  integral of the rate from 0 to t

    At equal distances an element starts whenever that is a whole number, the first one at once; a Poisson
    process has exponentially distributed distances there in place of ones.

    second     how many chronons a second has
    Cost       O(1) an element; O(p log p) for p points of a course and bursts.

    >>> rate = Changing(steps={0: 2, 1000: 4})
    >>> list(instants(Regular(process="constant", rate=rate), 1000, Random(1), 2000))
    [0, 500, 1000, 1250, 1500, 1750]
    """
    # Bursts draw first, so that the number of elements does not move them.
    pieces = list(pieces_of(process, second, random, until))
    is_regular = not isinstance(process, Poisson)
    passed, following = 0.0, 0.0 if is_regular else random.expovariate(1)
    for piece in pieces:
        while following < passed + piece.area:
            yield math.floor(piece.instant(following - passed) + ROUNDING)
            following += 1.0 if is_regular else random.expovariate(1)
        passed += piece.area


class RatePiece(NamedTuple):
    """A time in which the rate, in elements per chronon, changes linearly."""

    since: float
    until: float
    rate: float
    last_rate: float

    @property
    def area(self) -> float:
        return (self.rate + self.last_rate) / 2 * (self.until - self.since)

    def instant(self, area: float) -> float:
        """The instant by which `area` of its elements have come.

        It is `since` + the root x of rate x + slope x² / 2 = area.
        """
        if area <= 0:
            return self.since
        slope = (self.last_rate - self.rate) / (self.until - self.since)
        # The form of the solution that does not divide by the slope, which may be 0.
        root = math.sqrt(max(0.0, self.rate**2 + 2 * slope * area))
        return min(self.since + 2 * area / (self.rate + root), math.nextafter(self.until, self.since))


def pieces_of(
    process: Regular | Poisson | Bursts, second: int, random: Random, until: int
) -> Iterator[RatePiece]:
    """The pieces of a process, in order; bursts are drawn."""
    if not isinstance(process, Bursts):
        yield from _course_pieces(process.rate, second, 0, until)
        return
    now = 0.0
    while now < until:
        pause = _length(process, process.pause, random)
        yield from _course_pieces(process.rate, second, now, min(now + pause, until))
        lasting = _length(process, process.lasting, random)
        yield from _course_pieces(
            process.burst, second, min(now + pause, until), min(now + pause + lasting, until)
        )
        now += pause + lasting


def _length(process: Bursts, mean: int, random: Random) -> float:
    return random.expovariate(1 / mean) if process.random else mean


def _course_pieces(rate: Course, second: int, since: float, until: float) -> Iterator[RatePiece]:
    points = (rate.steps or rate.linear) if isinstance(rate, Changing) else {}
    is_linear = isinstance(rate, Changing) and bool(rate.linear)
    for left, right in pairwise([since, *(point for point in points if since < point < until), until]):
        first = number_at(rate, left) / second
        yield RatePiece(left, right, first, number_at(rate, right) / second if is_linear else first)
