"""What a running plan tells about its inputs: the facts from which statistics are estimated."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

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


@dataclass(frozen=True)
class Cell:
    """What came on a stream between two instants of a grid of application time.

    start, end   the instants; elements that start at `end` are in the next cell
    first        when the first element starts
    count        how many elements came
    length       for how many chronons those of the sample are valid that end, on average
    endless      the share of the sample that is valid for ever
    granule      the greatest common divisor of the timestamps of the sample; 0 where all are 0
    parts        a sample of rows, in `GROUPS` groups, which rows are in at random
    keys         by column, the same groups: how often each value is in the sample; None is no value
    """

    stream: str
    start: int
    end: int
    first: int
    count: int
    length: float
    endless: float
    granule: int
    parts: Sequence[Sequence[Payload]]
    keys: Mapping[str, Sequence[Mapping[Hashable, int]]]

    @cached_property
    def weight(self) -> float:
        """For how many elements a row of the sample stands."""
        return self.count / sum(map(len, self.parts))
