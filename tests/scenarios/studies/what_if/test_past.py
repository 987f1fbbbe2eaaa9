"""What is known before a bucket: decayed counts of the buckets before it."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.plans.algebra.builder import stream
from midstream.plans.values.errors import ArgumentError
from midstream.scenarios.recordings.pricing import InputFacts, bucket_statistics
from midstream.scenarios.stages.what_if.past import MOST_BUCKETS, past_statistics, remembered

BUCKET = 100
NODES = tuple(stream(name, **{name: "integer"}).window(60).node for name in "ab")
COUNTED = st.dictionaries(st.integers(0, 4), st.integers(1, 9), max_size=4)


@given(st.lists(st.tuples(COUNTED, COUNTED), min_size=1, max_size=6), st.floats(20, 500))
def test_they_are_decayed_counts(buckets: list[tuple[dict[int, int], ...]], half_life: float) -> None:
    lengths, granules = dict.fromkeys(NODES, 60), dict.fromkeys(NODES, 1)
    earlier = [
        bucket_statistics(
            {
                node: InputFacts(sum(counts.values()), {node.schema.names[0]: counts} if counts else {})
                for node, counts in zip(NODES, of_bucket, strict=True)
            },
            lengths,
            granules,
            BUCKET,
        )
        for of_bucket in buckets
    ]
    known = past_statistics(earlier, half_life, BUCKET)
    now = len(buckets) * BUCKET
    weights = [2 ** -((now - (i + 0.5) * BUCKET) / half_life) for i in range(len(buckets))]
    for position, node in enumerate(NODES):
        counts: Counter[int] = Counter()
        for weight, of_bucket in zip(weights, buckets, strict=True):
            for value, n in of_bucket[position].items():
                counts[value] += weight * n  # type: ignore[assignment]
        found = known.stream(node)
        assert math.isclose(found.rate, sum(counts.values()) / (BUCKET * sum(weights)), abs_tol=1e-15)
        assert (round(found.l, 9), found.g) == (60.0, 1)
        shares = found.distributions.get(node.schema.names[0], {})
        assert shares.keys() == counts.keys()
        for value, n in counts.items():
            assert math.isclose(shares[value], n / sum(counts.values()))


def test_what_is_forgotten() -> None:
    assert remembered(half_life=1, bucket=1000) == 1
    assert remembered(half_life=25, bucket=100) == 2
    assert remembered(half_life=MOST_BUCKETS, bucket=8) == MOST_BUCKETS
    with pytest.raises(ArgumentError, match="found a half-life of 9 chronons, expected 1 to 8, or longer"):
        remembered(half_life=9, bucket=1)
    with pytest.raises(ArgumentError, match="found a half-life of 0 chronons"):
        remembered(half_life=0, bucket=1)
