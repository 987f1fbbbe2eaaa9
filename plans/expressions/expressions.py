"""Symbolic expressions over the columns of a payload.

Expressions are data, so that rules can ask which columns a predicate reads. They compile to plain Python
source, so that evaluating one costs no interpretation. `None` is SQL's unknown: an operator with an unknown
operand returns unknown, `and`/`or`/`not` follow three-valued logic, and a filter keeps a row only where its
predicate is true. The extra code for this is generated only where a column is declared nullable.

    >>> from midstream.plans.values.schema import Schema
    >>> dear = Binary(">", Col("price"), Const(10))
    >>> dear.columns()
    frozenset({'price'})
    >>> compile_row(dear, Schema.of(item="integer", price="float"))((7, 12.5))
    True

`==` compares trees by structure here, as plans require. Queries in Python use [operands](operands.py), whose
`==` makes an expression; trees have no such operators.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from operator import index
from types import CodeType
from typing import Any, NamedTuple

from midstream.plans.functions import function_named
from midstream.plans.functions.casts import SAME, SURE, conversion
from midstream.plans.functions.function import (
    Argument,
    Function,
    choice,
    chosen_text,
    common_type,
    comparable,
    guarded,
    may_exceed,
    wider,
)
from midstream.plans.values.arguments import shown
from midstream.plans.values.errors import ExpressionError, FunctionError, MidstreamError, PlanFormatError
from midstream.plans.values.finite import (
    LARGEST,
    NEVER_REACHES,
    defined,
    finite,
    integral,
    python_value,
    within_floats,
)
from midstream.plans.values.schema import PYTHON_TYPES, Schema, Type, suggest

DEEPEST_SOURCE = 24
"""Most nested expressions in one source text; Python limits nested brackets to 200."""

DEEPEST_EXPRESSION = 120
"""Most nested expressions: functions recurse into the parts, and Python's recursion is limited."""

LARGEST_REPEATED = 1_000
"""Most parts of an expression that replaces another, or is written several times."""

DEEPEST_REPEATED = 60
"""Most nested expressions in such an expression."""


class Kind(NamedTuple):
    """The type of an expression, and if it may be unknown."""

    type: Type
    nullable: bool


@dataclass(frozen=True, slots=True)
class Expression:
    """A value computed from a payload; immutable, hashable, and compared by structure."""

    def columns(self) -> frozenset[str]:
        """The columns that the expression reads."""
        return frozenset().union(*(part.columns() for part in self.parts()))

    def parts(self) -> tuple[Expression, ...]:
        """The direct subexpressions."""
        return ()

    def kind(self, schema: Schema) -> Kind:
        """The type and nullability over a schema; raises ExpressionError if the expression does not fit."""
        raise NotImplementedError

    def source(self, scope: Bindings) -> str:
        """Python source that computes the value in a scope.

        A part that is nested too deeply becomes a function of its own, as Python limits nested brackets.
        """
        if scope.level == 0 and is_large(self, most=sys.maxsize, deepest=DEEPEST_EXPRESSION):
            raise ExpressionError(
                f"an expression nests too deeply; compute it in steps: found more than {DEEPEST_EXPRESSION} "
                "levels"
            )
        if scope.level == DEEPEST_SOURCE and self.parts():
            return _outlined(self, scope)
        scope.level += 1
        text = self.code(scope)
        scope.level -= 1
        return text

    def code(self, scope: Bindings) -> str:
        """Python source, from the sources of the parts."""
        raise NotImplementedError

    def renamed(self, names: Mapping[str, str]) -> Expression:
        """This expression with other names of columns."""
        return self.rebuilt(lambda part: part.renamed(names))

    def rebuilt(self, of: Callable[[Expression], Expression]) -> Expression:
        """This expression with a function applied to its direct subexpressions."""
        kind: Any = type(self)
        other: Expression = kind(*[_rebuilt(getattr(self, name), of) for name in kind.__match_args__])
        return other

    def to_json(self) -> Any:
        """The JSON form, which `expression_from_json` reads back."""
        raise NotImplementedError

    def __bool__(self) -> bool:
        raise ExpressionError(
            f"{self} has no truth value before it meets a row; compile it, or combine it by Logic and Not"
        )


@dataclass(slots=True)
class Bindings:
    """A scope to compile expressions in: the source text of each column, and the objects that it names."""

    schema: Schema
    resolve: Mapping[str, str]
    names: dict[str, Any] = field(default_factory=dict)
    level: int = 0
    """The nesting level in the text of the expression that is being compiled."""

    def bind(self, value: Any) -> str:
        """A new name for an object that source text cannot spell."""
        name = f"_k{len(self.names)}"
        self.names[name] = value
        return name

    def fresh(self) -> str:
        """A new name for an intermediate value."""
        return self.bind(None)


@dataclass(frozen=True, slots=True)
class Col(Expression):
    """The value of a column."""

    name: str

    def columns(self) -> frozenset[str]:
        return frozenset({self.name})

    def kind(self, schema: Schema) -> Kind:
        if self.name not in schema:
            raise ExpressionError(
                f"there is no column {self.name} in {schema}{suggest(self.name, schema.names)}",
                column=self.name,
            )
        column = schema[self.name]
        return Kind(column.type, column.nullable)

    def code(self, scope: Bindings) -> str:
        return scope.resolve[self.name]

    def renamed(self, names: Mapping[str, str]) -> Expression:
        return Col(names.get(self.name, self.name))

    def to_json(self) -> Any:
        return {"column": self.name}

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class Const(Expression):
    """A constant: None, a boolean, a number or a string."""

    value: Any

    def __post_init__(self) -> None:
        if type(self.value) not in CONSTANT_TYPES:
            object.__setattr__(self, "value", python_value(self.value))
        if type(self.value) not in CONSTANT_TYPES or (finite(self.value) is None and self.value is not None):
            raise ExpressionError(
                f"found constant {self.value!r}, expected None, a boolean, an integer, a finite float or a "
                "string"
            )

    def __eq__(self, other: object) -> bool:
        # 1, 1.0 and True are equal in Python, but they are different constants.
        return isinstance(other, Const) and (type(self.value), self.value) == (type(other.value), other.value)

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))

    def kind(self, schema: Schema) -> Kind:
        return Kind(CONSTANT_TYPES[type(self.value)], self.value is None)

    def code(self, scope: Bindings) -> str:
        """The literal, or the name of a bound object."""
        # Python limits the number of digits that it writes and reads.
        is_literal = not isinstance(self.value, float | int) or abs(self.value) < _LARGEST_LITERAL
        return (
            repr(self.value) if is_literal and not isinstance(self.value, float) else scope.bind(self.value)
        )

    def to_json(self) -> Any:
        return {"constant": self.value}

    def __str__(self) -> str:
        return repr(self.value)


CONSTANT_TYPES: Mapping[type, Type] = {
    type(None): Type.ANY,
    bool: Type.BOOLEAN,
    int: Type.INTEGER,
    float: Type.FLOAT,
    str: Type.STRING,
}

_LARGEST_LITERAL = 2**64

CHECKS: Mapping[Type, Callable[[Any], Any]] = {
    Type.INTEGER: integral,
    Type.FLOAT: within_floats,
    Type.ANY: finite,
}
"""By type, the conversion that makes the result of a user's aggregate fit its declared type."""
INEXACT = frozenset({Type.FLOAT, Type.ANY})
"""The types whose values are unknown if they are not finite."""

ARITHMETIC = ("+", "-", "*", "/", "%")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
MIRRORED: Mapping[str, str] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
"""The comparison that is equivalent with its sides exchanged."""
OPPOSITE: Mapping[str, str] = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
"""The comparison that is true of two known values exactly if the first one is false."""


@dataclass(frozen=True, slots=True)
class Binary(Expression):
    """An arithmetic operator or a comparison; unknown if an operand is, or if the result is not finite."""

    operator: str
    left: Expression
    right: Expression

    def __post_init__(self) -> None:
        if self.operator not in ARITHMETIC + COMPARISONS:
            raise ExpressionError(
                f"found operator {self.operator!r}, expected one of {ARITHMETIC + COMPARISONS}"
            )

    def parts(self) -> tuple[Expression, ...]:
        return (self.left, self.right)

    def kind(self, schema: Schema) -> Kind:
        """Boolean for comparisons; for arithmetic the wider type of the operands."""
        left, right = self.left.kind(schema), self.right.kind(schema)
        nullable = left.nullable or right.nullable or self._is_untyped(left, right)
        if self.operator in COMPARISONS:
            if not comparable(left.type, right.type):
                raise ExpressionError(f"{self} compares {left.type.value} with {right.type.value}")
            return Kind(Type.BOOLEAN, nullable)
        for side, kind in ((self.left, left), (self.right, right)):
            if not kind.type.is_numeric:
                raise ExpressionError(f"{self}: {side} is {kind.type.value}, expected a number")
        type_ = Type.FLOAT if self.operator == "/" else wider(left.type, right.type)
        return Kind(type_, nullable or not self._is_defined(left, right))

    def code(self, scope: Bindings) -> str:
        """The operator in Python, guarded if an operand may be unknown."""
        texts = [part.source(scope) for part in self.parts()]
        left, right = (part.kind(scope.schema) for part in self.parts())
        nullable = [left.nullable, right.nullable]
        return guarded(texts, nullable, scope, lambda known: self._of_known(left, right, known, scope))

    def _of_known(self, left: Kind, right: Kind, known: Sequence[str], scope: Bindings) -> str:
        """Source of the value for known operands."""
        value = f"({f' {self.operator} '.join(known)})"
        if self.operator in COMPARISONS and not self._is_untyped(left, right):
            return value
        if self._is_defined(left, right):
            return value
        if self.operator in "+-*" and self._is_float(self.left, left) and self._is_float(self.right, right):
            name = scope.fresh()
            return f"({name} if {-LARGEST} <= ({name} := {value}) <= {LARGEST} else None)"
        return f"{scope.bind(_tolerant(self.operator))}({', '.join(known)})"

    def _is_untyped(self, left: Kind, right: Kind) -> bool:
        """True if the values of a row decide whether the operands fit: 1 < "a" and 1 + "a" are unknown."""
        return self.operator not in ("==", "!=") and Type.ANY in (left.type, right.type)

    def _is_defined(self, left: Kind, right: Kind) -> bool:
        """True if the result of arithmetic is certain to be finite.

        It is for integers; and for a float and a constant, unless some finite float makes the result too
        large.
        """
        if left.type is right.type is Type.INTEGER:
            divisor = self.right.value if isinstance(self.right, Const) else None
            return self.operator in "+-*" or (self.operator == "%" and bool(divisor))
        for constant, kind in ((self.left, right), (self.right, left)):
            if isinstance(constant, Const) and kind.type is Type.FLOAT and constant.value is not None:
                most = {"+": NEVER_REACHES, "-": NEVER_REACHES, "*": 1.0}.get(self.operator, -1.0)
                return bool(abs(constant.value) <= most and abs(constant.value) != NEVER_REACHES)
        return False

    @staticmethod
    def _is_float(part: Expression, kind: Kind) -> bool:
        """True if an operand is within the range of floats; integers are unbounded."""
        return kind.type is Type.FLOAT or (isinstance(part, Const) and within_floats(part.value) is not None)

    def to_json(self) -> Any:
        return {"operator": self.operator, "of": [self.left.to_json(), self.right.to_json()]}

    def __str__(self) -> str:
        symbol = "=" if self.operator == "==" else self.operator
        return f"{_bracketed(self.left)} {symbol} {_bracketed(self.right)}"


@dataclass(frozen=True, slots=True)
class Logic(Expression):
    """`and` or `or` of two or more conditions in three-valued logic.

    If a condition may raise, conditions are evaluated in order, and each only if those before it do not
    decide the result.
    """

    operator: str
    conditions: tuple[Expression, ...]

    def __post_init__(self) -> None:
        if self.operator not in ("and", "or") or len(self.conditions) < 2:
            raise ExpressionError(
                f"found {self.operator!r} of {len(self.conditions)} conditions, expected 2 or more"
            )

    def parts(self) -> tuple[Expression, ...]:
        return self.conditions

    def kind(self, schema: Schema) -> Kind:
        kinds = [_boolean(part, schema) for part in self.conditions]
        return Kind(Type.BOOLEAN, any(kind.nullable for kind in kinds))

    def code(self, scope: Bindings) -> str:
        """Python's own operator where no condition can be unknown."""
        texts = [part.source(scope) for part in self.conditions]
        if not self.kind(scope.schema).nullable:
            return f"({f' {self.operator} '.join(texts)})"
        if any(map(may_raise, self.conditions)):
            return _in_order(self.operator, texts, scope)
        helper = scope.bind(_all if self.operator == "and" else _any)
        return f"{helper}(({', '.join(texts)},))"

    def to_json(self) -> Any:
        return {"operator": self.operator, "of": [part.to_json() for part in self.conditions]}

    def __str__(self) -> str:
        return f" {self.operator} ".join(map(_bracketed, self.conditions))


@dataclass(frozen=True, slots=True)
class Not(Expression):
    """Negation; unknown stays unknown."""

    condition: Expression

    def parts(self) -> tuple[Expression, ...]:
        return (self.condition,)

    def kind(self, schema: Schema) -> Kind:
        return _boolean(self.condition, schema)

    def code(self, scope: Bindings) -> str:
        nullable = self.kind(scope.schema).nullable
        return guarded([self.condition.source(scope)], [nullable], scope, lambda known: f"(not {known[0]})")

    def to_json(self) -> Any:
        return {"operator": "not", "of": [self.condition.to_json()]}

    def __str__(self) -> str:
        return f"not {_bracketed(self.condition)}"


@dataclass(frozen=True, slots=True)
class IsNull(Expression):
    """True where a value is unknown."""

    value: Expression

    def parts(self) -> tuple[Expression, ...]:
        return (self.value,)

    def kind(self, schema: Schema) -> Kind:
        self.value.kind(schema)
        return Kind(Type.BOOLEAN, False)

    def code(self, scope: Bindings) -> str:
        """`is None`; or False for a value that is never unknown, as Python warns about `is` with a literal.

        A value that may raise is evaluated in any case.
        """
        if not self.value.kind(scope.schema).nullable and not may_raise(self.value):
            return "False"
        return f"({self.value.source(scope)} is None)"

    def to_json(self) -> Any:
        return {"operator": "is null", "of": [self.value.to_json()]}

    def __str__(self) -> str:
        return f"{_bracketed(self.value)} is null"


@dataclass(frozen=True, slots=True)
class Case(Expression):
    """The value of the first branch, `(condition, value)`, whose condition is true, else the default.

    An unknown condition is not true. Branches behind the chosen one are not evaluated.
    """

    branches: tuple[tuple[Expression, Expression], ...]
    default: Expression

    def __post_init__(self) -> None:
        if not self.branches:
            raise ExpressionError("found a case without branches, expected 1 or more")

    def parts(self) -> tuple[Expression, ...]:
        """Conditions and values in turn, then the default."""
        return (*(part for branch in self.branches for part in branch), self.default)

    def kind(self, schema: Schema) -> Kind:
        """The common type of the values; unknown if a value may be."""
        for condition, _ in self.branches:
            _boolean(condition, schema)
        values = (*(value for _, value in self.branches), self.default)
        arguments = [_argument(value, schema) for value in values]
        common = common_type("case", arguments)
        is_nullable = any(argument.nullable for argument in arguments) or may_exceed(arguments, common)
        return Kind(common, is_nullable)

    def code(self, scope: Bindings) -> str:
        conditions = [condition.source(scope) for condition, _ in self.branches]
        values = (*(value for _, value in self.branches), self.default)
        arguments = [_argument(value, scope.schema) for value in values]
        common = common_type("case", arguments)
        *texts, default = [
            chosen_text(argument, value.source(scope), common, scope)
            for argument, value in zip(arguments, values, strict=True)
        ]
        chosen = choice(list(zip(conditions, texts, strict=True)), default)
        if may_exceed(arguments, common):
            return f"{scope.bind(within_floats)}({chosen})"
        return chosen

    def to_json(self) -> Any:
        branches = [[condition.to_json(), value.to_json()] for condition, value in self.branches]
        return {"case": branches, "else": self.default.to_json()}

    def __str__(self) -> str:
        branches = "".join(f" when {condition} then {value}" for condition, value in self.branches)
        return f"case{branches} else {self.default} end"


@dataclass(frozen=True, slots=True)
class Cast(Expression):
    """A value converted to another type; unknown if it cannot be converted, as SQL's TRY_CAST."""

    value: Expression
    type: Type

    def __post_init__(self) -> None:
        if self.type is Type.ANY:
            raise ExpressionError(f"found a cast of {self.value} to any, expected a type")

    def parts(self) -> tuple[Expression, ...]:
        return (self.value,)

    def kind(self, schema: Schema) -> Kind:
        """The type; unknown if the value may be, or may not be convertible."""
        kind = self.value.kind(schema)
        return Kind(self.type, kind.nullable or (kind.type, self.type) not in SURE)

    def code(self, scope: Bindings) -> str:
        """A call, if the types differ; the conversion keeps unknown values."""
        kind, text = self.value.kind(scope.schema), self.value.source(scope)
        if (kind.type, self.type) in SAME:
            return text
        return f"{scope.bind(conversion(kind.type, self.type))}({text})"

    def to_json(self) -> Any:
        return {"cast": self.value.to_json(), "to": self.type.value}

    def __str__(self) -> str:
        return f"cast({self.value} as {self.type.value})"


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A function, by its name in `FUNCTIONS`."""

    function: str
    arguments: tuple[Expression, ...]

    def __post_init__(self) -> None:
        self.definition.check_count(len(self.arguments))

    @property
    def definition(self) -> Function:
        """The definition of the function."""
        return function_named(self.function)

    def parts(self) -> tuple[Expression, ...]:
        return self.arguments

    def kind(self, schema: Schema) -> Kind:
        return Kind(*self.definition.kind([_argument(part, schema) for part in self.arguments]))

    def code(self, scope: Bindings) -> str:
        arguments = [_argument(part, scope.schema) for part in self.arguments]
        return self.definition.source(arguments, [part.source(scope) for part in self.arguments], scope)

    def to_json(self) -> Any:
        return {"function": self.function, "of": [part.to_json() for part in self.arguments]}

    def __str__(self) -> str:
        written = _bracketed if self.definition.words else str
        return self.definition.spelled([written(part) for part in self.arguments])


@dataclass(frozen=True, slots=True)
class Apply(Expression):
    """A Python callable applied to the values of expressions.

    With `strict`, an unknown argument gives unknown without a call. The callable must be deterministic and
    must not read anything else; otherwise a plan has no meaning that could be preserved. Errors that it
    raises, and values of another type than declared, become FunctionErrors. `is_total` declares that it never
    raises. It has no serial form.
    """

    function: Callable[..., Any]
    arguments: tuple[Expression, ...]
    type: Type = Type.ANY
    nullable: bool = False
    name: str | None = None
    strict: bool = True
    is_total: bool = False

    def parts(self) -> tuple[Expression, ...]:
        return self.arguments

    def kind(self, schema: Schema) -> Kind:
        """The declared type; unknown if declared, if not finite, or if an argument of a strict one is."""
        kinds = [part.kind(schema) for part in self.arguments]
        is_unknown = self.strict and any(kind.nullable for kind in kinds)
        return Kind(self.type, self.nullable or self.type in INEXACT or is_unknown)

    def code(self, scope: Bindings) -> str:
        function = scope.bind(checked(self.label, self.function, self.type, self.nullable))
        texts = [part.source(scope) for part in self.arguments]
        nullable = [self.strict and part.kind(scope.schema).nullable for part in self.arguments]
        return guarded(texts, nullable, scope, lambda known: f"{function}({', '.join(known)})")

    @property
    def label(self) -> str:
        """The name of the function."""
        return self.name or str(getattr(self.function, "__name__", "function"))

    def to_json(self) -> Any:
        """Raise PlanFormatError: a callable has no serial form."""
        raise PlanFormatError(
            f"{self} is a Python callable, which has no serial form; use a symbolic expression"
        )

    def __str__(self) -> str:
        return f"{self.label}({', '.join(map(str, self.arguments))})"


def may_raise(expression: Expression) -> bool:
    """True if an expression may raise an error for some row: it contains a callable that is not total.

    SQL's functions return unknown where they are undefined.

    >>> may_raise(Apply(len, (Col("name"),))), may_raise(Apply(len, (Col("name"),), is_total=True))
    (True, False)
    """
    return any(isinstance(part, Apply) and not part.is_total for part in walk(expression))


def conjuncts(condition: Expression | None) -> tuple[Expression, ...]:
    """The conditions that must all hold; none for None."""
    if condition is None:
        return ()
    if isinstance(condition, Logic) and condition.operator == "and":
        return tuple(inner for part in condition.conditions for inner in conjuncts(part))
    return (condition,)


def conjunction(conditions: Iterable[Expression]) -> Expression:
    """All conditions together, flattened, without repetition, in one canonical order; true for none.

    Conditions that may raise come last, in the given order: they are not evaluated for rows that another
    condition rejects.

    >>> str(conjunction([Col("b"), Col("a"), Col("b")]))
    'a and b'
    >>> str(conjunction([Apply(len, (Col("b"),)), Col("c")]))
    'c and len(b)'
    """
    every = dict.fromkeys(inner for part in conditions for inner in conjuncts(part) if inner != TRUE)
    risky = [part for part in every if may_raise(part)]
    parts = [*sorted(every.keys() - {*risky}, key=_canonical), *risky]
    if not parts:
        return TRUE
    return parts[0] if len(parts) == 1 else Logic("and", tuple(parts))


def disjunction(conditions: Iterable[Expression]) -> Expression:
    """The disjunction of one or more conditions, flattened, since nested brackets are limited.

    >>> str(disjunction([Col("a"), disjunction([Col("b"), Col("c")])]))
    'a or b or c'
    """
    parts = [
        inner
        for part in conditions
        for inner in (part.conditions if isinstance(part, Logic) and part.operator == "or" else (part,))
    ]
    return parts[0] if len(parts) == 1 else Logic("or", tuple(parts))


def equality(first: str, second: str) -> Expression:
    """Equality of two columns, the smaller name on the left, so that equal conditions are equal values."""
    return Binary("==", Col(min(first, second)), Col(max(first, second)))


def column_equality(condition: Expression) -> tuple[str, str] | None:
    """The two columns that a condition equates; None for other conditions."""
    if isinstance(condition, Binary) and condition.operator == "==":
        left, right = condition.left, condition.right
        if isinstance(left, Col) and isinstance(right, Col):
            return (left.name, right.name)
    return None


def join_keys(condition: Expression, left: Schema, right: Schema) -> tuple[list[tuple[str, str]], Expression]:
    """Split a join condition into pairs of equal columns (left, right) and the residual condition."""
    keys: list[tuple[str, str]] = []
    residual: list[Expression] = []
    for part in conjuncts(condition):
        columns = column_equality(part)
        if columns and columns[0] in left and columns[1] in right:
            keys.append(columns)
        elif columns and columns[1] in left and columns[0] in right:
            keys.append((columns[1], columns[0]))
        else:
            residual.append(part)
    return keys, conjunction(residual)


def ordered(condition: Expression) -> Expression:
    """A condition, with a column equality in canonical order, so that equal conditions are equal values."""
    columns = column_equality(condition)
    return equality(*columns) if columns else condition


TRUE: Expression = Const(True)
FALSE: Expression = Const(False)


def compile_row(expression: Expression, schema: Schema) -> Callable[[Any], Any]:
    """A function from a payload to the expression's value."""
    expression.kind(schema)
    scope = row_scope(schema, "row")
    function: Callable[[Any], Any] = evaluate(f"lambda row: {expression.source(scope)}", scope)
    return function


def compile_condition(condition: Expression, schema: Schema) -> Callable[[Any], Any]:
    """A function from a payload to a value that is truthy exactly if the condition is true."""
    condition.kind(schema)
    scope = row_scope(schema, "row")
    function: Callable[[Any], Any] = evaluate(f"lambda row: {condition_source(condition, scope)}", scope)
    return function


def compile_rows(expressions: Sequence[Expression], schema: Schema) -> Callable[[Any], tuple[Any, ...]]:
    """A function from a payload to the tuple of the expressions' values."""
    for expression in expressions:
        expression.kind(schema)
    scope = row_scope(schema, "row")
    function: Callable[[Any], tuple[Any, ...]] = evaluate(
        f"lambda row: {tuple_source(expressions, scope)}", scope
    )
    return function


def compile_pair(condition: Expression, left: Schema, right: Schema) -> Callable[[Any, Any], Any]:
    """A function from a left and a right payload to a value that is truthy if the condition is true."""
    scope = pair_scope(left, right)
    condition.kind(scope.schema)
    function: Callable[[Any, Any], Any] = evaluate(
        f"lambda left, right: {condition_source(condition, scope)}", scope
    )
    return function


def condition_source(condition: Expression, scope: Bindings) -> str:
    """Source of a value that is truthy exactly if a condition is true.

    If parts may raise, each is evaluated only where all before it are true, as by filters above each other.
    """
    if not may_raise(condition):
        return condition.source(scope)
    return f"({' and '.join(part.source(scope) for part in conjuncts(condition))})"


def row_scope(schema: Schema, row: str, names: dict[str, Any] | None = None) -> Bindings:
    """A scope in which the source text `row` is the payload; `names` collects the bound objects."""
    resolve = {name: f"{row}[{i}]" for i, name in enumerate(schema.names)}
    return Bindings(schema, resolve, {} if names is None else names)


def pair_scope(left: Schema, right: Schema) -> Bindings:
    """A scope in which `left` and `right` are the payloads."""
    resolve = {name: f"left[{i}]" for i, name in enumerate(left.names)}
    resolve |= {name: f"right[{i}]" for i, name in enumerate(right.names)}
    return Bindings(left.concat(right), resolve)


def tuple_source(expressions: Iterable[Expression], scope: Bindings) -> str:
    """Source of the tuple of several expressions."""
    return f"({''.join(f'{e.source(scope)}, ' for e in expressions)})"


def _outlined(expression: Expression, scope: Bindings) -> str:
    """Source of a call of a function that computes an expression from the columns that it reads."""
    names = sorted(expression.columns())
    columns = {name: f"c{place}" for place, name in enumerate(names)}
    inner = Bindings(scope.schema, columns)
    function = evaluate(f"lambda {', '.join(columns.values())}: {expression.source(inner)}", inner)
    return f"{scope.bind(function)}({', '.join(scope.resolve[name] for name in names)})"


def is_large(expression: Expression, most: int = LARGEST_REPEATED, deepest: int = DEEPEST_REPEATED) -> bool:
    """True if an expression has more than `most` parts, or more than `deepest` nested levels.

    Cost: O(most).

    >>> is_large(Col("x")), is_large(Not(Col("x")), deepest=1)
    (False, True)
    """
    waiting, parts = [(expression, 1)], 0
    while waiting:
        part, level = waiting.pop()
        parts += 1
        if parts > most or level > deepest:
            return True
        waiting += [(inner, level + 1) for inner in part.parts()]
    return False


def evaluate(source: str, scope: Bindings) -> Any:
    """Turn generated source into a Python object.

    The source is generated: values from users are bound, not written into it.

    Raises   ExpressionError where nested brackets exceed Python's limit.
    """
    try:
        return eval(_code(source), scope.names)
    except (SyntaxError, MemoryError, RecursionError) as error:
        raise ExpressionError(f"an expression nests too deeply; compute it in steps: {error}") from error


@lru_cache(maxsize=256)
def _code(source: str) -> CodeType:
    """Compiled source, cached: the same plans recur, and compiling takes most of the time."""
    return compile(source, "<midstream expression>", "eval")


def expression_from_json(data: Any) -> Expression:
    """The expression of data that `to_json` returned.

    Raises   PlanFormatError; ExpressionError for an unknown operator, function or constant.
    """
    if isinstance(data, dict):
        if data.keys() == {"column"} and isinstance(data["column"], str):
            return Col(data["column"])
        if data.keys() == {"constant"}:
            return Const(data["constant"])
        if data.keys() == {"function", "of"} and isinstance(data["of"], list):
            return Call(str(data["function"]), tuple(map(expression_from_json, data["of"])))
        if data.keys() == {"case", "else"} and isinstance(data["case"], list):
            return Case(tuple(map(_branch_from_json, data["case"])), expression_from_json(data["else"]))
        if data.keys() == {"cast", "to"} and data["to"] in _TYPE_NAMES:
            return Cast(expression_from_json(data["cast"]), Type(data["to"]))
        if data.keys() == {"operator", "of"} and isinstance(data["of"], list):
            parts = tuple(map(expression_from_json, data["of"]))
            match data["operator"], len(parts):
                case "and" | "or" as word, _:
                    return Logic(word, parts)
                case "not", 1:
                    return Not(parts[0])
                case "is null", 1:
                    return IsNull(parts[0])
                case str(word), 2:
                    return Binary(word, parts[0], parts[1])
    raise PlanFormatError(
        f"found {data!r}, expected an expression: a column, a constant, or an operator of expressions"
    )


def _branch_from_json(data: Any) -> tuple[Expression, Expression]:
    match data:
        case [condition, value]:
            return expression_from_json(condition), expression_from_json(value)
    raise PlanFormatError(f"found {data!r}, expected an expression's branch: [condition, value]")


_TYPE_NAMES = [type_.value for type_ in Type]


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and all its subexpressions."""
    yield expression
    for part in expression.parts():
        yield from walk(part)


def _rebuilt(value: Any, of: Callable[[Expression], Expression]) -> Any:
    if isinstance(value, tuple):
        return tuple(_rebuilt(part, of) for part in value)
    return of(value) if isinstance(value, Expression) else value


def _argument(part: Expression, schema: Schema) -> Argument:
    kind = part.kind(schema)
    if isinstance(part, Const):
        return Argument(part, kind.type, kind.nullable, is_constant=True, value=part.value)
    return Argument(part, kind.type, kind.nullable)


def _boolean(part: Expression, schema: Schema) -> Kind:
    kind = part.kind(schema)
    if kind.type not in (Type.BOOLEAN, Type.ANY):
        raise ExpressionError(f"{part} is {kind.type.value}, expected a condition")
    return kind


def _bracketed(part: Expression) -> str:
    is_operator = isinstance(part, Binary | Logic | Not | IsNull)
    if isinstance(part, Call):
        is_operator = bool(part.definition.words)
    return f"({part})" if is_operator else str(part)


def _canonical(part: Expression) -> tuple[str, str, list[int]]:
    # A column may be named like an expression, and two callables may have one name; their identities separate
    # them.
    return str(part), repr(part), [id(p.function) for p in walk(part) if isinstance(p, Apply)]


@cache
def _tolerant(symbol: str) -> Callable[[Any, Any], Any]:
    """An operator that returns unknown for values for which it is undefined."""
    run = defined(PYTHON_OPERATORS[symbol])

    def tolerant(left: Any, right: Any) -> Any:
        try:
            return run(left, right)
        except TypeError:
            return None

    def of_numbers(left: Any, right: Any) -> Any:
        # With texts, Python's * repeats and % formats: neither is meant here.
        is_text = any(isinstance(value, str | bytes | tuple) for value in (left, right))
        return None if is_text else tolerant(left, right)

    return of_numbers if symbol in "*%" else tolerant


PYTHON_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": operator.mod,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def named(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A user's function whose errors become FunctionErrors with its name and arguments."""

    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except MidstreamError:
            raise
        except Exception as error:
            values = ", ".join(map(shown, arguments))
            raise FunctionError(
                f"function {name}: {type(error).__name__}: {error}; called with {values or 'no arguments'}",
                name=name,
                arguments=arguments,
            ) from error

    return call


def checked(name: str, function: Callable[..., Any], type_: Type, nullable: bool) -> Callable[..., Any]:
    """A user's function, as `named`; a value of another type than declared is an error, too.

    Numbers and truth values of other libraries become Python's, and infinite numbers unknown. None is an
    error, unless the function is declared nullable or its numbers may be infinite.

    >>> checked("half", lambda x: x / 2, Type.INTEGER, False)(3)
    Traceback (most recent call last):
    midstream.plans.values.errors.FunctionError: function half: found 1.5, expected integer
    """
    run, types = named(name, function), PYTHON_TYPES.get(type_)
    nullable |= type_ in INEXACT

    def fits(value: Any) -> bool:
        if types is not None:
            return type(value) in types
        try:
            hash(value)
        except TypeError:
            return False
        return True

    def call(*arguments: Any) -> Any:
        value = run(*arguments)
        if value is None and nullable:
            return None
        if fits(value) or (value is not None and fits(value := _of_python(value))):
            return within_floats(value) if type_ is Type.FLOAT else finite(value)
        expected = f"{'a hashable value' if types is None else type_.value}{' or None' if nullable else ''}"
        advice = f"; declare {type_.value}? where it may be unknown" if value is None else ""
        raise FunctionError(f"function {name}: found {value!r}, expected {expected}{advice}", name=name)

    return call


def _of_python(value: Any) -> Any:
    """A value of another library as the equal value of Python, if it can be converted."""
    if isinstance(value, bool | int | float | str):
        return value
    if hasattr(value, "item") and not callable(getattr(value, "__len__", None)):
        return value.item()
    return index(value) if hasattr(value, "__index__") else value


def _in_order(word: str, texts: Sequence[str], scope: Bindings) -> str:
    """Source of `and` or `or` in three-valued logic, evaluated in order until the result is decided."""
    ends = word == "or"
    names = [scope.fresh() for _ in texts]
    asked = " or ".join(f"({name} := {text}) == {ends}" for name, text in zip(names, texts, strict=True))
    unknown = " or ".join(f"{name} is None" for name in names)
    return f"({ends} if {asked} else None if {unknown} else {not ends})"


def _all(conditions: Sequence[bool | None]) -> bool | None:
    if False in conditions:
        return False
    return None if None in conditions else True


def _any(conditions: Sequence[bool | None]) -> bool | None:
    if True in conditions:
        return True
    return None if None in conditions else False
