"""Translation of expressions from sqlglot's trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from sqlglot import exp

from midstream.plans.expressions.expressions import (
    COMPARISONS,
    DEEPEST_EXPRESSION,
    LARGEST_REPEATED,
    Apply,
    Binary,
    Call,
    Case,
    Cast,
    Const,
    Expression,
    IsNull,
    Kind,
    Not,
    compile_row,
    conjunction,
    disjunction,
    is_large,
)
from midstream.plans.functions import FUNCTIONS
from midstream.plans.functions.numbers import round_to
from midstream.plans.sql.comparisons import compared, comparison
from midstream.plans.sql.faults import Script, span
from midstream.plans.sql.hints import OTHER_FUNCTIONS, hint
from midstream.plans.sql.intervals import interval
from midstream.plans.sql.nodes import in_words, text_of, unsupported
from midstream.plans.sql.syntax import AGGREGATES, ESTIMATES, KNOWN_TYPES, MOST_DIGITS
from midstream.plans.values.errors import MidstreamError, SqlError
from midstream.plans.values.schema import Schema, Type, suggest_in_any_case, suggest_spelling
from midstream.plans.values.units import TimeUnit

OPERATORS: Mapping[type[exp.Expr], str] = {
    exp.EQ: "==",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
}
"""The operators that are operators in both trees."""

CALLS: Mapping[type[exp.Expr], str] = {
    exp.IntDiv: "//",
    exp.Mod: "mod",
    exp.DPipe: "||",
    exp.Like: "like",
    exp.ILike: "ilike",
    exp.NullSafeNEQ: "is distinct from",
}
"""The operators of sqlglot that are functions of expressions."""

ALIASES: Mapping[str, str] = {
    "len": "length",
    "char_length": "length",
    "character_length": "length",
    "substr": "substring",
    "lcase": "lower",
    "ucase": "upper",
    "ceiling": "ceil",
    "pow": "power",
    "truncate": "trunc",
    "ifnull": "coalesce",
    "nvl": "coalesce",
    "prefix": "starts_with",
    "suffix": "ends_with",
    "instr": "strpos",
    "regexp_like": "regexp_matches",
    "datepart": "date_part",
    "datetrunc": "date_trunc",
}
"""Alternative names of functions."""

TYPES: Mapping[exp.DType, Type] = {
    **dict.fromkeys((exp.DType.TINYINT, exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT), Type.INTEGER),
    **dict.fromkeys((exp.DType.INT128, exp.DType.INT256, exp.DType.MEDIUMINT), Type.INTEGER),
    **dict.fromkeys((exp.DType.FLOAT, exp.DType.DOUBLE, exp.DType.DECIMAL), Type.FLOAT),
    **dict.fromkeys((exp.DType.TEXT, exp.DType.VARCHAR, exp.DType.CHAR, exp.DType.NVARCHAR), Type.STRING),
    exp.DType.BOOLEAN: Type.BOOLEAN,
}
CONDITION_AS_VALUE = (
    "a condition with a query in it, as a value (write it in WHERE or HAVING, or LEFT JOIN the query),"
)
TIMES = (
    exp.DType.TIMESTAMP,
    exp.DType.TIMESTAMPNTZ,
    exp.DType.TIMESTAMPTZ,
    exp.DType.DATETIME,
    exp.DType.DATE,
)
"""The types of timestamps, which are integers."""

RANGES: Mapping[exp.DType, int] = {exp.DType.TINYINT: 8, exp.DType.SMALLINT: 16, exp.DType.MEDIUMINT: 24}
"""The integer types of limited size, with their numbers of bits."""

TEXTS = (exp.DType.VARCHAR, exp.DType.NVARCHAR)
"""The text types that may have a length."""

MOST_PRECISE = 38
"""Most digits of a DECIMAL."""

TIME = "midstream_time"
"""The key, in the meta data of a query in an expression, of the kind of time of its value (`Reader.time`)."""

KEEPING = ("coalesce", "ifnull", "nvl", "greatest", "least", "min", "max")
"""The functions that return one of their arguments."""


@dataclass(frozen=True)
class UserFunction:
    """A Python function for SQL; `type` is as in a schema, so that "float?" may be unknown.

    With `strict`, an unknown argument gives unknown, without a call. With `total`, the function never raises.
    """

    name: str
    function: Callable[..., Any]
    type: Type = Type.ANY
    nullable: bool = False
    strict: bool = True
    total: bool = False


@dataclass(frozen=True)
class Reader:
    """Translates the expressions at one place of a query.

    resolve    the expression of a column
    schema     the columns that expressions may read, for their types
    special    a translation that is tried first for every part; None means the usual one
    time_of    "date", "timestamp" or "interval" if a column holds these
    """

    script: Script
    unit: TimeUnit
    functions: Mapping[str, UserFunction]
    schema: Schema
    resolve: Callable[[exp.Column], Expression]
    special: Callable[[exp.Expr], Expression | None] = field(default=lambda _: None)
    time_of: Callable[[exp.Column], str | None] = field(default=lambda _: None)
    _times: dict[int, str | None] = field(default_factory=dict, compare=False)

    def value(self, tree: exp.Expr) -> Expression:
        """An expression of any type, checked against its columns."""
        expression = self.read(tree)
        self._kind(expression, tree)
        return expression

    def condition(self, tree: exp.Expr) -> Expression:
        """An expression that is a condition."""
        expression = self.read(tree)
        kind = self._kind(expression, tree)
        if kind.type not in (Type.BOOLEAN, Type.ANY):
            raise self.script.fault(f"{expression} is {kind.type.value}, expected a condition", span(tree))
        return expression

    def _kind(self, expression: Expression, tree: exp.Expr) -> Kind:
        try:
            kind = expression.kind(self.schema)
            compile_row(expression, self.schema)  # raises if it nests too deeply for Python
            return kind
        except SqlError:
            raise
        except MidstreamError as error:
            raise self._narrowed(error, tree) from error

    def _narrowed(self, error: MidstreamError, tree: exp.Expr) -> SqlError:
        """The error, at the smallest part that raises it."""
        for part in reversed(list(tree.walk())):
            if isinstance(part, exp.Connector) and type(part) is type(part.parent):
                continue  # a link of a chain, which may be long
            if isinstance(part, exp.Condition | exp.Func) and not isinstance(part, exp.Identifier):
                try:
                    self.read(part).kind(self.schema)
                except SqlError:
                    continue
                except MidstreamError as inner:
                    return self.script.fault(f"{inner}{self._written(part)}", span(part))
        return self.script.fault(str(error), span(tree))

    def _written(self, tree: exp.Expr) -> str:
        """Advice for a text beside a timestamp; empty if there is none."""
        sides = list(tree.iter_expressions())
        texts = [side for side in sides if isinstance(side, exp.Literal) and side.is_string]
        for side in sides:
            if texts and (time := self.time(side)) in ("date", "timestamp"):
                return f"; {in_words(side)} is a {time}: write {time.upper()} {in_words(texts[0])}"
        return ""

    def time(self, tree: exp.Expr) -> str | None:
        """The kind of time of an expression, an integer in plans: "date", "timestamp" or "interval"."""
        if id(tree) not in self._times:
            self._times[id(tree)] = self._time(tree)
        return self._times[id(tree)]

    def _time(self, tree: exp.Expr) -> str | None:
        match tree:
            case exp.Paren() | exp.Neg():
                return self.time(tree.this)
            case exp.Distinct():
                return self.time(tree.expressions[0])
            case exp.Column():
                return self.time_of(tree)
            case exp.Interval():
                return "interval"
            case exp.Subquery():
                time: str | None = tree.meta.get(TIME)
                return time
            case exp.Cast() if tree.to.this in TIMES:
                return "date" if tree.to.this == exp.DType.DATE else "timestamp"
            case exp.Add() | exp.Sub() | exp.Mul() | exp.Div():
                sides = [self.time(tree.this), self.time(tree.expression)]
                if isinstance(tree, exp.Sub) and None not in sides and "interval" not in sides:
                    return None if sides == ["date", "date"] else "interval"
                return common_time(*sides)
            case exp.Case():
                branches = [*(branch.args["true"] for branch in tree.args["ifs"]), tree.args.get("default")]
                return common_time(*(self.time(branch) for branch in branches if branch is not None))
            case exp.Anonymous() if tree.name.lower() == "if":
                return common_time(*map(self.time, tree.expressions[1:]))
            case exp.Anonymous() if tree.name.lower() in ("date_trunc", "datetrunc"):
                return "timestamp"
            case exp.Anonymous() if tree.name.lower() in ("nullif", "within") and tree.expressions:
                return self.time(tree.expressions[0])
            case exp.Anonymous() if tree.name.lower() in KEEPING:
                return common_time(*map(self.time, tree.expressions))
            case exp.Anonymous() if tree.name.lower() == "sum" and tree.expressions:
                summed = self.time(tree.expressions[0])
                return summed if summed == "interval" else None
        return None

    def _of_days(self, tree: exp.Expr) -> Expression | None:
        """A date plus or minus days, or the days between two dates; None for other operands."""
        left, right = self.time(tree.this), self.time(tree.expression)
        if "date" not in (left, right) or "interval" in (left, right) or "timestamp" in (left, right):
            return None
        day, is_sum = self.unit.chronons(1, "day"), isinstance(tree, exp.Add)
        if day is None or (right == "date" and is_sum == (left == "date")):
            raise self.script.fault(
                f"{in_words(tree)} is not supported; write the date and an INTERVAL, as in "
                "DATE '2024-02-29' + INTERVAL '7' DAY",
                span(tree),
            )
        if left == right:
            return Call("//", (Binary("-", self.read(tree.this), self.read(tree.expression)), Const(day)))
        date, number = (tree.this, tree.expression) if left == "date" else (tree.expression, tree.this)
        count = self.read(number)
        if count.kind(self.schema).type not in (Type.INTEGER, Type.ANY):
            raise self.script.fault(f"{in_words(number)} beside a date, expected whole days", span(number))
        is_known = isinstance(count, Const) and isinstance(count.value, int)
        days = Const(count.value * day) if is_known else Binary("*", count, Const(day))  # type: ignore[attr-defined]
        return Binary("+" if is_sum else "-", self.read(date), days)

    def read(self, tree: exp.Expr) -> Expression:
        """An expression whose types are not checked yet."""
        if (answer := self.special(tree)) is not None:
            return answer
        try:
            return self._read(tree)
        except SqlError:
            raise
        except MidstreamError as error:
            raise self.script.fault(str(error), span(tree)) from error

    def _read(self, tree: exp.Expr) -> Expression:
        if isinstance(tree, exp.Add | exp.Sub) and (shifted := self._of_days(tree)) is not None:
            return shifted
        if type(tree) in OPERATORS:
            operator, left, right = OPERATORS[type(tree)], self.read(tree.this), self.read(tree.expression)
            is_comparison = operator in COMPARISONS
            return (self._compared if is_comparison else Binary)(operator, left, right)
        if type(tree) in CALLS:
            call = Call(CALLS[type(tree)], (self.read(tree.this), self.read(tree.expression)))
            return Not(call) if tree.args.get("negate") else call
        match tree:
            case exp.Column():
                return self.resolve(tree)
            case exp.Paren():
                return self.read(tree.this)
            case exp.Literal():
                return self._literal(tree)
            case exp.Boolean():
                return Const(bool(tree.this))
            case exp.Null():
                return Const(None)
            case exp.And():
                return conjunction([self.read(part) for part in tree.flatten()])
            case exp.Or():
                return disjunction([self.read(part) for part in tree.flatten()])
            case exp.Not():
                return _negated(self.read(tree.this))
            case exp.Neg():
                return self._negative(tree)
            case exp.Between():
                value = self._repeated(tree.this)
                low, high = self.read(tree.args["low"]), self.read(tree.args["high"])
                return conjunction([self._compared(">=", value, low), self._compared("<=", value, high)])
            case exp.In():
                if tree.args.get("query"):
                    raise self._unsupported(tree, CONDITION_AS_VALUE)
                values = [self.read(tree.this), *map(self.read, tree.expressions)]
                return Call("in", tuple(compared(values, self.schema)))
            case exp.Is():
                return self._is(tree)
            case exp.NullSafeEQ():
                both = [self.read(tree.this), self.read(tree.expression)]
                return Not(Call("is distinct from", tuple(compared(both, self.schema))))
            case exp.Escape():
                return self._escaped(tree)
            case exp.Case():
                return self._case(tree)
            case exp.Cast():
                return self._cast(tree)
            case exp.Interval():
                return self._interval(tree)
            case exp.Extract():
                return self._date("date_part", Const(tree.this.name.lower()), self.read(tree.expression))
            case exp.Trim():
                return self._trim(tree)
            case exp.Substring():
                parts = [tree.this, tree.args.get("start"), tree.args.get("length")]
                return Call("substring", tuple(self.read(part) for part in parts if part is not None))
            case exp.StrPosition():
                return Call("strpos", (self.read(tree.this), self.read(tree.args["substr"])))
            case exp.Anonymous():
                return self._function(tree)
            case exp.Exists() | exp.Any() | exp.All():
                raise self._unsupported(tree, CONDITION_AS_VALUE)
            case exp.Subquery() | exp.Query():
                raise self._unsupported(tree, "a query in this place")
        raise self._unsupported(tree, in_words(tree))

    def _compared(self, operator: str, left: Expression, right: Expression) -> Expression:
        return comparison(operator, left, right, self.schema)

    def _repeated(self, tree: exp.Expr) -> Expression:
        """An expression that becomes part of another more than once, if it is not too large.

        Nested in each other, such expressions would double in size each time.
        """
        value = self.read(tree)
        if is_large(value, deepest=DEEPEST_EXPRESSION):
            raise self.script.fault(
                f"found more than {LARGEST_REPEATED} parts, expected less in a value that is compared "
                "several times; compute it in a query in FROM",
                span(tree),
            )
        return value

    def _unsupported(self, tree: exp.Expr, what: str) -> SqlError:
        return unsupported(self.script, what, tree)

    def _literal(self, tree: exp.Literal) -> Expression:
        text = str(tree.this)
        if tree.is_string:
            return Const(text)
        if text.isascii() and text.isdigit():
            if len(text) > MOST_DIGITS:
                raise self.script.fault(
                    f"found a number of {len(text)} digits, expected {MOST_DIGITS} at most", span(tree)
                )
            return Const(int(text))
        try:
            value = float(text)
        except ValueError:
            value = float("inf")
        if value in (float("inf"), float("-inf")):
            raise self.script.fault(f"found {text}, expected a number that a float can hold", span(tree))
        digits, _, decimals = text.partition(".")
        if decimals.isdigit() and not int(decimals) and int(digits or "0") != value:
            raise self.script.fault(
                f"found {text}, which no float holds; write {digits}, which is an integer", span(tree)
            )
        return Const(value)

    def _rounded(self, tree: exp.Expr, value: Expression, digits: Expression) -> Expression:
        """A rounded value; a decimal literal is rounded as it is written."""
        decimal = _decimal(tree)
        if decimal is not None and isinstance(digits, Const) and type(digits.value) is int:
            return Const(round_to(decimal, digits.value))
        return Call("round", (value, digits))

    def _negative(self, tree: exp.Neg) -> Expression:
        value = self.read(tree.this)
        if isinstance(value, Const) and type(value.value) in (int, float):
            return Const(-value.value)
        return Call("negate", (value,))

    def _is(self, tree: exp.Is) -> Expression:
        value = self.read(tree.this)
        match tree.expression:
            case exp.Null():
                return IsNull(value)
            case exp.Boolean() as wanted:
                return Not(Call("is distinct from", (value, Const(bool(wanted.this)))))
        raise self._unsupported(tree, "IS with anything but NULL, TRUE and FALSE")

    def _escaped(self, tree: exp.Escape) -> Expression:
        like = tree.this
        if not isinstance(like, exp.Like | exp.ILike):
            raise self._unsupported(tree, "ESCAPE behind anything but LIKE")
        parts = self.read(like.this), self.read(like.expression), self.read(tree.expression)
        call = Call(CALLS[type(like)], parts)
        return Not(call) if like.args.get("negate") else call

    def _case(self, tree: exp.Case) -> Expression:
        subject = None if tree.this is None else self._repeated(tree.this)
        branches = []
        for branch in tree.args["ifs"]:
            when = self.read(branch.this)
            if subject is not None:
                when = self._compared("==", subject, when)
            branches.append((when, self.read(branch.args["true"])))
        default = tree.args.get("default")
        return Case(tuple(branches), Const(None) if default is None else self.read(default))

    def _cast(self, tree: exp.Cast) -> Expression:
        kind = tree.to.this
        if kind in TIMES:
            if tree.to.expressions:
                raise self.script.fault(
                    f"found {text_of(tree.to)}, expected no size: timestamps are counted in {self.unit.name}",
                    span(tree.to),
                )
            return self._timestamp(tree)
        if kind not in TYPES:
            raise self.script.fault(f"found the type {tree.to.sql()}, expected {KNOWN_TYPES}", span(tree))
        value = self.read(tree.this)
        if TYPES[kind] is Type.INTEGER:
            value = value if _decimal(tree.this) is None else self._rounded(tree.this, value, Const(0))
        return self._sized(tree.to, Cast(value, TYPES[kind]), tree.this)

    def _sized(self, tree: exp.DataType, value: Expression, of: exp.Expr) -> Expression:
        """A value of a type, cut to its size; unknown if it cannot be cut."""
        sizes = [int(param.this.name) if param.this.name.isdigit() else -1 for param in tree.expressions]
        match tree.this, sizes:
            case (exp.DType.CHAR, _):
                raise self.script.fault(
                    f"{text_of(tree)} is not supported, as it is filled up with blanks; write VARCHAR(n), "
                    "which is cut to n characters, or TEXT",
                    span(tree),
                )
            case (kind, []) if kind in RANGES:
                size = 2 ** (RANGES[kind] - 1)
                return Call("within", (value, Const(-size), Const(size - 1)))
            case (_, []):
                return value
            case (kind, [length]) if kind in TEXTS and length > 0:
                return Call("left", (value, Const(length)))
            case (exp.DType.DECIMAL, [precision, *rest]) if len(rest) < 2:
                scale = rest[0] if rest else 0
                if 0 < precision <= MOST_PRECISE and 0 <= scale <= precision:
                    most = 10 ** (precision - scale) - Decimal(10) ** -scale
                    rounded = self._rounded(of, value, Const(scale))
                    return Call("within", (rounded, Const(-float(most)), Const(float(most))))
        raise self.script.fault(
            f"found {text_of(tree)}, expected a size in DECIMAL(precision, scale), with a precision from 1 "
            f"to {MOST_PRECISE} and a scale up to that, or in VARCHAR(length)",
            span(tree),
        )

    def _timestamp(self, tree: exp.Cast) -> Expression:
        value = self.read(tree.this)
        is_date = tree.to.this == exp.DType.DATE
        if isinstance(value, Const) and isinstance(value.value, str):
            try:
                value = Const(self.unit.instant(value.value))
            except ValueError as error:
                raise self.script.fault(f"found {value.value!r}, expected {error}", span(tree)) from None
        elif value.kind(self.schema).type is not Type.INTEGER:
            raise self._unsupported(tree, "CAST of anything but a constant or an integer to a timestamp")
        return self._date("date_trunc", Const("day"), value) if is_date else value

    def _interval(self, tree: exp.Interval) -> Expression:
        text = tree.this.name if isinstance(tree.this, exp.Literal) else ""
        units = [part.name for part in tree.unit.find_all(exp.Var)] if tree.unit is not None else []
        try:
            length = interval(text, units)
        except ValueError as error:
            words = f"{in_words(tree.this)} {' TO '.join(units)}".rstrip()
            raise self.script.fault(
                f"found an interval of {words}, expected {error} (months and years have no fixed length)",
                span(tree),
            ) from None
        chronons, remainder = divmod(length, self.unit.nanoseconds)
        if remainder:
            raise self.script.fault(
                f"found an interval of {text} {' TO '.join(units)}, expected a whole number of "
                f"{self.unit.name}, the unit of time",
                span(tree),
            )
        return Const(chronons)

    def _date(self, function: str, *arguments: Expression) -> Expression:
        return Call(function, (*arguments, Const(self.unit.nanoseconds)))

    def _trim(self, tree: exp.Trim) -> Expression:
        function = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(
            str(tree.args.get("position") or "").upper(), "trim"
        )
        parts = [tree.this, tree.expression] if tree.expression is not None else [tree.this]
        return Call(function, tuple(map(self.read, parts)))

    def _function(self, tree: exp.Anonymous) -> Expression:
        name = str(tree.name)
        lower = name.lower()
        arguments = tuple(map(self.read, tree.expressions))
        if user := self.functions.get(lower):
            return Apply(
                user.function, arguments, user.type, user.nullable, user.name, user.strict, user.total
            )
        lower = ALIASES.get(lower, lower)
        if lower in ("date_part", "date_trunc", "strftime") and len(arguments) == 2:
            return self._date(lower, *arguments)
        if lower in DATE_PARTS:
            if len(arguments) != 1:
                raise self.script.fault(
                    f"{name}: found {len(arguments)} arguments, expected one, a timestamp", span(tree)
                )
            return self._date("date_part", Const(lower), *arguments)
        if lower == "position":
            lower, arguments = "strpos", tuple(reversed(arguments))
        if lower == "if" and len(arguments) in (2, 3):
            return Case(((arguments[0], arguments[1]),), arguments[2] if len(arguments) == 3 else Const(None))
        if lower == "round" and len(arguments) in (1, 2):
            return self._rounded(tree.expressions[0], arguments[0], *(arguments[1:] or (Const(0),)))
        if lower not in FUNCTIONS or not lower[0].isalpha():
            if instead := hint(name):
                raise self.script.fault(f"{name} is not supported{instead}", span(tree))
            near = suggest_in_any_case(name, [user.name for user in self.functions.values()])
            if lower not in OTHER_FUNCTIONS:
                near = near or suggest_spelling(lower, function_names())
            raise self.script.fault(f"there is no function {name}{near}", span(tree))
        return Call(lower, arguments)


def function_names() -> list[str]:
    """The names of all functions and aggregates that a query may call."""
    functions = (name for name, function in FUNCTIONS.items() if not function.words)
    return [*functions, *ALIASES, *DATE_PARTS, *AGGREGATES, *ESTIMATES]


DATE_PARTS = (
    "year", "quarter", "month", "week", "day", "hour", "minute", "second",
    "millisecond", "epoch", "dow", "isodow", "doy",
)  # fmt: skip
"""The parts of `date_part` that are also functions."""


def common_time(*times: str | None) -> str | None:
    """The kind of time of a value that is one of several, or is made of them.

    Values that are no times, such as NULL, do not count. Different kinds give a timestamp.
    """
    kinds = {time for time in times if time is not None}
    return "timestamp" if len(kinds) > 1 else next(iter(kinds), None)


def _negated(condition: Expression) -> Expression:
    return condition.condition if isinstance(condition, Not) else Not(condition)


def _decimal(tree: exp.Expr) -> Decimal | None:
    """The exact number of a decimal literal; None for other expressions."""
    inner = bare(tree)
    if isinstance(inner, exp.Neg) and (decimal := _decimal(inner.this)) is not None:
        return -decimal
    is_decimal = isinstance(inner, exp.Literal) and not inner.is_string and "." in inner.this
    return Decimal(inner.this) if is_decimal else None


def bare(tree: exp.Expr) -> exp.Expr:
    """An expression without the brackets around it."""
    while isinstance(tree, exp.Paren):
        tree = tree.this
    return tree
