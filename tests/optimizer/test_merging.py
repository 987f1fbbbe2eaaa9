"""Statistics of parts, of several studies, in files and as text."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import midstream as ms
from midstream.optimizer import Sample, Statistics, StreamStatistics
from midstream.optimizer.online.merging import averaged, together
from midstream.optimizer.statistics_file import dump_statistics, load_statistics
from midstream.optimizer.statistics_text import statistics_text
from midstream.plans.values.errors import StatisticsError

S, T = ms.stream("s", x="integer", name="string?"), ms.stream("t", y="integer")
R = ms.relation("r", z="integer")
PLAN = S.window(9).filter(S["x"] > 3).join(T.window(9), on=[("x", "y")]).join(R, on=[("x", "z")]).plan()
CONDITION = S["x"] > 3

values = st.lists(st.integers(0, 5), min_size=1, max_size=40)


def of_values(x: Sequence[int], span: int) -> Statistics:
    """What is true of a stream that brings some values in a span of time."""
    n = len(x)
    sample = Sample(S.schema, [(value, None) for value in x])
    shares = {value: times / n for value, times in Counter(x).items()}
    of_s = StreamStatistics(span / n, 1.0, 2, sample, distributions={"x": shares})
    return Statistics({S.node: of_s}, {CONDITION: sum(value > 3 for value in x) / n})


def assert_alike(found: Statistics, expected: Statistics) -> None:
    one, other = found.streams[S.node], expected.streams[S.node]
    assert (one.d, one.l, one.g) == (pytest.approx(other.d), pytest.approx(other.l), other.g)
    assert one.distributions["x"] == pytest.approx(other.distributions["x"])
    (share,), (expected_share,) = found.selectivities.values(), expected.selectivities.values()
    assert share == pytest.approx(expected_share)


@given(values, values, st.integers(1, 100))
def test_parts_of_a_stream_together_are_the_stream(one: list[int], other: list[int], span: int) -> None:
    merged = together([of_values(one, span), of_values(other, span)])
    assert_alike(merged, of_values(one + other, span))


@given(values, values, st.integers(1, 100), st.integers(1, 100))
def test_studies_one_after_the_other_are_one_study(one: list[int], other: list[int], a: int, b: int) -> None:
    merged = averaged([of_values(one, a), of_values(other, b)], [a, b])
    assert_alike(merged, of_values(one + other, a + b))
    sample = merged.streams[S.node].sample
    assert sample is not None and sample.rows == [(value, None) for value in one + other]


@given(st.lists(values, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_parts_does_not_matter(parts: list[list[int]], random: Any) -> None:
    known = [of_values(part, 50) for part in parts]
    expected = together(known)
    random.shuffle(known)
    assert_alike(together(known), expected)


def test_a_sample_stands_for_its_part() -> None:
    """Of a part that has a tenth of the rate, and as many rows in its sample, a tenth of these are taken."""
    known = [of_values([1] * 40, 10), of_values([2] * 40, 100)]
    sample = together(known).streams[S.node].sample
    assert sample is not None
    assert Counter(row[0] for row in sample.rows) == {1: 40, 2: 4}


def test_streams_that_one_knows_and_relations() -> None:
    few, many = (
        Statistics({R.node: StreamStatistics(math.inf, math.inf, always=rows)}) for rows in (10.0, 30.0)
    )
    other = Statistics({T.node: StreamStatistics(4.0, 1.0)})
    found = averaged([few, many, other]).streams
    assert found[R.node].always == 20.0 and math.isinf(found[R.node].l)
    assert found[T.node] == StreamStatistics(4.0, 1.0)
    assert together([few, many]).streams[R.node].always == 40.0


def test_silent_parts() -> None:
    silent = Statistics({T.node: StreamStatistics(math.inf, 0.0)})
    known = Statistics({T.node: StreamStatistics(4.0, 1.0)})
    assert together([silent, known]).streams[T.node].d == 4.0
    assert averaged([silent, known]).streams[T.node].d == 8.0
    assert averaged([silent, silent]).streams[T.node].d == math.inf


@pytest.mark.parametrize("weights", [[1.0], [1.0, 0.0], [1.0, math.inf]])
def test_bad_weights(weights: list[float]) -> None:
    with pytest.raises(StatisticsError):
        averaged([of_values([1], 1), of_values([1], 1)], weights)
    with pytest.raises(StatisticsError):
        together([])


shares_of_x = st.dictionaries(st.integers(-3, 3), st.floats(0, 0.14))
shares_of_names = st.dictionaries(st.sampled_from(["a", "ä", "", "1"]), st.floats(0, 0.25))


@given(shares_of_x, shares_of_names, values)
def test_what_is_written_is_read(x: dict[int, float], name: dict[str, float], rows: list[int]) -> None:
    known = of_values(rows, 10)
    of_s = StreamStatistics(2.5, 1.0, 5, known.streams[S.node].sample, distributions={"x": x, "name": name})
    of_r = StreamStatistics(math.inf, math.inf, always=7.0)
    known = Statistics(
        {S.node: of_s, T.node: StreamStatistics(1.0, 1.0), R.node: of_r}, {CONDITION: 0.25}, {"y": {1: 0.5}}
    )
    again = load_statistics(dump_statistics(known), [PLAN])
    assert again == known


@pytest.mark.parametrize(
    ("distributions", "message"),
    [
        ({"z": []}, "found z"),
        ({"x": 5}, "found 5, expected a list"),
        ({"x": [[1]]}, "a list of"),
        ({"x": [["a", 0.5]]}, "do not fit the column"),
        ({"x": [[[1], 0.5]]}, "do not fit the column"),
        ({"x": [[1, "0.5"]]}, r"streams\.s\.distributions\.x\[0\]\[1\]: found '0.5', expected a number"),
        ({"x": [[1, 0.6], [2, 0.6]]}, "with a sum above 1"),
        ([], "an object"),
    ],
)
def test_bad_distributions(distributions: Any, message: str) -> None:
    data = {
        "midstream_statistics": 1,
        "streams": {"s": {"d": 1, "distributions": distributions}, "t": {"d": 1}, "r": {"always": 1}},
    }
    with pytest.raises(StatisticsError, match=message):
        load_statistics(json.dumps(data), [PLAN])


def test_as_text() -> None:
    of_s = StreamStatistics(0.5, 1.0, 5, Sample(S.schema, [(1, None)]), even=True)
    many = StreamStatistics(4.0, math.inf, distributions={"y": {i: 0.1 for i in range(7)}})
    of_r = StreamStatistics(math.inf, math.inf, always=7.0)
    known = Statistics({S.node: of_s, T.node: many, R.node: of_r}, {CONDITION: 0.25}, {"q": {}})
    assert statistics_text(known).splitlines() == [
        "source s: an element every 0.5 chronons, valid for 1, timestamps are multiples of 5, "
        "distances and lengths are all the same",
        "  rows in the sample: 1",
        "source t: an element every 4 chronons, valid for ever",
        "  y: 0 10 %, 1 10 %, 2 10 %, 3 10 %, 4 10 %, and 2 others",
        "relation r: 7 rows at every instant",
        "q, of any stream: no values",
        "x > 3: 25 %",
    ]
    assert statistics_text(Statistics({T.node: StreamStatistics(math.inf, 0.0)})) == "source t: nothing came"
