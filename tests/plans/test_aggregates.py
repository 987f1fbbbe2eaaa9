"""What aggregate functions mean: exact, whatever the order, and unknown where nothing is known."""

from __future__ import annotations

import json
import math
import random
import statistics
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from midstream.plans.expressions.aggregates import (
    FUNCTIONS,
    MEANING,
    OF_TUPLES,
    AggregateCall,
    aggregate,
    apply_call,
    avg,
    call_from_json,
    count,
    count_distinct,
    max_,
    median,
    min_,
    stddev,
    stddev_pop,
    stddev_samp,
    sum_,
    top_k,
    user_aggregate,
    var_pop,
    var_samp,
    variance,
)
from midstream.plans.expressions.expressions import Col
from midstream.plans.expressions.operands import col, opaque
from midstream.plans.values.errors import ExpressionError, PlanFormatError
from midstream.plans.values.exact import exact_mean, exact_sum, exact_variance, rounded_root
from midstream.plans.values.finite import LARGEST
from midstream.plans.values.schema import Column, Schema, Type

FINITE = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
NUMBERS = st.one_of(FINITE, st.sampled_from([LARGEST, -LARGEST, 10**400]))
EQUAL = st.sampled_from([0, 1, 1.0, 2.0**53, 2**53, 2**53 + 1, -3, 0.5])
"""Many that are equal, integers and floats, and such as no float can add up."""

BUILT_IN: list[Callable[..., AggregateCall]] = [
    *(count, sum_, avg, var_pop, var_samp, stddev_pop, stddev_samp, median),
    lambda x, distinct=False: top_k(x, 3, distinct=distinct),
]
"""The builders that can be told to count equal values once."""

CALLS = [min_("x"), max_("x"), *(make("x", distinct=d) for make in BUILT_IN for d in (False, True))]

SPREAD = user_aggregate(
    "spread", lambda x: (x, x), lambda a, b: (min(a[0], b[0]), max(a[1], b[1])), lambda a: a[1] - a[0]
)


def nearest(found: float | None, true: Fraction) -> bool:
    """Whether a float is the one nearest to a number; one that is too large for any is unknown."""
    if found is None:
        return abs(true) > Fraction(LARGEST)
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
        assert not isinstance(found, int)
        assert nearest(found, true)


@given(st.lists(FINITE, min_size=1, max_size=20))
@example([10**400, 0.5])
@example([10**400])
def test_a_mean_is_the_true_one_rounded_once(values: list[Any]) -> None:
    found = exact_mean(values)
    assert not isinstance(found, int)
    assert nearest(found, sum(map(Fraction, values), Fraction()) / len(values))


@given(st.lists(st.floats(-1e300, 1e300), min_size=1))
def test_a_sum_of_floats_agrees_with_the_standard_library(values: list[float]) -> None:
    try:
        expected = math.fsum(values)
    except OverflowError:
        return
    assert exact_sum(values) == expected


@pytest.mark.parametrize("call", CALLS, ids=str)
@given(
    values=st.one_of(st.lists(st.one_of(st.none(), NUMBERS)), st.lists(EQUAL)),
    rng=st.randoms(use_true_random=False),
)
def test_no_aggregate_depends_on_the_order_of_its_values(
    call: AggregateCall, values: list[Any], rng: random.Random
) -> None:
    """Plans that mean the same deliver them in different orders; payloads are compared in tuples."""
    shuffled = list(values)
    rng.shuffle(shuffled)
    assert (apply_call(call, values),) == (apply_call(call, shuffled),)


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
        (lambda: AggregateCall("mode", Col("x")), "found aggregate 'mode', expected one of count, sum"),
        (lambda: count(distinct=True), r"count\(distinct\) needs an argument"),
        (lambda: AggregateCall(SPREAD), r"spread\(\) needs an argument"),
        (lambda: AggregateCall("top_k", Col("x")), r"top_k\(x\): found k = None, expected one for top_k"),
        (lambda: AggregateCall("sum", Col("x"), k=3), r"sum\(x, 3\): found k = 3, expected one for top_k"),
        (lambda: top_k("x", 0), r"top_k\(x, 0\): found k = 0, expected a positive integer"),
        (lambda: top_k("x", True), "found k = True, expected a positive integer"),
        (lambda: median("s").column("y", Schema.of(s="string")), r"median\(s\) is over string"),
        (lambda: stddev("b").column("y", Schema.of(b="boolean")), r"stddev_samp\(b\) is over boolean"),
        (lambda: top_k("z", 2).column("y", Schema.of(s="string")), "there is no column z"),
        (lambda: SPREAD("z").column("y", Schema.of(s="string")), "there is no column z"),
        (lambda: AggregateCall("sum"), r"sum\(\) needs an argument; only count\(\) has none"),
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
        (sum_("f"), Type.FLOAT, True),
        (sum_("a"), Type.ANY, True),
        (min_("s"), Type.STRING, False),
        (max_("n"), Type.INTEGER, True),
        (avg("i"), Type.FLOAT, True),
        (avg("f"), Type.FLOAT, False),
        (avg("n"), Type.FLOAT, True),
        (max_("b"), Type.BOOLEAN, False),
        (count_distinct("n"), Type.INTEGER, False),
        (sum_("n", distinct=True), Type.INTEGER, True),
        (var_pop("i"), Type.FLOAT, True),
        (var_pop("f"), Type.FLOAT, True),
        (stddev_pop("f"), Type.FLOAT, False),
        (stddev_pop("n"), Type.FLOAT, True),
        (var_samp("i"), Type.FLOAT, True),
        (stddev_samp("i"), Type.FLOAT, True),
        (median("i"), Type.FLOAT, True),
        (median("f"), Type.FLOAT, False),
        (median("n"), Type.FLOAT, True),
        (top_k("s", 2), Type.ANY, False),
        (top_k("n", 2), Type.ANY, True),
        (SPREAD("s"), Type.ANY, True),
        (SPREAD("n"), Type.ANY, True),
        (user_aggregate("u", *[abs] * 3, type="integer")("i"), Type.INTEGER, False),
        (user_aggregate("u", *[abs] * 3, type="integer?")("i"), Type.INTEGER, True),
        (user_aggregate("u", *[abs] * 3, type=Type.FLOAT, nullable=True)("i"), Type.FLOAT, True),
    ],
    ids=str,
)
def test_a_call_says_which_column_it_gives(call: AggregateCall, type_: Type, nullable: bool) -> None:
    schema = Schema.of(i="integer", n="integer?", f="float", s="string", a="any", b="boolean")
    assert call.column("y", schema) == Column("y", type_, nullable)


@given(st.lists(FINITE, min_size=1, max_size=12))
@example([1e308, -1e308])
@example([1e9 + 1, 1e9 + 2, 1e9 + 3])
def test_a_variance_is_the_true_one_rounded_once(values: list[Any]) -> None:
    """The standard library computes with fractions when given some."""
    numbers = list(map(Fraction, values))
    found = aggregate("var_pop", values)
    assert not isinstance(found, int)
    assert nearest(found, Fraction(statistics.pvariance(numbers)))
    found = aggregate("var_samp", values)
    assert found is None if len(values) == 1 else nearest(found, Fraction(statistics.variance(numbers)))


@given(st.lists(FINITE, min_size=1, max_size=12))
@example([1e308, -1e308])
@example([5e-324, 0.0])
@example([0.1, 0.1])
def test_a_deviation_is_rounded_once(values: list[Any]) -> None:
    """The neighbours of the float that was found are farther from the root: half-way marks are squared to
    compare them with it."""
    found = aggregate("stddev_pop", values)
    assert is_root(found, exact_variance(values))


@given(st.fractions(min_value=0), st.integers(-1100, 1100))
@example((2**53 + 1) ** 2 + Fraction(1, 10**40), 0)  # a little more than half-way between two floats
def test_a_root_is_rounded_once(number: Fraction, exponent: int) -> None:
    number *= Fraction(4) ** exponent
    assert is_root(rounded_root(number.numerator, number.denominator), number)


def is_root(found: float | None, square: Fraction) -> bool:
    """Whether a float is the one nearest to a root; one that is too large for any is unknown."""
    if found is None:
        return square > Fraction(LARGEST) ** 2
    below, above = (math.nextafter(found, to) for to in (0.0, math.inf))
    low = (Fraction(found) + Fraction(below)) / 2
    high = (Fraction(found) + Fraction(above)) / 2 if math.isfinite(above) else Fraction(found) * 2
    return low**2 <= square <= high**2


@given(st.lists(FINITE, min_size=1))
def test_a_median_has_as_many_values_below_as_above(values: list[Any]) -> None:
    found = aggregate("median", values)
    assert not isinstance(found, int)
    assert nearest(found, Fraction(statistics.median(map(Fraction, values))))


@given(st.lists(st.one_of(st.none(), st.integers(-5, 5))), st.integers(1, 4))
def test_the_largest_come_first(values: list[int | None], k: int) -> None:
    """With duplicates, as many as there are; each once where they are to be distinct."""
    known = sorted((value for value in values if value is not None), reverse=True)
    assert apply_call(top_k("x", k), values) == (tuple(known[:k]) if known else None)
    distinct = sorted(set(known), reverse=True)
    assert apply_call(top_k("x", k, distinct=True), values) == (tuple(distinct[:k]) if known else None)


@pytest.mark.parametrize("make", BUILT_IN)
@given(values=st.lists(st.one_of(st.none(), st.integers(-3, 3))))
def test_distinct_means_each_value_once(make: Callable[..., AggregateCall], values: list[int | None]) -> None:
    assert apply_call(make("x", distinct=True), values) == apply_call(make("x"), list(dict.fromkeys(values)))


def test_a_sum_of_distinct_values_is_a_float_where_one_is() -> None:
    """2**53 + 1 is an integer and no float; which of two equal values is taken must not show."""
    for values in ([2**53, 1, 1.0], [2**53, 1.0, 1]):
        found = apply_call(sum_("x", distinct=True), values)
        assert (type(found), found) == (float, 2.0**53)
    assert apply_call(sum_("x", distinct=True), [2**53, 1, 1]) == 2**53 + 1


@pytest.mark.parametrize(
    ("function", "values", "expected"),
    [
        ("sum", [LARGEST, LARGEST], None),
        ("sum", [-1e308, -1e308, 1], None),
        ("sum", [1e308, 1e308, -1e308], 1e308),
        ("sum", [10**400, 0.5], None),
        ("sum", [10**400, -(10**400), 0.5], 0.5),
        ("sum", [10**400, 1], 10**400 + 1),
        ("avg", [LARGEST, LARGEST], LARGEST),
        ("avg", [10**400], None),
        ("var_pop", [1e200, -1e200], None),
        ("var_samp", [1e200, -1e200], None),
        ("stddev_pop", [LARGEST, -LARGEST], LARGEST),
        ("stddev_samp", [LARGEST, -LARGEST], None),
        ("median", [LARGEST, LARGEST], LARGEST),
        ("median", [10**400, 0], None),
        ("median", [10**400, -1.0, 1], 1.0),
        ("max", [10**400, 1.0], 10**400),
    ],
)
def test_what_is_beyond_the_largest_float_is_unknown(function: str, values: list[Any], expected: Any) -> None:
    found = aggregate(function, values)
    assert (type(found), found) == (type(expected), expected)


def test_what_users_define_is_merged() -> None:
    assert apply_call(SPREAD("x"), [3, None, 9, 4]) == 6
    assert apply_call(SPREAD("x"), [None]) is None
    product = user_aggregate("product", lambda x: x, lambda a, b: a * b, lambda a: a)
    assert apply_call(product("x"), [3, 3, 2]) == 18
    assert apply_call(product("x", distinct=True), [3, 3, 2]) == 6


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, Decimal("NaN"), Decimal("-Infinity")])
def test_a_users_result_that_is_not_finite_is_unknown(odd: Any) -> None:
    lost = user_aggregate("lost", float, lambda a, b: a + b, lambda a: odd, type="float")
    assert apply_call(lost("x"), [1]) is None
    assert lost("x").column("y", Schema.of(x="float")).nullable


def test_builders_name_functions() -> None:
    assert (variance("x"), stddev("x")) == (var_samp("x"), stddev_samp("x"))
    assert count_distinct("x") == count("x", distinct=True) == AggregateCall("count", Col("x"), True)
    assert {call.name for call in CALLS} == {*FUNCTIONS} - OF_TUPLES
    assert {*FUNCTIONS} == {*MEANING, "top_k"}


def test_an_extreme_does_not_care_how_often_a_value_occurs() -> None:
    """So plans that differ in no more than that are equal."""
    for function in ("min", "max"):
        assert AggregateCall(function, Col("x"), distinct=True) == AggregateCall(function, Col("x"))


def test_calls_are_equal_by_what_they_compute() -> None:
    calls = [count(), count("x"), *CALLS, top_k("x", 2), SPREAD("x"), SPREAD("x", distinct=True), SPREAD("y")]
    other = user_aggregate("spread", lambda x: x, max, lambda a: a)
    assert len({*calls, *CALLS, SPREAD(col("x")), other("x")}) == len({*map(str, calls)}) + 1


@pytest.mark.parametrize("call", [count(), count("x"), count(col("x") * 2, distinct=True), *CALLS], ids=str)
def test_a_call_is_read_back_from_its_serial_form(call: AggregateCall) -> None:
    assert call_from_json(json.loads(json.dumps(call.to_json()))) == call


def test_the_serial_form_of_a_plain_call_has_two_parts() -> None:
    """As it always had; what older files hold is read."""
    assert count().to_json() == ["count", None]
    assert sum_("x").to_json() == ["sum", {"column": "x"}]
    assert top_k("x", 3, distinct=True).to_json() == ["top_k", {"column": "x"}, {"distinct": True, "k": 3}]
    assert call_from_json(["max", {"column": "x"}]) == max_("x")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (["sum"], "expected an aggregate"),
        ("sum", "expected an aggregate"),
        ([3, None], "expected an aggregate"),
        (["sum", {"column": "x"}, {}], "expected an aggregate"),
        (["sum", {"column": "x"}, {"all": True}], "expected an aggregate"),
        (["sum", {"column": "x"}, {"distinct": 1}], "found distinct: 1, expected true or false"),
        (["sum", {"column": 3}], "expected an expression"),
    ],
)
def test_what_is_no_call_is_not_read(data: Any, message: str) -> None:
    with pytest.raises(PlanFormatError, match=message):
        call_from_json(data)


def test_python_callables_have_no_serial_form() -> None:
    with pytest.raises(PlanFormatError, match=r"spread\(x\) is made of Python callables"):
        SPREAD("x").to_json()
    with pytest.raises(PlanFormatError, match="Python callable"):
        sum_(opaque(abs, reads=["x"])).to_json()


def test_a_call_is_written_as_it_is_read() -> None:
    calls = (count(), count("x"), sum_(col("x") + 1), count_distinct("x"), top_k("x", 3), SPREAD("x"))
    assert list(map(str, calls)) == [
        "count(*)",
        "count(x)",
        "sum(x + 1)",
        "count(distinct x)",
        "top_k(x, 3)",
        "spread(x)",
    ]
    assert sum_(col("x") + col("y")).columns() == {"x", "y"}
    assert count().columns() == frozenset()
    assert {sum_("x"), sum_(col("x"))} == {AggregateCall("sum", Col("x"))}
