"""A bounded number of elements of each stream, and the pairs among them.

A hash of time and payload chooses the elements, so the choice does not depend on partitions. Of two samples
of a stream, the smaller one is part of the larger one.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import functions as F

from midstream.optimizer.sampling.intervals import Interval, Member, share_of_pairs
from midstream.scenarios.recordings.derived import Timed, compiled
from midstream.scenarios.recordings.recording import Recording
from midstream.scenarios.streams.recorded.inputs import PlanInput

ROWS = 8192
"""The number of elements drawn from a stream."""

HASHES, SPARE = 1 << 31, 500

PAIRS = 100_000
"""The number of pairs of drawn elements valid together that are tried, about."""


@dataclass(frozen=True)
class Drawn:
    """Some elements of a stream, in the order of their hashes, and their share of all elements."""

    elements: Sequence[Timed]
    share: float

    def fewer(self, factor: float) -> Drawn:
        """A part of these elements."""
        return Drawn(self.elements[: math.ceil(factor * len(self.elements))], factor * self.share)

    def half(self, number: int) -> Drawn:
        """The first or second half: both sides of a pair of one stream must be drawn independently."""
        return Drawn(self.elements[number::2], self.share / 2)

    def of(self, plan_input: PlanInput) -> Drawn:
        """The elements of an input that reads the stream, after filters and projections."""
        known = plan_input.stream.columns.names
        positions = [known.index(name) for name in next(iter(plan_input.chain.walk())).schema.names]
        rows = ((time, tuple(row[i] for i in positions)) for time, row in self.elements)
        return Drawn(list(compiled(plan_input.chain)(rows)), self.share)


def drawn(recording: Recording, names: Sequence[str], most: int = ROWS) -> Mapping[str, Drawn]:
    """Draw some elements of each stream.

    Cost     A pass over the streams; at most `most` rows of each come to the driver.
    """
    found = {}
    for name in names:
        frame, total = recording.frames[name], recording.totals[name].count
        order = F.pmod(F.xxhash64(*frame.columns), F.lit(HASHES))
        # What is sorted is bounded, too: about a quarter more than is asked for.
        likely = frame.where(order < HASHES * (5 * most // 4 + SPARE) // max(1, total))
        rows = likely.orderBy(order, *frame.columns).limit(most).collect()
        found[name] = Drawn([(row[0], tuple(row[1:])) for row in rows], len(rows) / total if total else 1.0)
    return found


PairTest = Callable[[Any], Any]
"""A test of a pair of rows, which stand one behind the other in one tuple."""


def sampled_share(
    left: Drawn,
    right: Drawn,
    lengths: tuple[int, int],
    overlapping: int,
    holds: PairTest,
    premise: PairTest | None = None,
) -> Interval:
    """The share of pairs valid together that satisfy a condition, with 90 % confidence.

    With a `premise`, it is the share among the pairs that satisfy that condition.

    `overlapping` is the number of pairs valid together among all elements. It predicts how many there are
    among the drawn ones, and so how many of these are looked at.
    """
    expected = left.share * right.share * overlapping
    if expected > PAIRS:
        factor = math.sqrt(PAIRS / expected)
        left, right = left.fewer(factor), right.fewer(factor)
    return share_of_pairs(*pair_members(left.elements, right.elements, lengths, holds, premise))


def pair_members(
    left: Sequence[Timed],
    right: Sequence[Timed],
    lengths: tuple[int, int],
    holds: PairTest,
    premise: PairTest | None = None,
) -> tuple[list[Member], list[Member]]:
    """The members of both sides; elements at t are valid in [t, t + length).

    Cost     O(n log n + pairs)

    >>> pair_members([(0, (1,)), (9, (2,))], [(4, (1,)), (5, (2,))], (5, 5), lambda pair: pair[0] == pair[1])
    ([Member(matches=1, partners=1), Member(matches=1, partners=1)], [Member(matches=1, partners=1), \
Member(matches=1, partners=1)])
    """
    right = sorted(right, key=lambda element: element[0])
    times = [time for time, _ in right]
    matches, partners = [0] * len(right), [0] * len(right)
    ours = []
    for time, row in left:
        # Those that end after its start, and start before its end.
        first, end = bisect_right(times, time - lengths[1]), bisect_left(times, time + lengths[0])
        matching = others = 0
        for i in range(first, end):
            pair = row + right[i][1]
            if premise is not None and not premise(pair):
                continue
            others += 1
            partners[i] += 1
            if holds(pair):
                matching += 1
                matches[i] += 1
        ours.append(Member(matching, others))
    return ours, [Member(*each) for each in zip(matches, partners, strict=True)]
