"""What is particular to the aggregation operator; the conformance suite has the rest."""

from __future__ import annotations

import gc
import random
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.operators.aggregation.aggregate import Aggregate
from midstream.operators.aggregation.aggregate_pieces import MOST, shorten
from midstream.operators.aggregation.segments import Segments
from midstream.operators.functions.exact import ExactSum
from midstream.plans.expressions.aggregates import (
    AggregateCall,
    avg,
    count,
    max_,
    median,
    min_,
    sum_,
    top_k,
    user_aggregate,
    var_samp,
)
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import ExpressionError
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import FOREVER, Element

SCHEMA = Schema.of(k="integer", v="float?")
LARGEST = user_aggregate("largest", lambda x: x, max, lambda a: a)
EVERY = [
    count(),
    count("v"),
    sum_("v"),
    avg("v"),
    min_("v"),
    max_("v"),
    median("v"),
    top_k("v", 2),
    LARGEST("v"),
]


def elements(number: int, *, is_jittery: bool = False) -> list[Element]:
    rng = random.Random(number)
    return [
        (
            t // 2,
            t // 2 + (rng.randrange(1, 60) if is_jittery else 30),
            (rng.randrange(4), rng.choice([None, 1, 2.5, -3])),
        )
        for t in range(number)
    ]


@pytest.mark.parametrize("is_jittery", [False, True])
@pytest.mark.parametrize("calls", [EVERY, [call for call in EVERY for _ in range(2)][::-1]])
def test_functions_that_share_state_do_not_disturb_each_other(
    calls: Sequence[AggregateCall], is_jittery: bool
) -> None:
    """Together they give what each gives alone."""
    arriving = elements(400, is_jittery=is_jittery)
    together = Aggregate(["k"], calls, SCHEMA)
    found = together.push(0, arriving) + together.end(0)
    for i, call in enumerate(calls):
        alone = Aggregate(["k"], [call], SCHEMA)
        expected = alone.push(0, arriving) + alone.end(0)
        assert [(start, end, (row[0], row[i + 1])) for start, end, row in found] == expected


@pytest.mark.parametrize("keys", [[], ["k"]])
@pytest.mark.parametrize("is_jittery", [False, True])
def test_groups_that_are_gone_leave_no_garbage(keys: list[str], is_jittery: bool) -> None:
    """A row knows its group, and a group its rows: one that died with a row in it would stay until the
    garbage collector looks for cycles, which takes longer the more state there is."""
    aggregate = Aggregate(keys, EVERY, SCHEMA)
    arriving = elements(1000, is_jittery=is_jittery)
    gc.collect()
    gc.disable()
    try:
        for i in range(0, 1000, 10):
            aggregate.push(0, arriving[i : i + 10])
        aggregate.end(0)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_one_row_that_stays_for_ever_does_not_slow_down_the_rest() -> None:
    """Rows behind it end before it, so they go through the heap; what they leave is right all the same."""
    aggregate = Aggregate([], [max_("v"), min_("v"), count()], SCHEMA)
    assert aggregate.push(0, [(0, FOREVER, (1, 2.0)), (1, 4, (1, 3.0)), (2, 3, (1, 1.0))]) == [
        (0, 1, (2.0, 2.0, 1)),
        (1, 2, (3.0, 2.0, 2)),
    ]
    assert aggregate.advance(0, 9) == [(2, 3, (3.0, 1.0, 3)), (3, 4, (3.0, 2.0, 2))]
    assert (aggregate.progress(), aggregate.size()) == (4, 2)
    assert aggregate.end(0) == [(4, FOREVER, (2.0, 2.0, 1))]


def test_means_of_integers_that_no_float_can_hold() -> None:
    schema = Schema.of(v="integer")
    aggregate = Aggregate([], [avg("v"), sum_("v")], schema)
    arriving = [(0, 2, (10**400,)), (0, 2, (-(10**400) + 6,)), (1, 3, (10**400,))]
    assert aggregate.push(0, arriving) + aggregate.end(0) == [
        (0, 1, (3.0, 6)),
        (1, 2, (None, 10**400 + 6)),
        (2, 3, (None, 10**400)),
    ]


def test_an_argument_that_nests_too_deeply_is_refused() -> None:
    deep = col("v")
    for _ in range(300):
        deep = deep + 1
    with pytest.raises(ExpressionError, match="nests too deeply"):
        Aggregate([], [sum_(deep)], Schema.of(v="integer"))


def test_a_column_that_is_not_there_is_refused() -> None:
    """Also where its value need not be computed, as rows are counted that cannot be unknown."""
    with pytest.raises(ExpressionError, match="there is no column w"):
        Aggregate([], [count("w")], SCHEMA)
    with pytest.raises(ExpressionError, match="there is no column w"):
        Aggregate(["w"], [count()], SCHEMA)


def test_segments_that_have_left_are_let_go() -> None:
    """A long queue is not moved for every one that leaves, but never holds more that have left than wait."""
    segments = Segments(1)

    def add(start: int, end: int | None, payload: str | None) -> None:
        segments.starts.append(start)
        segments.ends.append(end)
        segments.columns[0].append(payload)

    for number in range(1000):
        add(number, number + 1, "x")
        add(number, number + 1, "y")
        add(number, None, None)
        assert len(segments.take()) == (2 if number == 0 else 0)
        assert segments.first_start == 0
    assert len(segments) == 1000 * 3 - 2
    for place in range(2, 3000, 3):
        segments.ends[place - segments.taken] = place // 3
        segments.hollow += 1
        taken = segments.take()
        assert [payload for _, _, payload in taken] == ([("x",), ("y",)] if place < 2999 else [])
        assert len(segments.ends) <= 2 * len(segments)
    assert (len(segments), segments.starts, segments.ends, segments.columns) == (0, [], [], [[]])


def test_a_batch_may_bring_more_progress_than_its_last_start() -> None:
    """As it does inside a plan: what ends up to there leaves in the same call."""
    for keys, row in (([], (1,)), (["k"], (7, 1))):
        aggregate = Aggregate(keys, [count()], SCHEMA)
        assert aggregate.process(0, [(0, 3, (7, 1.0))], 5) == [(0, 3, row)]


def test_a_sum_is_an_integer_again_when_all_floats_have_left() -> None:
    """2**53 + 1 is no float."""
    aggregate = Aggregate([], [sum_("v")], SCHEMA)
    arriving = [(0, 9, (0, 2**53 + 1)), (0, 4, (0, 0.25))]
    assert aggregate.push(0, arriving) + aggregate.end(0) == [(0, 4, (2.0**53 + 2,)), (4, 9, (2**53 + 1,))]


def test_arguments_are_unknown_each_for_itself() -> None:
    schema = Schema.of(x="integer?", y="integer?")
    aggregate = Aggregate([], [sum_("x"), max_("y"), count("y")], schema)
    arriving = [(0, 4, (1, None)), (1, 5, (None, 2))]
    assert aggregate.push(0, arriving) + aggregate.end(0) == [
        (0, 1, (1, None, 0)),
        (1, 4, (1, 2, 1)),
        (4, 5, (None, 2, 1)),
    ]


def test_rows_out_of_order_are_forgotten_when_they_have_left() -> None:
    """So that a rare exception costs no call for every later value."""
    aggregate = Aggregate([], [max_("v")], SCHEMA)
    out = aggregate.push(0, [(0, 9, (0, 1.0)), (0, 4, (0, 5.0)), (6, 20, (0, 2.0)), (10, 21, (0, 0.0))])
    assert out == [(0, 4, (5.0,)), (4, 6, (1.0,)), (6, 9, (2.0,)), (9, 10, (2.0,))]
    assert aggregate._groups[()].late_max0 is None


MERGING = [count(), count("v"), sum_("v"), avg("v"), min_("v"), max_("v"), var_samp("v")]


def granules(number: int, granule: int) -> list[Element]:
    """A row per chronon, from granules of some size, in a window of 600."""
    rng = random.Random(number)

    def up(time: int) -> int:
        return time + -time % granule

    return [(up(t), up(t + 600), (rng.randrange(4), rng.choice([None, 1, 2.5, -3]))) for t in range(number)]


@pytest.mark.parametrize(("granule", "partial_aggregates"), [(1, 600), (10, 60), (100, 6)])
def test_rows_that_leave_together_are_one(granule: int, partial_aggregates: int) -> None:
    """As in Figure 8 of the paper on cost models: the coarser the granule, the fewer."""
    aggregate = Aggregate([], MERGING, SCHEMA)
    aggregate.push(0, granules(2001, granule))
    assert aggregate.size() == partial_aggregates + 1
    assert len(list(aggregate.state())) == partial_aggregates + 1
    per_row = Aggregate([], [*MERGING, median("v")], SCHEMA)
    per_row.push(0, granules(2001, granule))
    assert per_row.size() > 600


def test_a_look_at_the_state_changes_nothing() -> None:
    """A granule may be cut into batches, and looked at in between."""
    arriving = granules(2000, 50)
    once, often = (Aggregate(["k"], MERGING, SCHEMA) for _ in range(2))
    expected = once.push(0, arriving)
    found = []
    for i in range(0, 2000, 7):
        found += often.push(0, arriving[i : i + 7])
        assert len(list(often.state())) == often.size()
    assert found == expected
    assert [(end, row[0], row[-1]) for _, end, row in often.state()] == [
        (end, row[0], row[-1]) for _, end, row in once.state()
    ]


def test_rows_that_leave_together_out_of_order_are_one() -> None:
    """Behind a window that has become smaller, all ends are out of order for a while."""
    aggregate = Aggregate(["k"], [sum_("v"), max_("v")], SCHEMA)
    arriving = [(0, 600, (1, 1.0)), *((t, 400, (1, 1.0)) for t in range(100)), (200, 400, (2, 0.5))]
    aggregate.push(0, arriving)
    assert sorted(end for _, end, _ in aggregate.state() if end >= 400) == [400, 400, 600]
    assert aggregate.end(0) == [
        (99, 400, (1, 101.0, 1.0)),
        (200, 400, (2, 0.5, 0.5)),
        (400, 600, (1, 1.0, 1.0)),
    ]


NUMBERS = st.one_of(st.integers(-3, 3), st.floats(allow_nan=False, allow_infinity=False), st.fractions())


@given(st.lists(NUMBERS, max_size=40), st.lists(NUMBERS, max_size=10))
def test_shorter_numbers_have_the_same_sum(numbers: list[float], more: list[float]) -> None:
    """And few of them are floats, if their sum is one."""
    short = [0, *numbers]
    shorten(short)
    short += more
    shorten(short)
    reduced, *left = short
    assert sum(map(Fraction, left)) == sum(map(Fraction, [*numbers, *more]))
    others = [number for number in [*numbers, *more] if not isinstance(number, int)]
    assert reduced + sum(not isinstance(number, int) for number in left) == len(others)


def test_a_partial_aggregate_of_many_floats_is_small() -> None:
    """A sum of 10,000 floats takes a few."""
    aggregate = Aggregate([], [sum_("v")], SCHEMA)
    aggregate.push(0, [(0, 9, (1, random.Random(i).uniform(-1, 1))) for i in range(10_000)])
    ((_, end, (numbers, _, number)), _) = aggregate.state()
    assert (end, number) == (9, 10_000)
    assert len(numbers) <= MOST + 1


@given(st.lists(NUMBERS, max_size=20), st.lists(NUMBERS, max_size=20))
def test_a_sum_is_taken_out_of_another(part: list[float], rest: list[float]) -> None:
    """What is left is as if the numbers of the part had never been there."""
    both, some = ExactSum(), ExactSum()
    for number in [*part, *rest]:
        both.change(number, 1)
    for number in part:
        some.change(number, 1)
    both.take_out(some)
    assert both.count == len(rest)
    assert Fraction(*both.ratio()) == sum(map(Fraction, rest))
