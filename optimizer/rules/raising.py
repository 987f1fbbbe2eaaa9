"""Expressions that may raise, and the rows on which they are evaluated.

A plan evaluates an expression on the rows of the operator's input that pass the earlier parts of the
condition. Filters, projections, joins, semi-joins and unions below are resolved:

    asked  =  an expression over columns of leaves, and all combinations of their rows for which guards hold

A plan asks no more than another one if each of its expressions that may raise is evaluated there too, on at
least these rows. Then it raises no error that the other plan does not raise. Operators that are not
understood count as asking more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

import networkx as nx

from midstream.optimizer.rules.faithful import EXACT
from midstream.optimizer.rules.substitution import substituted
from midstream.optimizer.rules.true_conditions import is_implied
from midstream.plans.algebra.operators import (
    Aggregate,
    CountWindow,
    Difference,
    Distinct,
    Dstream,
    Filter,
    Granularity,
    Intersection,
    Istream,
    Join,
    Matching,
    PartitionedWindow,
    Project,
    StrictDifference,
    TimeWindow,
    Union,
)
from midstream.plans.algebra.plan import Node, fact_of_node
from midstream.plans.algebra.properties import expressions, logical
from midstream.plans.expressions.aggregates import UserAggregate
from midstream.plans.expressions.expressions import (
    Apply,
    Case,
    Col,
    Const,
    Expression,
    Logic,
    column_equality,
    conjuncts,
    may_raise,
    walk,
)
from midstream.plans.values.schema import Column, Schema

MOST_ALTERNATIVES = 8
"""Greatest number of union inputs from which rows may come."""
MOST_PARTS = 1_000
"""Greatest size of expressions over leaves."""
MOST_ASSIGNMENTS = 100
"""Greatest number of assignments of leaves to other leaves that are tried."""


@dataclass(frozen=True, slots=True)
class Met:
    """The condition that a row has a partner, or has none: a semi-join or an anti-join."""

    kind: type[Matching]
    condition: Expression
    right: Node


Guard = Expression | Met


@dataclass(frozen=True, slots=True)
class Rows:
    """Combinations of rows of leaves for which guards hold; column x of leaf 2 is called "2:x"."""

    leaves: tuple[Node, ...]
    guards: frozenset[Guard]
    columns: tuple[tuple[str, Expression], ...]

    @property
    def schema(self) -> Schema:
        """The columns of all leaves."""
        return Schema(
            tuple(
                Column(f"{place}:{column.name}", column.type, column.nullable)
                for place, leaf in enumerate(self.leaves)
                for column in leaf.schema
            )
        )

    def of(self, expression: Expression) -> Expression:
        """An expression over these rows, as an expression over columns of the leaves."""
        return substituted(expression, dict(self.columns))

    def size_of(self, expression: Expression) -> int:
        """Number of parts of the expression over the leaves, without building it."""
        columns = dict(self.columns)
        return sum(
            sum(1 for _ in walk(columns[part.name])) if isinstance(part, Col) else 1
            for part in walk(expression)
        )

    def where(self, guards: Iterable[Guard]) -> Rows:
        """The rows for which further guards hold."""
        return replace(self, guards=self.guards.union(guards))

    def renamed(self, names: Mapping[str, str]) -> Rows:
        """These rows with other names for columns of leaves."""
        return replace(
            self,
            guards=frozenset(_renamed(guard, names) for guard in self.guards),
            columns=tuple((name, _under(one, names)) for name, one in self.columns),
        )


Asked = tuple[Expression, Rows]


def asks_no_more(after: Node, before: Node) -> bool:
    """True if one subplan certainly raises only where the other one raises.

    >>> from midstream.plans.algebra.builder import stream
    >>> from midstream.plans.expressions.operands import opaque
    >>> s = stream("s", x="integer").window(9)
    >>> one = opaque(lambda x: 1 // x, ["x"], "integer") > 0
    >>> asks_no_more(s.filter(one).filter(s["x"] > 3).node, s.filter(s["x"] > 3).filter(one).node)
    False
    >>> asks_no_more(s.filter(s["x"] > 3).filter(one).node, s.filter(one).filter(s["x"] > 3).node)
    True
    """
    if not raises_below(after):
        return True
    there = frozenset(before.walk())
    asking = [node for node in after.walk(there) if raises_itself(node)]
    if not asking:
        return True
    known = [each for node in there if raises_itself(node) for each in _asked(node) or ()]
    same = {(logical(node), node.inputs) for node in there}
    return all((logical(node), node.inputs) in same or _is_asked(node, known) for node in asking)


def asks_alike(left: Node, right: Node) -> bool:
    """True if two equivalent subplans certainly raise on the same inputs."""
    return asks_no_more(left, right) and asks_no_more(right, left)


@fact_of_node
def raises_itself(node: Node) -> bool:
    """True if the top operator may raise an error on some row."""
    operator = logical(node)
    if isinstance(operator, Aggregate) and _of_users(operator):
        return True
    return any(map(may_raise, expressions(node)))


@fact_of_node
def raises_below(node: Node) -> bool:
    """True if some operator of a subplan may raise an error on some row."""
    return raises_itself(node) or any(map(raises_below, node.inputs))


def _of_users(operator: Aggregate) -> bool:
    return any(isinstance(call.function, UserAggregate) for _, call in operator.calls)


def _is_asked(node: Node, known: Sequence[Asked]) -> bool:
    asked = _asked(node)
    return asked is not None and all(_is_covered(each, known) for each in asked)


def _is_covered(asked: Asked, known: Sequence[Asked]) -> bool:
    expression, rows = asked
    sure = {
        part
        for other, more in known
        for names in _assignments(rows, more)
        for part in _certain(_under(other, names))
    }
    return _is_made_of(expression, sure)


def _is_made_of(expression: Expression, sure: set[Expression]) -> bool:
    """True if every part of an expression that may raise is certainly evaluated anyway."""
    if expression in sure or not may_raise(expression):
        return True
    if isinstance(expression, Apply) and not expression.is_total:
        return False
    return all(_is_made_of(part, sure) for part in expression.parts())


def _certain(expression: Expression) -> Iterator[Expression]:
    """An expression, and the parts of it that are evaluated whenever it is."""
    yield expression
    match expression:
        case Logic(_, (first, *_)) | Case(((first, _), *_), _):
            yield from _certain(first)
        case _:
            parts = [part for part in expression.parts() if not isinstance(part, Const)]
            if len(parts) == 1 and Const(None) not in expression.parts():
                yield from _certain(parts[0])


def _asked(node: Node) -> list[Asked] | None:
    """The expressions of the top operator that may raise, with their rows; None if that is not understood."""
    operator = logical(node)
    found: list[Asked] = []
    match operator:
        case Filter(condition):
            for rows in _read(node.inputs[0], condition.columns()):
                found += _in_turn(condition, rows)
        case Join(condition):
            for rows in _pairs(*map(_rows, node.inputs)):
                found += _in_turn(condition, rows)
        case Project() | Aggregate() if not (isinstance(operator, Aggregate) and _of_users(operator)):
            risky = [expression for expression in expressions(node) if may_raise(expression)]
            found = [(rows.of(one), rows) for rows in _rows(node.inputs[0]) for one in risky]
        case _:
            return None
    return found


def _in_turn(condition: Expression, rows: Rows) -> Iterator[Asked]:
    """The parts of a condition that may raise, each on the rows for which the parts before it are true."""
    for part in conjuncts(condition):
        meant = rows.of(part)
        if may_raise(part):
            yield meant, rows
        rows = rows.where([meant])


@fact_of_node
def _rows(node: Node) -> tuple[Rows, ...]:
    """The rows of a subplan; the inputs of a union give separate alternatives."""
    operator = logical(node)
    found: Iterable[Rows] = ()
    match operator:
        case Filter(condition):
            found = (
                r.where(map(r.of, conjuncts(condition)))
                for r in _rows(node.inputs[0])
                if r.size_of(condition) <= MOST_PARTS
            )
        case Project(columns):
            found = (
                replace(r, columns=tuple((name, r.of(one)) for name, one in columns))
                for r in _rows(node.inputs[0])
                if sum(r.size_of(one) for _, one in columns) <= MOST_PARTS
            )
        case Join(condition, names):
            found = (
                replace(r.where(map(r.of, conjuncts(condition))), columns=_chosen(r, names))
                for r in _pairs(*map(_rows, node.inputs))
            )
        case Matching(condition) if not may_raise(condition):
            there = {name: f"right:{name}" for name in node.inputs[1].schema.names}
            asked = condition.renamed(there)
            found = (
                r.where([Met(type(operator), r.of(asked), node.inputs[1])]) for r in _rows(node.inputs[0])
            )
        case Distinct() if all(column.type in EXACT for column in node.schema):
            found = _rows(node.inputs[0])
        case Union():
            found = (rows for child in node.inputs for rows in _renamed_columns(child, node))
        case TimeWindow() | Granularity():
            below = _rows(node.inputs[0])
            if all(len(r.leaves) == 1 and not _has_partners(r) for r in below):
                found = (replace(r, leaves=(Node(operator, r.leaves),)) for r in below)
    alternatives = tuple(islice(found, MOST_ALTERNATIVES + 1))
    is_small = all(_size(r) <= MOST_PARTS for r in alternatives)
    return alternatives if 0 < len(alternatives) <= MOST_ALTERNATIVES and is_small else (_leaf(node),)


def _read(node: Node, columns: frozenset[str]) -> Iterable[Rows]:
    """The rows of a subplan for reading some columns; a group has the keys of the rows that form it."""
    operator = logical(node)
    keys = operator.keys if isinstance(operator, Aggregate) else ()
    if columns and columns <= {*keys} and all(node.schema[key].type in EXACT for key in keys):
        return [replace(r, columns=_chosen(r, keys)) for r in _rows(node.inputs[0])]
    return _rows(node)


def _has_partners(rows: Rows) -> bool:
    """True if the instants at which the rows are valid matter."""
    return any(isinstance(guard, Met) for guard in rows.guards)


def _leaf(node: Node) -> Rows:
    return Rows((node,), frozenset(), tuple((name, Col(f"0:{name}")) for name in node.schema.names))


def _chosen(rows: Rows, names: Iterable[str]) -> tuple[tuple[str, Expression], ...]:
    columns = dict(rows.columns)
    return tuple((name, columns[name]) for name in names)


def _renamed_columns(child: Node, node: Node) -> Iterator[Rows]:
    """The rows of an input, with the names that the columns have above it."""
    for rows in _rows(child):
        values = [one for _, one in rows.columns]
        yield replace(rows, columns=tuple(zip(node.schema.names, values, strict=True)))


def _pairs(lefts: Iterable[Rows], rights: Iterable[Rows]) -> Iterator[Rows]:
    for left, right in product(lefts, rights):
        shift = len(left.leaves)
        names = {
            f"{place}:{name}": f"{place + shift}:{name}"
            for place, leaf in enumerate(right.leaves)
            for name in leaf.schema.names
        }
        moved = right.renamed(names)
        yield Rows(left.leaves + right.leaves, left.guards | moved.guards, (*left.columns, *moved.columns))


def _size(rows: Rows) -> int:
    parts = [one for _, one in rows.columns]
    parts += (guard.condition if isinstance(guard, Met) else guard for guard in rows.guards)
    return sum(1 for part in parts for _ in islice(walk(part), MOST_PARTS + 1))


def _assignments(rows: Rows, more: Rows) -> Iterator[dict[str, str]]:
    """The assignments by which all of `rows` are among `more`.

    Each maps columns of the leaves of `more` to columns of the leaves of `rows` that take their place.
    """
    # For a single leaf, the validity of its rows does not matter, as each row is evaluated at once.
    is_timeless = len(more.leaves) == 1 and not _has_partners(more)
    for weaker, known in _weaker(rows):
        candidates = [
            [
                at
                for at, inside in enumerate(weaker.leaves)
                if inside == leaf or (is_timeless and _anytime(inside) == _ever(leaf))
            ]
            for leaf in more.leaves
        ]
        for chosen in islice(product(*candidates), MOST_ASSIGNMENTS):
            if len(set(chosen)) < len(chosen):
                continue
            names = {
                f"{place}:{name}": f"{at}:{name}"
                for place, at in enumerate(chosen)
                for name in more.leaves[place].schema.names
            }
            if _all_hold(weaker, [_renamed(guard, names) for guard in more.guards]):
                yield {name: known[below] for name, below in names.items()}


def _all_hold(rows: Rows, guards: Iterable[Guard]) -> bool:
    """True if conditions are true of all rows."""
    missing = [guard for guard in guards if guard not in rows.guards]
    if not missing:
        return True
    conditions = [guard for guard in rows.guards if not isinstance(guard, Met)]
    equal: nx.utils.UnionFind[str] = nx.utils.UnionFind()
    for condition in conditions:
        if names := column_equality(condition):
            equal.union(*names)

    def holds(guard: Guard) -> bool:
        if isinstance(guard, Met):
            return False
        names = column_equality(guard)
        if names and names[0] != names[1] and equal[names[0]] == equal[names[1]]:
            return True
        return is_implied(guard, conditions, rows.schema)

    return all(map(holds, missing))


_WITHIN = (Difference, StrictDifference, Intersection)
"""Operators whose results are rows of the first input only."""


def _weaker(rows: Rows, names: Mapping[str, str] | None = None) -> Iterator[tuple[Rows, Mapping[str, str]]]:
    """Rows, and supersets of them: the rows that a difference or groups are made from.

    Each comes with a map from its columns to the columns of the leaves of the first rows.
    """
    if names is None:
        names = {name: name for name in rows.schema.names}
    yield rows, names
    for place, leaf in enumerate(rows.leaves):
        if (found := _superset(leaf)) is not None:
            node, columns, guards = found
            above = {f"{place}:{name}": f"{place}:{below}" for name, below in columns.items()}
            hidden = {
                f"{place}:{name}": f"{place}?{name}" for name in leaf.schema.names if name not in columns
            }
            moved = rows.renamed({**above, **hidden})
            kept = [g for g in moved.guards if not any("?" in name.partition(":")[0] for name in _reads(g))]
            leaves = (*rows.leaves[:place], node, *rows.leaves[place + 1 :])
            here = {f"0:{name}": f"{place}:{name}" for name in node.schema.names}
            back = {f"{place}:{name}": f"{place}?{name}" for name in node.schema.names}
            back |= {below: names[name] for name, below in above.items()}
            back |= {name: was for name, was in names.items() if not name.startswith(f"{place}:")}
            more = replace(moved, leaves=leaves, guards=frozenset(kept))
            yield from _weaker(more.where(_renamed(guard, here) for guard in guards), back)


def _superset(leaf: Node) -> tuple[Node, dict[str, str], list[Guard]] | None:
    """The superset of a leaf that keeps some of another leaf's rows.

    Returns that other leaf, by column of the first leaf the column there, and guards; None if there is none.
    """
    inside, over = leaf, []
    while isinstance(logical(inside), TimeWindow | Granularity):
        over.append(logical(inside))
        (inside,) = inside.inputs
    operator = logical(inside)
    shown = inside.schema.names
    if isinstance(operator, Aggregate):
        shown = operator.keys
    elif not isinstance(operator, _WITHIN):
        return None
    if not all(inside.schema[name].type in EXACT for name in shown):
        return None
    alternatives = _rows(inside.inputs[0])
    if len(alternatives) > 1 or len(alternatives[0].leaves) > 1:
        return None
    (below,) = alternatives
    (node,) = below.leaves
    for window in reversed(over):
        node = Node(window, (node,))
    values = dict(below.columns)
    if not isinstance(operator, Aggregate):
        values = dict(zip(shown, values.values(), strict=True))
    columns = {name: one.name.partition(":")[2] for name in shown if isinstance(one := values[name], Col)}
    return node, columns, [guard for guard in below.guards if not isinstance(guard, Met)]


def _reads(guard: Guard) -> frozenset[str]:
    return guard.condition.columns() if isinstance(guard, Met) else guard.columns()


def _anytime(leaf: Node) -> Node:
    """A leaf without operators that only affect when its rows are valid, or if they are valid at all."""
    kinds = (TimeWindow, Granularity, CountWindow, PartitionedWindow, Istream, Dstream)
    while isinstance(logical(leaf), kinds):
        (leaf,) = leaf.inputs
    return leaf


def _ever(leaf: Node) -> Node:
    """A leaf without windows through which every row passes."""
    while isinstance(window := logical(leaf), TimeWindow) and (
        window.size is None or window.slide <= window.size
    ):
        (leaf,) = leaf.inputs
    return leaf


def _under(expression: Expression, names: Mapping[str, str]) -> Expression:
    """An expression with other names for columns of leaves; equalities keep their standard order."""
    return substituted(expression, {old: Col(new) for old, new in names.items()})


def _renamed(guard: Guard, names: Mapping[str, str]) -> Guard:
    if isinstance(guard, Met):
        return replace(guard, condition=_under(guard.condition, names))
    return _under(guard, names)
