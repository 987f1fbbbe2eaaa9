"""What aggregate functions mean: exact, whatever the order, and unknown where nothing is known."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from midstream.plans.aggregates import (
    AggregateCall,
    aggregate,
    avg,
    count,
    exact_mean,
    exact_sum,
    max_,
    min_,
    sum_,
)
from midstream.plans.errors import ExpressionError
from midstream.plans.expressions import col
from midstream.plans.schema import Column, Schema, Type

FINITE = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
NUMBERS = st.one_of(FINITE, st.sampled_from([math.inf, -math.inf]))


def nearest(found: float, true: Fraction) -> bool:
    """Whether a float is the one nearest to a number; one that is too large for any is infinite."""
    if math.isinf(found):
        return (found > 0) == (true > 0) and abs(true) > Fraction(math.nextafter(math.inf, 0))
    neighbours = [math.nextafter(found, to) for to in (math.inf, -math.inf)]
    finite = [Fraction(n) for n in neighbours if math.isfinite(n)]
    return all(abs(Fraction(found) - true) <= abs(n - true) for n in finite)


@given(st.lists(FINITE, min_size=1, max_size=20))
@example([10**400, 0.5])
@example([10**400, -(10**400), 0.1])
@example([1e308, 1e308, -1e308])
@example([5e-324, -5e-324, 5e-324])
def test_a_sum_is_the_true_one_rounded_once(values: list[Any]) -> None:
    true = sum(map(Fraction, values), Fraction())
    found = exact_sum(values)
    if all(isinstance(value, int) for value in values):
        assert (type(found), found) == (int, true)
    else:
        assert isinstance(found, float)
        assert nearest(found, true)


@given(st.lists(FINITE, min_size=1, max_size=20))
@example([10**400, 0.5])
@example([10**400])
def test_a_mean_is_the_true_one_rounded_once(values: list[Any]) -> None:
    found = exact_mean(values)
    assert isinstance(found, float)
    assert nearest(found, sum(map(Fraction, values), Fraction()) / len(values))


@given(st.lists(st.floats(-1e300, 1e300), min_size=1))
def test_a_sum_of_floats_agrees_with_the_standard_library(values: list[float]) -> None:
    try:
        expected = math.fsum(values)
    except OverflowError:
        return
    assert exact_sum(values) == expected


@pytest.mark.parametrize("function", ["count", "sum", "min", "max", "avg"])
@given(values=st.lists(st.one_of(st.none(), NUMBERS)), rng=st.randoms(use_true_random=False))
def test_no_aggregate_depends_on_the_order_of_its_values(
    function: str, values: list[Any], rng: random.Random
) -> None:
    """Plans that mean the same deliver them in different orders."""
    shuffled = list(values)
    rng.shuffle(shuffled)
    one, other = aggregate(function, values), aggregate(function, shuffled)
    assert one == other or one is other


@pytest.mark.parametrize("function", ["sum", "avg"])
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([math.inf, 1, -1e308], math.inf),
        ([-math.inf, -math.inf, 10**400], -math.inf),
        ([math.inf, -math.inf, 1], math.nan),
        ([math.nan, 1], math.nan),
        ([math.nan, math.inf], math.nan),
    ],
)
def test_what_is_infinite_stays_so(function: str, values: list[Any], expected: float) -> None:
    """And what is no number is always the same object, so that payloads that hold it are equal."""
    found = aggregate(function, values)
    assert found is expected if math.isnan(expected) else found == expected


@given(st.lists(st.one_of(st.none(), st.integers())))
def test_what_is_unknown_does_not_count(values: list[int | None]) -> None:
    known = [value for value in values if value is not None]
    assert aggregate("count", values) == len(known)
    for function in ("sum", "min", "max", "avg"):
        assert aggregate(function, values) == (aggregate(function, known) if known else None)


def test_a_count_of_nothing_is_zero_and_a_sum_of_nothing_unknown() -> None:
    assert aggregate("count", []) == 0
    assert [aggregate(function, []) for function in ("sum", "min", "max", "avg")] == [None] * 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AggregateCall("median", col("x")), "found aggregate 'median', expected one of count, sum"),
        (lambda: AggregateCall("sum"), r"sum\(\) needs an argument; only count\(\) stands without"),
        (lambda: sum_("s").column("y", Schema.of(s="string")), r"sum\(s\) is over string, expected a number"),
        (lambda: avg("b").column("y", Schema.of(b="boolean")), r"avg\(b\) is over boolean"),
        (lambda: max_("z").column("y", Schema.of(s="string")), "there is no column z"),
        (lambda: count("z").column("y", Schema.of(s="string")), "there is no column z"),
        (lambda: sum_([1]), r"found constant \[1\]"),
    ],
)
def test_a_call_that_does_not_fit_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        make()


@pytest.mark.parametrize(
    ("call", "type_", "nullable"),
    [
        (count(), Type.INTEGER, False),
        (count("n"), Type.INTEGER, False),
        (sum_("i"), Type.INTEGER, False),
        (sum_("n"), Type.INTEGER, True),
        (sum_(col("i") / 2), Type.FLOAT, True),
        (sum_("f"), Type.FLOAT, False),
        (sum_("a"), Type.ANY, False),
        (min_("s"), Type.STRING, False),
        (max_("n"), Type.INTEGER, True),
        (avg("i"), Type.FLOAT, False),
        (avg("n"), Type.FLOAT, True),
        (max_("b"), Type.BOOLEAN, False),
    ],
    ids=str,
)
def test_a_call_says_which_column_it_gives(call: AggregateCall, type_: Type, nullable: bool) -> None:
    schema = Schema.of(i="integer", n="integer?", f="float", s="string", a="any", b="boolean")
    assert call.column("y", schema) == Column("y", type_, nullable)


def test_a_call_is_written_as_it_is_read() -> None:
    assert [str(c) for c in (count(), count("x"), sum_(col("x") + 1))] == [
        "count(*)",
        "count(x)",
        "sum(x + 1)",
    ]
    assert sum_(col("x") + col("y")).columns() == {"x", "y"}
    assert count().columns() == frozenset()
    assert {sum_("x"), sum_(col("x"))} == {AggregateCall("sum", col("x"))}
