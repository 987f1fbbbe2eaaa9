"""Pairs are counted as a plain loop over all pairs counts them."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midstream.io.time_units import Clock
from midstream.plans.values.schema import Schema
from midstream.scenarios.streams.recorded.declaration import RecordedStream, Study

pytestmark = pytest.mark.spark

Element = tuple[int, int | None, float | None]

times = st.one_of(st.integers(-25, 25), st.sampled_from([-20, -10, 0, 10, 20]), st.just(10**12))
elements = st.lists(
    st.tuples(times, st.sampled_from([None, 1, 2]), st.sampled_from([None, 0.0, -0.0, 2.0])), max_size=25
)
windows = st.sampled_from([1, 3, 10, 60])


def study_of(left_window: int, right_window: int) -> Study:
    """A study of two streams with an integer and a float."""
    schema = Schema.of(x="integer?", y="float?")
    streams = {
        name: RecordedStream(name, name, "csv", "t", {}, schema, window)
        for name, window in (("left", left_window), ("right", right_window))
    }
    return Study("s", "s", Clock("s"), streams, None)


def counted(spark: Any, study: Study, lists: dict[str, list[Element]], bucket: int, on: Any) -> Counter[Any]:
    """What Spark counts: (start, kind) to a number of pairs."""
    from midstream.scenarios.recordings.pairs import Pair, count_pairs
    from midstream.scenarios.recordings.recording import Recording

    frames = {
        name: spark.createDataFrame(rows, "time long, c0 long, c1 double").repartition(3)
        for name, rows in lists.items()
    }
    found = count_pairs(Recording(spark, frames, {}, bucket), study, [Pair("left", "right", on)])
    counts: Counter[Any] = Counter()
    for row in found.collect():
        counts[row["start"], "overlapping"] = row["overlapping"]
        counts[row["start"], "matched"] = row["matched"]
    return +counts


def expected(study: Study, lists: dict[str, list[Element]], bucket: int, on: Any) -> Counter[Any]:
    """The same, pair by pair."""
    counts: Counter[Any] = Counter()
    position = {"x": 1, "y": 2}
    for left, right in product(lists["left"], lists["right"]):
        start = max(left[0], right[0])
        end = min(left[0] + study.streams["left"].window, right[0] + study.streams["right"].window)
        if start < end:
            cell = start // bucket * bucket
            counts[cell, "overlapping"] += 1
            values = [(left[position[one]], right[position[other]]) for one, other in on]
            counts[cell, "matched"] += all(None not in (a, b) and a == b for a, b in values)
    return +counts


def changes(spark: Any, study: Study, lists: dict[str, list[Element]], on: Any) -> Counter[Any]:
    """When how many matched pairs begin and end, as Spark counts them."""
    from midstream.scenarios.recordings.pairs import Pair, count_changes
    from midstream.scenarios.recordings.recording import Recording

    frames = {
        name: spark.createDataFrame(rows, "time long, c0 long, c1 double").repartition(3)
        for name, rows in lists.items()
    }
    counts: Counter[Any] = Counter()
    for row in count_changes(Recording(spark, frames, {}, 1), study, [Pair("left", "right", on)]).collect():
        counts[row["time"], "begin"] += row["met"]
        counts[row["time"], "end"] += row["ended"]
    return +counts


def expected_changes(study: Study, lists: dict[str, list[Element]], on: Any) -> Counter[Any]:
    """The same, pair by pair."""
    counts: Counter[Any] = Counter()
    position = {"x": 1, "y": 2}
    for left, right in product(lists["left"], lists["right"]):
        start = max(left[0], right[0])
        end = min(left[0] + study.streams["left"].window, right[0] + study.streams["right"].window)
        values = [(left[position[one]], right[position[other]]) for one, other in on]
        if start < end and all(None not in (a, b) and a == b for a, b in values):
            counts[start, "begin"] += 1
            counts[end, "end"] += 1
    return counts


@settings(max_examples=4, deadline=None)
@given(
    left=elements,
    right=elements,
    left_window=windows,
    right_window=windows,
    bucket=st.sampled_from([1, 7, 50]),
    on=st.sampled_from([(), (("x", "x"),), (("x", "x"), ("y", "y")), (("x", "y"),)]),
)
def test_pairs_are_those_of_a_loop_over_all(
    spark: Any,
    left: list[Element],
    right: list[Element],
    left_window: int,
    right_window: int,
    bucket: int,
    on: Any,
) -> None:
    study = study_of(left_window, right_window)
    lists = {"left": left, "right": right}
    assert counted(spark, study, lists, bucket, on) == expected(study, lists, bucket, on)
    assert changes(spark, study, lists, on) == expected_changes(study, lists, on)


@pytest.mark.parametrize(("windows", "bucket"), [((7, 10), 25), ((30, 2), 1)])
def test_pairs_of_dense_streams(spark: Any, windows: tuple[int, int], bucket: int) -> None:
    draw = random.Random(11)
    lists: dict[str, list[Element]] = {
        side: [
            (draw.randrange(-40, 60), draw.choice([None, 1, 2]), draw.choice([None, 0.0, -0.0, 2.0]))
            for _ in range(300)
        ]
        for side in ("left", "right")
    }
    study = study_of(*windows)
    on = (("x", "x"), ("y", "y"))
    assert counted(spark, study, lists, bucket, on) == expected(study, lists, bucket, on)
    assert changes(spark, study, lists, on) == expected_changes(study, lists, on)


def test_ends_are_not_part_of_a_validity(spark: Any) -> None:
    lists: dict[str, list[Element]] = {
        "left": [(0, 1, None), (53, 1, None)],
        "right": [(9, 1, None), (10, 1, None), (62, 1, None), (63, 1, None)],
    }
    study = study_of(10, 10)
    on = (("x", "x"),)
    pairs = {(0, "overlapping"): 1, (0, "matched"): 1, (60, "overlapping"): 1, (60, "matched"): 1}
    assert counted(spark, study, lists, 20, on) == pairs
    assert expected(study, lists, 20, on) == pairs
    # Some end where a cell of time ends, which is four windows long.
    lists = {"left": [(30, 1, None), (30, 1, None), (35, 1, None)], "right": [(30, 1, None), (31, 1, None)]}
    assert changes(spark, study, lists, on) == expected_changes(study, lists, on)


def test_a_pair_belongs_to_the_bucket_of_its_later_start(spark: Any) -> None:
    lists: dict[str, list[Element]] = {"left": [(98, 1, None)], "right": [(101, 1, None)]}
    assert counted(spark, study_of(10, 1), lists, 100, ()) == {(100, "overlapping"): 1, (100, "matched"): 1}


def test_values_are_compared_column_by_column(spark: Any) -> None:
    lists: dict[str, list[Element]] = {"left": [(0, 1, 12.0)], "right": [(0, 11, 2.0)]}
    on = (("x", "x"), ("y", "y"))
    assert counted(spark, study_of(10, 10), lists, 100, on) == {(0, "overlapping"): 1}
