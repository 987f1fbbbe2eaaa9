"""Slices of a recording's time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from midstream.plans.values.errors import ArgumentError


@dataclass(frozen=True, order=True)
class Slice:
    """What starts in [start, end), in chronons."""

    start: int
    end: int


def slices(first: int, last: int, length: int, number: int) -> tuple[Slice, ...]:
    """Cells of equal length from the first element's start on, evenly spread; all of them, where there are
    no more than the number.

    >>> [one.start for one in slices(100, 199, 10, 4)]
    [100, 120, 150, 170]
    >>> slices(100, 104, 10, 4)
    (Slice(start=100, end=110),)
    """
    if length < 1 or number < 1:
        raise ArgumentError(f"slices: found {number} of length {length}, expected 1 or more of each")
    cells = (last - first) // length + 1
    chosen: Sequence[int] = range(cells) if cells <= number else [i * cells // number for i in range(number)]
    return tuple(Slice(first + i * length, first + (i + 1) * length) for i in chosen)
