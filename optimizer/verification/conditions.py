"""Random expressions over columns of small integers."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from midstream.plans.expressions.aggregates import (
    AggregateCall,
    avg,
    count,
    count_distinct,
    max_,
    min_,
    sum_,
)
from midstream.plans.expressions.expressions import (
    FALSE,
    TRUE,
    Col,
    Const,
    Expression,
    Logic,
    Not,
    conjunction,
    disjunction,
    equality,
)
from midstream.plans.expressions.operands import col, lit, opaque


def is_even(value: int | None) -> bool | None:
    """A function that no rule can look into."""
    return None if value is None else value % 2 == 0


def inverse(value: int | None) -> int:
    """A function that raises for 0 and NULL."""
    if not value:
        raise ZeroDivisionError(f"found {value}, expected another number")
    return 2 // value


def condition(random: Random, names: Sequence[str]) -> Expression:
    """A condition over some columns; without columns, a constant."""
    if not names or random.random() < 0.06:
        return random.choice((TRUE, FALSE, Const(None)))
    roll = random.random()
    if roll < 0.15:
        both = conjunction([condition(random, names), condition(random, names)])
        # Columns that were put in the place of others leave the parts in another order.
        return _turned(both) if roll < 0.1 else both
    if roll < 0.22:
        return disjunction([condition(random, names), condition(random, names)])
    if roll < 0.27:
        return Not(condition(random, names))
    return _comparison(random, names)


def _turned(both: Expression) -> Expression:
    """A conjunction with its parts in reverse order."""
    return Logic("and", both.conditions[::-1]) if isinstance(both, Logic) else both


def _comparison(random: Random, names: Sequence[str]) -> Expression:
    one = col(random.choice(names))
    other = col(random.choice(names)) if random.random() < 0.4 else lit(random.choice((0, 1)))
    kinds = ("=", "=", "<", "<=", "<>", ">", "null", "known", "opaque", "raising", "sum")
    match random.choice(kinds):
        case "=":
            return (one == other).expression
        case "<":
            return (one < other).expression
        case "<=":
            return (one <= other).expression
        case "<>":
            return (one != other).expression
        case ">":
            return (one > other).expression
        case "null":
            return one.is_null().expression
        case "known":
            return (~one.is_null()).expression
        case "raising":
            return (opaque(inverse, [random.choice(names)], "integer") > 0).expression
        case "opaque":
            return opaque(is_even, [random.choice(names)], "boolean?", total=True).expression
        case _:
            return (one + other == lit(1)).expression


def matching(random: Random, left: Sequence[str], right: Sequence[str]) -> Expression:
    """A condition over pairs, mostly of equalities."""
    parts: list[Expression] = []
    if left and right:
        for _ in range(random.choice((0, 1, 1, 1, 1, 2))):
            parts.append(equality(random.choice(left), random.choice(right)))
    if random.random() < 0.2:
        parts.append(condition(random, [*left, *right]))
    return conjunction(parts)


def computed(random: Random, names: Sequence[str]) -> Expression:
    """An integer expression, mostly a column."""
    if not names:
        return Const(random.choice((0, 1)))
    one = random.choice(names)
    match random.choice(("column", "column", "column", "column", "sum", "next", "constant")):
        case "sum":
            return (col(one) + col(random.choice(names))).expression
        case "next":
            return (col(one) + 1).expression
        case "constant":
            return Const(random.choice((0, 1)))
        case _:
            return Col(one)


def aggregate(random: Random, names: Sequence[str], *, integer: bool) -> AggregateCall:
    """An aggregate function; with `integer`, one with integer results."""
    if not names:
        return count()
    makers = [lambda name: count(), count, sum_, sum_, min_, max_, max_, count_distinct]
    if not integer:
        makers.append(avg)
    return random.choice(makers)(random.choice(names))
