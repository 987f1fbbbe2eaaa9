"""Expressions as numbered terms over columns of numbered inputs: equal numbers mean equal values.

    conditions    a conjunction of disjunctions; only comparisons and columns are negated
    integers      a sum of multiples of products, and a constant; compared by ==, != and <=
    constants     computed, unless this hides an error

Conditions are rewritten by the laws of three-valued logic, so that unknown stays unknown. A part that is left
out of a condition cannot raise. No value is NaN, which is neither less than a number nor not less.

Numbers make comparing, hashing and sorting O(1), also for terms that contain each other many times over, as
projections of projections do. The number of a term is greater than those of its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import chain, product
from math import prod
from typing import Any

from midstream.plans.expressions.expressions import (
    ARITHMETIC,
    COMPARISONS,
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
from midstream.plans.expressions.folding import LARGEST, folded
from midstream.plans.functions.function import wider
from midstream.plans.values.schema import Schema, Type

InputColumn = tuple[int, int, bool]
"""The number of an input, the number of a column, and True if equal values of it are identical.

1 and 1.0 are equal, but not identical: their texts differ.
"""

Head = tuple[Any, ...]
"""The operation of a term: a word, and the type of the operands where it matters.

With type ANY only the values of a row have types: + may join texts, and comparisons may do anything, so that
the operands keep their places.
"""

AND, OR, NOT = ("and", Type.BOOLEAN), ("or", Type.BOOLEAN), ("not", Type.BOOLEAN)
SUM, DIFFERENCE, PRODUCT = ("+", Type.INTEGER), ("-", Type.INTEGER), ("*", Type.INTEGER)

MOST_CLAUSES = 16
"""Most clauses of a condition whose alternatives are multiplied out, and most that are compared pairwise."""

MOST_OPERANDS = 16
"""Most summands, and most factors, that are combined; repeated squaring doubles the factors each time."""

_COMPARING = frozenset({*COMPARISONS, "and", "or", "not", "is null"})
_SURE = _COMPARING | {"column", "constant", "sum", *ARITHMETIC}
"""Operations that raise nothing if types are known; an undefined quotient is unknown."""

_SURE_FUNCTIONS = frozenset(
    {"coalesce", "greatest", "is distinct from", "least", "mod", "negate", "nullif", "sign", "//"}
)

_FLIPPED = {">": "<", ">=": "<="}
_NEGATED = {"==": "!=", "!=": "==", "<": "<=", "<=": "<"}

Clauses = frozenset[frozenset[int]]
"""Sets of terms; of each set, at least one term is true."""

LinearSum = tuple[int, dict[int, int]]
"""A constant, and terms with their multiples."""


class Terms:
    """All terms so far, with their numbers.

    >>> from midstream.plans.algebra.builder import stream
    >>> rows = stream("s", x="integer", y="integer")
    >>> x, y, terms = rows["x"], rows["y"], Terms()
    >>> names = {"x": terms.column((0, 0, True)), "y": terms.column((0, 1, True))}
    >>> def read(condition):
    ...     return terms.read(rows.filter(condition).node.operator.condition, rows.schema, names)
    >>> read((x > 3) & (x + 1 <= y)) == read(~((y - 1 < x) | (x < 4)))
    True
    """

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._forms: list[tuple[Head, tuple[int, ...]]] = []
        self._values: dict[int, Any] = {}
        """The values of terms that are constants."""
        self._columns: dict[int, frozenset[InputColumn]] = {}
        self._faithful: dict[int, bool] = {}
        self._total: dict[int, bool] = {}
        self.true, self.false = self._constant(True), self._constant(False)

    def number(self, head: Head, arguments: Iterable[int] = ()) -> int:
        """The number of a head with numbered arguments; equal things have equal numbers."""
        form = (head, tuple(arguments))
        if form not in self._numbers:
            self._numbers[form] = len(self._forms)
            self._forms.append(form)
        return self._numbers[form]

    def column(self, column: InputColumn) -> int:
        """The term of a column."""
        return self.number(("column", column))

    def read(self, expression: Expression, schema: Schema, names: Mapping[str, int]) -> int:
        """The term of an expression over rows of a schema, whose columns are the terms `names`."""
        match expression:
            case Col(name):
                return names[name]
            case Const(value):
                return self._constant(value)
            case IsNull(value) if not value.kind(schema).nullable:
                return self.false
            case Not(Not() | Logic() as inner) if _are_boolean(inner.parts(), schema):
                # Before alternatives are multiplied out: there may be too many of them.
                return self.read(_opposite(inner), schema, names)
        head = _head(expression, schema)
        if head is None:
            # The names of its columns are part of the head; the terms that they stand for are arguments.
            return self.number(("expression", expression), [names[n] for n in sorted(expression.columns())])
        return self._term(head, [self.read(part, schema, names) for part in expression.parts()])

    def conjuncts(self, term: int) -> tuple[int, ...]:
        """The terms that are all true exactly if one is true; none for the constant true."""
        head, arguments = self._forms[term]
        return arguments if head == AND else () if term == self.true else (term,)

    def equated(self, term: int) -> tuple[int, ...]:
        """The two sides of an equality; empty for other terms."""
        head, arguments = self._forms[term]
        return arguments if head[0] == "==" else ()

    def together(self, conditions: Iterable[int], equal: Iterable[frozenset[int]]) -> frozenset[int]:
        """Conditions without those that follow from others, or from equal terms."""

        def follows(clause: frozenset[int]) -> bool:
            pairs = (frozenset(self.equated(term)) for term in clause)
            known = any(pair and any(pair <= terms for terms in equal) for pair in pairs)
            return known and self.are_total(clause)

        clauses = chain.from_iterable(map(self._clauses, conditions))
        return frozenset(self.conjuncts(self._conjunction(frozenset(c for c in clauses if not follows(c)))))

    def columns(self, term: int) -> frozenset[InputColumn]:
        """The columns that a term reads."""
        for part in self._below(term, self._columns):
            head, arguments = self._forms[part]
            own = [head[1]] if head[0] == "column" else []
            self._columns[part] = frozenset(own).union(*map(self._columns.__getitem__, arguments))
        return self._columns[term]

    def is_faithful(self, term: int) -> bool:
        """True if a term has equal values over equal rows.

        A comparison does for 1 and 1.0; a cast to text does not.
        """
        for part in self._below(term, self._faithful):
            head, arguments = self._forms[part]
            parts_are = all(map(self._faithful.__getitem__, arguments))
            is_comparing = head[0] in _COMPARING or head[0] == "column"
            self._faithful[part] = (is_comparing and parts_are) or all(
                is_exact for _, _, is_exact in self.columns(part)
            )
        return self._faithful[term]

    def is_exact(self, term: int) -> bool:
        """True for a column or a constant of a type whose equal values are identical."""
        head, _ = self._forms[term]
        return bool(head[1][2]) if head[0] == "column" else type(self._values.get(term)) in (bool, int, str)

    def _is_total(self, term: int) -> bool:
        for part in self._below(term, self._total):
            head, arguments = self._forms[part]
            is_sure = head[0] in _SURE or (head[0] == "call" and head[1] in _SURE_FUNCTIONS)
            is_sure &= Type.ANY not in head
            is_sure |= head[0] == "apply" and head[-1]
            self._total[part] = is_sure and all(map(self._total.__getitem__, arguments))
        return self._total[term]

    def replaced(self, term: int, by: Callable[[InputColumn], int]) -> int:
        """The term over other columns, or over terms in their place."""
        made: dict[int, int] = {}
        for part in self._below(term, made):
            head, arguments = self._forms[part]
            is_column = head[0] == "column"
            made[part] = by(head[1]) if is_column else self._term(head, [made[one] for one in arguments])
        return made[term]

    def _below(self, term: int, known: Mapping[int, object]) -> list[int]:
        """The term and all terms in it that are not in `known`, arguments first."""
        met: set[int] = set()
        stack = [term]
        while stack:
            part = stack.pop()
            if part not in known and part not in met:
                met.add(part)
                stack.extend(self._forms[part][1])
        return sorted(met)

    def _constant(self, value: Any) -> int:
        # 0.0 and -0.0 are equal.
        number = self.number(("constant", type(value), repr(value) if isinstance(value, float) else value))
        self._values[number] = value
        return number

    def _term(self, head: Head, arguments: Sequence[int]) -> int:
        """The number of a term whose arguments are already in normal form."""
        match head:
            case ("and", Type.BOOLEAN):
                return self._all(arguments)
            case ("or", Type.BOOLEAN):
                return self._any(arguments)
            case ("not", Type.BOOLEAN):
                return self._negated(arguments[0])
            case ("in", first, *rest):
                pairs = zip(rest, arguments[1:], strict=True)
                return self._any(
                    [self._term(("==", wider(first, t)), (arguments[0], one)) for t, one in pairs]
                )
            case (("+" | "-" | "*"), Type.INTEGER) | ("sum", *_):
                return self._computed(head, arguments)
        if arguments and all(argument in self._values for argument in arguments):
            constant = folded(head, [self._values[argument] for argument in arguments])
            if constant is not None:
                return self._constant(constant.value)
        if head[0] in COMPARISONS:
            return self._compared(head, *arguments)
        # Sums of floats are rounded: addition is commutative, but not associative.
        is_unordered = head[0] in ("+", "*") and head[1] is Type.FLOAT
        return self.number(head, sorted(arguments) if is_unordered else arguments)

    def _clauses(self, term: int) -> Clauses:
        parts = self._forms[term][1] if self._forms[term][0] == AND else (term,)
        forms = ((part, *self._forms[part]) for part in parts)
        return frozenset(frozenset(below if head == OR else (part,)) for part, head, below in forms)

    def _all(self, terms: Iterable[int]) -> int:
        return self._conjunction(frozenset(chain.from_iterable(map(self._clauses, terms))))

    def _any(self, terms: Iterable[int]) -> int:
        """A disjunction; conjunctions in it are multiplied out, unless they become too many."""
        parts = {term: self._clauses(term) for term in terms}
        many = {term: clauses for term, clauses in parts.items() if len(clauses) > 1}
        alone = frozenset(chain.from_iterable(chain.from_iterable(parts[t] for t in parts.keys() - many)))
        if prod(map(len, many.values())) > MOST_CLAUSES:
            return self._conjunction(frozenset({alone.union(many)}))
        return self._conjunction(frozenset(alone.union(*chosen) for chosen in product(*many.values())))

    def _conjunction(self, clauses: Clauses) -> int:
        """The conjunction of clauses, without clauses that follow from another one."""
        left = {
            clause - {self.false}
            for clause in clauses
            if self.true not in clause or not self.are_total(clause)
        }
        if frozenset() in left and self.are_total(chain.from_iterable(left)):
            return self.false
        if len(left) <= MOST_CLAUSES:
            left = {
                clause
                for clause in left
                if not any(other < clause and self.are_total(clause - other) for other in left)
            }
        terms = sorted({self._either(clause) for clause in left})
        if not terms:
            return self.true
        return terms[0] if len(terms) == 1 else self.number(AND, terms)

    def _either(self, clause: frozenset[int]) -> int:
        if not clause:
            return self.false
        return min(clause) if len(clause) == 1 else self.number(OR, sorted(clause))

    def are_total(self, terms: Iterable[int]) -> bool:
        """True if it is certain that none of the terms ever raises."""
        return all(map(self._is_total, terms))

    def _negated(self, term: int) -> int:
        head, arguments = self._forms[term]
        if term in (self.true, self.false):
            return self.false if term == self.true else self.true
        if head == NOT:
            return arguments[0]
        if head == AND:
            return self._any(list(map(self._negated, arguments)))
        if head == OR:
            return self._all(map(self._negated, arguments))
        if head[0] in _NEGATED and head[1] is not Type.ANY:
            return self._compared((_NEGATED[head[0]], head[1]), *reversed(arguments))
        return self.number(NOT, (term,))

    def _compared(self, head: Head, left: int, right: int) -> int:
        operator, type_ = head
        if operator in _FLIPPED and type_ is not Type.ANY:
            operator, left, right = _FLIPPED[operator], right, left
        if type_ is Type.INTEGER:
            operator, left, right = self._compared_integers(operator, left, right)
        elif type_ is Type.FLOAT:
            left, right = self._as_integer(left), self._as_integer(right)
        elif type_ is Type.BOOLEAN and operator in ("==", "!="):
            for constant, other in ((left, right), (right, left)):
                if constant in (self.true, self.false):
                    is_it = (operator == "==") == (constant == self.true)
                    return other if is_it else self._negated(other)
        if operator in ("==", "!="):
            left, right = sorted((left, right))
        return self.number((operator, type_), (left, right))

    def _compared_integers(self, operator: str, left: int, right: int) -> tuple[str, int, int]:
        """A comparison of integers with the constants of both sides combined on one.

        That is the side that is only a constant, if there is one, else the right side.
        """
        (low, less), (high, more) = self._sum(left), self._sum(right)
        least = high - low
        if operator == "<":
            operator, least = "<=", least - 1
        left, right = self._summed(0, less), self._summed(0, more)
        if less and operator != "<=" and right < left:
            left, right, less, more, least = right, left, more, less, -least
        if less:
            return operator, left, self._summed(least, more)
        return operator, self._summed(-least, less), right

    def _as_integer(self, term: int) -> int:
        """The equal integer of a constant that is compared with floats; other terms stay."""
        value = self._values.get(term)
        return self._constant(int(value)) if isinstance(value, float) and value.is_integer() else term

    def _computed(self, head: Head, arguments: Sequence[int]) -> int:
        """Arithmetic of integers, which are unbounded and exact."""
        if head[0] == "sum":
            constant, *times = head[1:]
            linear = self._added(constant, zip(times, arguments, strict=True))
        elif head == PRODUCT:
            linear = self._multiplied(arguments)
        else:
            linear = self._added(0, zip((1, -1 if head == DIFFERENCE else 1), arguments, strict=True))
        constant, summands = linear
        if len(summands) <= MOST_OPERANDS and all(abs(n) < LARGEST for n in (constant, *summands.values())):
            return self._summed(constant, summands)
        return self.number(head, sorted(arguments) if head in (SUM, PRODUCT) else arguments)

    def _added(self, constant: int, parts: Iterable[tuple[int, int]]) -> LinearSum:
        summands: dict[int, int] = {}
        for times, part in parts:
            more, below = self._sum(part)
            constant += times * more
            for term, n in below.items():
                # A term with multiple 0 is kept: its value may be unknown.
                summands[term] = summands.get(term, 0) + times * n
        return constant, summands

    def _multiplied(self, arguments: Sequence[int]) -> LinearSum:
        times, factors = 1, list[int]()
        for argument in arguments:
            constant, summands = self._sum(argument)
            if not summands:
                times *= constant
            elif len(summands) == 1 and not constant:
                ((term, n),) = summands.items()
                head, below = self._forms[term]
                times *= n
                factors += below if head == PRODUCT else (term,)
            else:
                factors.append(argument)
        if not factors:
            return times, {}
        if len(factors) == 1:
            return self._added(0, [(times, factors[0])])
        if len(factors) > MOST_OPERANDS:
            return 0, {self.number(PRODUCT, sorted(arguments)): 1}
        return 0, {self.number(PRODUCT, sorted(factors)): times}

    def _sum(self, term: int) -> LinearSum:
        """An integer term as a sum."""
        if term in self._values:
            return self._values[term], {}
        head, arguments = self._forms[term]
        if head[0] == "sum":
            return head[1], dict(zip(arguments, head[2:], strict=True))
        return 0, {term: 1}

    def _summed(self, constant: int, summands: Mapping[int, int]) -> int:
        if not summands:
            return self._constant(constant)
        if not constant and [*summands.values()] == [1]:
            return next(iter(summands))
        terms = sorted(summands)
        return self.number(("sum", constant, *(summands[term] for term in terms)), terms)


def _are_boolean(parts: Iterable[Expression], schema: Schema) -> bool:
    """True if all expressions are certainly boolean; values of type ANY are not."""
    return all(
        isinstance(part, IsNull | Logic)
        or (isinstance(part, Binary) and part.operator in COMPARISONS)
        or (
            _are_boolean(part.parts(), schema)
            if isinstance(part, Not)
            else part.kind(schema).type is Type.BOOLEAN
        )
        for part in parts
    )


def _opposite(condition: Not | Logic) -> Expression:
    if isinstance(condition, Not):
        return condition.condition
    dual = "or" if condition.operator == "and" else "and"
    return Logic(dual, tuple(map(Not, condition.conditions)))


def _head(expression: Expression, schema: Schema) -> Head | None:
    """The operation of an expression on its parts; None if it is not known."""
    if isinstance(expression, Logic | Not) and _are_boolean(expression.parts(), schema):
        return (expression.operator if isinstance(expression, Logic) else "not", Type.BOOLEAN)
    types = [part.kind(schema).type for part in expression.parts()]
    match expression:
        case Binary(operator):
            return (operator, wider(*types))
        case Logic(operator):
            # If operands are no booleans, `and` returns one of them, or, where one may be unknown, a boolean.
            return (operator, Type.ANY, expression.kind(schema).nullable)
        case Not():
            return ("not", Type.ANY)
        case IsNull():
            return ("is null",)
        case Case():
            return ("case",)
        case Cast(_, type_):
            return ("cast", *types, type_)
        case Call("in"):
            return ("in", *types)
        case Call(function):
            return ("call", function, *types)
        case Apply(function, _, type_, nullable, _, strict, is_total):
            return ("apply", function, type_, nullable, strict, is_total)
    return None
