"""What a running plan tells about its inputs: the facts from which statistics are estimated."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from midstream.plans.values.streams import Element, Payload, Time

GROUPS = 8
"""Elements are in so many groups, at random: what follows from all but one tells how sure it is."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What was seen of one input of a plan.

    `recent` holds the last elements, as many as the observer keeps; `progress` is the time up to which the
    input is complete.
    """

    count: int
    progress: Time
    max_end: Time
    recent: Sequence[Element]


class Cell(NamedTuple):
    """What came on a stream between two instants of a grid of application time.

    start, end   the instants; elements that start at `end` are in the next cell
    first        when the first element starts
    elements     how many came
    length       for how many chronons those of the sample are valid that end, on average
    endless      the share of the sample that is valid for ever
    granule      the greatest common divisor of some of the sample's timestamps; 0 where all are 0
    rows         a sample
    groups       for each row of it, its group: one of `GROUPS`, at random
    keys         by column, how often each value is in the sample; None is no value
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
        """For how many elements a row of the sample stands."""
        return self.elements / len(self.rows)
