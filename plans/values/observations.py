"""Observations of a running plan's inputs, from which statistics are estimated."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from midstream.plans.values.streams import Element, Payload, Time

GROUPS = 8
"""The number of random groups of elements; estimates without one group each tell how sure the whole is."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The observed elements of one input of a plan.

    `recent` holds the last elements, as many as the observer keeps; `progress` is the time up to which the
    input is complete.
    """

    count: int
    progress: Time
    max_end: Time
    recent: Sequence[Element]


class Cell(NamedTuple):
    """Statistics of a stream between two instants of a grid of application time.

    start, end   the instants; elements that start at `end` are in the next cell
    first        the start of the first element
    elements     the number of elements
    length       the average validity, in chronons, of the elements of the sample that end
    endless      the share of the sample's elements that are valid for ever
    granule      the greatest common divisor of some of the sample's timestamps; 0 if all are 0
    rows         a sample
    groups       for each row of the sample, its group: one of `GROUPS`, at random
    keys         for each column, the number of times that each value is in the sample, without None
    """

    stream: str
    start: int
    end: int
    first: int
    elements: int
    length: float
    endless: float
    granule: int
    rows: Sequence[Payload]
    groups: bytes
    keys: Mapping[str, Mapping[Hashable, int]]

    @property
    def weight(self) -> float:
        """The number of elements that each row of the sample stands for."""
        return self.elements / len(self.rows)
