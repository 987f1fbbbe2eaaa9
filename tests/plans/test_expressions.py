"""Expressions compute what they say, in three-valued logic, and are values that can be compared.

The compiled form is compared with an interpreter that follows the definitions one operator at a time and
generates nothing.
"""

from __future__ import annotations

import json
import operator
import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from midstream.plans.algebra.builder import stream
from midstream.plans.expressions.expressions import (
    DEEPEST_EXPRESSION,
    TRUE,
    Apply,
    Binary,
    Call,
    Case,
    Col,
    Const,
    Expression,
    IsNull,
    Logic,
    Not,
    column_equality,
    compile_condition,
    compile_pair,
    compile_row,
    compile_rows,
    conjunction,
    conjuncts,
    disjunction,
    equality,
    expression_from_json,
    walk,
)
from midstream.plans.expressions.operands import (
    Operand,
    call,
    case,
    col,
    expression_of,
    greatest,
    least,
    lit,
    opaque,
)
from midstream.plans.values.errors import ExpressionError, FunctionError, PlanFormatError, SchemaError
from midstream.plans.values.schema import PYTHON_TYPES, Schema, Type

LEFT = Schema.of(i="integer", n="integer?", s="string", a="any?")
RIGHT = Schema.of(f="float", g="float?", b="boolean", c="boolean?", t="string?")
BOTH = LEFT.concat(RIGHT)

COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
COMPUTE: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": operator.mod,
}


def compiled(value: Operand | Expression, schema: Schema) -> Callable[[Any], Any]:
    """The function of an operand, or of a tree."""
    return compile_row(expression_of(value), schema)


def interpret(expression: Expression, row: Mapping[str, Any]) -> Any:
    """The value of an expression by its definition; None is unknown."""
    match expression:
        case Col(name):
            return row[name]
        case Const(value):
            return value
        case IsNull(value):
            return interpret(value, row) is None
        case Not(condition):
            value = interpret(condition, row)
            return None if value is None else not value
        case Logic(word, conditions):
            values = [interpret(condition, row) for condition in conditions]
            # False < unknown < true: "and" is the least, "or" the greatest.
            order = [False, None, True]
            return order[(min if word == "and" else max)(map(order.index, values))]
        case Case(branches, default):
            for condition, value in branches:
                if interpret(condition, row) is True:
                    return interpret(value, row)
            return interpret(default, row)
        case Call(function, arguments):
            return called(function, [interpret(argument, row) for argument in arguments])
        case Apply(function, arguments):
            return function(*(interpret(argument, row) for argument in arguments))
        case Binary(symbol, one, other):
            left, right = interpret(one, row), interpret(other, row)
            if left is None or right is None:
                return None
            if symbol in COMPARE:
                return COMPARE[symbol](left, right)
            try:
                return COMPUTE[symbol](left, right)
            except (ZeroDivisionError, OverflowError):
                return None
    raise AssertionError(expression)


def called(function: str, values: list[Any]) -> Any:
    """The value of a function that compares values, or chooses among them."""
    first, *rest = values
    match function:
        case "coalesce":
            return next((value for value in values if value is not None), None)
        case "nullif":
            return None if None not in values and first == rest[0] else first
        case "is distinct from":
            return (first is None) != (rest[0] is None) or first != rest[0]
        case "in":
            answers = [None if None in (first, value) else first == value for value in rest]
            return True if True in answers else None if None in answers else False
    known = sorted(value for value in values if value is not None)
    return known[-1 if function == "greatest" else 0] if known else None


NUMBERS = st.one_of(
    st.sampled_from(["i", "n", "f", "g"]).map(Col),
    st.sampled_from([0, 1, -3, 2.5, -0.5, 0.0]).map(Const),
    st.just(Const(None)),
)
TEXTS = st.one_of(
    st.sampled_from(["s", "t"]).map(Col), st.sampled_from(["", "a", "'", "{x}", "\\", "\n"]).map(Const)
)
CONDITIONS = st.one_of(st.sampled_from(["b", "c"]).map(Col), st.booleans().map(Const))


def _doubled(value: Any) -> Any:
    return None if value is None else 2 * value


@st.composite
def numbers(draw: st.DrawFn, depth: int = 2) -> Expression:
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(NUMBERS)
    one, other = draw(numbers(depth=depth - 1)), draw(numbers(depth=depth - 1))
    match draw(st.integers(0, 6)):
        case 0:
            return draw(st.sampled_from([greatest, least]))(one, other, draw(NUMBERS)).expression
        case 2:
            return call("coalesce", *draw(st.permutations([one, other, draw(NUMBERS)]))).expression
        case 3:
            return call("nullif", one, other).expression
        case 4:
            branches = draw(st.lists(st.tuples(conditions(depth=depth - 1), NUMBERS), min_size=1, max_size=3))
            return case(*branches, (draw(CONDITIONS), one), default=other).expression
        case 1:
            name = draw(st.sampled_from(["n", "g"]))
            declared = "integer?" if name == "n" else "float?"
            return opaque(_doubled, [name], declared, total=True).expression
        case _:
            return Binary(draw(st.sampled_from(list(COMPUTE))), one, other)


@st.composite
def conditions(draw: st.DrawFn, depth: int = 3) -> Expression:
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        return draw(CONDITIONS)
    below = conditions(depth=depth - 1)
    match draw(st.integers(0, 9)):
        case 7:
            return call("in", *draw(st.lists(numbers(depth=1), min_size=2, max_size=4))).expression
        case 8:
            return call("is distinct from", draw(numbers(depth=1)), draw(numbers(depth=1))).expression
        case 9:
            return case(
                (draw(below), draw(below)), (draw(below), draw(below)), default=draw(CONDITIONS)
            ).expression
        case 0:
            return Not(draw(below))
        case 1:
            return conjunction([draw(below), draw(below)])
        case 2:
            return disjunction([draw(below), draw(below)])
        case 3:
            return IsNull(draw(st.one_of(below, numbers(), TEXTS)))
        case 4:
            return Binary(draw(st.sampled_from(list(COMPARE))), draw(TEXTS), draw(TEXTS))
        case 5:
            return Logic(
                draw(st.sampled_from(["and", "or"])), tuple(draw(st.lists(below, min_size=2, max_size=4)))
            )
        case _:
            return Binary(draw(st.sampled_from(list(COMPARE))), draw(numbers()), draw(numbers()))


EXPRESSIONS = st.one_of(conditions(), conditions(), numbers())


def rows(schema: Schema) -> st.SearchStrategy[tuple[Any, ...]]:
    """Payloads with small values, so that comparisons and zero divisors happen."""
    values = {
        Type.INTEGER: st.integers(-2, 3),
        Type.FLOAT: st.sampled_from([0.0, 1.0, 2.5, -0.5, 3]),
        Type.STRING: st.sampled_from(["", "a", "'"]),
        Type.BOOLEAN: st.booleans(),
        Type.ANY: st.integers(-2, 3),
    }
    return st.tuples(
        *(st.one_of(st.none(), values[c.type]) if c.nullable else values[c.type] for c in schema)
    )


MORE = settings(max_examples=3 * settings.default.max_examples)


@MORE
@given(EXPRESSIONS, rows(BOTH))
@example((col("n").is_null() | (col("n") > 1)).expression, (0, None, "", None, 1.0, None, True, None, None))
@example((~(col("c") & col("b"))).expression, (0, None, "", None, 1.0, None, True, None, None))
@example(
    Binary("+", Binary("%", Col("i"), Const(0.0)), Const(1)), (1, None, "", None, 1.0, None, True, None, None)
)
def test_the_compiled_form_computes_what_is_defined(expression: Expression, row: tuple[Any, ...]) -> None:
    """By row, as one of several, and by pair of rows."""
    expected = interpret(expression, dict(zip(BOTH.names, row, strict=True)))
    width = len(LEFT)
    for found in (
        compiled(expression, BOTH)(row),
        compile_rows([Const(7), expression, expression], BOTH)(row)[1],
        compile_pair(expression, LEFT, RIGHT)(row[:width], row[width:]),
    ):
        assert found == expected
        assert isinstance(found, bool) == isinstance(expected, bool)


@MORE
@given(EXPRESSIONS, rows(BOTH))
def test_a_value_is_of_the_declared_kind(expression: Expression, row: tuple[Any, ...]) -> None:
    """What is not declared to be unknown never is; guards are generated by that."""
    kind = expression.kind(BOTH)
    value = compiled(expression, BOTH)(row)
    if value is None:
        assert kind.nullable
    elif kind.type is not Type.ANY:
        assert type(value) in PYTHON_TYPES[kind.type]


@given(EXPRESSIONS, rows(BOTH))
def test_only_the_columns_that_are_read_matter(expression: Expression, row: tuple[Any, ...]) -> None:
    """Rules move an expression to where its columns are; it must not miss others there."""
    read = [name for name in BOTH.names if name in expression.columns()]
    values = dict(zip(BOTH.names, row, strict=True))
    narrow = compiled(expression, BOTH.select(read))(tuple(values[name] for name in read))
    assert narrow == compiled(expression, BOTH)(row)
    assert expression.columns() == {part.name for part in walk(expression) if isinstance(part, Col)}


@given(EXPRESSIONS, rows(BOTH))
def test_renaming_columns_changes_no_value(expression: Expression, row: tuple[Any, ...]) -> None:
    names = {name: f"{name}'s new name" for name in ("i", "n", "c", "t", "g")}
    back = {new: old for old, new in names.items()}
    schema = Schema(tuple(type(c)(names.get(c.name, c.name), c.type, c.nullable) for c in BOTH))
    renamed = expression.renamed(names)
    assert compiled(renamed, schema)(row) == compiled(expression, BOTH)(row)
    assert renamed.renamed(back) == expression
    assert expression.renamed({}) == expression


def has_callable(expression: Expression) -> bool:
    return any(isinstance(part, Apply) for part in walk(expression))


@given(EXPRESSIONS.filter(lambda e: not has_callable(e)))
def test_what_is_written_is_read_back(expression: Expression) -> None:
    text = json.dumps(expression.to_json())
    assert expression_from_json(json.loads(text)) == expression


@given(EXPRESSIONS)
def test_an_expression_is_a_value(expression: Expression) -> None:
    """Equal to itself written anew, with an equal hash; immutable."""
    anew = expression.renamed({})
    assert anew == expression
    assert hash(anew) == hash(expression)
    with pytest.raises((AttributeError, TypeError)):
        expression.name = "other"  # type: ignore[attr-defined]


def test_constants_of_different_types_are_different() -> None:
    """1, 1.0 and True are equal in Python, but x / 1 and x / True are different expressions."""
    constants = [Const(1), Const(1.0), Const(True), Const("1"), Const(None)]
    assert len(set(constants)) == 5
    assert all(one != other for one in constants for other in constants if one is not other)


# The canonical conjunction


@given(
    st.lists(conditions(depth=2), min_size=1, max_size=4),
    st.randoms(use_true_random=False),
    rows(BOTH),
)
def test_a_conjunction_has_one_form(
    parts: list[Expression], rng: random.Random, row: tuple[Any, ...]
) -> None:
    """However it is nested, ordered and repeated: plans that hold equal conditions are equal."""
    one = conjunction(parts)
    shuffled = [*parts, *rng.sample(parts, k=rng.randrange(len(parts) + 1)), TRUE]
    rng.shuffle(shuffled)
    cut = rng.randrange(len(shuffled) + 1)
    other = conjunction([conjunction(shuffled[:cut]), conjunction(shuffled[cut:])])
    assert other == one
    assert str(other) == str(one)
    assert hash(other) == hash(one)
    assert conjunction(conjuncts(one)) == one
    assert all(not (isinstance(part, Logic) and part.operator == "and") for part in conjuncts(one))
    values = dict(zip(BOTH.names, row, strict=True))
    assert compiled(one, BOTH)(row) == interpret(Logic("and", (TRUE, *parts)), values)


RISKY = {"integer": Schema.of(x="integer", y="boolean"), "integer?": Schema.of(x="integer?", y="boolean?")}


def fails_for_zero(value: int | None) -> bool:
    if not value:
        raise ZeroDivisionError
    return value > 1


@pytest.mark.parametrize("declared", RISKY)
def test_what_may_raise_is_asked_last_and_in_turn(declared: str) -> None:
    """Of `and` until one is false, of `or` until one is true, as it is written."""
    risky = opaque(fails_for_zero, ["x"], "boolean").expression
    safe, other = (col("x") != 0).expression, col("y").expression
    schema = RISKY[declared]
    assert conjunction([risky, safe]) == conjunction([safe, risky]) == Logic("and", (safe, risky))
    assert compiled(Logic("and", (safe, risky)), schema)((0, True)) is False
    assert compiled(Logic("and", (other, safe, risky)), schema)((2, True)) is True
    assert compiled(Logic("or", ((col("x") == 0).expression, risky)), schema)((0, True)) is True
    assert compiled(Logic("or", (other, risky)), schema)((1, False)) is False
    for asked in (Logic("and", (risky, safe)), Logic("or", (risky, other)), IsNull(risky)):
        with pytest.raises(FunctionError, match="function fails_for_zero: ZeroDivisionError"):
            compiled(asked, schema)((0, True))


def test_a_condition_goes_no_further_than_the_first_part_that_is_not_true() -> None:
    """As filters on top of each other do. An unknown value is not true; as a value it may still be false."""
    risky = opaque(fails_for_zero, ["x"], "boolean").expression
    both, schema = Logic("and", (col("y").expression, risky)), RISKY["integer?"]
    assert not compile_condition(both, schema)((0, None))
    with pytest.raises(FunctionError):
        compiled(both, schema)((0, None))


@given(st.permutations(["x = 1", "1", "(x)", "x"]))
def test_columns_with_odd_names_do_not_change_the_form(names: list[str]) -> None:
    """A column may be called what an expression looks like; the order must not depend on chance then."""
    operands = [*(col("x") == col(name) for name in names), col("x") == 1, col("x = 1"), col("x") == col("1")]
    parts = [operand.expression for operand in operands]
    assert conjunction(parts) == conjunction(sorted(parts, key=repr, reverse=True))
    assert len(conjuncts(conjunction(parts))) == 6


def test_callables_of_one_name_stay_apart() -> None:
    one, other = opaque(lambda x: x > 1, ["x"], "boolean"), opaque(lambda x: x > 2, ["x"], "boolean")
    assert str(one) == str(other)
    assert not one.equals(other)
    assert len(conjuncts((one & other & one).expression)) == 2
    assert not (one & other).equals(other & one), "what may raise is asked in the order that is written"


def test_true_is_neutral_and_nothing_is_true() -> None:
    condition = (col("x") > 1).expression
    assert conjunction([]) == TRUE == conjunction([TRUE, TRUE])
    assert conjunction([TRUE, condition]) == condition == ((col("x") > 1) & True).expression
    assert conjuncts(None) == ()
    assert conjuncts(condition) == (condition,)


def test_an_equality_of_columns_has_one_form() -> None:
    assert equality("b", "a") == equality("a", "b") == (col("a") == col("b")).expression
    assert column_equality(equality("b", "a")) == ("a", "b")
    for other in (col("a") < col("b"), col("a").eq(1), col("a"), ~col("a"), col("a").ne(col("b"))):
        assert column_equality(other.expression) is None


@pytest.mark.parametrize("size", [2, 199, 250, 500])
@pytest.mark.parametrize("word", ["and", "or"])
def test_a_condition_may_have_any_number_of_parts(word: str, size: int) -> None:
    """As a long list of values to choose from has. Nested brackets would end at 200."""
    one = col("x").ne(0) if word == "and" else col("x").eq(0)
    for value in range(1, size):
        part = col("x").ne(value) if word == "and" else col("x").eq(value)
        one = one & part if word == "and" else one | part
    holds = compiled(one, Schema.of(x="integer"))
    assert [holds((value,)) for value in (0, size - 1, size)] == (
        [True, True, False] if word == "or" else [False, False, True]
    )


NESTED = {
    "a sum": lambda deep: deep + col("x"),
    "a quotient": lambda deep: deep / 2.0,
    "a function": lambda deep: call("abs", deep),
    "a choice": lambda deep: case((col("x") > 0, deep), default=0),
    "a callable": lambda deep: Operand(Apply(_same, (deep.expression,), Type.INTEGER)),
    "a negation": lambda deep: deep > 0 if deep.expression == Col("x") else ~deep,
}


def _same(value: Any) -> Any:
    return value


@pytest.mark.parametrize("declared", ["integer", "integer?"])
@pytest.mark.parametrize("step", NESTED)
def test_expressions_in_each_other_are_compiled_up_to_a_limit(step: str, declared: str) -> None:
    """Python reads fewer brackets in brackets: what stands deeper is a function of its own."""
    deep = col("x")
    for _ in range(DEEPEST_EXPRESSION - 3):
        deep = NESTED[step](deep)
    value = compile_row(deep.expression, Schema.of(x=declared))((1,))
    expected = {"a sum": DEEPEST_EXPRESSION - 2, "a quotient": 2.0 ** (3 - DEEPEST_EXPRESSION)}
    assert value == expected.get(step, 1)
    if declared == "integer?" and step != "a choice":
        assert compile_row(deep.expression, Schema.of(x=declared))((None,)) is None


@pytest.mark.parametrize("schema", [Schema.of(x="integer"), Schema.of(x="integer?")])
def test_what_nests_too_deeply_is_refused_as_such(schema: Schema) -> None:
    """Python's parser has a limit; whoever meets it must learn which expression is to blame."""
    deep = col("x")
    for _ in range(150):
        deep = (deep + 1) * 2
    with pytest.raises(ExpressionError, match="nests too deeply"):
        compiled(deep, schema)
    with pytest.raises(ExpressionError, match="nests too deeply"):
        compile_rows([expression_of(deep)], schema)


# What does not fit


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (col("itme") > 1, r"there is no column itme in \(item integer, .*; did you mean item\?"),
        (col("item").eq("x"), "item = 'x' compares integer with string"),
        (col("note") < 1.5, "note < 1.5 compares string with float"),
        (col("open").eq(1), "open = 1 compares boolean with integer"),
        (col("note") + "x", "note [+] 'x': note is string, expected a number"),
        (1 + col("note"), "1 [+] note: note is string, expected a number"),
        (col("item") * True, "item [*] True: True is boolean, expected a number"),
        (col("item") & col("open"), "item is integer, expected a condition"),
        (col("open") | col("note"), "note is string, expected a condition"),
        (~col("price"), "price is float, expected a condition"),
        (col("itme").is_null(), "no column itme"),
        (greatest(col("item"), col("note")), "compares integer with string"),
        (least(col("item"), col("price"), col("open")), "compares float with boolean"),
        (opaque(len, ["nope"]), "no column nope"),
        (Apply(len, (Col("nope"),)), "no column nope"),
        (col("nope").cast("float"), "no column nope"),
        (call("lower", col("item")), "lower: argument 1, item, is integer, expected a string"),
        (call("abs", col("open")), "abs: argument 1, open, is boolean, expected a number"),
        (call("left", col("note"), 1.5), "left: argument 2, 1.5, is float, expected an integer"),
        (call("coalesce", None, col("item"), col("note")), "coalesce compares integer with string: note"),
        (call("in", col("item"), 1, "x"), "in compares integer with string: 'x'"),
        (case((col("open"), 1), default="x"), "case compares integer with string: 'x'"),
        (case((col("item"), 1)), "item is integer, expected a condition"),
        (
            call("date_part", col("note"), col("item"), 1),
            "date_part: argument 1, note, is no constant, expected a constant string",
        ),
        (call("date_part", "yeer", col("item"), 1), r"date_part: found part 'yeer'.*did you mean year\?"),
        (call("date_trunc", "dow", col("item"), 1), "date_trunc: found part 'dow', expected one of micro"),
        (call("date_trunc", "day", col("item"), 0), "found 0 nanoseconds a chronon, expected a positive"),
        (call("strftime", col("item"), "%Q", 1), "strftime: found %Q in format '%Q', expected % and one of"),
        (call("like", col("note"), "a!", "!"), "like: found pattern 'a!', which ends with its escape"),
        (call("like", col("note"), "a", "!!"), "like: found escape '!!', expected one character"),
        (call("regexp_matches", col("note"), "(a"), r"found '\(a', which is no regular expression: missing"),
        (call("regexp_matches", col("note"), "a", "q"), "found option 'q', expected some of c, i"),
        (call("regexp_replace", col("note"), "a", "\\1"), "in a replacement, expected one of 0 groups"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused_before_it_meets_a_row(
    value: Operand | Expression, message: str
) -> None:
    schema = Schema.of(item="integer", price="float", note="string", open="boolean")
    expression = expression_of(value)
    with pytest.raises(ExpressionError, match=message):
        expression.kind(schema)
    with pytest.raises(ExpressionError):
        compiled(expression, schema)
    with pytest.raises(ExpressionError):
        compile_rows([expression], schema)
    with pytest.raises(ExpressionError):
        compile_pair(expression, schema, Schema.of(z="integer"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Const([1]), r"found constant \[1\], expected None, a boolean"),
        (lambda: Const(float("nan")), "found constant nan"),
        (lambda: lit(b"x"), "found constant b'x'"),
        (lambda: Binary("**", Col("x"), Col("y")), r"found operator '\*\*', expected one of"),
        (lambda: Binary("=", Col("x"), Col("y")), "found operator '='"),
        (lambda: Logic("and", (TRUE,)), "found 'and' of 1 conditions, expected 2 or more"),
        (lambda: Logic("xor", (TRUE, TRUE)), "found 'xor'"),
        (lambda: greatest(col("x")), "found 'greatest' of 1 arguments"),
        (lambda: Call("median", (TRUE, TRUE)), "found 'median', expected one of greatest, least"),
        (lambda: Call("lowr", (TRUE,)), r"did you mean lower\?"),
        (lambda: Call("lower", ()), "found 'lower' of 0 arguments, expected 1"),
        (lambda: Call("substring", (TRUE,)), "found 'substring' of 1 arguments, expected 2 to 3"),
        (lambda: case(default=1), "found a case without branches"),
        (lambda: col("x").cast("any"), "found a cast of x to any, expected a type"),
    ],
)
def test_an_expression_that_cannot_be_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        make()


@pytest.mark.parametrize(
    "data",
    [
        None,
        7,
        [],
        {},
        {"column": 7},
        {"column": "x", "constant": 1},
        {"operator": "=="},
        {"operator": "==", "of": [{"column": "x"}]},
        {"operator": ["=="], "of": [{"column": "x"}, {"column": "y"}]},
        {"operator": "and", "of": "xy"},
        {"operator": "and", "of": [{"nothing": 1}, {"column": "x"}]},
        {"function": "greatest", "of": {"column": "x"}},
        {"operator": "is null", "of": []},
        {"case": [[{"column": "x"}]], "else": {"constant": 1}},
        {"case": {}, "else": {"constant": 1}},
        {"case": [], "of": []},
        {"cast": {"column": "x"}, "to": "number"},
        {"cast": {"column": "x"}, "to": []},
    ],
)
def test_what_is_no_expression_is_not_read(data: Any) -> None:
    with pytest.raises(PlanFormatError, match="expected an expression"):
        expression_from_json(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"operator": "not", "of": [{"column": "x"}, {"column": "y"}]}, "found operator 'not'"),
        ({"operator": "and", "of": [{"column": "x"}]}, "found 'and' of 1 conditions"),
        ({"operator": "**", "of": [{"column": "x"}, {"column": "y"}]}, "found operator"),
        ({"function": "median", "of": [{"column": "x"}, {"column": "y"}]}, "found 'median'"),
        ({"constant": [1]}, "found constant"),
        ({"constant": float("nan")}, "found constant nan"),
    ],
)
def test_what_there_is_not_is_not_read(data: Any, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        expression_from_json(data)


def test_an_undefined_result_is_unknown() -> None:
    """A quotient by zero, or one that no float can hold, does not end the query."""
    schema = Schema.of(x="integer", y="float")
    for expression, row in (
        (col("x") / col("y"), (1, 0.0)),
        (Binary("%", Col("x"), Const(0)), (1, 0.0)),
        (col("x") / 1, (10**400, 0.0)),
        (Binary("%", Col("x"), Const(0.5)), (10**400, 0.0)),
    ):
        assert compiled(expression, schema)(row) is None


# Callables


def test_a_callable_gets_the_values_of_its_columns_in_order() -> None:
    difference = opaque(lambda late, early: late - early, ["end", "start"], "integer").expression
    schema = Schema.of(start="integer", end="integer")
    assert compiled(difference, schema)((3, 10)) == 7
    assert compiled(difference.renamed({"end": "start", "start": "end"}), schema)((3, 10)) == -7
    assert difference.columns() == {"start", "end"}
    assert difference.kind(schema) == (Type.INTEGER, False)
    assert opaque(len, ["start"], "integer?").expression.kind(schema).nullable
    assert opaque(len, ["start"], "integer", nullable=True).expression.kind(schema).nullable


def test_a_callable_has_no_serial_form() -> None:
    with pytest.raises(PlanFormatError, match=r"len\(name\) is a Python callable, which has no serial form"):
        ((col("x") == 1) & opaque(len, ["name"])).expression.to_json()


def test_a_callable_may_be_anything_that_can_be_called() -> None:
    class Adder:
        def __call__(self, x: int) -> int:
            return x + 1

    adder = opaque(Adder(), ["x"], "integer")
    assert compiled(adder, Schema.of(x="integer"))((1,)) == 2
    assert str(adder) == "function(x)"
    with pytest.raises(SchemaError, match="found type 'list'"):
        opaque(len, ["x"], "list")


def test_a_strict_callable_is_not_called_with_an_unknown_value() -> None:
    schema = Schema.of(x="integer?", y="integer")
    total = Apply(lambda x, y: x + y, ((col("x") * 2).expression, Col("y")), Type.INTEGER, name="total")
    assert total.kind(schema) == (Type.INTEGER, True)
    assert total.kind(Schema.of(x="integer", y="integer")) == (Type.INTEGER, False)
    assert compiled(total, schema)((1, 5)) == 7
    assert compiled(total, schema)((None, 5)) is None
    lax = Apply(lambda x: "none" if x is None else "some", (Col("x"),), Type.STRING, strict=False)
    assert lax.kind(schema) == (Type.STRING, False)
    assert compiled(lax, schema)((None, 5)) == "none"
    assert compiled(total.renamed({"y": "x", "x": "y"}), schema)((5, 1)) == 7
    with pytest.raises(PlanFormatError, match=r"total\(x \* 2, y\) is a Python callable"):
        total.to_json()


# Choices


def _refuse(*_: Any) -> Any:
    raise AssertionError("this must not be computed")


@pytest.mark.parametrize("size", [1, 3, 30, 31, 500])
@pytest.mark.parametrize("schema", [Schema.of(x="integer"), Schema.of(x="integer?")])
def test_of_a_case_only_the_branch_that_is_taken_is_computed(size: int, schema: Schema) -> None:
    """However many branches there are, and one that is taken may be unknown."""
    seen: list[int] = []
    noted = Apply(lambda x: seen.append(x) or -x, (Col("x"),), Type.INTEGER)
    values = [noted if i % 2 else Const(None) for i in range(size)]
    chosen = case(*((col("x").eq(i), value) for i, value in enumerate(values)), default=col("x") + 1)
    compute = compiled(chosen, schema)
    assert [compute((i,)) for i in range(size)] == [-i if i % 2 else None for i in range(size)]
    assert seen == list(range(1, size, 2))
    assert compute((size,)) == size + 1
    assert compiled(expression_from_json(json.loads(json.dumps(plain(size).to_json()))), schema)((0,)) == 1


def plain(size: int) -> Expression:
    return case(*((col("x") == i, i + 1) for i in range(size))).expression


def test_an_unknown_condition_is_not_taken() -> None:
    schema = Schema.of(c="boolean?", x="integer?")
    chosen = compiled(case((col("c"), "yes"), (~col("c"), "no"), default="unknown"), schema)
    assert [chosen((c, 0)) for c in (True, False, None)] == ["yes", "no", "unknown"]
    assert case((col("c"), 1), default=2).expression.kind(schema) == (Type.INTEGER, False)
    assert case((col("c"), 1)).expression.kind(schema) == (Type.INTEGER, True)
    assert case((col("c"), 1), default=2.5).expression.kind(schema) == (Type.FLOAT, False)
    assert case((col("c"), None), default=None).expression.kind(schema) == (Type.ANY, True)


@pytest.mark.parametrize("size", [1, 30, 31, 500])
def test_what_is_behind_the_first_known_value_is_not_computed(size: int) -> None:
    schema = Schema.of(x="integer?")
    never = Apply(_refuse, (), Type.INTEGER)
    first = call("coalesce", *[None] * size, *[col("x")] * size, 7, never).expression
    assert first.kind(schema) == (Type.INTEGER, False)
    assert [compiled(first, schema)((x,)) for x in (0, None)] == [0, 7]


@pytest.mark.parametrize("others", [[], [None], [col("y")], [col("y"), None]])
def test_a_long_list_of_values_is_looked_up(others: list[Any]) -> None:
    schema = Schema.of(x="integer?", y="integer?")
    listed = call("in", col("x"), *range(0, 2000, 2), *others).expression
    holds = compiled(listed, schema)
    for x, y in ((0, 1), (1998, None), (1, 1), (1, 2), (1, None), (None, 1)):
        values = {"x": x, "y": y}
        assert holds((x, y)) is interpret(listed, values)
    again = expression_from_json(json.loads(json.dumps(listed.to_json())))
    assert again == listed
    assert hash(again) == hash(listed)


def test_many_columns_may_be_compared_with_one() -> None:
    schema = Schema(tuple(stream("s", {f"x{i}": "integer?" for i in range(1000)}).schema))
    holds = compiled(call("in", *map(col, schema.names)), schema)
    assert holds((1, *[2] * 998, 1)) is True
    assert holds((1, *[2] * 998, None)) is None
    assert holds((1, *[2] * 999)) is False


# Writing


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (col("x").eq(1), "x = 1"),
        (col("x").ne("a"), "x != 'a'"),
        (3 - col("x") * 2, "3 - (x * 2)"),
        (10 / col("x") % 3, "(10 / x) % 3"),
        (2 * col("x") + 1, "(2 * x) + 1"),
        (~(col("x") > 1) | col("y").is_null(), "(not (x > 1)) or (y is null)"),
        ((col("b") > 1) & (col("a") > 1), "(a > 1) and (b > 1)"),
        ((col("c") | col("b")) | col("a"), "c or b or a"),
        (greatest(col("x"), 3), "greatest(x, 3)"),
        (col("x") <= 1.5, "x <= 1.5"),
        (col("x") >= None, "x >= None"),
        (call("||", col("s"), "a", col("t")).is_null(), "(s || 'a' || t) is null"),
        (call("like", col("s"), "a%"), "s like 'a%'"),
        (call("like", col("s"), "a%", "!"), "s like 'a%' escape '!'"),
        (~call("in", col("x") + 1, 1, 2), "not ((x + 1) in (1, 2))"),
        (call("negate", col("x") + 1), "-(x + 1)"),
        (call("//", col("x"), 2) + 1, "(x // 2) + 1"),
        (call("is distinct from", col("x"), col("y")), "x is distinct from y"),
        (call("coalesce", col("x"), 0), "coalesce(x, 0)"),
        ((col("x") + 1).cast("string"), "cast(x + 1 as string)"),
        (case((col("x") > 1, "a"), default="b"), "case when x > 1 then 'a' else 'b' end"),
        (Apply(len, ((col("x") + 1).expression,), name="size"), "size(x + 1)"),
    ],
)
def test_an_expression_is_written_as_it_is_read(expression: Operand | Expression, text: str) -> None:
    assert str(expression) == text


def test_values_are_bound_and_not_spelled() -> None:
    """What a user gives never becomes source text that does something else."""
    schema = Schema.of(x="string", y="float")
    for value in ("'", '"', "\\", "\n", "{x}", "' or True or '", "\ud800"):
        assert compiled(col("x").eq(value), schema)((value, 0.0)) is True
    for number in (1.7976931348623157e308, 1e308, -0.0, 5e-324):
        assert compiled(col("y").eq(number), schema)(("", number)) is True
    odd = stream("s", {"x y": "integer", "lambda": "integer", "row": "integer"})
    assert compiled(col("x y") + col("lambda") + col("row"), odd.schema)((1, 2, 3)) == 6


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "%", "<", "<=", ">", ">="])
def test_what_values_do_not_go_together_for_is_unknown(symbol: str) -> None:
    """Of columns without a type, only a row can tell."""
    apart = compiled(Binary(symbol, Col("x"), Col("y")), Schema.of(x="any", y="any"))
    assert apart((1, "a")) is None
    assert (
        apart((7, 2)) == {"+": 9, "-": 5, "*": 14, "/": 3.5, "%": 1, "<": 0, "<=": 0, ">": 1, ">=": 1}[symbol]
    )
