"""Scopes: the names that can be used at one place of a query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Col, Expression
from midstream.plans.sql.faults import Script, span
from midstream.plans.sql.hints import hint
from midstream.plans.values.errors import SqlError
from midstream.plans.values.schema import Column, Schema

OUTER = "\0outer "
"""The prefix of the names of columns of the outer query, until both queries are joined."""


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a FROM clause: its alias, and the plan's columns by the names that a query uses.

    stream          the name of the stream, which its alias replaces
    time            the column that the stream is ordered by, which its rows lack
    original_names  the names as written, which may repeat; those in `columns` are distinct
    times           "date", "timestamp" or "interval" for columns that hold these, by the names in `columns`
    """

    alias: str
    columns: Mapping[str, str]
    stream: str | None = None
    time: str | None = None
    original_names: tuple[str, ...] = ()
    times: Mapping[str, str] = field(default_factory=dict)

    def find(self, name: str) -> str | None:
        """The column with a name, in any case; the exact case decides between several."""
        if name in self.columns:
            return self.columns[name]
        return next((c for own, c in self.columns.items() if own.lower() == name.lower()), None)

    def time_of(self, name: str) -> str | None:
        """ "date", "timestamp" or "interval" if a column holds these."""
        return next((time for own, time in self.times.items() if own.lower() == name.lower()), None)

    def is_ambiguous(self, name: exp.Identifier) -> bool:
        """True if several columns were written with that name; a quoted name depends on case."""
        if name.args.get("quoted"):
            return self.original_names.count(name.name) > 1
        return [own.lower() for own in self.original_names].count(name.name.lower()) > 1


@dataclass(frozen=True)
class Scope:
    """The items of a FROM clause, and the scope of the outer query.

    merged      the columns of JOIN … USING, which need no alias, with the columns that they stand for
    obstacle    the reason why the outer scope cannot be read: the clause in between
    before      items before a comma, which conditions of joins behind it cannot read
    ungrouped   above a grouping, the scope below it
    """

    script: Script
    node: Node
    items: tuple[Item, ...]
    merged: Mapping[str, str] = field(default_factory=dict)
    outer: Scope | None = None
    obstacle: str | None = None
    before: tuple[Item, ...] = ()
    ungrouped: Scope | None = None

    @property
    def schema(self) -> Schema:
        """All columns that expressions here may read; those of the outer scope have prefixed names."""
        if self.outer is None or self.obstacle is not None:
            return self.node.schema
        around = (Column(OUTER + c.name, c.type, c.nullable) for c in self.outer.node.schema)
        return Schema((*self.node.schema, *around))

    def resolve(self, column: exp.Column) -> Expression:
        """The expression of a column: the innermost scope with its qualifier, or else with its name, decides.

        Raises SqlError where it is unknown, ambiguous, or further out than can be read.
        """
        obstacle = None
        for depth, scope in enumerate(self._outwards()):
            if (found := scope.find(column)) is not None:
                if obstacle is not None:
                    raise self.script.fault(f"{column.sql()} belongs to {obstacle}", span(column))
                return Col(OUTER + found if depth else found)
            if scope._hides(column):
                break
            if obstacle is None and scope.obstacle is not None:
                obstacle = f"the outer query, which is not supported in {scope.obstacle}"
            elif obstacle is None and depth:
                obstacle = (
                    "a query two levels further out, which is not supported; only the outer query can be "
                    "referred to"
                )
        raise self._unknown(column)

    def _hides(self, column: exp.Column) -> bool:
        """True if a column that is not found here cannot be one further out.

        Its qualifier is here, or it stands before a comma, or it is a timestamp that rows lack.
        """
        items = (*self.items, *self.before)
        if column.table:
            return any(item.alias.lower() == column.table.lower() for item in items)
        name = column.name.lower()
        return any((item.time or "").lower() == name for item in items) or any(
            item.find(name) is not None for item in self.before
        )

    def time_of(self, column: exp.Column) -> str | None:
        """ "date", "timestamp" or "interval" if a column holds these."""
        for scope in self._outwards():
            for item in (scope.ungrouped or scope).items:
                if column.table.lower() in ("", item.alias.lower()) and item.find(column.name) is not None:
                    return item.time_of(column.name)
        return None

    def knows(self, column: exp.Column) -> bool:
        """True if a column can be found here or further out."""
        return any(scope.find(column) is not None for scope in self._outwards())

    def find(self, column: exp.Column) -> str | None:
        """The plan's column for a column here, not further out; None if there is none."""
        name = column.name
        if column.args.get("db") is not None:
            raise self.script.fault(f"found {column.sql()}, expected a column or alias.column", span(column))
        items = [self.item(column.table)] if column.table else self.items
        found = {there: item for item in items if item and (there := item.find(name)) is not None}
        if not found and self.ungrouped is not None and self.ungrouped.find(column) is not None:
            raise self.script.fault(
                f"column {column.sql()} is neither grouped by nor in an aggregate function", span(column)
            )
        for item in found.values():
            if item.is_ambiguous(column.this):
                raise self.script.fault(
                    f"column {name} is ambiguous: {item.alias} has two columns of that name; give one of "
                    f"them another name where {item.alias} gets its rows",
                    span(column),
                )
        shown = {there if column.table else self.merged.get(there, there) for there in found}
        if len(shown) > 1:
            aliases = [item.alias for item in found.values()]
            raise self.script.fault(
                f"column {name} is ambiguous: it is in {' and '.join(aliases)}; write {aliases[0]}.{name}",
                span(column),
            )
        return next(iter(shown), None)

    def item(self, name: str) -> Item | None:
        """The item with a name."""
        return next((item for item in self.items if item.alias.lower() == name.lower()), None)

    def _unknown(self, column: exp.Column) -> SqlError:
        if self.before and replace(self, items=self.before).find(column) is not None:
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
                renamed = [item.alias for item in items if (item.stream or "").lower() == table.lower()]
                at = span(column.args["table"])
                if renamed:
                    return self.script.fault(
                        f"there is no stream {table} here: it is called {' and '.join(renamed)}", at
                    )
                return self.script.unknown("stream", table, [item.alias for item in items], at)
            return self.script.unknown(
                f"column in {matching[0].alias} of the name", column.name, matching[0].columns, span(column)
            )
        if instead := hint(column.name):
            return self.script.fault(f"{column.name} is not supported{instead}", span(column))
        return self.script.unknown(
            "column", column.name, [name for item in items for name in item.columns], span(column)
        )

    def _outwards(self) -> Iterator[Scope]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer


def reads_outer(expression: Expression) -> bool:
    """True if an expression reads a column of the outer query."""
    return any(name.startswith(OUTER) for name in expression.columns())
