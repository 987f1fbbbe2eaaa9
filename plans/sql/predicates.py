"""Conditions with queries in them, as semi-joins and anti-joins (thesis, section 9.3).

    x IN (query)                 semi-join on x = y
    EXISTS (query)               semi-join on what ties the query to the rows around it
    x > ANY (query)              semi-join on x > y
    x > ALL (query)              anti-join on what is not x > y
    x > (query), with one row    semi-join on x > y
    f(x, (query)), otherwise     join with the query, or with nothing where it has no row; then a filter

NOT goes down to these, and turns one into the other. A row belongs to `A OR B` if it belongs to A, or is left
over by A and belongs to B; so an OR is a union of two parts that have no row in common.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from midstream.plans.algebra.operators import AntiJoin, Filter, Join, Project, SemiJoin, Union
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import (
    OPPOSITE,
    Binary,
    Cast,
    Col,
    Const,
    Expression,
    IsNull,
    Logic,
    Not,
    conjunction,
    conjuncts,
    ordered,
)
from midstream.plans.sql.faults import span
from midstream.plans.sql.nodes import unsupported
from midstream.plans.sql.place import Place
from midstream.plans.sql.scalars import CONDITION_AS_VALUE, OPERATORS, bare
from midstream.plans.sql.scope import OUTER, reads_outer
from midstream.plans.values.schema import Column, Schema, unused

INNER = "\0inner"
"""Takes the place of a query in an expression of the query around, until both are put together."""

MOST_PARTS = 300
"""The filters and joins of the conditions of a statement. OR in AND in OR doubles them with each level."""


@dataclass(frozen=True)
class Inner:
    """A query in a condition: its rows, what it selects of them, and what ties them to the rows around.

    Expressions read the columns of `node`, and those of the stream around under names with `OUTER`.
    """

    node: Node
    outputs: tuple[Col, ...]
    ties: tuple[Expression, ...]


InnerQuery = Callable[[exp.Expr, Place, bool], Inner]
"""Translates a query in a condition at a place; the flag tells that it must have just one row, or none."""


@dataclass(frozen=True)
class Match:
    """A condition that says which rows of another stream a row needs, or, if `is_anti`, must not have."""

    is_anti: bool
    node: Node
    condition: Expression


class Predicates:
    """Keeps the rows of a stream for which a condition is true."""

    def __init__(self, inner_query: InnerQuery) -> None:
        self._inner_query = inner_query
        self._parts = 0

    def keep(self, place: Place, tree: exp.Expr, wanted: bool = True, is_kept: bool = True) -> Node:
        """The rows for which the condition is true; where not `wanted`, those for which it is false. Where
        they are not kept, all other rows."""
        match _unwrapped(tree):
            case exp.Not() as negation:
                return self.keep(place, negation.this, not wanted, is_kept)
            case exp.And() | exp.Or() as many if has_query(many):
                parts = list(many.flatten())
                if (isinstance(many, exp.And) == wanted) == is_kept:
                    for part in parts:
                        place = place.over(self.keep(place, part, wanted, is_kept))
                    return place.scope.node
                return self._alternatives(place, parts, wanted, is_kept)
            case other:
                return self._apply(place, other, wanted, is_kept)

    def _alternatives(self, place: Place, parts: Sequence[exp.Expr], wanted: bool, is_kept: bool) -> Node:
        """What one part lets through, and of the rest what the next one does."""
        through = []
        for i, part in enumerate(parts):
            through.append(self.keep(place, part, wanted, is_kept))
            if i < len(parts) - 1:
                place = place.over(self.keep(place, part, wanted, not is_kept))
        return Node(Union(), tuple(through))

    def _apply(self, place: Place, tree: exp.Expr, wanted: bool, is_kept: bool) -> Node:
        node = place.scope.node
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise place.scope.script.fault(
                f"found AND and OR around queries that come to more than {MOST_PARTS} filters and joins; "
                "write parts of it as streams, by CREATE STREAM … AS",
                span(tree),
            )
        if not has_query(tree):
            condition = place.reader().condition(tree)
            if reads_outer(condition):
                where = "the same OR as a query" if place.scope.ungrouped is None else "HAVING"
                raise place.scope.script.fault(
                    f"a column of the query around is not supported in {where}", span(tree)
                )
            if not wanted:
                condition = Not(condition)
            if not is_kept:
                condition = _not_true(condition, node)
            return Node(Filter(conjunction([condition])), (node,))
        if (match := self._match(place, tree, wanted)) is None:
            above, known = self.extended(place, tree)
            kept = above.reader(known).condition(tree)
            kept = kept if wanted else Not(kept)
            kept = kept if is_kept else _not_true(kept, above.scope.node)
            filtered = Node(Filter(conjunction([kept])), (above.scope.node,))
            return Node(Project(tuple((name, Col(name)) for name in node.schema.names)), (filtered,))
        with place.scope.script.at(lambda: span(tree)):
            return _matched(node, match, is_anti=match.is_anti == is_kept)

    def extended(self, place: Place, tree: exp.Expr) -> tuple[Place, dict[int, Expression]]:
        """The rows with the value of each query in an expression, which has one row at most, in a column
        more; unknown where it has none. Also which column that is, by the identity of the query."""
        known: dict[int, Expression] = {}
        for query in _queries(tree):
            inner = self._one_row(place, query)
            (output,) = _as_many(place, inner, 1, query)
            left = place.scope.node
            with place.scope.script.at(lambda query=query: span(query)):  # type: ignore[misc]
                right, ties, names = _beside(left, inner.node, conjunction(inner.ties), (output.name,))
                value = names[output.name]
                there = Node(Join(ties, (*left.schema.names, value)), (left, right))
                missing: list[tuple[str, Expression]] = [(name, Col(name)) for name in left.schema.names]
                missing.append((value, Cast(Const(None), right.schema[value].type)))
                absent = Node(Project(tuple(missing)), (Node(AntiJoin(ties), (left, right)),))
                place = place.over(Node(Union(), (there, absent)))
            known[id(query)] = Col(value)
        return place, known

    def _match(self, place: Place, tree: exp.Expr, wanted: bool) -> Match | None:
        """The semi-join or anti-join that a condition is; None where it is neither."""
        match tree:
            case exp.Exists():
                inner = self._inner_query(tree.this, place, False)
                return Match(not wanted, inner.node, conjunction(inner.ties))
            case exp.In() if tree.args.get("query") is not None:
                return self._membership(place, tree, wanted)
            case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
                if isinstance(tree.expression, exp.Any | exp.All):
                    return self._quantified(place, tree, wanted)
                if _is_unknown_without(tree):
                    return self._compared(place, tree, wanted)
        return None

    def _membership(self, place: Place, tree: exp.In, wanted: bool) -> Match:
        inner = self._inner_query(tree.args["query"], place, False)
        trees = tree.this.expressions if isinstance(tree.this, exp.Tuple) else [tree.this]
        equal: list[Expression] = [
            Binary("==", self._mine(place, part), output)
            for part, output in zip(trees, _as_many(place, inner, len(trees), tree), strict=True)
        ]
        if not wanted:
            equal = [_maybe(place, inner, part) for part in equal]
        return Match(not wanted, inner.node, conjunction([*inner.ties, *equal]))

    def _quantified(self, place: Place, tree: exp.Expr, wanted: bool) -> Match:
        """x op ANY: there is a row for which it is true. x op ALL: none for which it is not."""
        is_any = isinstance(tree.expression, exp.Any)
        inner = self._inner_query(tree.expression.this, place, False)
        (output,) = _as_many(place, inner, 1, tree)
        operator = OPERATORS[type(tree)]
        # What is ANY is false where ALL of the opposite is true, and the other way round.
        asked = Binary(operator if is_any else OPPOSITE[operator], self._mine(place, tree.this), output)
        if is_any == wanted:
            return Match(False, inner.node, conjunction([*inner.ties, asked]))
        return Match(True, inner.node, conjunction([*inner.ties, _maybe(place, inner, asked)]))

    def _compared(self, place: Place, tree: exp.Expr, wanted: bool) -> Match:
        """A comparison with a query of one row: where there is none, it is unknown."""
        (query,) = _queries(tree)
        inner = self._one_row(place, query)
        (output,) = _as_many(place, inner, 1, query)
        condition = self._mine(place, tree, (query, output))
        return Match(False, inner.node, conjunction([*inner.ties, condition if wanted else Not(condition)]))

    def _one_row(self, place: Place, query: exp.Expr) -> Inner:
        if not isinstance(query, exp.Subquery) or isinstance(
            query.parent, exp.Exists | exp.In | exp.Any | exp.All
        ):
            raise unsupported(place.scope.script, CONDITION_AS_VALUE, query)
        return self._inner_query(query, place, True)

    def _mine(self, place: Place, tree: exp.Expr, inside: tuple[exp.Expr, Col] | None = None) -> Expression:
        """An expression over the rows around a query, as seen from inside it; `inside` is that query, where
        it is part of the expression, and the column with its value."""
        # The column may be called as one around is.
        known = {} if inside is None else {id(inside[0]): Col(INNER)}
        value = place.reader(known).read(tree)
        if reads_outer(value):
            raise place.scope.script.fault(
                "this belongs to a query two levels further out, which is not supported", span(tree)
            )
        names = {name: OUTER + name for name in place.scope.node.schema.names}
        return value.renamed(names if inside is None else {**names, INNER: inside[1].name})


def _as_many(place: Place, inner: Inner, count: int, tree: exp.Expr) -> tuple[Col, ...]:
    if len(inner.outputs) != count:
        raise place.scope.script.fault(
            f"found a query of {len(inner.outputs)} columns, expected {count}", span(tree)
        )
    return inner.outputs


def _maybe(place: Place, inner: Inner, condition: Expression) -> Expression:
    """Where a condition is true or unknown."""
    around = (Column(OUTER + c.name, c.type, c.nullable) for c in place.scope.node.schema)
    schema = Schema((*inner.node.schema, *around))
    parts = [condition, *(IsNull(side) for side in condition.parts() if side.kind(schema).nullable)]
    return parts[0] if len(parts) == 1 else Logic("or", tuple(parts))


def _matched(left: Node, match: Match, is_anti: bool) -> Node:
    """The semi-join or anti-join."""
    right, condition, _ = _beside(left, match.node, match.condition)
    return Node(AntiJoin(condition) if is_anti else SemiJoin(condition), (left, right))


def _beside(
    left: Node, inner: Node, condition: Expression, wanted: Sequence[str] = ()
) -> tuple[Node, Expression, dict[str, str]]:
    """A query as the other side of a join: cut down to the columns that the condition reads or somebody
    wants, which get other names where the left side has the same; with the condition and the names."""
    read = {*condition.columns(), *wanted}
    names: dict[str, str] = {}
    taken = [*left.schema.names, *inner.schema.names]
    for name in inner.schema.names:
        if name in read:
            names[name] = unused(name, taken) if name in left.schema else name
            taken.append(names[name])
    if not names:
        names[inner.schema.names[0]] = unused("any", taken)
    right = inner
    if tuple(names.items()) != tuple((name, name) for name in inner.schema.names):
        right = Node(Project(tuple((new, Col(name)) for name, new in names.items())), (inner,))
    outer = {OUTER + name: name for name in left.schema.names}
    return right, conjunction(map(ordered, conjuncts(condition.renamed({**names, **outer})))), names


def _not_true(condition: Expression, node: Node) -> Expression:
    """Where a condition is false or unknown."""
    if condition.kind(node.schema).nullable:
        return Logic("or", (Not(condition), IsNull(condition)))
    return Not(condition)


def _is_unknown_without(tree: exp.Expr) -> bool:
    """Whether a comparison has one query, and is unknown where that is."""
    queries = list(_queries(tree))
    if len(queries) != 1:
        return False
    part = queries[0].parent
    while part is not None and part is not tree:
        if not isinstance(part, exp.Paren | exp.Add | exp.Sub | exp.Mul | exp.Div | exp.Neg):
            return False
        part = part.parent
    return True


def _unwrapped(tree: exp.Expr) -> exp.Expr:
    tree = bare(tree)
    if isinstance(tree, exp.Between) and has_query(tree):
        low, high = tree.args["low"], tree.args["high"]
        return exp.And(
            this=exp.GTE(this=tree.this, expression=low),
            expression=exp.LTE(this=tree.this.copy(), expression=high),
        )
    return tree


def has_query(tree: exp.Expr) -> bool:
    """Whether there is a query in an expression."""
    return next(_queries(tree), None) is not None


def _queries(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The queries in an expression, without those in them; no recursion, as chains of OR are long."""
    parts = tree.dfs(prune=lambda part: isinstance(part, exp.Query))
    return (part for part in parts if isinstance(part, exp.Query))
