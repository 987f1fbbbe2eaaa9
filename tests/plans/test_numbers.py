"""No plan holds a number that is not finite: what overflows or is not defined is unknown."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from midstream.driving import run as run_streams
from midstream.engine import Engine
from midstream.operators.engine.input.relations import constant
from midstream.operators.signs.plans import signed_plan
from midstream.plans.algebra.builder import relation, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.aggregates import (
    AggregateCall,
    avg,
    count,
    max_,
    median,
    min_,
    stddev_pop,
    stddev_samp,
    sum_,
    top_k,
    user_aggregate,
    var_pop,
)
from midstream.plans.expressions.expressions import Binary, Const
from midstream.plans.expressions.operands import Operand, call, case, col, greatest, least, lit, opaque
from midstream.plans.sql.catalog import Catalog
from midstream.plans.values.errors import ExpressionError, FunctionError, SchemaError
from midstream.plans.values.finite import LARGEST
from midstream.plans.values.snapshots import normal_form
from midstream.plans.values.streams import Batch, Element, chronons

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "algebra.md"
TABLE = re.compile(r"^\| `(.+?)` \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)


def rows_of_the_table() -> Iterator[tuple[str, str, str, str]]:
    """What the documentation says of numbers."""
    if not DOCUMENT.is_file():
        return
    section = DOCUMENT.read_text(encoding="utf-8").split("\n## Numbers\n")[1].split("\n## ")[0]
    for found in TABLE.finditer(section):
        expression, x, y, result = found.groups()
        yield expression, x, y, result


def run(plan: Plan, elements: Batch, size: int) -> list[Element]:
    """The results of a plan over one stream, in batches of a size."""
    results: list[Element] = []
    engine = Engine(plan, results.extend)
    for i in range(0, len(elements), size):
        engine.push("s", elements[i : i + size])
    engine.close()
    return results


def check(plan: Plan, elements: Batch) -> list[Element]:
    """Run a plan in several ways, compare with the specification; the results hold finite numbers only."""
    expected = specified(plan, {"s": elements})
    for each in (signed_plan(plan), plan):
        for size in dict.fromkeys((max(len(elements), 1), 1)):  # one element makes one batch either way
            found = run(each, elements, size)
            assert normal_form(found) == expected
            for _, _, row in found:
                json.dumps(row, allow_nan=False)
    return found


@pytest.mark.parametrize(("expression", "x", "y", "result"), list(rows_of_the_table()))
def test_the_table_of_the_documentation(expression: str, x: str, y: str, result: str) -> None:
    catalog = Catalog()
    catalog.execute("CREATE STREAM s(x REAL, y REAL, t TIMESTAMP) ORDERED BY t")
    plan = catalog.query(f"SELECT {expression} AS r FROM s").plan
    # At one instant, so that an aggregate is over all of them.
    elements = [(0, 1, (float(number), float(y))) for number in x.split(", ")]
    ((_, _, (found,)),) = check(plan, elements)
    expected = None if result == "unknown" else json.loads(result)
    assert (type(found), found) == (type(expected), expected)


@pytest.mark.skipif(not DOCUMENT.is_file(), reason="an installed package is tested, without documents")
def test_the_table_is_as_long_as_we_think() -> None:
    assert len(list(rows_of_the_table())) >= 35


FLOATS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1.0, -2.5, 5e-324, 1e-308, 1e154, 1e308, -1e308, LARGEST, -LARGEST]),
    # A column of floats takes integers as well.
    st.sampled_from([3, 2**53 + 1, int(1e300), 10**308, -(10**308), int(LARGEST), -int(LARGEST)]),
)
WHOLE = st.one_of(st.integers(-5, 5), st.sampled_from([2**63, 10**308, 10**309, -(10**400), 10**400]))
ROWS = st.lists(st.tuples(FLOATS, st.one_of(st.none(), FLOATS), WHOLE), min_size=1, max_size=8)
SCHEMA = {"x": "float", "y": "float?", "i": "integer"}


@st.composite
def numbers(draw: st.DrawFn, depth: int = 3) -> Operand:
    """Expressions of all that computes numbers."""
    if not depth or draw(st.integers(0, 3)) == 0:
        constants = (0, 1, 10, 0.5, 1e308, -LARGEST, 2.0**970, 10**400, 5e-324)
        return draw(st.sampled_from([col("x"), col("y"), col("i"), *map(lit, constants)]))
    one, other = draw(numbers(depth - 1)), draw(numbers(depth - 1))
    functions = ("abs", "round", "trunc", "ceil", "floor", "sqrt", "exp", "ln", "log10", "sign", "negate")
    match draw(st.integers(0, 9)):
        case 0 | 1 | 2 | 3:
            return Operand(Binary(draw(st.sampled_from("+-*/%")), one.expression, other.expression))
        case 4:
            return call(draw(st.sampled_from(functions)), one)
        case 5:
            return call(draw(st.sampled_from(("power", "mod", "//", "coalesce", "nullif"))), one, other)
        case 6:
            return case((one > other, one), default=other)
        case 7:
            return draw(st.sampled_from((greatest, least)))(one, other)
        case 8:
            return one.cast(draw(st.sampled_from(("float", "integer"))))
        case _:
            return opaque(lambda x: x * 1e10 - x, ["x"], "float")


X = col("x")


@given(numbers(), ROWS)
@example(X * 10 - X * 10, [(1e308, None, 0)])
@example(X * 10 * 0, [(1e308, None, 0)])
@example(X + col("i"), [(1.0, None, 10**400)])
@example(call("coalesce", col("i"), col("x")) * 2, [(1.0, None, 10**400)])
@example(case((X > 0, col("i")), default=0.5) + X, [(1.0, None, 10**400)])
@example(X - 2.0**970, [(-LARGEST, None, 0)])
def test_computed_numbers_are_finite_and_equal_themselves(expression: Operand, rows: list[Any]) -> None:
    """A duplicate of each row, so that `distinct` must find them equal; a column that is declared to be known
    is known."""
    s = stream("s", SCHEMA)
    elements = list(chronons((t, row) for t, row in enumerate(rows) for _ in range(2)))
    query = s.window(2).select(n=expression)
    for one in (query, query.distinct(), query.filter(col("n") > 1)):
        for _, _, (value,) in check(one.plan(), elements):
            assert value is not None or one.schema["n"].nullable


CALLS = [
    count("v"), sum_("v"), sum_("v", distinct=True), avg("v"), min_("v"), max_("v"), median("v"),
    var_pop("v"), stddev_pop("v"), stddev_samp("v"), top_k("v", 2),
    user_aggregate("total", lambda v: v, max, lambda v: v * v, type="float")("v"),
]  # fmt: skip


@pytest.mark.parametrize("aggregate", CALLS, ids=str)
@pytest.mark.parametrize("column", ["x", "i"])
@given(rows=ROWS, data=st.data())
def test_aggregates_are_finite_whatever_the_order(
    aggregate: AggregateCall, column: str, rows: list[Any], data: st.DataObject
) -> None:
    """Grouped and not, over windows that rows leave again, also of what may have overflowed below."""
    s = stream("s", SCHEMA)
    factor = data.draw(st.sampled_from((1, 10)))
    windowed = s.window(3).select(k=col("y").is_null(), v=col(column) * factor)
    times = data.draw(st.lists(st.integers(0, 4), min_size=len(rows), max_size=len(rows)).map(sorted))
    elements = list(chronons(zip(times, rows, strict=True)))
    for query in (windowed.aggregate(a=aggregate), windowed.group_by("k").aggregate(a=aggregate)):
        for _, _, row in check(query.plan(), elements):
            assert row[-1] is not None or query.schema["a"].nullable


@pytest.mark.parametrize("aggregate", CALLS, ids=str)
@given(rows=ROWS, expression=numbers(2), data=st.data())
@example(rows=[(10**308, None, 0)] * 2, expression=X, data=None)
def test_numbers_computed_from_aggregates_are_finite(
    aggregate: AggregateCall, rows: list[Any], expression: Operand, data: st.DataObject | None
) -> None:
    """Aggregates of what was computed, and what is computed from them in turn."""
    s = stream("s", SCHEMA)
    factor = 0.5 if data is None else data.draw(st.sampled_from((0.5, 1, 10, 10**308, -LARGEST)))
    above = col("a") if aggregate.function != "top_k" else lit(1)
    query = (
        s.window(3)
        .select("i", v=expression)
        .aggregate(a=aggregate, i=max_("i"))
        .select(sum=above + factor, product=above * factor, whole=above + col("i"))
    )
    elements = list(chronons((t, row) for t, row in enumerate(rows) for _ in range(2)))
    for _, _, row in check(query.plan(), elements):
        for name, value in zip(query.schema.names, row, strict=True):
            assert value is not None or query.schema[name].nullable


@given(st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=4), numbers())
@example([(0.0, 0.0), (-0.0, 0.0)], X)
def test_an_integer_in_a_column_of_floats_is_the_float(
    rows: list[tuple[float, float]], expression: Operand
) -> None:
    """So equal rows give equal results, whichever of them a plan keeps."""
    s = stream("s", SCHEMA)
    query = s.window(3).select(n=expression, t=X.cast("string"), total=X + col("y"), product=X * col("y"))
    given = [(0, 1, (*row, 1)) for row in rows]
    floats = [(0, 1, (float(x), float(y), i)) for _, _, (x, y, i) in given]
    for one in (query.plan(), s.window(3).distinct().aggregate(total=sum_(expression)).plan()):
        assert specified(one, {"s": given}) == specified(one, {"s": floats})
        assert repr(sorted(check(one, given), key=repr)) == repr(sorted(check(one, floats), key=repr))


def test_a_relation_takes_integers_for_floats_too() -> None:
    s, r = stream("s", k="integer"), relation("r", x="float")
    totals = r.aggregate(total=sum_("x")).select(more=col("total") + 0.5)
    for rows, more in (([10**308, 10**308], None), ([2**53 + 1], 2.0**53)):
        plan = s.join(totals).plan()
        results: list[Element] = []
        elements = {"r": constant([(row,) for row in rows])}
        engine = Engine(plan, results.extend, relations=elements)
        engine.push("s", chronons([(0, (1,))]))
        engine.close()
        assert results == [(0, 1, (1, more))]
        assert normal_form(results) == specified(plan, {"s": list(chronons([(0, (1,))]))} | elements)


@pytest.mark.parametrize("number", [7, 2**53 + 1, 10**308])
@pytest.mark.parametrize("size", [1, 2])
def test_an_integer_that_is_pushed_comes_out_as_the_nearest_float(number: int, size: int) -> None:
    elements = list(chronons([(0, (number, None)), (1, (0.5, number))]))
    found = run(stream("s", x="float", y="float?").plan(), elements, size)
    assert repr(found) == repr([(0, 1, (float(number), None)), (1, 2, (0.5, float(number)))])


def test_a_sliding_sum_recovers_when_what_was_too_large_has_left() -> None:
    s = stream("s", x="float")
    elements = list(chronons([(0, (1.0,)), (1, (LARGEST,)), (2, (LARGEST,)), (5, (2.0,))]))
    plan = s.window(3).aggregate(total=sum_("x"), tenfold=sum_(col("x") * 10)).plan()
    assert check(plan, elements) == [
        (0, 1, (1.0, 10.0)),
        (1, 2, (LARGEST, 10.0)),
        (2, 3, (None, 10.0)),
        (3, 4, (None, None)),
        (4, 5, (LARGEST, None)),
        (5, 8, (2.0, 20.0)),
    ]


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("type_", ["float", "float?", "any"])
def test_a_source_takes_no_other_number(number: float, type_: str) -> None:
    engine = Engine(stream("s", x=type_).plan())
    with pytest.raises(SchemaError, match=r"column x: found .*, expected a finite number"):
        engine.push("s", chronons([(0, (1.0,)), (1, (number,))]))
    with pytest.raises(ExpressionError, match="found constant"):
        Const(number)


def test_an_integer_beyond_all_floats_is_none_of_a_column_of_floats() -> None:
    engine = Engine(stream("s", x="float").plan())
    engine.push("s", chronons([(0, (10**300,))]))
    with pytest.raises(SchemaError, match="column x: found an integer beyond all floats"):
        engine.push("s", chronons([(1, (10**400,))]))
    Engine(stream("s", x="integer").plan()).push("s", chronons([(1, (10**400,))]))


class _Seven:
    """An integer of another library."""

    def __index__(self) -> int:
        return 7


def test_what_is_declared_an_integer_is_one() -> None:
    """A sum of integers asks no value for its type."""
    source = stream("s", x="integer").window(2)
    given = {"s": [(0, 1, (1,))]}
    made = opaque(lambda x: _Seven(), ["x"], "integer")
    assert run_streams(source.select(y=made), given) == [(0, 2, (7,))]
    assert [type(row[0]) for _, _, row in run_streams(source.select(y=made), given)] == [int]
    half = opaque(lambda x: x / 2, ["x"], "integer")
    with pytest.raises(FunctionError, match=r"function <lambda>: found 0\.5, expected integer$"):
        run_streams(source.select(y=half).aggregate(total=sum_("y")), given)
    mean = user_aggregate(
        "mean",
        lambda x: (x, 1),
        lambda a, b: (a[0] + b[0], a[1] + b[1]),
        lambda p: p[0] / p[1],
        type="integer",
    )
    with pytest.raises(ExpressionError, match=r"found 1\.0 \(float\), expected an integer"):
        run_streams(source.aggregate(y=mean("x")), given)
