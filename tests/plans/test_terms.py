"""Expressions that get one number have one value on every row, unknown values among them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from rewritten_conditions import FALSE, rewritten

from midstream.plans.equivalence.terms import MOST_CLAUSES, Terms
from midstream.plans.expressions.expressions import (
    ARITHMETIC,
    COMPARISONS,
    TRUE,
    Apply,
    Binary,
    Call,
    Case,
    Cast,
    Col,
    Const,
    Expression,
    IsNull,
    Logic,
    Not,
    compile_row,
)
from midstream.plans.values.schema import Schema, Type

SCHEMA = Schema.of(i="integer?", j="integer", f="float?", b="boolean?", c="boolean", s="string", v="any?")
DOMAIN: dict[str, tuple[Any, ...]] = {
    "i": (None, -1, 0, 1, 2),
    "j": (-2, 0, 1, 3),
    "f": (None, -0.5, 0.0, 1.0, 1, 2.5),
    "b": (None, False, True),
    "c": (False, True),
    "s": ("", "a", "b"),
    "v": (None, 0, 1.0, True, "a", (1, 2)),
}
X, J, F, B, C, S, V = map(Col, "ijfbcsv")


def number(expression: Expression, terms: Terms) -> int:
    """The term of an expression over a row of the schema."""
    exact = (column.type in (Type.INTEGER, Type.STRING, Type.BOOLEAN) for column in SCHEMA)
    names = {
        name: terms.column((0, i, e)) for i, (name, e) in enumerate(zip(SCHEMA.names, exact, strict=True))
    }
    return terms.read(expression, SCHEMA, names)


def is_same(one: Expression, other: Expression) -> bool:
    """Whether two expressions get one number."""
    terms = Terms()
    return number(one, terms) == number(other, terms)


def rows(*expressions: Expression) -> Iterator[tuple[Any, ...]]:
    """All rows that differ in columns that expressions read."""
    read = frozenset().union(*(expression.columns() for expression in expressions))
    return product(*(DOMAIN[name] if name in read else DOMAIN[name][-1:] for name in SCHEMA.names))


def values(expression: Expression, *beside: Expression) -> list[Any]:
    """What it gives, with the types, as 1, 1.0 and True are equal."""
    compute = compile_row(expression, SCHEMA)
    found = [compute(row) for row in rows(expression, *beside)]
    return [(type(value), repr(value)) for value in found]


def both(*conditions: Expression) -> Expression:
    """All of them."""
    return Logic("and", conditions)


def either(*conditions: Expression) -> Expression:
    """One of them."""
    return Logic("or", conditions)


def is_(operator: str, left: Any, right: Any) -> Expression:
    """A comparison, or an arithmetic operation, of expressions and constants."""
    lifted = (part if isinstance(part, Expression) else Const(part) for part in (left, right))
    return Binary(operator, *lifted)


P, Q, R = is_(">", X, 1), is_("==", J, X), is_("<", F, 1)

SAME: dict[str, tuple[Expression, Expression]] = {
    "not less": (Not(is_("<", X, J)), is_(">=", X, J)),
    "not equal": (Not(is_("==", S, "a")), is_("!=", S, "a")),
    "not not": (Not(Not(B)), B),
    "not and": (Not(both(P, B)), either(Not(P), Not(B))),
    "not or": (Not(either(P, B, R)), both(is_("<=", X, 1), Not(B), is_(">=", F, 1))),
    "in": (Call("in", (X, Const(1), Const(2))), either(is_("==", X, 2), is_("==", X, 1))),
    "in one": (Call("in", (S, Const("a"))), is_("==", S, "a")),
    "in, or unknown": (Call("in", (X, Const(1), Const(None))), either(is_("==", X, 1), is_("==", X, None))),
    "not in": (Not(Call("in", (X, Const(1), Const(2)))), both(is_("!=", X, 1), is_("!=", X, 2))),
    "in columns": (Call("in", (X, J, Const(2))), either(is_("==", J, X), is_("==", X, 2))),
    "not between": (Not(both(is_(">=", F, 1), is_("<=", F, 2))), either(is_(">", F, 2), is_("<", F, 1))),
    "bounds of integers": (both(is_(">", X, 0), is_("<", X, 3)), both(is_(">=", X, 1), is_("<=", X, 2))),
    "multiplied out": (either(both(P, Q), both(P, R)), both(P, either(R, Q))),
    "absorbed": (either(P, both(Q, P)), P),
    "true in and": (both(TRUE, P), P),
    "false in and": (both(FALSE, P), FALSE),
    "true in or": (either(P, TRUE), TRUE),
    "false in or": (either(P, FALSE), P),
    "is true": (is_("==", B, True), B),
    "is not true": (is_("!=", True, B), Not(B)),
    "is false": (is_("==", FALSE, P), is_("<=", X, 1)),
    "known": (Not(IsNull(J)), TRUE),
    "a constant computed": (is_(">", X, is_("*", 2, 3)), is_(">", X, 6)),
    "a constant of floats": (is_("+", F, is_("/", 1, 4)), is_("+", 0.25, F)),
    "constants compared": (both(is_("==", 1, 1), P), P),
    "a text computed": (is_("==", S, Call("lower", (Const("A"),))), is_("==", "a", S)),
    "a negative constant": (is_(">", X, Call("negate", (Const(2),))), is_(">", X, -2)),
    "a cast constant": (is_(">", X, Cast(Const("2"), Type.INTEGER)), is_(">", X, 2)),
    "floats and integers": (is_("<", F, 2), is_("<", F, 2.0)),
    "sums": (is_("+", is_("+", X, J), 1), is_("+", X, is_("+", 1, J))),
    "differences": (is_("-", X, is_("-", J, 1)), is_("+", is_("-", X, J), 1)),
    "multiples": (is_("*", 2, is_("+", X, 1)), is_("+", is_("+", X, 2), X)),
    "products": (is_("*", is_("*", 2, X), J), is_("*", is_("*", J, X), 2)),
    "a constant moved": (is_(">", is_("+", X, 1), 3), is_("<", 2, X)),
    "constants moved": (is_("<", is_("-", X, 1), is_("+", J, 2)), is_("<=", X, is_("+", J, 2))),
    "an equality moved": (is_("==", is_("-", X, 1), J), is_("==", X, is_("+", 1, J))),
    "floats added": (is_("+", F, X), is_("+", X, F)),
}

NOT_SAME: dict[str, tuple[Expression, Expression]] = {
    "unknown or not": (is_("==", X, X), TRUE),
    "either or neither": (either(P, Not(P)), TRUE),
    "both or none": (both(P, Not(P)), FALSE),
    "not between": (Not(both(P, R)), both(Not(P), Not(R))),
    "bounds of floats": (is_(">", F, 0), is_(">=", F, 1)),
    "in less": (Call("in", (X, Const(1), Const(2))), is_("==", X, 1)),
    "in, or unknown": (Call("in", (X, Const(1), Const(None))), is_("==", X, 1)),
    "not in, or unknown": (Not(Call("in", (X, Const(1), Const(None)))), is_("!=", X, 1)),
    "is null or false": (IsNull(B), Not(B)),
    "known or not": (Not(IsNull(X)), TRUE),
    "nothing times": (is_("*", X, 0), Const(0)),
    "less itself": (is_("-", X, X), Const(0)),
    "floats put together": (is_("+", is_("+", F, 0.1), 0.2), is_("+", F, is_("+", 0.1, 0.2))),
    "floats moved": (is_(">", is_("+", F, 0.1), 0.3), is_(">", F, is_("-", 0.3, 0.1))),
    "quotients": (is_("*", is_("/", X, 2), 2), is_("/", is_("*", X, 2), 2)),
    "integer quotients": (Call("//", (is_("*", X, 2), Const(4))), Call("//", (X, Const(2)))),
    "what is computed with other types": (is_("/", 6, 2), Const(3)),
    "a text of a float": (Cast(Const(1.0), Type.STRING), Cast(Const(1), Type.STRING)),
    "no quotient": (is_("/", 1, 0), is_("/", 2, 0)),
    "beyond all floats": (is_("*", 1e308, 10), is_("*", 1e308, 20)),
    "zeros": (Const(0.0), Const(-0.0)),
    "any compared": (Not(is_("<", V, 1)), is_(">=", V, 1)),
    "any added": (is_("+", V, F), is_("+", F, V)),
    "any negated": (Not(Not(V)), V),
    "any, together or one by one": (both(V, B), both(B, V)),
    "a multiple compared": (is_("<", is_("*", X, 2), 3), is_("<", X, 3)),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_gets_the_same_number(one: Expression, other: Expression) -> None:
    assert values(one, other) == values(other, one)
    assert is_same(one, other)


@pytest.mark.parametrize(("one", "other"), NOT_SAME.values(), ids=NOT_SAME)
def test_gets_another_number(one: Expression, other: Expression) -> None:
    assert not is_same(one, other)


def test_what_may_raise_is_neither_left_out_nor_computed() -> None:
    def refuse(value: Any) -> Any:
        raise AssertionError(value)

    raising = Apply(refuse, (X,), Type.BOOLEAN)
    for one, other in (
        (both(FALSE, raising), FALSE),
        (either(TRUE, raising), TRUE),
        (either(P, both(P, raising)), P),
        (both(P, either(P, raising)), P),
        (Apply(refuse, (Const(1),), Type.BOOLEAN), TRUE),
    ):
        assert not is_same(one, other)
    assert is_same(both(FALSE, P, raising), both(raising, FALSE))


def test_conditions_do_not_grow_without_limit() -> None:
    """Each alternative doubles the clauses; a product that is squared has twice as many factors."""
    pairs = [both(is_(">", X, n), is_("<", J, n)) for n in range(40)]
    one, other = either(*pairs), either(*reversed(pairs))
    assert is_same(one, other)
    assert is_same(Not(one), Not(other))
    terms = Terms()
    squared = added = number(J, terms)
    for _ in range(40):
        squared = terms.read(is_("*", J, J), SCHEMA, {"j": squared})
        added = terms.read(is_("+", is_("*", J, 3), J), SCHEMA, {"j": added})
    many = [is_("!=", X, n) for n in range(50 * MOST_CLAUSES)]
    assert is_same(both(*many), both(*reversed(many)))


@st.composite
def numbers(draw: st.DrawFn, depth: int) -> Expression:
    """A number, mostly an integer."""
    if depth == 0:
        return draw(st.sampled_from((X, J, F, *map(Const, (-1, 0, 1, 2, 0.5, 2.0)))))
    match draw(st.integers(0, 9)):
        case 0 | 1 | 2:
            return draw(numbers(0))
        case 3:
            return Call("negate", (draw(numbers(depth - 1)),))
        case 4:
            return Case(((draw(conditions(depth - 1)), draw(numbers(depth - 1))),), draw(numbers(depth - 1)))
        case 5:
            return Call("coalesce", (draw(numbers(depth - 1)), draw(numbers(depth - 1))))
        case _:
            operator = draw(st.sampled_from((*ARITHMETIC, "+", "-", "*")))
            return Binary(operator, draw(numbers(depth - 1)), draw(numbers(depth - 1)))


@st.composite
def conditions(draw: st.DrawFn, depth: int) -> Expression:
    """A condition."""
    if depth == 0:
        return draw(st.sampled_from((B, C, TRUE, FALSE, P, Q, R)))
    below = conditions(depth - 1)
    match draw(st.integers(0, 11)):
        case 0:
            return draw(conditions(0))
        case 1 | 2 | 3:
            return Logic(
                draw(st.sampled_from(("and", "or"))), tuple(draw(st.lists(below, min_size=2, max_size=3)))
            )
        case 4 | 5:
            return Not(draw(below))
        case 6:
            value, options = draw(numbers(depth - 1)), draw(st.lists(numbers(0), min_size=1, max_size=3))
            return Call("in", (value, *options, *draw(st.sampled_from(((), (), (Const(None),))))))
        case 7:
            return IsNull(draw(numbers(depth - 1)))
        case 8:
            return Binary(
                draw(st.sampled_from(COMPARISONS)), V, draw(st.sampled_from((Const(1), V, S, Const("a"))))
            )
        case 9:
            return Binary(draw(st.sampled_from(COMPARISONS)), draw(below), draw(below))
        case _:
            return Binary(
                draw(st.sampled_from(COMPARISONS)), draw(numbers(depth - 1)), draw(numbers(depth - 1))
            )


@given(st.data())
def test_what_gets_one_number_has_one_value(data: st.DataObject) -> None:
    """Of random conditions, rewritten in some places, rightly or not."""
    terms = Terms()
    one = data.draw(conditions(3))
    found = [one]
    for _ in range(data.draw(st.integers(1, 4))):
        found.append(data.draw(st.sampled_from(rewritten(found[-1], SCHEMA))))
    same = [other for other in found[1:] if number(other, terms) == number(one, terms)]
    event(f"one number: {bool(same)}")
    for other in same:
        assert values(one, other) == values(other, one), f"{one}\n{other}"
