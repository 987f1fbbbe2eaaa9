"""Ranges of dimensions, learned from the values so far."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from midstream.optimizer.charts.chart import ChartError, Dimension

Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class RangeSettings:
    """Settings for learning ranges; a round is one look at the statistics.

    first       number of rounds before ranges are made
    history     number of latest rounds from which ranges are made
    recent      number of latest rounds that are checked for values outside the ranges
    often       share of those with a value outside above which ranges are made again
    tail        share of the values at each end that count as outliers
    margin      extension of ranges beyond the other values, as a share of their length
    narrow      ranges are made again after `history` rounds that need less than this share of their length
    """

    first: int = 16
    history: int = 256
    recent: int = 16
    often: float = 0.25
    tail: float = 0.02
    margin: float = 0.15
    narrow: float = 0.5

    def outliers(self, number: int) -> int:
        """Number of outliers at each end among `number` values.

        There are never so many that a range without them would have to be made again.
        """
        return min(math.ceil(self.tail * number), int(self.often * number / 2))


STANDARD = RangeSettings()


@dataclass(slots=True)
class LearnedRange:
    """The range of a value, learned from its values so far, within the possible values [least, most].

    A range that `is_given` stays. The range of a dimension that `is_logarithmic` is made from the logarithms
    of values above 0; others are left out.

    Cost     O(1) per value; O(history log history) when the range is made

    >>> learned = LearnedRange(least=0.0)
    >>> for i in range(40):
    ...     _ = learned.see(10 + i % 5)
    >>> learned.see(1000.0), learned.range
    (False, (9.4, 14.6))
    >>> [learned.see(1000.0) for _ in range(4)]
    [False, False, False, True]
    """

    least: float = -math.inf
    most: float = math.inf
    settings: RangeSettings = STANDARD
    range: Range | None = None
    is_given: bool = False
    is_logarithmic: bool = False
    _seen: deque[float] = field(default_factory=deque)
    _age: int = 0

    def see(self, value: float) -> bool:
        """Take a value; return True if the range was made, or made again."""
        if self.is_given or not math.isfinite(value) or (self.is_logarithmic and value <= 0):
            return False
        self._seen.append(value)
        self._age += 1
        if len(self._seen) > self.settings.history:
            self._seen.popleft()
        if len(self._seen) < self.settings.first:
            return False
        if self.range is None or self._is_left(self.range) or self._is_too_long(self.range):
            self.range, self._age = self._made(), 0
            return True
        return False

    def _is_left(self, range_: Range) -> bool:
        low, high = range_
        latest = self._latest()
        outside = sum(not low <= value <= high for value in latest)
        return outside > self.settings.often * len(latest)

    def _is_too_long(self, range_: Range) -> bool:
        if self._age < self.settings.history:
            return False
        self._age = 0
        return self._length(self._made()) < self.settings.narrow * self._length(range_)

    def _length(self, range_: Range) -> float:
        low, high = range_
        return math.log(high / low) if self.is_logarithmic else high - low

    def _made(self) -> Range:
        """A range around most of the values in the history, and most of the recent ones.

        The recent values are few, but they are the reason why the range is made again.
        """
        ends = [
            middle_part(values, self.settings.outliers(len(values)))
            for values in (list(self._seen), self._latest())
        ]
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        if self.is_logarithmic:
            low, high = widened(math.log(low), math.log(high), self.settings.margin)
            return math.exp(low), min(self.most, math.exp(high))
        return widened(low, high, self.settings.margin, self.least, self.most)

    def _latest(self) -> list[float]:
        beginning = max(0, len(self._seen) - self.settings.recent)
        return list(islice(self._seen, beginning, None))


@dataclass
class LearnedRanges:
    """The dimensions of a chart, learned from the points of a stream so far; given ranges stay."""

    names: Sequence[str]
    parts: int
    learned: Sequence[LearnedRange]

    @property
    def dimensions(self) -> tuple[Dimension, ...] | None:
        """The dimensions; None until all of them have ranges."""
        found = [
            Dimension(name, *one.range, self.parts, one.is_logarithmic)
            for name, one in zip(self.names, self.learned, strict=True)
            if one.range is not None
        ]
        return tuple(found) if len(found) == len(self.learned) else None

    def see(self, point: Sequence[float]) -> bool:
        """Take a point; return True if the dimensions have changed."""
        if len(point) != len(self.learned):
            raise ChartError(f"ranges: found {len(point)} values, expected {len(self.learned)}")
        changed = [one.see(value) for one, value in zip(self.learned, point, strict=True)]
        return any(changed) and self.dimensions is not None


def middle_part(values: Sequence[float], outliers: int) -> Range:
    """The least and the largest of some values without the outliers at each end.

    >>> middle_part([5.0, 1.0, 2.0, 3.0, 99.0], 1)
    (2.0, 5.0)
    """
    if len(values) <= 2 * outliers:
        raise ChartError(f"range: found {len(values)} values, expected more than {2 * outliers}")
    ordered = sorted(values)
    return ordered[outliers], ordered[len(ordered) - 1 - outliers]


def widened(
    low: float, high: float, margin: float, least: float = -math.inf, most: float = math.inf
) -> Range:
    """A range with a margin at both ends, within the possible values.

    A single value gets a tenth of itself at both ends, so that the range has a length.

    >>> widened(2.0, 4.0, 0.25, least=0.0), widened(0.5, 0.5, 0.25, 0.0, 1.0)
    ((1.5, 4.5), (0.45, 0.55))
    """
    extra = margin * (high - low) or abs(high) / 10 or 1e-9
    low, high = max(least, low - extra), min(most, high + extra)
    return (low, high) if low < high else (least, most)
