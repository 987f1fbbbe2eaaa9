"""FROM and WHERE: the items of a query, joined as far as its conditions go, left to right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlglot import exp

from midstream.plans.expressions import TRUE, Cast, Col, Const, Expression, conjunction, conjuncts
from midstream.plans.logical import AntiJoin, Filter, Join, Project, Union
from midstream.plans.plan import Node
from midstream.plans.sql.faults import Script, span
from midstream.plans.sql.scope import Item, Scope


@dataclass(frozen=True)
class Part:
    """An item of FROM before it is joined: its alias, its rows, their columns by name, and, where it is a
    stream, its name and the column that it is ordered by.

    `on` is the condition it is joined on; `using` the names that both sides share; `kept` the sides, LEFT,
    RIGHT or both, whose rows stay without a match.
    """

    alias: str
    node: Node
    columns: dict[str, str]
    tree: exp.Expr
    stream: str | None = None
    time: str | None = None
    on: exp.Expr | None = None
    using: tuple[exp.Identifier, ...] = ()
    kept: frozenset[str] = frozenset()


def qualified(script: Script, parts: Sequence[Part]) -> tuple[Part, ...]:
    """The parts with columns of distinct names: `alias.column`, where there are several parts.

    A single part stays as it is, so that queries over one stream share what they have in common.
    """
    seen: dict[str, Part] = {}
    for part in parts:
        if part.alias.lower() in seen:
            raise script.fault(
                f"two streams are called {part.alias} here; give one of them an alias", span(part.tree)
            )
        seen[part.alias.lower()] = part
    if len(parts) == 1:
        return tuple(parts)
    return tuple(map(_qualified, parts))


def _qualified(part: Part) -> Part:
    names = {name: f"{part.alias}.{name}" for name in part.columns}
    renamed = tuple((names[name], Col(column)) for name, column in part.columns.items())
    return replace(part, node=Node(Project(renamed), (part.node,)), columns=names)


class JoinedParts:
    """Parts joined from left to right.

    A condition is put where all that it reads is there for the first time: on one part it is a filter, on
    several the condition of a join.
    """

    def __init__(self, script: Script, outer: Scope | None) -> None:
        self._script = script
        self._outer = outer
        self._merged: dict[str, str] = {}
        self._items: list[Item] = []
        self.node: Node | None = None
        self.count = 0
        """Of how many parts `node` is a tree of joins on nothing."""

    @property
    def scope(self) -> Scope:
        """What names stand for above all parts joined so far."""
        assert self.node is not None
        return Scope(self._script, self.node, tuple(self._items), dict(self._merged), self._outer)

    def add(self, part: Part) -> Expression:
        """Join one more part on nothing yet; gives the equalities of its USING."""
        equalities: list[Expression] = []
        for identifier in part.using:
            mine = self._using(identifier)
            theirs = Item(part.alias, part.columns).find(identifier.name)
            if theirs is None:
                raise self._script.unknown(
                    f"column in {part.alias} of the name", identifier.name, part.columns, span(identifier)
                )
            equal = Col(mine).eq(Col(theirs))
            with self._script.at(partial(span, identifier)):
                equal.kind(self.scope.node.schema.concat(part.node.schema))
            equalities.append(equal)
            self._merged[identifier.name.lower()] = theirs if part.kept == {"RIGHT"} else mine
        self._items.append(Item(part.alias, part.columns, part.stream, part.time))
        self.count += 1
        if self.node is None:
            self.node = part.node
        else:
            self.node = Node(
                Join(columns=self.node.schema.names + part.node.schema.names), (self.node, part.node)
            )
        return conjunction(equalities)

    def keep(self, part: Part, conditions: Sequence[Expression], on: Expression) -> None:
        """Make the join with the last part an outer one, on a condition; `conditions` are those of the joins
        before it.

        Rows without a match are found by an anti-join, and get unknown values for the other side.
        """
        assert self.node is not None
        left, right = placed(self.node.inputs[0], self.count - 1, conditions), part.node
        columns = left.schema.names + right.schema.names
        rows = [Node(Join(on, columns), (left, right))]
        for side, kept, other in (("LEFT", left, right), ("RIGHT", right, left)):
            if side in part.kept:
                alone = Node(AntiJoin(on), (kept, other))
                rows.append(Node(Project(tuple((n, _or_unknown(n, kept, other)) for n in columns)), (alone,)))
        self.node = Node(Union(), tuple(rows))
        self.count = 1

    def _using(self, identifier: exp.Identifier) -> str:
        column = self.scope.resolve(exp.Column(this=identifier.copy()))
        assert isinstance(column, Col)
        return column.name


def _or_unknown(name: str, kept: Node, other: Node) -> Expression:
    return Col(name) if name in kept.schema else Cast(Const(None), other.schema[name].type)


def placed(node: Node, count: int, conditions: Sequence[Expression]) -> Node:
    """Join `count` parts, which are joined on nothing, on conditions, each as far down as it can be read."""
    parts = [inner for condition in conditions for inner in conjuncts(condition) if inner != TRUE]
    if count == 1:
        return Node(Filter(conjunction(parts)), (node,)) if parts else node
    left, right = node.inputs
    in_left = [part for part in parts if _reads_only(part, left)]
    in_right = [part for part in parts if _reads_only(part, right)]
    rest = [part for part in parts if part not in in_left and part not in in_right]
    assert isinstance(node.operator, Join)
    return Node(
        Join(conjunction(rest), node.operator.columns),
        (placed(left, count - 1, in_left), placed(right, 1, in_right)),
    )


def _reads_only(condition: Expression, node: Node) -> bool:
    return bool(condition.columns()) and condition.columns() <= set(node.schema.names)
