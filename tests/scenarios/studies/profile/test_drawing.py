"""Elements that are drawn are those of a sample; pairs of them are those of a loop; conditions are followed
down to the streams."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.driving import run
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators import Sample
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.operands import col
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import chronons
from midstream.scenarios.stages.profile.conditions import conditions_of
from midstream.scenarios.stages.profile.drawing import (
    PAIRS,
    DrawnElements,
    drawn,
    pair_members,
    sample_batches,
    sampled_share,
)
from midstream.scenarios.stages.profile.predicates import COUNTED, SAMPLED, UNKNOWN, predicates
from midstream.scenarios.streams.recorded.declaration import RecordedStream
from midstream.scenarios.streams.recorded.inputs import plan_inputs
from midstream.scenarios.streams.recorded.script import load_study

COLUMNS = Schema.of(k="integer", x="integer")
RECORDED = {name: RecordedStream(name, name, "csv", "t", {}, COLUMNS, 60) for name in ("a", "b")}
A, B = (stream(name, COLUMNS) for name in ("a", "b"))

elements = st.lists(st.tuples(st.integers(0, 40), st.tuples(st.integers(0, 2))), max_size=25)
lengths = st.integers(1, 20)

VALUES = st.tuples(
    st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
    st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
    st.one_of(st.none(), st.text(max_size=3)),
)
MIXED = stream("s", n="integer?", x="float?", note="string?")


@given(st.lists(st.tuples(st.integers(0, 40), VALUES), max_size=40), st.floats(0.1, 1), st.integers(1, 9))
def test_batches_of_spark_give_the_rows_of_a_sample(rows: list[Any], share: float, size: int) -> None:
    rows = sorted(rows, key=lambda row: row[0])
    types = (pa.int64(), pa.int64(), pa.float64(), pa.string())
    names = ["time", "c0", "c1", "c2"]
    batches = [
        pa.RecordBatch.from_arrays(
            [
                pa.array([(t, *row)[c] for t, row in rows[i : i + size]], type_)
                for c, type_ in enumerate(types)
            ],
            names,
        )
        for i in range(0, len(rows), size)
    ]
    found = [row for batch in sample_batches(iter(batches), Sample("s", share)) for row in batch.to_pylist()]
    expected = [(t, *row) for t, _, row in run(MIXED.sample(share).plan(), {"s": chronons(rows)})]
    assert [tuple(row[name] for name in names) for row in found] == expected
    assert all(-(2**63) <= row["hash"] < share * 2**64 - 2**63 for row in found)


@pytest.mark.spark
def test_a_study_draws_the_rows_of_a_sample(spark: Any, drifting: Path) -> None:
    from midstream.scenarios.recordings.recording import open_recording

    with open_recording(spark, load_study(str(drifting)), 100) as recording:
        found = {most: drawn(recording, ["a", "b"], most) for most in (50, 120, 1000)}
        recorded = {
            name: [(row[0], tuple(row[1:])) for row in recording.frames[name].collect()] for name in "ab"
        }
    for name, rows in recorded.items():
        few, more, every = (found[most][name] for most in (50, 120, 1000))
        assert (few.share, more.share, every.share) == (50 / 400, 120 / 400, 1.0)
        assert more.elements[:50] == few.elements
        assert sorted(every.elements) == sorted(rows)
        s = stream(name, k="integer", m="string?")
        sample = run(s.sample(0.1).plan(), {name: chronons(sorted(rows))})
        assert {(t, row) for t, _, row in sample} == set(every.elements[: len(sample)])


@given(left=elements, right=elements, lengths=st.tuples(lengths, lengths), given_one=st.booleans())
def test_members_are_those_of_a_loop(
    left: list[tuple[int, tuple[int]]],
    right: list[tuple[int, tuple[int]]],
    lengths: tuple[int, int],
    given_one: bool,
) -> None:
    def known(pair: tuple[int, ...]) -> bool:
        return pair[0] != 1

    def holds(pair: tuple[int, ...]) -> bool:
        return pair[0] <= pair[1]

    valid = [
        one + other
        for (s, one), (t, other) in product(left, right)
        if max(s, t) < min(s + lengths[0], t + lengths[1]) and (not given_one or known(one + other))
    ]
    for side in pair_members(left, right, lengths, holds, known if given_one else None):
        assert sum(member.partners for member in side) == len(valid)
        assert sum(member.matches for member in side) == sum(map(holds, valid))


def test_a_part_of_the_sample_is_tried_where_there_are_many_pairs() -> None:
    draw = random.Random(2)
    sides = [
        DrawnElements([(draw.randrange(1000), (draw.randrange(10),)) for _ in range(4000)], 0.5) for _ in "lr"
    ]
    tried = []
    share = sampled_share(*sides, (100, 100), 64 * 10**6, lambda pair: tried.append(1) or pair[0] == pair[1])
    # Of 0.5² · 64 million pairs that one would expect, as many as are tried: the share √(1/160) of each side.
    assert len(tried) == pytest.approx(16 * 10**6 * 0.19 * PAIRS / 16e6, rel=0.2)
    assert 0.1 in share


def asked(query: Stream) -> list[tuple[str, str | None, tuple[int, ...]]]:
    plan = query.plan()
    found = conditions_of(plan, plan_inputs(plan, RECORDED))
    return [(str(one.part), None if one.meaning is None else str(one.meaning), one.inputs) for one in found]


def test_conditions_are_followed_down_to_the_inputs() -> None:
    a = A.filter(A["k"] > 7).alias("a").window(30)
    b = B.window(10).select(y=col("x") + 1, z=col("k"))
    query = a.join(b, on=(col("a.k") == col("z")) & (col("a.x") < col("y"))).filter(col("y") > 3)
    assert asked(query) == [
        ("k > 7", "k > 7", (0,)),
        ("a.k = z", "a.k = k", (0, 1)),
        ("a.x < y", "a.x < (x + 1)", (0, 1)),
        ("y > 3", "(x + 1) > 3", (1,)),
    ]
    grouped = a.group_by("a.k").aggregate(n=count())
    assert asked(grouped.filter(grouped["n"] > 2)) == [("k > 7", "k > 7", (0,)), ("n > 2", None, ())]


def test_shares_of_conditions() -> None:
    rows = {name: [(t, (t % 2, t % 10)) for t in range(100)] for name in "ab"}
    a = A.filter(A["x"] > 7).alias("a").window(1)
    b = B.alias("b").window(1)
    query = a.join(b, on=(col("a.k") == col("b.k")) & (col("a.x") < col("b.x") + 1) & (col("b.x") < 9))
    plan = query.plan()
    inputs = plan_inputs(plan, RECORDED)
    for share, by in ((1.0, COUNTED), (0.5, SAMPLED)):
        drawn = {name: DrawnElements(of, share) for name, of in rows.items()}
        found = {str(one.condition): one for one in predicates(plan, inputs, drawn, {(0, 1): (20, 20)})}
        assert found["x > 7"].by == by
        assert found["x > 7"].expected == pytest.approx(0.2)
        assert found["b.x < 9"].expected == pytest.approx(0.9)
        assert (found["a.k = b.k"].by, found["a.k = b.k"].expected) == (COUNTED, 1.0)
        assert found["a.x < (b.x + 1)"].expected == 1.0
    both = a.join(b, on=[("a.k", "b.k"), ("a.x", "b.x")]).plan()
    told = predicates(both, plan_inputs(both, RECORDED), drawn, {(0, 1): (20, 2)})
    # How many pairs satisfy one of two equalities is not what was counted.
    assert [one.by for one in told] == [SAMPLED, UNKNOWN, UNKNOWN]
    grouped = A.window(9).group_by("k").aggregate(n=count())
    having = grouped.filter(grouped["n"] > 2).plan()
    (unknown,) = predicates(having, plan_inputs(having, RECORDED), {"a": DrawnElements([], 1.0)}, {})
    assert (unknown.by, unknown.expected) == (UNKNOWN, None)
