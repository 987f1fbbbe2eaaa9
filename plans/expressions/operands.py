"""Expressions as queries in Python write them.

`col("price")` returns an operand. Its operators and methods return operands again, and so does `==`. Each
operand holds an [expression](expressions.py), a tree for plans; between trees, `==` compares structure.

    >>> dear = (col("price") > 10) & (col("item") == 7)
    >>> dear
    <expression (item = 7) and (price > 10)>
    >>> dear.equals((col("item") == 7) & (col("price") > 10))
    True

An operand has no truth value until a row is known, so `and`, `or`, `not`, `in`, `if` and chains such as
`1 < x < 5` raise, and say what to write:

    >>> col("price") > 10 and col("item") == 7
    Traceback (most recent call last):
    midstream.plans.values.errors.ExpressionError: price > 10 has no truth value before it meets a row: \
write & | ~ for and, or, not; x.is_in(…) for in; x.between(…) for a chain of comparisons; case(…) for if; \
x.equals(y) to ask whether two expressions are the same

Operators mean the same as in SQL: an unknown operand gives unknown, `//` rounds towards zero, `%` has the
sign of the dividend, and `**` is POWER.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

from midstream.plans.expressions.expressions import (
    Apply,
    Binary,
    Call,
    Case,
    Cast,
    Col,
    Const,
    Expression,
    IsNull,
    Not,
    conjunction,
    disjunction,
)
from midstream.plans.values.arguments import require, require_name
from midstream.plans.values.errors import ExpressionError
from midstream.plans.values.near_names import NearNames
from midstream.plans.values.schema import ColumnType, Type, parse_column


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Operand(NearNames):
    """A value computed from a row, as a query in Python writes it.

    expression   the tree that it stands for
    name         the column's name that `alias` gave it
    """

    _elsewhere: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("isna", "isNull"), "is_null"),
        **dict.fromkeys(("isNotNull", "notna", "notnull"), "is_not_null"),
        "fillna": "fill_null",
        "is_between": "between",
        "astype": "cast",
        **dict.fromkeys(("startswith", "starts_with"), "str.starts_with"),
        **dict.fromkeys(("endswith", "ends_with"), "str.ends_with"),
        **{name: f"str.{name}" for name in ("contains", "like", "ilike", "lower", "upper")},
        **dict.fromkeys(("log1p", "sort"), ""),
    }

    expression: Expression
    name: builtins.str | None = None

    def __post_init__(self) -> None:
        require("operand", self.expression, Expression, "the tree of an expression; write ms.lit(…)")

    def equals(self, other: object) -> bool:
        """True if both are the same expression, by structure.

        >>> (col("x") + 1).equals(col("x") + 1), (col("x") + 1).equals(1 + col("x"))
        (True, False)
        """
        return isinstance(other, Operand) and self.expression == other.expression

    def alias(self, name: builtins.str) -> Operand:
        """This operand under a name, for `select`."""
        return Operand(self.expression, column_name(name))

    def __eq__(self, other: object) -> Operand:  # type: ignore[override]
        return Operand(Binary("==", self.expression, _known(other, f"{self} == None", "is_null")))

    def __ne__(self, other: object) -> Operand:  # type: ignore[override]
        return Operand(Binary("!=", self.expression, _known(other, f"{self} != None", "is_not_null")))

    def eq(self, other: Any) -> Operand:
        """Equal to: the same as `==`."""
        return self.__eq__(other)

    def ne(self, other: Any) -> Operand:
        """Not equal to: the same as `!=`."""
        return self.__ne__(other)

    def __hash__(self) -> int:
        # A dict finds an operand by identity; comparing it with an equal one asks for the truth of ==, and
        # raises.
        return hash(self.expression)

    def __bool__(self) -> NoReturn:
        raise ExpressionError(
            f"{self} has no truth value before it meets a row: write & | ~ for and, or, not; "
            "x.is_in(…) for in; x.between(…) for a chain of comparisons; case(…) for if; "
            "x.equals(y) to ask whether two expressions are the same"
        )

    def __contains__(self, value: object) -> NoReturn:
        raise ExpressionError(f"found {value!r} in {self}, expected x.is_in(…) or x.str.contains(…)")

    def __iter__(self) -> NoReturn:
        raise ExpressionError(f"found {self}, which is one value of each row, expected a list of values")

    def __lt__(self, other: Any) -> Operand:
        return self._binary("<", other)

    def __le__(self, other: Any) -> Operand:
        return self._binary("<=", other)

    def __gt__(self, other: Any) -> Operand:
        return self._binary(">", other)

    def __ge__(self, other: Any) -> Operand:
        return self._binary(">=", other)

    def __add__(self, other: Any) -> Operand:
        return self._binary("+", other)

    def __radd__(self, other: Any) -> Operand:
        return self._reflected("+", other)

    def __sub__(self, other: Any) -> Operand:
        return self._binary("-", other)

    def __rsub__(self, other: Any) -> Operand:
        return self._reflected("-", other)

    def __mul__(self, other: Any) -> Operand:
        return self._binary("*", other)

    def __rmul__(self, other: Any) -> Operand:
        return self._reflected("*", other)

    def __truediv__(self, other: Any) -> Operand:
        return self._binary("/", other)

    def __rtruediv__(self, other: Any) -> Operand:
        return self._reflected("/", other)

    def __floordiv__(self, other: Any) -> Operand:
        return call("//", self, other)

    def __rfloordiv__(self, other: Any) -> Operand:
        return call("//", other, self)

    def __mod__(self, other: Any) -> Operand:
        return call("mod", self, other)

    def __rmod__(self, other: Any) -> Operand:
        return call("mod", other, self)

    def __pow__(self, other: Any) -> Operand:
        return call("power", self, other)

    def __rpow__(self, other: Any) -> Operand:
        return call("power", other, self)

    def __neg__(self) -> Operand:
        constant = self.expression
        if isinstance(constant, Const) and type(constant.value) in (int, float):
            return Operand(Const(-constant.value))
        return call("negate", self)

    def __pos__(self) -> Operand:
        return Operand(self.expression)

    def __abs__(self) -> Operand:
        return call("abs", self)

    def __round__(self, digits: Any = None) -> Operand:
        return self.round(digits)

    def __and__(self, other: Any) -> Operand:
        return Operand(conjunction([self.expression, expression_of(other)]))

    def __rand__(self, other: Any) -> Operand:
        return Operand(conjunction([expression_of(other), self.expression]))

    def __or__(self, other: Any) -> Operand:
        return Operand(disjunction([self.expression, expression_of(other)]))

    def __ror__(self, other: Any) -> Operand:
        return Operand(disjunction([expression_of(other), self.expression]))

    def __invert__(self) -> Operand:
        condition = self.expression
        return Operand(condition.condition if isinstance(condition, Not) else Not(condition))

    def is_null(self) -> Operand:
        """True where the value is unknown; the result itself is never unknown."""
        return Operand(IsNull(self.expression))

    def is_not_null(self) -> Operand:
        """True where the value is known."""
        return Operand(Not(IsNull(self.expression)))

    def is_distinct_from(self, other: Any) -> Operand:
        """True where the values differ; unknown counts as a value."""
        return call("is distinct from", self, other)

    def is_in(self, values: Iterable[Any]) -> Operand:
        """True where the value equals one of some values; unknown if it equals none, but one is unknown.

        >>> str(col("item").is_in([7, 8]))
        'item in (7, 8)'
        """
        if isinstance(values, str | bytes | Operand) or not isinstance(values, Iterable):
            raise ExpressionError(f"{self}.is_in: found {values!r}, expected a list of values")
        # A set has no order, and equal plans are to be equal in every run.
        listed = sorted(values, key=repr) if isinstance(values, set | frozenset) else list(values)
        return call("in", self, *listed) if listed else Operand(Const(False))

    def between(self, low: Any, high: Any) -> Operand:
        """True where the value lies between two values, both included.

        >>> str(col("price").between(10, 20))
        '(price <= 20) and (price >= 10)'
        """
        return self._binary(">=", low) & self._binary("<=", high)

    def within(self, low: Any, high: Any) -> Operand:
        """The number; unknown where it is not between two others."""
        return call("within", self, low, high)

    def fill_null(self, value: Any) -> Operand:
        """The value; another value where it is unknown."""
        return call("coalesce", self, value)

    def nullif(self, value: Any) -> Operand:
        """The value; unknown where it equals another value."""
        return call("nullif", self, value)

    def cast(self, type: ColumnType) -> Operand:
        """The value converted to another type; unknown where it cannot be converted.

        >>> str(col("note").cast(int))
        'cast(note as integer)'
        """
        return Operand(Cast(self.expression, parse_column("cast", type).type))

    def abs(self) -> Operand:
        """The absolute value."""
        return call("abs", self)

    def sign(self) -> Operand:
        """The sign: -1, 0 or 1."""
        return call("sign", self)

    def round(self, digits: Any = None) -> Operand:
        """The number rounded to so many decimal places; halves are rounded away from zero.

        A negative number of places rounds to a power of ten.
        """
        return call("round", self, *_optional(digits))

    def ceil(self) -> Operand:
        """The smallest integer that is not below the value, as a float."""
        return call("ceil", self)

    def floor(self) -> Operand:
        """The largest integer that is not above the value, as a float."""
        return call("floor", self)

    def trunc(self) -> Operand:
        """The number without its decimal places."""
        return call("trunc", self)

    def sqrt(self) -> Operand:
        """The square root; unknown for negative numbers."""
        return call("sqrt", self)

    def exp(self) -> Operand:
        """The exponential function: e to the power of the value."""
        return call("exp", self)

    def ln(self) -> Operand:
        """The natural logarithm; unknown where it is undefined."""
        return call("ln", self)

    def log10(self) -> Operand:
        """The logarithm to base 10."""
        return call("log10", self)

    def log2(self) -> Operand:
        """The logarithm to base 2."""
        return call("log2", self)

    def chr(self) -> Operand:
        """The character of a code point."""
        return call("chr", self)

    @property
    def str(self) -> Text:
        """Functions of strings."""
        return Text(self)

    def dt(self, unit: builtins.str) -> Instant:
        """Functions of instants: integers, counted from the beginning of 1970 in UTC, in some unit.

        >>> str(col("at").dt("seconds").hour())
        "date_part('hour', at, 1000000000)"
        """
        from midstream.plans.values.units import TimeUnit  # loads what reads SQL

        try:
            return Instant(self, TimeUnit.of(unit).nanoseconds)
        except (ValueError, AttributeError):
            raise ExpressionError(
                f"{self}.dt: found {unit!r}, expected a unit of time such as 'seconds'"
            ) from None

    def _binary(self, operator: builtins.str, other: Any) -> Operand:
        return Operand(Binary(operator, self.expression, expression_of(other)))

    def _reflected(self, operator: builtins.str, other: Any) -> Operand:
        return Operand(Binary(operator, expression_of(other), self.expression))

    def __str__(self) -> builtins.str:
        return f"{self.expression}" if self.name is None else f"{self.expression} as {self.name}"

    def __repr__(self) -> builtins.str:
        return f"<expression {self}>"


@dataclass(frozen=True, slots=True)
class Text(NearNames):
    """Functions of strings; a character is a code point, and positions count from 1."""

    of: Operand

    def lower(self) -> Operand:
        """The string in lower case."""
        return call("lower", self.of)

    def upper(self) -> Operand:
        """The string in upper case."""
        return call("upper", self.of)

    def length(self) -> Operand:
        """The number of characters."""
        return call("length", self.of)

    def trim(self, characters: Any = None) -> Operand:
        """The string without spaces, or other characters, at both ends."""
        return call("trim", self.of, *_optional(characters))

    def ltrim(self, characters: Any = None) -> Operand:
        """The string without spaces, or other characters, at the beginning."""
        return call("ltrim", self.of, *_optional(characters))

    def rtrim(self, characters: Any = None) -> Operand:
        """The string without spaces, or other characters, at the end."""
        return call("rtrim", self.of, *_optional(characters))

    def substring(self, start: Any, length: Any = None) -> Operand:
        """`length` characters from position `start`, by default all; a negative start counts from the end."""
        return call("substring", self.of, start, *_optional(length))

    def replace(self, old: Any, new: Any) -> Operand:
        """The string with every occurrence of a part replaced."""
        return call("replace", self.of, old, new)

    def strpos(self, part: Any) -> Operand:
        """The position of the first occurrence of a part; 0 if there is none."""
        return call("strpos", self.of, part)

    def starts_with(self, start: Any) -> Operand:
        """True where the string starts with another."""
        return call("starts_with", self.of, start)

    def ends_with(self, end: Any) -> Operand:
        """True where the string ends with another."""
        return call("ends_with", self.of, end)

    def contains(self, part: Any) -> Operand:
        """True where another string occurs in the string."""
        return call("contains", self.of, part)

    def left(self, count: Any) -> Operand:
        """The first characters; with a negative count, all but the last."""
        return call("left", self.of, count)

    def right(self, count: Any) -> Operand:
        """The last characters; with a negative count, all but the first."""
        return call("right", self.of, count)

    def reverse(self) -> Operand:
        """The characters in reverse order."""
        return call("reverse", self.of)

    def lpad(self, length: Any, filling: Any) -> Operand:
        """The string filled up on the left to a length; a longer string is cut on the right."""
        return call("lpad", self.of, length, filling)

    def rpad(self, length: Any, filling: Any) -> Operand:
        """The string filled up on the right to a length; a longer string is cut on the right."""
        return call("rpad", self.of, length, filling)

    def repeat(self, count: Any) -> Operand:
        """The string repeated `count` times."""
        return call("repeat", self.of, count)

    def split_part(self, separator: Any, number: Any) -> Operand:
        """The part with that number, from the end if negative; empty if there is none."""
        return call("split_part", self.of, separator, number)

    def ascii(self) -> Operand:
        """The code point of the first character; 0 for the empty string."""
        return call("ascii", self.of)

    def like(self, pattern: Any, escape: Any = None) -> Operand:
        """True where the string matches a pattern: `%` stands for any characters, `_` for one."""
        return call("like", self.of, pattern, *_optional(escape))

    def ilike(self, pattern: Any, escape: Any = None) -> Operand:
        """As `like`, without regard to upper and lower case."""
        return call("ilike", self.of, pattern, *_optional(escape))

    def regexp_matches(self, pattern: Any, options: Any = None) -> Operand:
        """True where a regular expression matches a part of the string."""
        return call("regexp_matches", self.of, pattern, *_optional(options))

    def regexp_replace(self, pattern: Any, new: Any, options: Any = None) -> Operand:
        """The string with a match of a regular expression replaced: the first, or all with the option `g`."""
        return call("regexp_replace", self.of, pattern, new, *_optional(options))

    def concat(self, *others: Any) -> Operand:
        """The string followed by other values as strings (SQL's `||`); unknown where one is."""
        return call("||", self.of, *others) if others else self.of


@dataclass(frozen=True, slots=True)
class Instant(NearNames):
    """Functions of instants, with SQL's names of parts of time."""

    _elsewhere: ClassVar[Mapping[str, str]] = dict.fromkeys(("nanosecond", "strptime"), "")

    of: Operand
    nanoseconds: int

    def part(self, name: str) -> Operand:
        """A part of the instant as a number: "year", "hour", "epoch"."""
        return call("date_part", name, self.of, self.nanoseconds)

    def trunc(self, name: str) -> Operand:
        """The start of the year, hour or other part of time that contains the instant."""
        return call("date_trunc", name, self.of, self.nanoseconds)

    def strftime(self, form: Any) -> Operand:
        """The instant as text, in a format such as "%Y-%m-%d %H:%M"."""
        return call("strftime", self.of, form, self.nanoseconds)

    def year(self) -> Operand:
        """The year."""
        return self.part("year")

    def quarter(self) -> Operand:
        """The quarter of the year: 1 to 4."""
        return self.part("quarter")

    def month(self) -> Operand:
        """The month: 1 to 12."""
        return self.part("month")

    def week(self) -> Operand:
        """The week of the year by ISO 8601."""
        return self.part("week")

    def day(self) -> Operand:
        """The day of the month."""
        return self.part("day")

    def hour(self) -> Operand:
        """The hour: 0 to 23."""
        return self.part("hour")

    def minute(self) -> Operand:
        """The minute: 0 to 59."""
        return self.part("minute")

    def second(self) -> Operand:
        """The second: 0 to 59."""
        return self.part("second")

    def millisecond(self) -> Operand:
        """The milliseconds since the beginning of the minute."""
        return self.part("millisecond")

    def epoch(self) -> Operand:
        """The seconds since the beginning of 1970, as a float."""
        return self.part("epoch")

    def dow(self) -> Operand:
        """The day of the week: 0 for Sunday to 6."""
        return self.part("dow")

    def isodow(self) -> Operand:
        """The day of the week: 1 for Monday to 7."""
        return self.part("isodow")

    def doy(self) -> Operand:
        """The day of the year."""
        return self.part("doy")


def col(name: str) -> Operand:
    """The value of a column."""
    return Operand(Col(column_name(name)))


def lit(value: Any) -> Operand:
    """A constant: None, a boolean, a number or a string."""
    return Operand(Const(value))


def call(function: str, *arguments: Any) -> Operand:
    """A function of `FUNCTIONS`, by name.

    >>> call("like", col("item"), "K%")
    <expression item like 'K%'>
    """
    return Operand(Call(function, tuple(map(expression_of, arguments))))


def opaque(
    function: Callable[..., Any],
    reads: Sequence[str],
    type: ColumnType = Type.ANY,
    nullable: bool = False,
    *,
    total: bool = False,
) -> Operand:
    """A Python callable as an expression, called with the values of the columns in `reads`, in that order.

    Set `total` if the callable never raises and always returns a value of its type: the optimizer may then
    call it for rows that the query would have filtered out before.

    >>> opaque(len, reads=["name"], type="integer") > 3
    <expression len(name) > 3>
    """
    if not callable(function):
        raise ExpressionError(f"opaque: found {function!r}, expected a function")
    if isinstance(reads, str) or not isinstance(reads, Iterable):
        raise ExpressionError(f"opaque: found reads={reads!r}, expected a list of names of columns")
    require("opaque: nullable", nullable, bool, "True or False")
    require("opaque: total", total, bool, "True or False")
    declared = parse_column("opaque", type)
    arguments = tuple(col(name).expression for name in reads)
    nullable |= declared.nullable
    return Operand(Apply(function, arguments, declared.type, nullable, strict=False, is_total=total))


def greatest(*arguments: Any) -> Operand:
    """The largest known value of two or more; unknown if none is known."""
    return call("greatest", *arguments)


def least(*arguments: Any) -> Operand:
    """The smallest known value of two or more; unknown if none is known."""
    return call("least", *arguments)


def coalesce(*arguments: Any) -> Operand:
    """The first known value of one or more."""
    return call("coalesce", *arguments)


def concat(*arguments: Any) -> Operand:
    """The known values, as strings, joined."""
    return call("concat", *arguments)


def concat_ws(separator: Any, *arguments: Any) -> Operand:
    """The known values, as strings, joined with a separator between them."""
    return call("concat_ws", separator, *arguments)


def case(*branches: tuple[Any, Any], default: Any = None) -> Operand:
    """The value of the first branch, `(condition, value)`, whose condition is true.

    >>> case((col("x") > 100, "large"), (col("x") > 10, "middle"), default="small")
    <expression case when x > 100 then 'large' when x > 10 then 'middle' else 'small' end>
    """
    for branch in branches:
        if not _is_pair(branch):
            raise ExpressionError(f"case: found {branch!r}, expected branches (condition, value)")
    lifted = tuple((expression_of(condition), expression_of(value)) for condition, value in branches)
    return Operand(Case(lifted, expression_of(default)))


def expression_of(value: Any) -> Expression:
    """The tree of an operand, or the constant of a value; raises ExpressionError for other objects."""
    if isinstance(value, Operand):
        return value.expression
    if isinstance(value, Expression):
        return value
    if callable(value):
        raise ExpressionError(
            f"found the Python function {getattr(value, '__name__', value)}, expected an expression such as "
            "col('price') > 10; write opaque(function, reads=['price']) for a function"
        )
    return Const(value)


def _known(value: object, shown: str, method: str) -> Expression:
    if value is None:
        raise ExpressionError(f"{shown} is unknown for every row; write .{method}()")
    return expression_of(value)


def column_name(name: object) -> str:
    """The name of a column; raises ExpressionError for other objects."""
    require_name("column", name, "the name of a column")
    return str(name)


def _is_pair(value: object) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2


def _optional(argument: Any) -> tuple[Any, ...]:
    return () if argument is None else (argument,)
