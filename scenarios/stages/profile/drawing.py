"""A bounded number of elements of each stream, and the pairs among them.

The elements are those of a sample of the stream (`stream.sample`) that has so many: those with the least
hashes of time and payload. So the choice does not depend on partitions, and of two samples of a stream, the
smaller one is part of the larger one.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql.types import LongType, StructField, StructType

from midstream.optimizer.sampling.intervals import Interval, Member, share_of_pairs
from midstream.plans.algebra.operators import Sample
from midstream.plans.values.stable_hash import HASHES, limit, stable_hash
from midstream.scenarios.recordings.derived import Timed, compiled
from midstream.scenarios.recordings.recording import Recording
from midstream.scenarios.streams.recorded.inputs import PlanInput

ROWS = 8192
"""The number of elements drawn from a stream."""

SPARE = 500
"""Elements that are sorted beyond a quarter more than are asked for, so that hardly ever too few are."""

HASH = "hash"
"""The column with the hash of a row, less 2⁶³: Spark's integers have a sign."""

PAIRS = 100_000
"""The number of pairs of drawn elements valid together that are tried, about."""


@dataclass(frozen=True)
class DrawnElements:
    """Some elements of a stream, in the order of their hashes, and their share of all elements."""

    elements: Sequence[Timed]
    share: float

    def fewer(self, factor: float) -> DrawnElements:
        """A part of these elements."""
        return DrawnElements(self.elements[: math.ceil(factor * len(self.elements))], factor * self.share)

    def half(self, number: int) -> DrawnElements:
        """The first or second half: both sides of a pair of one stream must be drawn independently."""
        return DrawnElements(self.elements[number::2], self.share / 2)

    def of(self, plan_input: PlanInput) -> DrawnElements:
        """The elements of an input that reads the stream, after filters and projections."""
        known = plan_input.stream.columns.names
        positions = [known.index(name) for name in next(iter(plan_input.chain.walk())).schema.names]
        rows = ((time, tuple(row[i] for i in positions)) for time, row in self.elements)
        return DrawnElements(list(compiled(plan_input.chain)(rows)), self.share)


def drawn(recording: Recording, names: Sequence[str], most: int = ROWS) -> Mapping[str, DrawnElements]:
    """Draw some elements of each stream.

    Cost     A pass over the streams; at most `most` rows of each come to the driver.
    """
    found = {}
    for name in names:
        frame, total = recording.frames[name], recording.totals[name].count
        # What is sorted is bounded, too.
        share = min(1.0, (5 * most / 4 + SPARE) / max(1, total))
        likely = frame.mapInArrow(
            partial(sample_batches, sample=Sample(name, share)),
            StructType([*frame.schema.fields, StructField(HASH, LongType())]),
        )
        rows = likely.orderBy(HASH, *frame.columns).limit(most).collect()
        elements = [(row[0], tuple(row[1:-1])) for row in rows]
        found[name] = DrawnElements(elements, len(rows) / total if total else 1.0)
    return found


def sample_batches(batches: Iterator[pa.RecordBatch], sample: Sample) -> Iterator[pa.RecordBatch]:
    """The rows of a stream that are in a sample, with their hashes; a row is a time and a payload.

    Cost     O(batch)
    """
    most, seed = limit(sample.share), sample.key
    for batch in batches:
        rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        hashes = [stable_hash(row, seed) for row in rows]
        places = pa.array([i for i, each in enumerate(hashes) if each < most], pa.int64())
        drawn_hashes = pa.array([each - HASHES // 2 for each in hashes if each < most], pa.int64())
        columns = [*(column.take(places) for column in batch.columns), drawn_hashes]
        yield pa.RecordBatch.from_arrays(columns, [*batch.schema.names, HASH])


PairTest = Callable[[Any], Any]
"""A test of a pair of rows, which stand one behind the other in one tuple."""


def sampled_share(
    left: DrawnElements,
    right: DrawnElements,
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
