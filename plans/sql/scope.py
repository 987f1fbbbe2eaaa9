"""What names stand for at one place of a query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Col, Expression
from midstream.plans.sql.faults import Script, span
from midstream.plans.values.schema import Column, Schema

OUTER = "\0outer "
"""Put before the names of columns that belong to the query around this one, until both are put together."""


@dataclass(frozen=True, slots=True)
class Item:
    """What stands in a FROM clause: its alias, and the columns of the plan by the names that a query uses."""

    alias: str
    columns: Mapping[str, str]
    stream: str | None = None
    """The name of the stream, which may be used too where no alias is the same."""
    time: str | None = None
    """The column that the stream is ordered by, which is none of its rows'."""

    def find(self, name: str) -> str | None:
        """The column of that name, whatever its case; a quoted name decides between several."""
        if name in self.columns:
            return self.columns[name]
        return next((c for known, c in self.columns.items() if known.lower() == name.lower()), None)


@dataclass(frozen=True)
class Scope:
    """The items of a FROM clause, and the scope around it.

    `merged` are the columns of JOIN … USING, which need no alias: what stands for each of them. `before` are
    items before a comma, which conditions of joins behind it cannot read.
    """

    script: Script
    node: Node
    items: tuple[Item, ...]
    merged: Mapping[str, str] = field(default_factory=dict)
    outer: Scope | None = None
    before: tuple[Item, ...] = ()

    @property
    def schema(self) -> Schema:
        """All columns that expressions here may read, those of the scope around it under names of their
        own."""
        if self.outer is None:
            return self.node.schema
        around = (Column(OUTER + c.name, c.type, c.nullable) for c in self.outer.node.schema)
        return Schema((*self.node.schema, *around))

    def resolve(self, column: exp.Column) -> Expression:
        """What a column stands for. Raises SqlError where it is unknown, or ambiguous."""
        if (found := self._find(column)) is not None:
            return Col(found)
        if self.outer is not None:
            if (found := self.outer._find(column)) is not None:
                return Col(OUTER + found)
            if self.outer.outer is not None and self.outer.outer.knows(column):
                raise self.script.fault(
                    f"{column.sql()} belongs to a query two levels further out, which is not supported; "
                    "only the query around it can be referred to",
                    span(column),
                )
        raise self._unknown(column)

    def knows(self, column: exp.Column) -> bool:
        """Whether a column can be found here or further out."""
        return self._find(column) is not None or (self.outer is not None and self.outer.knows(column))

    def _find(self, column: exp.Column) -> str | None:
        name = column.name
        if column.args.get("db") is not None:
            raise self.script.fault(f"found {column.sql()}, expected a column or alias.column", span(column))
        if table := column.table:
            item = self.item(table)
            return None if item is None else item.find(name)
        found = {there: item.alias for item in self.items if (there := item.find(name)) is not None}
        shown = {self.merged[there] for there in found if there in self.merged} or found.keys()
        if len(shown) > 1:
            aliases = list(found.values())
            raise self.script.fault(
                f"column {name} is ambiguous: it is in {' and '.join(aliases)}; write {aliases[0]}.{name}",
                span(column),
            )
        return next(iter(shown), None)

    def item(self, name: str) -> Item | None:
        """The item that is called by a name."""
        for item in self.items:
            if item.alias.lower() == name.lower():
                return item
        same = [item for item in self.items if item.stream and item.stream.lower() == name.lower()]
        return same[0] if len(same) == 1 else None

    def _unknown(self, column: exp.Column) -> Exception:
        if self.before and replace(self, items=self.before)._find(column) is not None:
            return self.script.fault(
                f"{column.sql()} stands before a comma, which binds weaker than JOIN; write CROSS JOIN "
                "instead of the comma, or put the condition into WHERE",
                span(column),
            )
        scopes = list(self._outwards())
        items = [item for scope in scopes for item in scope.items]
        named = [scope.item(column.table) for scope in scopes] if column.table else items
        for item in named:
            if item is not None and item.time is not None and item.time.lower() == column.name.lower():
                return self.script.fault(
                    f"{item.time} is the timestamp that {item.stream or item.alias} is ordered by, and no "
                    "column of its rows; a result has it as its start",
                    span(column),
                )
        if table := column.table:
            matching = [item for scope in scopes if (item := scope.item(table)) is not None]
            if not matching:
                return self.script.unknown(
                    "stream", table, [item.alias for item in items], span(column.args["table"])
                )
            return self.script.unknown(
                f"column in {matching[0].alias} of the name", column.name, matching[0].columns, span(column)
            )
        return self.script.unknown(
            "column", column.name, [name for item in items for name in item.columns], span(column)
        )

    def _outwards(self) -> Iterator[Scope]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer


def reads_outer(expression: Expression) -> bool:
    """Whether an expression reads a column of the query around."""
    return any(name.startswith(OUTER) for name in expression.columns())
