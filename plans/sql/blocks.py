"""FROM and WHERE: the items of a query, joined as far as its conditions go, left to right."""

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
"""Joins, with the sides whose rows stay without a match."""


@dataclass(frozen=True)
class Part:
    """An item of FROM before it is joined: its rows, and what a query may call them.

    `on` is the condition it is joined on; `using` the names that both sides share; `kept` the sides, LEFT,
    RIGHT or both, whose rows stay without a match; `follows_comma` tells that it begins a group.
    """

    item: Item
    node: Node
    tree: exp.Expr
    on: exp.Expr | None = None
    using: tuple[exp.Identifier, ...] = ()
    kept: frozenset[str] = frozenset()
    follows_comma: bool = False


def qualified(script: Script, parts: Sequence[Part]) -> tuple[Part, ...]:
    """The parts with columns of distinct names: `alias.column`, where there are several parts.

    A single part stays as it is, so that queries over one stream share what they have in common.
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
    """Parts joined from left to right, in groups: a comma begins one, as it binds weaker than JOIN.

    A condition is put where all that it reads is there for the first time: on one part it is a filter, on
    several the condition of a join.
    """

    def __init__(self, script: Script, outer: Scope | None, obstacle: str | None) -> None:
        self._script = script
        self._outer, self._obstacle = outer, obstacle
        self._merged: dict[str, str] = {}
        self._items: list[Item] = []
        self._nodes: list[Node] = []
        # Where the items and the nodes of the group begin that is being joined.
        self._first_item = self._first_node = 0

    @property
    def scope(self) -> Scope:
        """What names stand for above all parts."""
        return self._scope(self._items, self._nodes)

    @property
    def group(self) -> Scope:
        """What names stand for above the parts joined since the last comma."""
        scope = self._scope(self._items[self._first_item :], self._nodes[self._first_node :])
        return replace(scope, before=tuple(self._items[: self._first_item]))

    def _scope(self, items: Sequence[Item], nodes: Sequence[Node]) -> Scope:
        node, merged = reduce(_product, nodes), dict(self._merged)
        return Scope(self._script, node, tuple(items), merged, self._outer, self._obstacle)

    def begin(self) -> None:
        """Begin a group with the next part."""
        self._first_item, self._first_node = len(self._items), len(self._nodes)

    def add(self, part: Part) -> Expression:
        """Join one more part on nothing yet; gives the equalities of its USING."""
        equalities: list[Expression] = []
        for identifier in part.using:
            # A name of USING belongs to the two sides, never to a query around.
            mine, theirs = (
                _in_using(scope, identifier)
                for scope in (replace(self.group, outer=None), Scope(self._script, part.node, (part.item,)))
            )
            schema = self.group.node.schema.concat(part.node.schema)
            equal = comparison("==", mine, theirs, schema)
            with self._script.at(partial(span, identifier)):
                equal.kind(schema)
            equalities.append(equal)
            self._merge(mine.name, theirs.name, theirs.name if part.kept == {"RIGHT"} else mine.name)
        self._items.append(part.item)
        self._nodes.append(part.node)
        return conjunction(equalities)

    def _merge(self, mine: str, theirs: str, shown: str) -> None:
        same = [column for column, old in self._merged.items() if old == mine]
        self._merged.update(dict.fromkeys([*same, mine, theirs], shown))

    def keep(self, part: Part, conditions: Sequence[Expression], on: Expression) -> None:
        """Make the join with the last part an outer one, on a condition; `conditions` are those of the joins
        before it in its group.

        Rows without a match are found by an anti-join, and get unknown values for the other side.
        """
        *before, right = self._nodes[self._first_node :]
        left = joined(before, conditions)
        columns = left.schema.names + right.schema.names
        rows = [Node(Join(on, columns), (left, right))]
        for side, kept, other in (("LEFT", left, right), ("RIGHT", right, left)):
            if side in part.kept:
                alone = Node(AntiJoin(on), (kept, other))
                rows.append(Node(Project(tuple((n, _or_unknown(n, kept, other)) for n in columns)), (alone,)))
        self._nodes[self._first_node :] = [Node(Union(), tuple(rows))]

    def on(self, conditions: Sequence[Expression]) -> Node:
        """All parts, joined on conditions."""
        return joined(self._nodes, conditions)


def _in_using(scope: Scope, identifier: exp.Identifier) -> Col:
    """The column of one side that a name of USING stands for; an error is shown at the name."""
    column = exp.Column(this=identifier.copy())
    column.meta.update(identifier.meta)
    found = scope.resolve(column)
    assert isinstance(found, Col)
    return found


def _or_unknown(name: str, kept: Node, other: Node) -> Expression:
    return Col(name) if name in kept.schema else Cast(Const(None), other.schema[name].type)


def joined(nodes: Sequence[Node], conditions: Sequence[Expression]) -> Node:
    """Join nodes from left to right on conditions, each as far down as it can be read; one that may raise is
    asked of what has met all the others."""
    parts = [inner for condition in conditions for inner in conjuncts(condition) if inner != TRUE]
    *before, right = nodes
    if not before:
        return Node(Filter(conjunction(parts)), (right,)) if parts else right
    columns = [name for node in before for name in node.schema.names]
    free = [part for part in parts if not may_raise(part)]
    in_left = [part for part in free if _reads_only(part, columns)]
    in_right = [part for part in free if _reads_only(part, right.schema.names)]
    rest = [part for part in parts if part not in in_left and part not in in_right]
    return _product(joined(before, in_left), joined([right], in_right), conjunction(rest))


def _product(left: Node, right: Node, condition: Expression = TRUE) -> Node:
    return Node(Join(condition, left.schema.names + right.schema.names), (left, right))


def _reads_only(condition: Expression, columns: Iterable[str]) -> bool:
    return bool(condition.columns()) and condition.columns() <= set(columns)
