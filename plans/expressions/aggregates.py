"""Aggregate functions, with their meanings on multisets of values.

    count()       the number of rows               count(x)       the number of rows where x is known
    sum(x)        min(x)        max(x)             over the rows where x is known; unknown if there is none
    avg(x)        median(x)     top_k(x, k)        likewise
    var_pop(x)    stddev_pop(x)                    likewise
    var_samp(x)   stddev_samp(x)                   unknown also if x is known in one row only
    sum, avg, var and stddev                       unknown also if beyond the largest float
    f(distinct x)                                  f of the distinct known values
    scaled_sum(x, p)                               the sum of x / p; unknown likewise
    standard_error(x, p, c)                        of a scaled sum over what was drawn as c, with the share p

and any function that its user defines by merging partial results (`user_aggregate`).

All are exact: floats are added as rational numbers, and the result is rounded once. It therefore does not
depend on the order in which plans deliver their rows, and a row that leaves does not affect later results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from midstream.plans.expressions.expressions import (
    CHECKS,
    INEXACT,
    Call,
    Case,
    Col,
    Const,
    Expression,
    IsNull,
    Kind,
    expression_from_json,
)
from midstream.plans.expressions.operands import expression_of
from midstream.plans.functions.tuples import TUPLE
from midstream.plans.values.arguments import require, require_callable, require_name
from midstream.plans.values.errors import ExpressionError, PlanFormatError
from midstream.plans.values.exact import (
    exact_mean,
    exact_median,
    exact_sampling_variance,
    exact_scaled_sum,
    exact_sum,
    exact_variance,
    rounded,
    rounded_root,
)
from midstream.plans.values.schema import Column, ColumnType, Schema, Type, parse_column

VARIANCES = frozenset({"var_pop", "var_samp", "stddev_pop", "stddev_samp"})
"""The functions of the distances from the mean."""

MERGING = frozenset({"count", "sum", "avg", "min", "max"}) | VARIANCES
"""The functions of which partial results take less than the values; see `AggregateCall.merges`."""


@dataclass(frozen=True, slots=True)
class UserAggregate:
    """An aggregate function that its user defines by merging partial results.

        f(x, y, …, z)  =  evaluate(merge(…merge(initialise(x), initialise(y))…, initialise(z)))

    `merge` must be associative and commutative, as rows have no order. It must also be exact if equivalent
    plans are to agree to the last digit: sums of floats are not associative. `inverse` removes a part again:
    `inverse(merge(a, b), b) == a`. With it, a value that leaves costs one call; without it, partial results
    are kept, and a value that leaves costs a logarithmic number of merges at most. No function may change its
    arguments. A value may be replaced by an equal one: 1 by 1.0.

    Called with an argument, it returns an aggregate of a query.

    Source   thesis, section 11.5.7: initialiser, merger, evaluator

    >>> product = UserAggregate("product", lambda x: x, lambda a, b: a * b, lambda a: a, type=Type.INTEGER)
    >>> str(product("x")), apply_call(product("x"), [3, None, 7])
    ('product(x)', 21)
    """

    name: str
    initialise: Callable[[Any], Any]
    merge: Callable[[Any, Any], Any]
    evaluate: Callable[[Any], Any]
    inverse: Callable[[Any, Any], Any] | None = None
    type: Type = Type.ANY
    nullable: bool = False
    """True if `evaluate` may return None; without a known value, the result is None in any case."""

    def __post_init__(self) -> None:
        require_name("aggregate", self.name, "the name of the function")
        for part in ("initialise", "merge", "evaluate"):
            require_callable(f"aggregate {self.name}: {part}", getattr(self, part), "a function")
        if self.inverse is not None:
            require_callable(f"aggregate {self.name}: inverse", self.inverse, "a function, or None")
        require(f"aggregate {self.name}", self.type, Type, "a type such as Type.INTEGER")
        require(f"aggregate {self.name}: nullable", self.nullable, bool, "True or False")

    def __call__(self, argument: Any, *, distinct: bool = False) -> AggregateCall:
        """Apply the function to an expression or a column."""
        return AggregateCall(self, _argument(argument), distinct)

    def of(self, values: Iterable[Any]) -> Any:
        """The function of one or more values."""
        return self.result(reduce(self.merge, map(self.initialise, values)))

    def result(self, partial: Any) -> Any:
        """The final value of a partial result; unknown if it is not finite."""
        check = CHECKS.get(self.type)
        value = self.evaluate(partial)
        return value if check is None else check(value)


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """An aggregate function applied to an expression.

    `argument` is None only in `count()`. `distinct` makes equal values count once; min and max ignore and
    drop it. `k` is the number of values that `top_k` returns.
    """

    function: str | UserAggregate
    argument: Expression | None = None
    distinct: bool = False
    k: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.function, str) and self.function not in FUNCTIONS:
            raise ExpressionError(
                f"found aggregate {self.function!r}, expected one of {', '.join(FUNCTIONS)}"
            )
        if self.argument is None and (self.function != "count" or self.distinct):
            shown = f"{self.name}({'distinct' if self.distinct else ''})"
            raise ExpressionError(f"{shown} needs an argument; only count() has none")
        if (self.k is not None) != (self.function == "top_k"):
            raise ExpressionError(f"{self}: found k = {self.k}, expected one for top_k only")
        if self.k is not None and (type(self.k) is not int or self.k < 1):
            raise ExpressionError(f"{self}: found k = {self.k!r}, expected a positive integer")
        if self.function in ("min", "max"):
            object.__setattr__(self, "distinct", False)

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function if isinstance(self.function, str) else self.function.name

    @property
    def merges(self) -> bool:
        """True if one partial result can stand for the values of several rows, which then leave together."""
        return self.argument is None or (not self.distinct and self.function in MERGING)

    def columns(self) -> frozenset[str]:
        """The columns that the call reads."""
        return self.argument.columns() if self.argument is not None else frozenset()

    def column(self, name: str, schema: Schema) -> Column:
        """The output column of the call over rows of a schema."""
        if self.argument is None:
            return Column(name, Type.INTEGER)
        kind: Kind = self.argument.kind(schema)
        if isinstance(self.function, UserAggregate):
            may_be_unknown = self.function.nullable or self.function.type in INEXACT
            return Column(name, self.function.type, kind.nullable or may_be_unknown)
        if self.function in NUMERIC and not kind.type.is_numeric:
            raise ExpressionError(f"{self} is over {kind.type.value}, expected a number")
        if self.function in OF_TUPLES and kind.type is not Type.ANY:
            raise ExpressionError(
                f"{self} is over {kind.type.value}, expected a tuple of a number and its share"
            )
        return Column(name, *_result(self.function, kind))

    def scaled(self) -> Estimate:
        """This count or sum over the whole stream, estimated from a sample of it."""
        return Estimate(self)

    def standard_error(self) -> Estimate:
        """The estimated standard error of `scaled()`."""
        return Estimate(self, is_error=True)

    def to_json(self) -> list[Any]:
        """The call as `[function, argument]`, or with options such as `{"distinct": true, "k": 3}` behind.

        Raises PlanFormatError for a user's function.
        """
        if isinstance(self.function, UserAggregate):
            raise PlanFormatError(
                f"{self} is made of Python callables, which have no serial form; use a built-in aggregate"
            )
        options: dict[str, Any] = {"distinct": True} if self.distinct else {}
        if self.k is not None:
            options["k"] = self.k
        argument = None if self.argument is None else self.argument.to_json()
        return [self.function, argument, options] if options else [self.function, argument]

    def __str__(self) -> str:
        argument = "*" if self.argument is None else str(self.argument)
        rest = "" if self.k is None else f", {self.k}"
        return f"{self.name}({'distinct ' if self.distinct else ''}{argument}{rest})"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A count or a sum over a whole stream, estimated from a sample of it; or its standard error.

        Σ x / p                        each row stands for 1 / p rows, p the share in force when it came
        √ Σ (1 - p) / p² (Σ x)²        its error: the inner sum is over the rows that are drawn together

    Source   Horvitz and Thompson, 1952; the error is that of independent draws (Poisson sampling)

    >>> print(count("x").scaled(), sum_("x").standard_error())
    scaled(count(x)) standard_error(sum(x))
    """

    call: AggregateCall
    is_error: bool = False

    def __post_init__(self) -> None:
        call = self.call
        if call.function not in ("count", "sum"):
            instead = "; divide a scaled sum by a scaled count" if call.function == "avg" else ""
            raise ExpressionError(
                f"{self}: found {call.name}, expected count or sum, as a row of a sample stands for several "
                f"rows in sums alone{instead}"
            )
        if call.distinct:
            raise ExpressionError(
                f"{self}: found distinct values, expected all, as a sample does not tell how many other "
                "values the stream has"
            )

    @property
    def name(self) -> str:
        """The name of the function that is estimated."""
        return self.call.name

    def columns(self) -> frozenset[str]:
        """The columns of the stream that it reads."""
        return self.call.columns()

    def over(self, share: str, draw: str, schema: Schema) -> AggregateCall:
        """The aggregate that computes it, of rows with the share and the draw of their sample."""
        argument = self.call.argument
        self.call.column("result", schema)
        value: Expression = Const(1) if argument is None else argument
        if self.call.function == "count" and argument is not None:
            is_nullable = argument.kind(schema).nullable
            value = Case(((IsNull(argument), Const(0)),), Const(1)) if is_nullable else Const(1)
        if self.is_error:
            return AggregateCall("standard_error", Call(TUPLE, (value, Col(share), Col(draw))))
        return AggregateCall("scaled_sum", Call(TUPLE, (value, Col(share))))

    def __str__(self) -> str:
        return f"{'standard_error' if self.is_error else 'scaled'}({self.call})"


def call_from_json(data: Any) -> AggregateCall:
    """The call of data that `AggregateCall.to_json` returned.

    Raises   PlanFormatError; ExpressionError where the data is no valid call.

    >>> str(call_from_json(["top_k", {"column": "x"}, {"k": 3}]))
    'top_k(x, 3)'
    """
    distinct: Any = False
    k: Any = None
    match data:
        case [str(function), argument]:
            pass
        case [str(function), argument, {**options}] if options and options.keys() <= {"distinct", "k"}:
            distinct, k = options.get("distinct", False), options.get("k")
        case _:
            raise PlanFormatError(f"found {data!r}, expected an aggregate: [function, argument, options]")
    if type(distinct) is not bool:
        raise PlanFormatError(f"found distinct: {distinct!r}, expected true or false")
    return AggregateCall(function, None if argument is None else expression_from_json(argument), distinct, k)


def _result(function: str, kind: Kind) -> tuple[Type, bool]:
    """The type and nullability of a built-in function of an argument."""
    match function:
        case "count":
            return Type.INTEGER, False
        case "min" | "max":
            return kind.type, kind.nullable
        case "sum":
            return kind.type, kind.nullable or kind.type in INEXACT
        case "top_k":
            return Type.ANY, kind.nullable
        case "avg" | "median" | "stddev_pop" if kind.type is Type.FLOAT:
            # The result is no larger than the largest value, and values are finite.
            return Type.FLOAT, kind.nullable
        case _:
            return Type.FLOAT, True


def _variance(freedom: int) -> Callable[[list[Any]], float | None]:
    def variance(values: list[Any]) -> float | None:
        return None if len(values) <= freedom else rounded(exact_variance(values, freedom))

    return variance


def _deviation(freedom: int) -> Callable[[list[Any]], float | None]:
    def deviation(values: list[Any]) -> float | None:
        if len(values) <= freedom:
            return None
        return rounded_root(*exact_variance(values, freedom).as_integer_ratio())

    return deviation


def _standard_error(values: list[Any]) -> float | None:
    return rounded_root(*exact_sampling_variance(values).as_integer_ratio())


MEANING: Mapping[str, Callable[[list[Any]], Any]] = {
    "count": len,
    "sum": exact_sum,
    "min": min,
    "max": max,
    "avg": exact_mean,
    "var_pop": _variance(0),
    "var_samp": _variance(1),
    "stddev_pop": _deviation(0),
    "stddev_samp": _deviation(1),
    "median": exact_median,
    "scaled_sum": exact_scaled_sum,
    "standard_error": _standard_error,
}
"""The meaning of each function of one argument on a non-empty list of known values."""

FUNCTIONS = (*MEANING, "top_k")
"""The names of the built-in functions."""

OF_TUPLES = frozenset({"scaled_sum", "standard_error"})
"""The functions of tuples: of a number, the share of its sample and, for the error, its draw."""

NUMERIC = frozenset(MEANING) - {"count", "min", "max"} - OF_TUPLES
"""The functions that need numbers."""


def top(values: Iterable[Any], k: int) -> tuple[Any, ...]:
    """The k largest values in descending order.

    >>> top([3, 9, 4, 9], 3)
    (9, 9, 4)
    """
    return tuple(sorted(values, reverse=True)[:k])


def different(values: Iterable[Any]) -> list[Any]:
    """The distinct values; of an integer and an equal value that is no integer, the latter.

    The sum of both types is a float.

    >>> different([2, 1, 2.0, 1])
    [2.0, 1]
    """
    chosen: dict[Any, Any] = {}
    for value in values:
        if isinstance(chosen.setdefault(value, value), int):
            chosen[value] = value
    return list(chosen.values())


def apply_call(call: AggregateCall, values: Iterable[Any]) -> Any:
    """The value of a call on the values of its argument, some of which may be unknown.

    >>> apply_call(count("x", distinct=True), [3, None, 3]), apply_call(top_k("x", 2), [3, None, 4, 5])
    (1, (5, 4))
    """
    known = [value for value in values if value is not None]
    if not known and call.function != "count":
        return None
    if call.distinct:
        known = different(known)
    if isinstance(call.function, UserAggregate):
        return call.function.of(known)
    return MEANING[call.function](known) if call.k is None else top(known, call.k)


def aggregate(function: str, values: Iterable[Any]) -> Any:
    """The value of a function of one argument, some of whose values may be unknown.

    >>> aggregate("sum", [3, None, 4]), aggregate("count", [3, None]), aggregate("max", [None])
    (7, 1, None)
    """
    return apply_call(AggregateCall(function, Col("x")), values)


def count(argument: Any = None, *, distinct: bool = False) -> AggregateCall:
    """The number of rows, or of rows where the argument is known; with `distinct`, of distinct values."""
    return AggregateCall("count", None if argument is None else _argument(argument), distinct)


def count_distinct(argument: Any) -> AggregateCall:
    """The number of distinct known values."""
    return count(argument, distinct=True)


def sum_(argument: Any, *, distinct: bool = False) -> AggregateCall:
    """The exact sum."""
    return AggregateCall("sum", _argument(argument), distinct)


def min_(argument: Any) -> AggregateCall:
    """The smallest value."""
    return AggregateCall("min", _argument(argument))


def max_(argument: Any) -> AggregateCall:
    """The largest value."""
    return AggregateCall("max", _argument(argument))


def avg(argument: Any, *, distinct: bool = False) -> AggregateCall:
    """The exact mean, rounded once to a float."""
    return AggregateCall("avg", _argument(argument), distinct)


def var_pop(argument: Any, *, distinct: bool = False) -> AggregateCall:
    """The variance of the values: the mean squared distance from their mean."""
    return AggregateCall("var_pop", _argument(argument), distinct)


def var_samp(argument: Any, *, distinct: bool = False) -> AggregateCall:
    """The variance estimated from a sample: divided by one less than the number of values."""
    return AggregateCall("var_samp", _argument(argument), distinct)


def stddev_pop(argument: Any, *, distinct: bool = False) -> AggregateCall:
    """The standard deviation of the values: the root of `var_pop`, rounded once."""
    return AggregateCall("stddev_pop", _argument(argument), distinct)


def stddev_samp(argument: Any, *, distinct: bool = False) -> AggregateCall:
    """The standard deviation estimated from a sample: the root of `var_samp`, rounded once."""
    return AggregateCall("stddev_samp", _argument(argument), distinct)


variance = var_samp
stddev = stddev_samp


def median(argument: Any, *, distinct: bool = False) -> AggregateCall:
    """The middle value, or the mean of the two in the middle."""
    return AggregateCall("median", _argument(argument), distinct)


def top_k(argument: Any, k: int, *, distinct: bool = False) -> AggregateCall:
    """A tuple of the k largest values in descending order; fewer if there are fewer."""
    return AggregateCall("top_k", _argument(argument), distinct, k)


def user_aggregate(
    name: str,
    initialise: Callable[[Any], Any],
    merge: Callable[[Any, Any], Any],
    evaluate: Callable[[Any], Any],
    inverse: Callable[[Any, Any], Any] | None = None,
    type: ColumnType = Type.ANY,
    nullable: bool = False,
) -> UserAggregate:
    """Define an aggregate function, to be called with its argument; see `UserAggregate` for its laws.

    >>> widest = user_aggregate("spread", lambda x: (x, x), lambda a, b: (min(a[0], b[0]), max(a[1], b[1])),
    ...                         lambda a: a[1] - a[0], type="integer")
    >>> apply_call(widest("x"), [3, 9, 4])
    6
    """
    declared = parse_column("result", type)
    nullable = nullable or declared.nullable
    return UserAggregate(name, initialise, merge, evaluate, inverse, declared.type, nullable)


def _argument(argument: Any) -> Expression:
    return Col(argument) if isinstance(argument, str) else expression_of(argument)
