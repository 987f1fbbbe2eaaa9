"""Running aggregates agree with what the functions mean, at every instant, on every value that a column may
hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import total_ordering
from operator import eq
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from midstream.operators.functions.accumulators import (
    ACCUMULATORS,
    Maximum,
    Mean,
    Minimum,
    Sum,
    accumulator,
)
from midstream.operators.functions.exact import ExactSum
from midstream.operators.functions.user_aggregates import PartialResults
from midstream.plans.expressions.aggregates import (
    MEANING,
    AggregateCall,
    UserAggregate,
    aggregate,
    apply_call,
    avg,
    count,
    count_distinct,
    median,
    stddev_pop,
    stddev_samp,
    sum_,
    top_k,
    user_aggregate,
    var_pop,
    var_samp,
)
from midstream.plans.expressions.expressions import Col
from midstream.plans.values.finite import LARGEST
from midstream.plans.values.streams import FOREVER, Time

FLOATS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-10, 10),
    st.sampled_from([5e-324, -5e-324, 2.2250738585072014e-308, LARGEST, -LARGEST, -0.0]),
)
INTEGERS = st.one_of(st.integers(-5, 5), st.integers(-(2**70), 2**70), st.sampled_from([10**400, -(10**400)]))
NUMBERS = st.one_of(INTEGERS, FLOATS)
EXACT = st.one_of(NUMBERS, st.fractions(), st.decimals(allow_nan=False, allow_infinity=False))
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


def same(found: Any, expected: Any) -> bool:
    """Equal, and of one type."""
    return bool(found == expected) and isinstance(found, float) == isinstance(expected, float)


def check(
    call: str | AggregateCall,
    rows: Sequence[Row],
    agree: Callable[[Any, Any], bool] = same,
    leaving: Callable[[Any], Any] = lambda value: value,
) -> None:
    """Let values enter and leave as time goes by; ask at every instant, compare with the meaning. What leaves
    may be another value that equals the one that entered."""
    call = call if isinstance(call, AggregateCall) else AggregateCall(call, Col("x"))
    running = accumulator(call)
    horizon = max([end for _, end, _ in rows if end != FOREVER], default=0)
    for now in range(max(horizon, rows[-1][0]) + 1):
        for _, end, value in rows:
            if end == now:
                running.remove(leaving(value))
        for start, end, value in rows:
            if start == now:
                running.add(value, end)
        expected = apply_call(call, [value for start, end, value in rows if start <= now < end])
        found = running.value(now)
        assert agree(found, expected), f"{call} at {now}: found {found!r}, expected {expected!r}"
    for _, end, value in rows:
        if end == FOREVER:
            running.remove(leaving(value))
    assert running.value(FOREVER) == apply_call(call, [])


@pytest.mark.parametrize("function", ["count", "sum", "avg"])
@given(rows=histories(NUMBERS))
@example(rows=[(0, 9, 1e16), (0, 3, 1.0), (1, 5, -1e16)])
@example(rows=[(0, 9, 10**400), (0, 3, 0.5)])
@example(rows=[(0, 9, LARGEST), (0, 3, LARGEST), (0, 5, 1)])
@example(rows=[(0, 9, 10**400), (1, 2, LARGEST)])
def test_sums_agree_with_their_meaning_at_every_instant(function: str, rows: list[Row]) -> None:
    """Huge and tiny floats, and integers beyond every float, in and out in any order."""
    check(function, rows)


@pytest.mark.parametrize("function", ["sum", "avg"])
@given(rows=histories(EXACT))
@example(rows=[(0, 2, Fraction(1, 3)), (0, 1, 0.5)])
@example(rows=[(0, 2, Decimal("0.1"))])
def test_a_column_of_any_type_may_hold_any_number(function: str, rows: list[Row]) -> None:
    """Decimals and fractions are no multiples of a power of two."""
    check(function, rows)


@pytest.mark.parametrize("function", ["min", "max"])
@given(
    rows=st.one_of(
        histories(NUMBERS),
        histories(st.integers(0, 3)),
        histories(st.integers(0, 3), is_ordered=True),
    )
)
@example(rows=[(0, 1, 0), (0, FOREVER, 1), (0, FOREVER, 0.0)])
def test_extremes_agree_with_their_meaning_at_every_instant(function: str, rows: list[Row]) -> None:
    """Few different values give ties; ends in order and out of order take different ways. Where 0 and 0.0 are
    there, which are equal, either is the least: a multiset does not tell which came first."""
    check(function, rows, eq)


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
    expected: float | None
    try:
        expected = math.fsum(values)
    except OverflowError:
        expected = None
    assert total.value(0) == expected


@given(st.lists(NUMBERS, min_size=1, max_size=30))
def test_a_mean_is_rounded_once(values: list[int | float]) -> None:
    """So it is the float nearest to the true mean, which the rounded sum divided by the count is not."""
    mean = Mean()
    for value in values:
        mean.add(value, FOREVER)
    true = sum(map(Fraction, values), Fraction()) / len(values)
    found = mean.value(0)
    if found is not None:
        for neighbour in (math.nextafter(found, math.inf), math.nextafter(found, -math.inf)):
            if math.isfinite(neighbour):
                assert abs(Fraction(found) - true) <= abs(Fraction(neighbour) - true)
    else:
        assert abs(true) > Fraction(LARGEST)


@given(st.lists(NUMBERS, max_size=30), st.permutations(range(30)), NUMBERS)
def test_what_has_left_leaves_no_trace(values: list[Any], order: list[int], last: Any) -> None:
    """A running sum of floats drifts; this one is, after all others have left, the one value that stays."""
    total, mean = Sum(), Mean()
    for running in (total, mean):
        running.add(last, FOREVER)
        for value in values:
            running.add(value, FOREVER)
        for i in order:
            if i < len(values):
                running.remove(values[i])
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


OF_NUMBERS = [
    sum_("x", distinct=True),
    avg("x", distinct=True),
    count_distinct("x"),
    var_pop("x"),
    var_samp("x"),
    stddev_pop("x"),
    stddev_samp("x"),
    stddev_samp("x", distinct=True),
]
ORDERED = [
    median("x"),
    median("x", distinct=True),
    top_k("x", 1),
    top_k("x", 3),
    top_k("x", 2, distinct=True),
]
FEW = st.sampled_from([0, 1, 1.0, 2, 2.0, 0.5, 2.0**53, 2**53, 2**53 + 1, -3])
"""Many that are equal, integers and floats among them, and such as no float can add up."""


@pytest.mark.parametrize("call", [*OF_NUMBERS, count("x")], ids=str)
@given(rows=st.one_of(histories(EXACT), histories(NUMBERS), histories(FEW)))
@example(rows=[(0, 9, 2**53), (0, 5, 1), (0, 3, 1.0)])
@example(rows=[(0, 9, 2.0**53), (0, 5, 1.0), (0, 7, 1), (1, 9, 2**53)])
@example(rows=[(0, 9, 1e200), (0, 5, -1e200), (2, 3, 5e-324)])
@example(rows=[(0, 9, LARGEST), (1, 4, LARGEST), (2, 3, -LARGEST), (2, 5, 1e200)])
def test_functions_of_numbers_agree_with_their_meaning(call: AggregateCall, rows: list[Row]) -> None:
    """Variances of what would overflow when squared, sums of integers and of floats that equal them."""
    check(call, rows)


@pytest.mark.parametrize("function", ["scaled_sum", "standard_error"])
@given(data=st.data())
def test_estimates_agree_with_their_meaning(function: str, data: st.DataObject) -> None:
    """Rows of one draw leave one by one, and those of several shares meet."""
    parts = (
        st.one_of(EXACT, FEW),
        st.sampled_from([0.1, 0.3, 0.5, 1.0, 5e-324]),
        st.sampled_from([7, 2**64 - 1]),
    )
    values = st.tuples(*(parts if function == "standard_error" else parts[:2]))

    def leaving(value: Any) -> Any:
        number, *rest = value
        return (float(number) if type(number) is int and abs(number) < 2**53 else number, *rest)

    rows = data.draw(histories(values))
    check(function, rows)
    check(function, rows, same, leaving)


@pytest.mark.parametrize("call", ORDERED, ids=str)
@given(rows=st.one_of(histories(NUMBERS), histories(FEW), histories(FLOATS)))
@example(rows=[(0, 9, 1.7976931348623157e308), (0, 9, 1.7976931348623157e308)])
@example(rows=[(0, 9, 5e-324), (0, 9, 0.0)])
@example(rows=[(0, 9, LARGEST), (0, 9, -LARGEST)])
@example(rows=[(0, 9, 10**400), (0, 9, 0.5)])
def test_order_statistics_agree_with_their_meaning(call: AggregateCall, rows: list[Row]) -> None:
    check(call, rows)


@given(rows=histories(st.tuples(st.integers(0, 2), st.text(max_size=2))))
def test_the_largest_need_an_order_and_no_arithmetic(rows: list[Row]) -> None:
    check(top_k("x", 2), rows)


@pytest.mark.parametrize("distinct", [False, True])
@given(rows=histories(NUMBERS))
def test_a_deviation_is_the_root_of_the_variance(distinct: bool, rows: list[Row]) -> None:
    """Up to the rounding of both, where the variance is a float at all."""
    values = [value for _, _, value in rows]
    for root, square in ((stddev_pop, var_pop), (stddev_samp, var_samp)):
        deviation, variance = (apply_call(make("x", distinct=distinct), values) for make in (root, square))
        if variance is None or not math.isfinite(variance) or variance < 1e-300:
            continue
        assert math.isclose(deviation, math.sqrt(variance), rel_tol=1e-15)


@pytest.mark.parametrize("call", [sum_("x"), avg("x"), *OF_NUMBERS, *ORDERED], ids=str)
@given(rows=histories(st.sampled_from([0, 0.0, 1, 1.0, 2, 2.0, 0.5, 0.1, -3, Fraction(1, 3)])))
@example(rows=[(0, 2, 1), (0, 9, 0.1)])
@example(rows=[(0, 2, 1.0), (0, 9, 0.1), (1, 3, 2)])
def test_an_equal_number_may_leave_in_place_of_one_that_entered(call: AggregateCall, rows: list[Row]) -> None:
    """On positives and negatives 1.0 leaves where 1 entered, as the rows are equal."""

    def leaving(value: Any) -> Any:
        return float(value) if isinstance(value, int) else int(value) if value == int(value) else value

    check(call, rows, eq, leaving)


def _by_users(inverse: bool) -> list[UserAggregate]:
    """Functions with which a value that is lost or merged twice shows."""
    undo: dict[str, Callable[[Any, Any], Any]] = (
        {"parity": lambda a, b: a ^ b, "total": lambda a, b: (a[0] - b[0], a[1] - b[1])} if inverse else {}
    )
    functions = [
        user_aggregate("parity", lambda x: x % 2, lambda a, b: a ^ b, lambda a: a, undo.get("parity")),
        user_aggregate(
            "total", lambda x: (x, 1), lambda a, b: (a[0] + b[0], a[1] + b[1]), lambda a: a, undo.get("total")
        ),
    ]
    if not inverse:
        functions.append(
            user_aggregate("bag", lambda x: (x,), lambda a, b: tuple(sorted(a + b)), lambda a: a)
        )
        functions.append(
            user_aggregate("odd", lambda x: None, lambda a, b: None, lambda a: math.inf - math.inf)
        )
    return functions


@pytest.mark.parametrize("function", [*_by_users(False), *_by_users(True)], ids=lambda f: f.name)
@pytest.mark.parametrize("distinct", [False, True])
@given(
    rows=st.one_of(histories(st.integers(0, 3)), histories(st.integers(0, 9), is_ordered=True)),
)
def test_what_users_define_agrees_with_its_meaning(
    function: UserAggregate, distinct: bool, rows: list[Row]
) -> None:
    """Also one whose partial results are None, and one whose result is no number."""
    check(function("x", distinct=distinct), rows)


LARGE = st.sampled_from([0.0, 2.0**1000, 3 * 2.0**1000, 2.0**1023])
"""Their sums are exact, and overflow in every order if in one."""


@pytest.mark.parametrize("distinct", [False, True])
@given(rows=st.one_of(histories(LARGE), histories(LARGE, is_ordered=True)))
def test_an_inverse_takes_out_what_overflowed(distinct: bool, rows: list[Row]) -> None:
    """Sums, and what is computed from a sum that is not finite, are right again when that has left."""
    total = user_aggregate("total", lambda x: x, lambda a, b: a + b, lambda a: a, lambda a, b: a - b, "float")
    mean = user_aggregate(
        "mean",
        lambda x: (x, 1),
        lambda a, b: (a[0] + b[0], a[1] + b[1]),
        lambda a: (math.isfinite(a[0]) and a[0], a[1]),
        lambda a, b: (a[0] - b[0], a[1] - b[1]),
    )
    for function in (total, mean):
        check(function("x", distinct=distinct), rows)


def test_a_sliding_total_recovers_when_what_overflowed_has_left() -> None:
    total = user_aggregate("total", lambda x: x, lambda a, b: a + b, lambda a: a, lambda a, b: a - b, "float")
    running = accumulator(total("x"))
    for value in (1.0, 2.0**1023, 2.0**1023):
        running.add(value, 9)
    assert running.value(0) is None
    running.remove(2.0**1023)
    assert running.value(0) == 2.0**1023
    running.remove(1.0)
    running.remove(2.0**1023)
    assert running.value(0) is None


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), max_size=40))
def test_partial_results_come_and_go_in_any_order(steps: list[tuple[int, int]]) -> None:
    """The total is what all that are in give, whatever free places they take."""
    partials = PartialResults(lambda a, b: tuple(sorted(a + b)))
    nothing = partials.total
    places: dict[int, int] = {}
    for step, (kind, number) in enumerate(steps):
        if kind or not places:
            places[partials.put((step,))] = step
        else:
            place = sorted(places)[number % len(places)]
            partials.drop(place)
            del places[place]
        assert partials.total == (tuple(sorted(places.values())) if places else nothing)


def merges(ends: Sequence[Time]) -> int:
    """How often a user's function is merged while one value arrives an instant, asked for at each."""
    calls = 0

    def merge(a: int, b: int) -> int:
        nonlocal calls
        calls += 1
        return max(a, b)

    running = accumulator(user_aggregate("largest", lambda x: x, merge, lambda a: a)("x"))
    for now, end in enumerate(ends):
        running.value(now)
        running.add(now % 7, end)
    return calls


def test_values_that_leave_are_not_paid_for_by_those_that_stay() -> None:
    """Windows give ends in order: then a value is merged when it enters, when the stacks are turned over, and
    twice for each question, whatever the window."""
    for window in (100, 4_000):
        assert merges([now + window for now in range(3 * window)]) <= 4 * 3 * window


def test_values_that_leave_out_of_order_cost_a_logarithm() -> None:
    for window in (100, 4_000):
        jittery = [now + 1 + (now * 7919) % window for now in range(3 * window)]
        assert merges(jittery) <= (4 + 2 * (1 + math.log2(window))) * 3 * window


@total_ordering
class Compared:
    """A value that counts how often it is compared."""

    comparisons = 0

    def __init__(self, rank: int) -> None:
        self.rank = rank

    def __lt__(self, other: Any) -> bool:
        Compared.comparisons += 1
        return bool(self.rank < other.rank)


@pytest.mark.parametrize("kept", [100, 10_000])
def test_an_order_is_kept_by_bisection(kept: int) -> None:
    """Finding a place costs a logarithm of comparisons."""
    running = accumulator(top_k("x", 3))
    values = [Compared(i * 7919 % kept) for i in range(kept)]
    for value in values:
        running.add(value, FOREVER)
    Compared.comparisons = 0
    for value in values[:50]:
        running.remove(value)
        running.add(value, FOREVER)
        assert running.value(0) is not None
    assert Compared.comparisons <= 50 * 2 * (math.log2(kept) + 8)


@given(st.lists(EXACT, max_size=12), st.lists(EXACT, min_size=1, max_size=5))
def test_an_exact_sum_keeps_no_trace_of_what_was_taken_out(gone: list[Any], stay: list[Any]) -> None:
    """Neither of the value nor of how finely it was divided."""
    one, other = ExactSum(), ExactSum()
    for value in gone + stay:
        one.change(value, 1)
    for value in gone:
        one.change(value, -1)
    for value in stay:
        other.change(value, 1)
    assert same(one.over(3, 7), other.over(3, 7))
    assert Fraction(*one.ratio()) == Fraction(*other.ratio())
    for value in stay:
        one.change(value, -1)
    assert (one.count, one.ratio()) == (0, (0, 1))


def test_every_function_has_an_accumulator() -> None:
    assert ACCUMULATORS.keys() == MEANING.keys()
