"""FROM and WHERE: the items of a query, joined from left to right by its conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

from sqlglot import exp

from midstream.plans.algebra.operators import AntiJoin, Filter, Join, Project, Union
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import (
    TRUE,
    Cast,
    Col,
    Const,
    Expression,
    conjunction,
    conjuncts,
    may_raise,
)
from midstream.plans.sql.comparisons import comparison
from midstream.plans.sql.faults import Script, span
from midstream.plans.sql.scope import Item, Scope

_LEFT, _RIGHT = frozenset({"LEFT"}), frozenset({"RIGHT"})
JOINS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("", "INNER", "CROSS"), frozenset()),
    **dict.fromkeys(("LEFT", "LEFT OUTER"), _LEFT),
    **dict.fromkeys(("RIGHT", "RIGHT OUTER"), _RIGHT),
    **dict.fromkeys(("FULL", "FULL OUTER"), _LEFT | _RIGHT),
}
"""The joins, with the sides whose rows are preserved without a match."""


@dataclass(frozen=True)
class Part:
    """An item of FROM before it is joined: its rows, and the names that a query may use for them.

    `on` is its join condition; `using` are the names that both sides share; `preserved` are the sides, LEFT,
    RIGHT or both, whose rows stay without a match; `follows_comma` says that it begins a group.
    """

    item: Item
    node: Node
    tree: exp.Expr
    on: exp.Expr | None = None
    using: tuple[exp.Identifier, ...] = ()
    preserved: frozenset[str] = frozenset()
    follows_comma: bool = False


def qualified(script: Script, parts: Sequence[Part]) -> tuple[Part, ...]:
    """The parts with columns of distinct names: `alias.column` if there are several parts.

    A single part keeps its names, so that queries over one stream share subplans.
    """
    seen: dict[str, Part] = {}
    for part in parts:
        alias = part.item.alias
        if alias.lower() in seen:
            raise script.fault(
                f"two streams are called {alias} here; give one of them an alias", span(part.tree)
            )
        seen[alias.lower()] = part
    if len(parts) == 1:
        return tuple(parts)
    return tuple(map(_qualified, parts))


def _qualified(part: Part) -> Part:
    item = part.item
    names = {name: f"{item.alias}.{name}" for name in item.columns}
    renamed = tuple((names[name], Col(column)) for name, column in item.columns.items())
    return replace(part, node=Node(Project(renamed), (part.node,)), item=replace(item, columns=names))


class JoinedParts:
    """Parts joined from left to right, in groups: a comma begins a group, as it binds weaker than JOIN.

    A condition is applied at the first node that has all its columns: over one part it is a filter, over
    several parts the condition of a join.
    """

    def __init__(self, script: Script, outer: Scope | None, obstacle: str | None) -> None:
        self._script = script
        self._outer, self._obstacle = outer, obstacle
        self._merged: dict[str, str] = {}
        self._items: list[Item] = []
        self._nodes: list[Node] = []
        # The positions at which the items and nodes of the current group begin.
        self._first_item = self._first_node = 0

    @property
    def scope(self) -> Scope:
        """The scope above all parts."""
        return self._scope(self._items, self._nodes)

    @property
    def group(self) -> Scope:
        """The scope above the parts joined since the last comma."""
        scope = self._scope(self._items[self._first_item :], self._nodes[self._first_node :])
        return replace(scope, before=tuple(self._items[: self._first_item]))

    def _scope(self, items: Sequence[Item], nodes: Sequence[Node]) -> Scope:
        node, merged = reduce(_product, nodes), dict(self._merged)
        return Scope(self._script, node, tuple(items), merged, self._outer, self._obstacle)

    def begin(self) -> None:
        """Begin a group with the next part."""
        self._first_item, self._first_node = len(self._items), len(self._nodes)

    def add(self, part: Part) -> Expression:
        """Add a part, still without a condition; returns the equalities of its USING."""
        equalities: list[Expression] = []
        for identifier in part.using:
            # A name of USING belongs to the two sides, never to an outer query.
            mine, theirs = (
                _in_using(scope, identifier)
                for scope in (replace(self.group, outer=None), Scope(self._script, part.node, (part.item,)))
            )
            schema = self.group.node.schema.concat(part.node.schema)
            equal = comparison("==", mine, theirs, schema)
            with self._script.at(partial(span, identifier)):
                equal.kind(schema)
            equalities.append(equal)
            self._merge(mine.name, theirs.name, theirs.name if part.preserved == {"RIGHT"} else mine.name)
        self._items.append(part.item)
        self._nodes.append(part.node)
        return conjunction(equalities)

    def _merge(self, mine: str, theirs: str, shown: str) -> None:
        same = [column for column, old in self._merged.items() if old == mine]
        self._merged.update(dict.fromkeys([*same, mine, theirs], shown))

    def keep(self, part: Part, conditions: Sequence[Expression], on: Expression) -> None:
        """Make the join with the last part an outer join on a condition.

        `conditions` are those of the earlier joins of its group. An anti-join finds the rows without a match,
        which get unknown values for the other side.
        """
        *before, right = self._nodes[self._first_node :]
        left = joined(before, conditions)
        columns = left.schema.names + right.schema.names
        rows = [Node(Join(on, columns), (left, right))]
        for side, rows_of, other in (("LEFT", left, right), ("RIGHT", right, left)):
            if side in part.preserved:
                alone = Node(AntiJoin(on), (rows_of, other))
                shown = tuple((name, _or_unknown(name, rows_of, other)) for name in columns)
                rows.append(Node(Project(shown), (alone,)))
        self._nodes[self._first_node :] = [Node(Union(), tuple(rows))]

    def on(self, conditions: Sequence[Expression]) -> Node:
        """All parts, joined on conditions."""
        return joined(self._nodes, conditions)


def _in_using(scope: Scope, identifier: exp.Identifier) -> Col:
    """The column of one side for a name of USING; errors are shown at the name."""
    column = exp.Column(this=identifier.copy())
    column.meta.update(identifier.meta)
    resolved = scope.resolve(column)
    assert isinstance(resolved, Col)
    return resolved


def _or_unknown(name: str, preserved: Node, other: Node) -> Expression:
    return Col(name) if name in preserved.schema else Cast(Const(None), other.schema[name].type)


def joined(nodes: Sequence[Node], conditions: Sequence[Expression]) -> Node:
    """Join nodes from left to right, with each condition as far down as its columns allow.

    A condition that may raise is evaluated last, on rows that satisfy all others.
    """
    parts = [inner for condition in conditions for inner in conjuncts(condition) if inner != TRUE]
    *before, right = nodes
    if not before:
        return Node(Filter(conjunction(parts)), (right,)) if parts else right
    columns = [name for node in before for name in node.schema.names]
    free = [part for part in parts if not may_raise(part)]
    in_left = [part for part in free if _reads_only(part, columns)]
    in_right = [part for part in free if _reads_only(part, right.schema.names)]
    of_both = [part for part in parts if part not in in_left and part not in in_right]
    return _product(joined(before, in_left), joined([right], in_right), conjunction(of_both))


def _product(left: Node, right: Node, condition: Expression = TRUE) -> Node:
    return Node(Join(condition, left.schema.names + right.schema.names), (left, right))


def _reads_only(condition: Expression, columns: Iterable[str]) -> bool:
    return bool(condition.columns()) and condition.columns() <= set(columns)
