"""Queries as users meet them: in SQL, and those that run in an engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from midstream.operators.engine.queries import RunningQuery
from midstream.operators.engine.query_graph import QueryGraph
from midstream.plans.values.arguments import require, require_name
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.streams import FOREVER

if TYPE_CHECKING:
    from midstream.plans.algebra.plan import Plan
    from midstream.plans.sql.catalog import Catalog
    from midstream.plans.values.streams import Time


@dataclass(frozen=True, repr=False)
class Query:
    """A query that runs, to be looked at: what it tells is true whenever it is asked."""

    _graph: QueryGraph
    _running: RunningQuery

    def __repr__(self) -> str:
        return f"<Query {self.name}>"

    @property
    def name(self) -> str:
        """Its name."""
        return self._running.name

    @property
    def plan(self) -> Plan:
        """As it was given, or the one to which a migration under way is moving."""
        return self._running.plan

    @property
    def physical(self) -> Plan:
        """As it runs; subplans that are being exchanged are Boxed."""
        return self._running.physical

    @property
    def complete_from(self) -> Time:
        """From this instant on its results are those of a query that has run from the beginning; FOREVER
        where that will never be so."""
        return self._running.complete_from

    @property
    def results(self) -> int:
        """How many results were given out."""
        return self._running.tally.results

    @property
    def is_exchanged(self) -> bool:
        """Whether a part of the plan is being exchanged."""
        return self._running.is_exchanged

    @property
    def is_logged(self) -> bool:
        """Whether a log is kept, of its windows and its outputs."""
        return self._running.is_logged

    @property
    def _runs(self) -> bool:
        """Whether it has not been removed."""
        return self._graph.queries.get(self.name) is self._running

    def progress(self, output: str | None = None) -> Time:
        """No later result of an output, by default the first, starts before this; FOREVER once the query has
        been removed."""
        root = self.physical.outputs[self._running.output(output)]
        return self._graph.base.progress_of(root) if self._runs else FOREVER


def catalog(unit: str | None = None) -> Catalog:
    """An empty catalog of streams, relations, functions and aggregates, for scripts to fill and to read.

    `unit` is what application time is counted in, and what integers count that are timestamps. Without it
    scripts say it, by SET time_unit or behind a stream; where nothing does, integers are refused by queries
    that count time, and dates are counted in microseconds.

    >>> import midstream as ms
    >>> shop = ms.catalog("seconds")
    >>> shop.execute("CREATE STREAM bid(item INT, price REAL, at TIMESTAMP) ORDERED BY at")
    []
    >>> shop.add_function("euros", lambda dollars: dollars * 0.9, "float")
    >>> print(shop.query("SELECT item, euros(price) AS price FROM bid WHERE price > 10").plan)
    project item, euros(price) as price
    └─ filter price > 10
       └─ source bid
    """
    from midstream.plans.sql.catalog import Catalog

    if unit is not None:
        require_name("catalog", unit, "a unit of time such as 'seconds', or None")
    try:
        return Catalog(unit, checks=True)
    except ValueError as error:
        raise ArgumentError(f"catalog: {error}") from error


def sql(script: str, catalog: Catalog | None = None) -> Plan:
    """The plan of the query in a script, over the streams that the script, or a catalog, declares.

    Raises SqlError, with line, column and a caret.

    >>> import midstream as ms
    >>> plan = ms.sql('''
    ...     SET time_unit = 'milliseconds';
    ...     CREATE STREAM bid(item INT, price REAL, at TIMESTAMP) ORDERED BY at;
    ...     SELECT item, MAX(price) AS top FROM bid WINDOW(RANGE 1 MINUTE) GROUP BY item;
    ... ''')
    >>> ms.run(plan, {"bid": ms.chronons([(0, (7, 12.5)), (30_000, (7, 9.0))])})
    [(0, 30000, (7, 12.5)), (30000, 60000, (7, 12.5)), (60000, 90000, (7, 9.0))]
    """
    from midstream.plans.sql.catalog import Catalog

    require_name("sql", script, "a script")
    if catalog is not None:
        require("sql: catalog", catalog, Catalog, "a catalog, or None")
    return (Catalog(None, checks=True) if catalog is None else catalog).query(script).plan
