"""Conditions with queries in them, as semi-joins and anti-joins (thesis, section 9.3).

    x IN (query)                 semi-join on x = y
    EXISTS (query)               semi-join on the conditions that tie the query to outer rows
    x > ANY (query)              semi-join on x > y
    x > ALL (query)              anti-join on x > y being false or unknown
    x > (query), with one row    semi-join on x > y, if x > y is false for the query's result over no rows
    f(x, (query)), otherwise     join with the query, or with its result over no rows; then a filter

A query that aggregates without GROUP BY has exactly one row, also over no rows: there COUNT is 0, and all
other aggregates are unknown. With HAVING it has one row at most. Therefore IN, ANY and ALL compare with its
one value, and EXISTS asks if its HAVING is true.

NOT is pushed down to these, and turns semi-joins into anti-joins and the reverse. A row belongs to `A OR B`
if it belongs to A, or if it does not belong to A but to B. So an OR is a union of two disjoint parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from midstream.plans.algebra.operators import AntiJoin, Filter, Join, Project, SemiJoin, Union
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import (
    OPPOSITE,
    TRUE,
    Binary,
    Call,
    Case,
    Cast,
    Col,
    Const,
    Expression,
    IsNull,
    Kind,
    Logic,
    Not,
    compile_row,
    conjunction,
    conjuncts,
    may_raise,
    ordered,
)
from midstream.plans.sql.comparisons import comparison
from midstream.plans.sql.faults import span
from midstream.plans.sql.nodes import unsupported
from midstream.plans.sql.place import Place
from midstream.plans.sql.scalars import CONDITION_AS_VALUE, OPERATORS, TIME, bare
from midstream.plans.sql.scope import OUTER, reads_outer
from midstream.plans.values.schema import Column, Schema, Type, unused

INNER = "\0inner"
"""The placeholder of a query in an expression of its outer query, until both are joined."""

MOST_PARTS = 300
"""Most filters and joins in a statement's conditions; nested AND and OR double them on each level."""


@dataclass(frozen=True)
class Inner:
    """A query in a condition: its rows, the selected columns, and the conditions that tie it to outer rows.

    `times` are the kinds of selected columns that hold dates, timestamps or intervals. Expressions read the
    columns of `node`, and columns of the outer query under names with `OUTER`.
    """

    node: Node
    outputs: tuple[Col, ...]
    ties: tuple[Expression, ...]
    over_nothing: OverNothing | None = None
    """The result over no rows, if the query aggregates without GROUP BY; `node` then has all groups."""
    times: tuple[str | None, ...] = ()


@dataclass(frozen=True)
class OverNothing:
    """The result over no rows of a query that aggregates without GROUP BY.

    `values` are its outputs, which read no columns. With HAVING, the column `has_row` says if a group has a
    row, and `is_row` if there is a row over no rows.
    """

    values: tuple[Expression, ...]
    has_row: Col | None
    is_row: Expression


InnerQuery = Callable[[exp.Expr, Place, bool], Inner]
"""Translates a query in a condition at a place; if the flag is set, the query must have at most one row."""


@dataclass(frozen=True)
class Match:
    """A condition on the rows of another stream that a row needs, or, if `is_anti`, must not have."""

    is_anti: bool
    node: Node
    condition: Expression


class Predicates:
    """Filters of streams by conditions that may have queries in them."""

    def __init__(self, inner_query: InnerQuery) -> None:
        self._inner_query = inner_query
        self._parts = 0

    def keep(self, place: Place, tree: exp.Expr, wanted: bool = True, is_kept: bool = True) -> Node:
        """The rows for which the condition is true, or false if not `wanted`.

        With `is_kept` False, the result is all other rows.
        """
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
        """The rows that satisfy one of the parts: each part sees the rows that the parts before it reject."""
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
                    f"a column of the outer query is not supported in {where}", span(tree)
                )
            if not wanted:
                condition = Not(condition)
            if not is_kept:
                condition = _not_true(condition, node)
            return Node(Filter(conjunction([condition])), (node,))
        inners: dict[int, Inner] = {}
        if (match := self._match(place, tree, wanted, inners)) is None:
            above, translated = self.extended(place, tree, inners)
            condition = above.reader(translated).condition(tree)
            condition = condition if wanted else Not(condition)
            condition = condition if is_kept else _not_true(condition, above.scope.node)
            filtered = Node(Filter(conjunction([condition])), (above.scope.node,))
            return Node(Project(tuple((name, Col(name)) for name in node.schema.names)), (filtered,))
        with place.scope.script.at(lambda: span(tree)):
            return _matched(node, match, is_anti=match.is_anti == is_kept)

    def extended(
        self, place: Place, tree: exp.Expr, inners: Mapping[int, Inner] | None = None
    ) -> tuple[Place, dict[int, Expression]]:
        """Add the outputs of each query in an expression as columns; each query has at most one row.

        Returns the place above, and the expression for each query, or for the EXISTS, IN, ANY or ALL around
        it, by the identity of that part. `inners` are queries that are already translated, by identity.
        """
        known: dict[int, Expression] = {}
        for query in _queries(tree):
            inner = (inners or {}).get(id(query)) or self._one_row(place, query)
            part, reads = _condition_of(query)
            if reads:
                left = _compared_with(part)
                _as_many(place, inner, len(left), query)
            place, values, has_row = self._beside_each(place, inner, query, reads)
            match part:
                case exp.Exists():  # is never unknown, as HAVING may be
                    known[id(part)] = _if(has_row, TRUE, Const(False))
                case exp.In():
                    mine = [place.reader(known).read(one) for one in left]
                    equal = _equal(mine, values, place.scope.schema)
                    known[id(part)] = _if(has_row, equal, Const(False))
                case exp.Subquery():
                    known[id(part)] = _if(
                        has_row, values[0], Cast(Const(None), values[0].kind(place.scope.schema).type)
                    )
                case _:
                    mine = [place.reader(known).read(one) for one in left]
                    asked = comparison(OPERATORS[type(part)], mine[0], values[0], place.scope.schema)
                    known[id(part)] = _if(has_row, asked, Const(isinstance(part.expression, exp.All)))
        return place, known

    def _beside_each(
        self, place: Place, inner: Inner, query: exp.Expr, reads: bool
    ) -> tuple[Place, list[Expression], Expression]:
        """Join each row with the one row of a query, or with the query's result over no rows.

        Returns the place above, the query's outputs, if they are read, and the condition that it has a row.
        """
        over_nothing = inner.over_nothing
        assert over_nothing is not None
        defaults: dict[str, Expression] = {}
        if reads:
            defaults.update(zip((output.name for output in inner.outputs), over_nothing.values, strict=True))
        if over_nothing.has_row is not None:
            defaults[over_nothing.has_row.name] = over_nothing.is_row
        left = place.scope.node
        with place.scope.script.at(lambda: span(query)):
            right, ties, names = _beside(left, inner.node, conjunction(inner.ties), tuple(defaults))
            shown = [names[name] for name in defaults]
            there = Node(Join(ties, (*left.schema.names, *shown)), (left, right))
            columns: list[tuple[str, Expression]] = [(name, Col(name)) for name in left.schema.names]
            for name, value in defaults.items():
                columns.append((names[name], _of_type(value, right.schema[names[name]].type)))
            absent = Node(Project(tuple(columns)), (Node(AntiJoin(ties), (left, right)),))
            place = place.over(Node(Union(), (there, absent)))
        outputs: list[Expression] = [Col(names[output.name]) for output in inner.outputs] if reads else []
        has_row = over_nothing.has_row
        return place, outputs, TRUE if has_row is None else Col(names[has_row.name])

    def _match(self, place: Place, tree: exp.Expr, wanted: bool, inners: dict[int, Inner]) -> Match | None:
        """The semi-join or anti-join for a condition, or None; translated queries are added to `inners`."""
        match tree:
            case exp.Exists():
                inner = inners[id(tree.this)] = self._inner_query(tree.this, place, False)
                if (rows := _with_rows(inner)) is None:
                    return None
                return Match(not wanted, rows.node, conjunction(rows.ties))
            case exp.In() if (query := tree.args.get("query")) is not None:
                inner = inners[id(query)] = self._inner_query(query, place, False)
                return self._membership(place, tree, wanted, inner)
            case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
                if isinstance(tree.expression, exp.Any | exp.All):
                    (query,) = _queries(tree.expression)
                    inner = inners[id(query)] = self._inner_query(tree.expression.this, place, False)
                    return self._quantified(place, tree, wanted, inner)
                if _is_unknown_without(tree):
                    (query,) = _queries(tree)
                    inner = inners[id(query)] = self._one_row(place, query)
                    return self._compared(place, tree, wanted, inner, query)
        return None

    def _membership(self, place: Place, tree: exp.In, wanted: bool, inner: Inner) -> Match | None:
        trees = _compared_with(tree)
        mine = [self._mine(place, part) for part in trees]
        outputs = _as_many(place, inner, len(trees), tree)

        def asked(values: Sequence[Expression]) -> Expression:
            return _equal(mine, values, _both(place, inner))

        if (rows := _with_rows(inner)) is None:
            return _of_one_row(inner, asked, wanted)
        equal: list[Expression] = [*conjuncts(asked(outputs))]
        if not wanted:
            equal = [_maybe(place, rows, part) for part in equal]
        return Match(not wanted, rows.node, conjunction([*rows.ties, *equal]))

    def _quantified(self, place: Place, tree: exp.Expr, wanted: bool, inner: Inner) -> Match | None:
        """x op ANY: some row makes it true. x op ALL: no row makes it false or unknown."""
        is_any = isinstance(tree.expression, exp.Any)
        (output,) = _as_many(place, inner, 1, tree)
        operator, mine = OPERATORS[type(tree)], self._mine(place, tree.this)
        schema = _both(place, inner)
        if (rows := _with_rows(inner)) is None:
            return _of_one_row(inner, lambda values: comparison(operator, mine, values[0], schema), wanted)
        # ANY is false exactly where ALL of the opposite is true, and the reverse.
        asked = comparison(operator if is_any else OPPOSITE[operator], mine, output, schema)
        if is_any == wanted:
            return Match(False, rows.node, conjunction([*rows.ties, asked]))
        return Match(True, rows.node, conjunction([*rows.ties, _maybe(place, rows, asked)]))

    def _compared(
        self, place: Place, tree: exp.Expr, wanted: bool, inner: Inner, query: exp.Expr
    ) -> Match | None:
        """A comparison with a query of at most one row; without a row, it is unknown."""
        (output,) = _as_many(place, inner, 1, query)

        def asked(values: Sequence[Expression]) -> Expression:
            return self._mine(place, tree, (query, values[0], output.kind(inner.node.schema)))

        if (rows := _with_rows(inner)) is None:
            return _of_one_row(inner, asked, wanted)
        condition = asked([output])
        return Match(False, rows.node, conjunction([*rows.ties, condition if wanted else Not(condition)]))

    def _one_row(self, place: Place, query: exp.Expr) -> Inner:
        if not isinstance(query, exp.Subquery) or isinstance(
            query.parent, exp.Exists | exp.In | exp.Any | exp.All
        ):
            raise unsupported(place.scope.script, CONDITION_AS_VALUE, query)
        inner = self._inner_query(query, place, True)
        query.meta[TIME] = next(iter(inner.times), None)
        return inner

    def _mine(
        self, place: Place, tree: exp.Expr, inside: tuple[exp.Expr, Expression, Kind] | None = None
    ) -> Expression:
        """An outer expression, as seen from inside a query.

        If the query is part of the expression, `inside` is the query, its value there, which is a column or
        reads none, and the value's kind.
        """
        # The column may have the same name as an outer column.
        known: dict[int, Expression] = {}
        reader = place.reader(known)
        if inside is not None:
            known[id(inside[0])] = Col(INNER) if isinstance(inside[1], Col) else inside[1]
            reader = replace(reader, schema=Schema((*reader.schema, Column(INNER, *inside[2]))))
        value = reader.read(tree)
        if reads_outer(value):
            raise place.scope.script.fault(
                "this belongs to a query two levels further out, which is not supported", span(tree)
            )
        names = {name: OUTER + name for name in place.scope.node.schema.names}
        if inside is not None and isinstance(inside[1], Col):
            names[INNER] = inside[1].name
        return value.renamed(names)


def _condition_of(query: exp.Expr) -> tuple[exp.Expr, bool]:
    """The part of a condition around a query: EXISTS, IN, or a comparison with ANY or ALL; else the query.

    The flag says if that part reads the query's outputs.
    """
    parent = query.parent
    while isinstance(parent, exp.Paren):
        parent = parent.parent
    match parent:
        case exp.Exists():
            return parent, False
        case exp.In() if parent.args.get("query") is query:
            return parent, True
        case exp.Any() | exp.All() if parent.parent is not None:
            return parent.parent, True
    return query, True


def _compared_with(part: exp.Expr) -> list[exp.Expr]:
    """The expressions that are compared with the outputs of a query."""
    if isinstance(part, exp.In) and isinstance(part.this, exp.Tuple):
        return list(part.this.expressions)
    return [part.this]


def _with_rows(inner: Inner) -> Inner | None:
    """A query whose rows are those of its node; None if it may have a row over no rows."""
    over_nothing = inner.over_nothing
    if over_nothing is None:
        return inner
    if over_nothing.has_row is None or may_be_true(over_nothing.is_row):
        return None
    return replace(inner, node=Node(Filter(over_nothing.has_row), (inner.node,)), over_nothing=None)


def _of_one_row(
    inner: Inner, asked: Callable[[Sequence[Expression]], Expression], wanted: bool
) -> Match | None:
    """A condition that is true of the one row of a query, as a semi-join.

    None if the condition may be true over no rows, or if the query may lack its row, because of its HAVING.
    """
    over_nothing = inner.over_nothing
    assert over_nothing is not None

    def condition(values: Sequence[Expression]) -> Expression:
        return asked(values) if wanted else Not(asked(values))

    if over_nothing.has_row is not None or may_be_true(condition(over_nothing.values)):
        return None
    return Match(False, inner.node, conjunction([*inner.ties, condition(inner.outputs)]))


def may_be_true(condition: Expression) -> bool:
    """True unless it is obvious that a condition is true of no row."""
    if any(map(_is_unknown, conjuncts(condition))):
        return False
    return bool(condition.columns()) or may_raise(condition) or compile_row(condition, Schema(()))(()) is True


def _is_unknown(expression: Expression) -> bool:
    """True if it is obvious that an expression is unknown for every row."""
    match expression:
        case Const(value):
            return value is None
        case Binary() | Not() | Cast():
            return any(map(_is_unknown, expression.parts()))
        case Call() if not expression.columns() and not may_raise(expression):
            return compile_row(expression, Schema(()))(()) is None
    return False


def _if(condition: Expression, value: Expression, default: Expression) -> Expression:
    return value if condition == TRUE else Case(((condition, value),), default)


def _of_type(value: Expression, type_: Type) -> Expression:
    """A value without columns, converted to a type."""
    return value if value.kind(Schema(())).type is type_ else Cast(value, type_)


def _as_many(place: Place, inner: Inner, count: int, tree: exp.Expr) -> tuple[Col, ...]:
    if len(inner.outputs) != count:
        raise place.scope.script.fault(
            f"found a query of {len(inner.outputs)} columns, expected {count}", span(tree)
        )
    return inner.outputs


def _maybe(place: Place, inner: Inner, condition: Expression) -> Expression:
    """The condition that a condition is true or unknown."""
    schema = _both(place, inner)
    parts = [condition, *(IsNull(side) for side in condition.parts() if side.kind(schema).nullable)]
    return parts[0] if len(parts) == 1 else Logic("or", tuple(parts))


def _both(place: Place, inner: Inner) -> Schema:
    """The columns of a query in a condition, and those of its outer query."""
    around = (Column(OUTER + c.name, c.type, c.nullable) for c in place.scope.node.schema)
    return Schema((*inner.node.schema, *around))


def _equal(left: Sequence[Expression], right: Sequence[Expression], schema: Schema) -> Expression:
    """The condition that values are pairwise equal."""
    return conjunction(comparison("==", one, other, schema) for one, other in zip(left, right, strict=True))


def _matched(left: Node, match: Match, is_anti: bool) -> Node:
    """The semi-join or anti-join of a match."""
    right, condition, _ = _beside(left, match.node, match.condition)
    return Node(AntiJoin(condition) if is_anti else SemiJoin(condition), (left, right))


def _beside(
    left: Node, inner: Node, condition: Expression, wanted: Sequence[str] = ()
) -> tuple[Node, Expression, dict[str, str]]:
    """A query as the right side of a join, with the condition and the new names of its columns.

    Only columns that the condition reads, or that are `wanted`, remain. They are renamed if the left side has
    equal names.
    """
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
    """The condition that a condition is false or unknown."""
    if condition.kind(node.schema).nullable:
        return Logic("or", (Not(condition), IsNull(condition)))
    return Not(condition)


def _is_unknown_without(tree: exp.Expr) -> bool:
    """True if a comparison has one query, and is unknown if the query's value is."""
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
    """True if an expression has a query in it."""
    return next(_queries(tree), None) is not None


def _queries(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The queries in an expression, without nested ones; not recursive, as chains of OR are long."""
    parts = tree.dfs(prune=lambda part: isinstance(part, exp.Query))
    return (part for part in parts if isinstance(part, exp.Query))
