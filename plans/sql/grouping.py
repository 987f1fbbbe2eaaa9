"""GROUP BY and aggregate functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from midstream.plans.algebra.operators import Aggregate, Project
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.scaling import scaled
from midstream.plans.expressions.aggregates import AggregateCall, Estimate, UserAggregate
from midstream.plans.expressions.expressions import Cast, Col, Const, Expression
from midstream.plans.sql.faults import Span, span
from midstream.plans.sql.nodes import in_words
from midstream.plans.sql.place import Place
from midstream.plans.sql.scope import reads_outer
from midstream.plans.sql.syntax import AGGREGATES, ESTIMATES
from midstream.plans.values.errors import MidstreamError, SqlError
from midstream.plans.values.schema import Type, unused


def shallow(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of an expression, without the parts of queries in it."""
    return tree.walk(prune=lambda part: isinstance(part, exp.Query))


def aggregates_in(tree: exp.Expr, place: Place) -> list[exp.Expr]:
    """The outermost calls of aggregate functions in an expression."""
    parts = tree.walk(prune=lambda part: isinstance(part, exp.Query) or is_aggregate(part, place))
    return [part for part in parts if is_aggregate(part, place)]


def is_aggregate(tree: exp.Expr, place: Place) -> bool:
    """True for a call of an aggregate function."""
    if not isinstance(tree, exp.Anonymous):
        return False
    name = tree.name.lower()
    return name in AGGREGATES or name in ESTIMATES or name in place.aggregates


class Grouping:
    """Rows in groups, with the place above them, where grouped expressions and aggregates are columns.

    keys     the grouping expressions
    trees    the expressions whose aggregate functions are computed
    """

    def __init__(self, place: Place, keys: Sequence[Expression], trees: Iterable[exp.Expr]) -> None:
        self._below = place
        found = [tree for item in trees for tree in aggregates_in(item, place)]
        calls = [self._call(tree) for tree in found]
        self._estimates = [
            tree for tree, call in zip(found, calls, strict=True) if isinstance(call, Estimate)
        ]
        taken = list(place.scope.node.schema.names)
        self._keys: dict[Expression, str] = {}
        for key in keys:
            if key not in self._keys:
                name = key.name if isinstance(key, Col) else unused(str(key), taken)
                taken.append(name)
                self._keys[key] = name
        self._calls: dict[AggregateCall | Estimate, str] = {}
        for call in calls:
            if call not in self._calls:
                self._calls[call] = unused(str(call), taken)
                taken.append(self._calls[call])
        self.place = self._above()

    def column(self, key: Expression) -> Expression:
        """The column that a grouping expression has become."""
        return Col(self._keys[key])

    def over_nothing(self) -> Place:
        """The place over no rows, where COUNT is 0 and all other aggregates are unknown."""

        def special(tree: exp.Expr) -> Expression | None:
            if is_aggregate(tree, self._below):
                call = self._call(tree)
                if isinstance(call, Estimate):
                    return Const(0.0) if call.name == "count" else Cast(Const(None), Type.FLOAT)
                type_ = call.column("result", self._below.scope.node.schema).type
                return Const(0) if call.function == "count" else Cast(Const(None), type_)
            if isinstance(tree, exp.Column) and not reads_outer(self._below.reader().read(tree)):
                raise self._ungrouped(tree)
            return None

        return replace(self.place, special=special)

    def of_star(self, item: Expression, at: Span | None) -> Expression:
        """A column of `*`, which must be a key."""
        if item not in self._keys:
            raise self._below.scope.script.fault(
                f"column {item} of * is neither grouped by nor in an aggregate function", at
            )
        return Col(self._keys[item])

    def _above(self) -> Place:
        scope = self._below.scope
        node = scope.node
        if any(not isinstance(key, Col) for key in self._keys):
            read = sorted(
                {name for call in self._calls for name in call.columns()} - set(self._keys.values())
            )
            columns = [(name, key) for key, name in self._keys.items()] + [(name, Col(name)) for name in read]
            node = Node(Project(tuple(columns)), (node,))
        with scope.script.at(lambda: span(self._estimates[0]) if self._estimates else None):
            node, calls = scaled(node, {name: call for call, name in self._calls.items()})
        node = Node(Aggregate(tuple(self._keys.values()), calls), (node,))
        kept = {key.name for key in self._keys if isinstance(key, Col)}
        items = tuple(
            replace(item, columns={name: c for name, c in item.columns.items() if c in kept})
            for item in scope.items
        )
        merged = {column: shown for column, shown in scope.merged.items() if shown in kept}
        above = replace(scope, node=node, items=items, merged=merged, ungrouped=scope)
        return replace(self._below, scope=above, special=self._special)

    def _special(self, tree: exp.Expr) -> Expression | None:
        if is_aggregate(tree, self._below):
            return Col(self._calls[self._call(tree)])
        if aggregates_in(tree, self._below) or any(isinstance(part, exp.Query) for part in shallow(tree)):
            return None  # no key has an aggregate or a query in it
        if isinstance(tree, exp.Literal | exp.Boolean | exp.Null):
            return None
        plain = self._below.reader().read(tree)
        if plain in self._keys:
            return Col(self._keys[plain])
        if isinstance(tree, exp.Column) and not reads_outer(plain):
            raise self._ungrouped(tree)
        return None

    def _ungrouped(self, tree: exp.Column) -> SqlError:
        return self._below.scope.script.fault(
            f"column {tree.sql()} is neither grouped by nor in an aggregate function", span(tree)
        )

    def _call(self, tree: exp.Expr) -> AggregateCall | Estimate:
        name = tree.name.lower()
        if name in ESTIMATES:
            return self._estimate(tree, is_error=ESTIMATES[name])
        return self._plain_call(tree, name)

    def _estimate(self, tree: exp.Expr, *, is_error: bool) -> Estimate:
        script, arguments = self._below.scope.script, list(tree.expressions)
        if len(arguments) != 1 or not is_aggregate(arguments[0], self._below):
            raise script.fault(
                f"{tree.name.lower()}: found {', '.join(map(in_words, arguments)) or 'nothing'}, expected an "
                "aggregate function, as in scaled(count(*))",
                span(tree),
            )
        call = self._call(arguments[0])
        if isinstance(call, Estimate):
            raise script.fault(f"{tree.name.lower()}: found {call}, expected count or sum", span(tree))
        try:
            return Estimate(call, is_error)
        except MidstreamError as error:
            raise script.fault(str(error), span(tree)) from error

    def _plain_call(self, tree: exp.Expr, name: str) -> AggregateCall:
        script = self._below.scope.script
        arguments = list(tree.expressions)
        distinct = bool(arguments) and isinstance(arguments[0], exp.Distinct)
        if distinct:
            arguments = [*arguments[0].expressions, *arguments[1:]]
        for argument in arguments:
            if any(is_aggregate(part, self._below) for part in shallow(argument)):
                raise script.fault("an aggregate function in another one is not supported", span(argument))
        user: UserAggregate | None = self._below.aggregates.get(name)
        function: str | UserAggregate = user if user is not None else AGGREGATES[name]
        k: int | None = None
        if function == "top_k" or (function in ("max", "min") and len(arguments) == 2):
            function, k = self._top(tree, arguments, name)
        if any(isinstance(argument, exp.Star) for argument in arguments) and (name != "count" or distinct):
            instead = "; count the rows of (SELECT DISTINCT * FROM …)" if name == "count" else ""
            raise script.fault(
                f"{name} of {'DISTINCT ' if distinct else ''}* is not supported{instead}", span(tree)
            )
        if function == "count" and not distinct and arguments and isinstance(arguments[0], exp.Star):
            if len(arguments) > 1:
                raise script.fault(f"{name}: found * beside other arguments, expected it alone", span(tree))
            return AggregateCall("count")
        if len(arguments) != 1:
            raise script.fault(f"{name}: found {len(arguments)} arguments, expected one", span(tree))
        value = self._below.reader().value(arguments[0])
        if reads_outer(value):
            raise script.fault(
                "a column of the outer query, in an aggregate function, is not supported", span(tree)
            )
        try:
            call = AggregateCall(function, value, distinct, k)
            call.column("result", self._below.scope.node.schema)
        except MidstreamError as error:
            raise script.fault(str(error), span(tree)) from error
        return call

    def _top(self, tree: exp.Expr, arguments: list[exp.Expr], name: str) -> tuple[str, int]:
        script = self._below.scope.script
        if name == "min" or len(arguments) != 2:
            raise script.fault(
                f"{name}: found {len(arguments)} arguments, expected a value and k", span(tree)
            )
        k = self._below.reader().read(arguments.pop())
        if not isinstance(k, Const) or type(k.value) is not int:
            raise script.fault(f"{name}: found {k} for k, expected a positive integer", span(tree))
        return "top_k", k.value
