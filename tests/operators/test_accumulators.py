"""Running aggregates agree with what the functions mean, at every instant, on every value that a column may
hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from midstream.operators.accumulators import ACCUMULATORS, Maximum, Mean, Minimum, Sum
from midstream.plans.aggregates import MEANING, aggregate
from midstream.plans.streams import FOREVER, Time

FLOATS = st.one_of(
    st.floats(allow_nan=False),
    st.floats(-10, 10),
    st.sampled_from(
        [5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, math.inf, -math.inf, -0.0]
    ),
)
INTEGERS = st.one_of(st.integers(-5, 5), st.integers(-(2**70), 2**70), st.sampled_from([10**400, -(10**400)]))
NUMBERS = st.one_of(INTEGERS, FLOATS)
EXACT = st.one_of(
    NUMBERS, st.fractions(), st.decimals(allow_nan=False, allow_infinity=False), st.just(math.nan)
)
Row = tuple[int, Time, Any]
"""Start, end, value."""


@st.composite
def histories(draw: st.DrawFn, values: st.SearchStrategy[Any], *, is_ordered: bool = False) -> list[Row]:
    """Values with the time that they are in, in order of start; ends in any order, unless `is_ordered`."""
    rows: list[Row] = []
    time, last = 0, 0
    for _ in range(draw(st.integers(1, 12))):
        time += draw(st.sampled_from((0, 0, 1, 2)))
        end: Time = time + draw(st.integers(1, 9))
        if is_ordered:
            last = end = max(last, end)
        elif draw(st.integers(0, 5)) == 0:
            end = FOREVER
        rows.append((time, end, draw(values)))
    return rows


def check(function: str, rows: Sequence[Row]) -> None:
    """Let values enter and leave as time goes by; ask at every instant, compare with the meaning."""
    accumulator = ACCUMULATORS[function]()
    horizon = max([end for _, end, _ in rows if end != FOREVER], default=0)
    for now in range(max(horizon, rows[-1][0]) + 1):
        for _, end, value in rows:
            if end == now:
                accumulator.remove(value)
        for start, end, value in rows:
            if start == now:
                accumulator.add(value, end)
        expected = aggregate(function, [value for start, end, value in rows if start <= now < end])
        found = accumulator.value(now)
        assert same(found, expected), f"{function} at {now}: found {found!r}, expected {expected!r}"
    for _, end, value in rows:
        if end == FOREVER:
            accumulator.remove(value)
    assert accumulator.value(FOREVER) == aggregate(function, [])


def same(found: Any, expected: Any) -> bool:
    """Equal, of one type, and where it is no number the very same object, as payloads that hold it must be
    equal."""
    if isinstance(expected, float) and math.isnan(expected):
        return found is expected
    return bool(found == expected) and (not isinstance(expected, float) or isinstance(found, float))


@pytest.mark.parametrize("function", ["count", "sum", "avg"])
@given(rows=histories(NUMBERS))
@example(rows=[(0, 9, 1e16), (0, 3, 1.0), (1, 5, -1e16)])
@example(rows=[(0, 9, 10**400), (0, 3, 0.5)])
@example(rows=[(0, 9, math.inf), (0, 3, -math.inf), (0, 5, 1)])
@example(rows=[(0, 9, 10**400), (1, 2, math.inf)])
def test_sums_agree_with_their_meaning_at_every_instant(function: str, rows: list[Row]) -> None:
    """Huge and tiny floats, infinities, and integers beyond every float, in and out in any order."""
    check(function, rows)


@pytest.mark.parametrize("function", ["sum", "avg"])
@given(rows=histories(EXACT))
@example(rows=[(0, 2, Fraction(1, 3)), (0, 1, 0.5)])
@example(rows=[(0, 2, Decimal("0.1"))])
@example(rows=[(0, 2, math.nan), (1, 3, 1)])
def test_a_column_of_any_type_may_hold_any_number(function: str, rows: list[Row]) -> None:
    """Decimals and fractions are no multiples of a power of two, and an aggregate below may give NaN."""
    check(function, rows)


@pytest.mark.parametrize("function", ["min", "max"])
@given(
    rows=st.one_of(
        histories(NUMBERS), histories(st.integers(0, 3)), histories(st.integers(0, 3), is_ordered=True)
    )
)
def test_extremes_agree_with_their_meaning_at_every_instant(function: str, rows: list[Row]) -> None:
    """Few different values give ties; ends in order and out of order take different ways."""
    check(function, rows)


@pytest.mark.parametrize("function", ["min", "max"])
@given(rows=histories(st.tuples(st.integers(0, 2), st.text(max_size=2))))
def test_extremes_need_an_order_and_no_arithmetic(function: str, rows: list[Row]) -> None:
    check(function, rows)


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=50))
def test_a_sum_of_floats_is_exact(values: list[float]) -> None:
    """math.fsum is another exact way."""
    total = Sum()
    for value in values:
        total.add(value, FOREVER)
    try:
        expected = math.fsum(values)
    except OverflowError:
        expected = float("inf") if sum(map(Fraction, values)) > 0 else float("-inf")
    assert total.value(0) == expected


@given(st.lists(NUMBERS.filter(lambda v: isinstance(v, int) or math.isfinite(v)), min_size=1, max_size=30))
def test_a_mean_is_rounded_once(values: list[int | float]) -> None:
    """So it is the float nearest to the true mean, which the rounded sum divided by the count is not."""
    mean = Mean()
    for value in values:
        mean.add(value, FOREVER)
    true = sum(map(Fraction, values), Fraction()) / len(values)
    found = mean.value(0)
    assert isinstance(found, float)
    if math.isfinite(found):
        for neighbour in (math.nextafter(found, math.inf), math.nextafter(found, -math.inf)):
            if math.isfinite(neighbour):
                assert abs(Fraction(found) - true) <= abs(Fraction(neighbour) - true)
    else:
        assert abs(true) > Fraction(1.7976931348623157e308)


@given(st.lists(NUMBERS, max_size=30), st.permutations(range(30)), NUMBERS)
def test_what_has_left_leaves_no_trace(values: list[Any], order: list[int], last: Any) -> None:
    """A running sum of floats drifts; this one is, after all others have left, the one value that stays."""
    total, mean = Sum(), Mean()
    for accumulator in (total, mean):
        accumulator.add(last, FOREVER)
        for value in values:
            accumulator.add(value, FOREVER)
        for i in order:
            if i < len(values):
                accumulator.remove(values[i])
    assert total.value(0) == last
    assert type(total.value(0)) is type(last)
    assert mean.value(0) == aggregate("avg", [last])


@given(st.lists(FLOATS, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_a_sum_does_not_depend_on_order(values: list[float], random: Any) -> None:
    """Plans that mean the same deliver rows in different orders."""
    shuffled = list(values)
    random.shuffle(shuffled)
    one, other = Sum(), Sum()
    for value in values:
        one.add(value, FOREVER)
    for value in shuffled:
        other.add(value, FOREVER)
    assert same(one.value(0), other.value(0))


@pytest.mark.parametrize("kind", [Maximum, Minimum])
def test_an_extreme_keeps_only_what_may_still_be_one(kind: type[Maximum]) -> None:
    """A value that another exceeds and outlives never will be: rising values leave one of them, for whatever
    window."""
    sign = 1 if kind is Maximum else -1
    rising, falling = kind(), kind()
    for i in range(1000):
        rising.add(sign * i, 10_000 + i)
        falling.add(-sign * i, 10_000 + i)
    assert len(rising._values) == 1
    assert len(falling._values) == 1000
    assert rising.value(0) == sign * 999
    assert falling.value(10_500) == -sign * 501
    falling.add(sign, 20_000)
    assert len(falling._values) - falling._first == 1


def test_every_function_has_an_accumulator() -> None:
    assert ACCUMULATORS.keys() == MEANING.keys()
