"""Expressions as numbers: terms over the columns of numbered inputs, of which those that certainly have one
value get one number.

Numbers make comparing, hashing and sorting O(1), also of terms that hold one another many times over, as
projections of projections do. A term's number is greater than those of its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import chain
from typing import Any

from midstream.plans.expressions import (
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
)
from midstream.plans.schema import Schema, Type

Column = tuple[int, int, bool]
"""The number of an input, that of its column, and whether equal values of it are the same: 1 and 1.0 are
equal, but as texts they differ."""

_UNORDERED = frozenset({"+", "*", "==", "!=", "and", "or"})
_COMPARING = frozenset({"==", "!=", "<", "<=", ">", ">=", "and", "or", "not", "is null"})
_FLIPPED = {">": "<", ">=": "<="}


class Terms:
    """The terms that were met.

    >>> from midstream.plans.expressions import col
    >>> terms, schema = Terms(), Schema.of(x="integer", y="integer")
    >>> names = {"x": terms.column((0, 0, True)), "y": terms.column((0, 1, True))}
    >>> one = terms.read(col("x") + 1 > col("y"), schema, names)
    >>> one == terms.read(col("y") < 1 + col("x"), schema, names)
    True
    """

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._forms: list[tuple[tuple[Hashable, ...], tuple[int, ...]]] = []
        self._columns: dict[int, frozenset[Column]] = {}
        self._faithful: dict[int, bool] = {}
        self.true = self.read(Const(True), Schema(()), {})

    def number(self, head: tuple[Hashable, ...], arguments: Iterable[int] = ()) -> int:
        """The number of anything made of a head and of what has numbers; equal things have equal numbers."""
        form = (head, tuple(arguments))
        if form not in self._numbers:
            self._numbers[form] = len(self._forms)
            self._forms.append(form)
        return self._numbers[form]

    def column(self, column: Column) -> int:
        """The term that is the value of a column."""
        return self.number(("column", column))

    def read(self, expression: Expression, schema: Schema, names: Mapping[str, int]) -> int:
        """The term of an expression over rows of a schema, where the columns are the terms `names`."""
        if isinstance(expression, Col):
            return names[expression.name]
        head = _head(expression, schema)
        if head is None:
            # The names that it has for its columns are part of it; what they stand for is not.
            read = sorted(expression.columns())
            return self._term(("expression", expression), (names[name] for name in read))
        parts = expression.parts()
        if head[0] in _FLIPPED and len(head) == 1:
            head, parts = (_FLIPPED[str(head[0])],), parts[::-1]
        return self._term(head, (self.read(part, schema, names) for part in parts))

    def conjuncts(self, term: int) -> tuple[int, ...]:
        """The terms that are all true where one is; none for the constant."""
        head, arguments = self._forms[term]
        return arguments if head == ("and",) else () if term == self.true else (term,)

    def equated(self, term: int) -> tuple[int, ...]:
        """The two terms of an equality; none of other terms."""
        head, arguments = self._forms[term]
        return arguments if head == ("==",) else ()

    def columns(self, term: int) -> frozenset[Column]:
        """What it reads."""
        for part in self._below(term, self._columns):
            head, arguments = self._forms[part]
            own = [head[1]] if head[0] == "column" else []
            self._columns[part] = frozenset(own).union(*map(self._columns.__getitem__, arguments))  # type: ignore[assignment]
        return self._columns[term]

    def is_faithful(self, term: int) -> bool:
        """Whether it has equal values over equal rows: a comparison has for 1 and 1.0, a cast to text has
        not."""
        for part in self._below(term, self._faithful):
            head, arguments = self._forms[part]
            parts_are = all(map(self._faithful.__getitem__, arguments))
            is_comparing = head[0] in _COMPARING or head[0] == "column"
            self._faithful[part] = (is_comparing and parts_are) or all(
                is_exact for _, _, is_exact in self.columns(part)
            )
        return self._faithful[term]

    def replaced(self, term: int, by: Callable[[Column], int]) -> int:
        """The term over other columns, or over terms in their place."""
        made: dict[int, int] = {}
        for part in self._below(term, made):
            head, arguments = self._forms[part]
            if head[0] == "column":
                made[part] = by(head[1])  # type: ignore[arg-type]
            else:
                made[part] = self._term(head, map(made.__getitem__, arguments))
        return made[term]

    def _below(self, term: int, known: Mapping[int, object]) -> list[int]:
        """The term and all in it that are not known yet, arguments first."""
        found: set[int] = set()
        stack = [term]
        while stack:
            part = stack.pop()
            if part not in known and part not in found:
                found.add(part)
                stack.extend(self._forms[part][1])
        return sorted(found)

    def _term(self, head: tuple[Hashable, ...], arguments: Iterable[int]) -> int:
        if head in (("and",), ("or",)):
            parts = ((part, self._forms[part]) for part in arguments)
            flat = set(chain.from_iterable(form[1] if form[0] == head else (part,) for part, form in parts))
            if len(flat) == 1:
                return flat.pop()
            arguments = flat
        if head[0] in _UNORDERED and len(head) == 1:
            arguments = sorted(arguments)
        return self.number(head, arguments)


def _head(expression: Expression, schema: Schema) -> tuple[Any, ...] | None:
    """What an expression does with its parts; None if that is not known. Where only the values of a row tell
    types, texts may be added and comparisons be anything, so that the order of operands stays."""
    types = {part.kind(schema).type for part in expression.parts()}
    match expression:
        case Const(value):
            # By its text: 0.0 and -0.0 are equal.
            return ("constant", type(value), repr(value))
        case Binary("==" | "!=" as operator):
            return (operator,)
        case Binary(operator):
            return (operator, "of any") if Type.ANY in types else (operator,)
        case Logic(operator):
            # Of what is no boolean, `and` gives one of its operands.
            return (operator,) if types == {Type.BOOLEAN} else (operator, "of any")
        case Not():
            return ("not",)
        case IsNull():
            return ("is null",)
        case Case():
            return ("case",)
        case Cast(_, type_):
            return ("cast", type_)
        case Call(function):
            return ("call", function)
        case Apply(function, _, type_, nullable, _, strict):
            return ("apply", function, type_, nullable, strict)
    return None
