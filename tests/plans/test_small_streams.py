"""All small inputs, each once, the smallest first; and what decides on them."""

from __future__ import annotations

from ast import literal_eval
from itertools import islice
from math import comb, copysign
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.equivalence.small_streams import SmallStreams, is_at_one_instant
from midstream.plans.equivalence.trials import TrialsAtOneInstant, TrialsOverTime
from midstream.plans.expressions.operands import col, opaque
from midstream.plans.values.streams import BEGINNING, FOREVER
from midstream.testing import plans

S = stream("s", intervals=True, x="integer?")
T = stream("t", y="integer")


def inputs(*queries: Stream, limit: int = 100_000) -> list[str]:
    return [repr(streams) for streams in SmallStreams([query.plan() for query in queries]).by_size(limit)]


def size_of(streams: str) -> int:
    return sum(map(len, literal_eval(streams).values()))


def test_all_bags_at_one_instant() -> None:
    """Up to three rows of 0, 1 and NULL, so of three kinds."""
    assert (
        len(inputs(S.distinct())) == len(set(inputs(S.distinct()))) == sum(comb(n + 2, n) for n in range(4))
    )


def test_all_bags_of_two_inputs() -> None:
    """Each of up to three rows, so up to six together, of three and of two kinds."""
    found = inputs(S.join(T))
    assert len(found) == len(set(found)) == sum(comb(n + 4, n) for n in range(7))


def test_all_streams_of_three_elements() -> None:
    """Two values at six instants."""
    found = inputs(T.window(2))
    assert len(found) == len(set(found)) == sum(comb(n + 11, n) for n in range(4))


def test_an_order_of_arrival_is_part_of_the_input_where_it_is_seen() -> None:
    """Two different rows at one instant come in two orders."""
    found = inputs(T.last(1, ties="arrival"))
    assert len(found) == len(set(found))
    assert [size_of(streams) for streams in found].count(2) == comb(13, 2) + 6


def test_small_inputs_come_first() -> None:
    sizes = [
        sum(map(len, streams.values()))
        for streams in SmallStreams([S.join(T).plan()]).by_size(1000, Random(1))
    ]
    assert sizes == sorted(sizes)


def test_beyond_the_limit_inputs_are_drawn() -> None:
    """All of the sizes that fit, and others of the next one."""
    found = list(SmallStreams([S.plan(), T.window(1).window(2).plan()]).by_size(500, Random(1)))
    sizes = [sum(map(len, streams.values())) for streams in found]
    assert len(found) == 500
    assert set(sizes) == {0, 1, 2}
    assert len({repr(streams) for streams in found if sum(map(len, streams.values())) < 2}) == 1 + 45 + 12


def test_relations_are_valid_as_they_are_declared() -> None:
    constant = relation("r", y="integer")
    (_, one, *_) = SmallStreams([T.window(2).union(constant).plan()]).by_size(100)
    assert one["r"] == [(BEGINNING, FOREVER, (0,))]


def test_what_is_at_one_instant() -> None:
    assert is_at_one_instant([S.distinct().plan(), S.join(T).plan(), T.plan()])
    assert not is_at_one_instant([S.distinct().plan(), T.window(2).plan()])


def halves(value: int | None) -> int:
    return 1 // (value or 0)


def without_windows(plan: Plan) -> Plan:
    return plan.map(lambda node: node.inputs[0] if node.operator.name == "window" else node)


@given(plans(depth=2), plans(depth=2), st.integers(0, 99))
def test_both_ways_to_compare_at_one_instant_agree(one: Plan, other: Plan, seed: int) -> None:
    """The fast one looks at bags, the other at step functions. Windows are taken away."""
    left, right = map(without_windows, (one, other))
    if left.schema != right.schema:
        right = Stream(left.root).distinct().plan()
    bags, steps = TrialsAtOneInstant(left, right), TrialsOverTime(left, right, strict=True)
    for streams in islice(SmallStreams([left, right]).by_size(60, Random(seed)), 60):
        assert bags.differ(streams) == steps.differ(streams)


@pytest.mark.parametrize(
    "kind", [TrialsAtOneInstant, lambda left, right: TrialsOverTime(left, right, strict=True)]
)
def test_an_error_on_the_right_alone_is_a_difference(kind: type[TrialsAtOneInstant]) -> None:
    """What replaces a plan may ask a function of fewer rows, and of no others."""
    raising, other = S.filter(opaque(halves, ["x"], "integer") > 0), S.filter(col("x") > 0)
    trials = kind(other.plan(), raising.plan())
    assert not trials.differ({"s": [(0, 1, (1,))]})
    assert trials.differ({"s": [(0, 1, (0,))]})
    assert "right raises FunctionError: function halves: ZeroDivision" in str(
        trials.example({"s": [(0, 1, (0,))]})
    )
    assert not kind(raising.plan(), other.plan()).differ({"s": [(0, 1, (0,))]})
    assert not kind(raising.plan(), raising.distinct().plan()).differ({"s": [(0, 1, (0,))]})


def is_whole(value: object) -> bool:
    return isinstance(value, int)


def has_plus(value: float) -> bool:
    return copysign(1.0, value) > 0


def test_bags_of_equal_values_that_differ_are_computed_apart() -> None:
    """What depends on some inputs alone is kept: not what was found of 1 for 1.0, nor of 0.0 for -0.0."""
    rows, others = (stream(name, intervals=True, v="any") for name in "ab")
    whole = rows.filter(opaque(is_whole, ["v"], "boolean")).union(others)
    trials = TrialsAtOneInstant(whole.plan(), rows.union(others).plan())
    assert not trials.differ({"a": [(0, 1, (1,))], "b": []})
    assert trials.differ({"a": [(0, 1, (1.0,))], "b": []})
    signs, more = (stream(name, intervals=True, v="float") for name in "ab")
    plus = signs.filter(opaque(has_plus, ["v"], "boolean")).union(more)
    trials = TrialsAtOneInstant(plus.plan(), signs.union(more).plan())
    assert not trials.differ({"a": [(0, 1, (0.0,))], "b": []})
    assert trials.differ({"a": [(0, 1, (-0.0,))], "b": []})


def test_rows_that_one_plan_rules_out_are_a_difference() -> None:
    """Which of two rows is the last, is not said of one window, and is not asked by the other."""
    last, every = T.last(1), T.window(None)
    tied = {"t": [(0, 1, (0,)), (0, 1, (1,))]}
    assert TrialsOverTime(last.plan(), every.plan(), strict=True).differ(tied)
    assert not TrialsOverTime(last.plan(), every.plan()).differ(tied)
    assert not TrialsOverTime(last.plan(), last.distinct().plan(), strict=True).differ(tied)


def test_what_is_too_long_to_be_computed_is_no_difference() -> None:
    long = {"t": [(0, 5000, (0,))]}
    assert not TrialsOverTime(T.window(2).plan(), T.plan(), strict=True).differ(long)
