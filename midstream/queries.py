"""Queries for users: in SQL, and running in an engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from midstream.operators.engine.graph.query_graph import QueryGraph
from midstream.operators.engine.running.queries import RunningQuery
from midstream.plans.algebra.builder import plan_of
from midstream.plans.values.arguments import require, require_name
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.streams import FOREVER

if TYPE_CHECKING:
    from midstream.plans.algebra.plan import Plan
    from midstream.plans.sql.catalog import Catalog
    from midstream.plans.values.streams import Time


@dataclass(frozen=True, repr=False)
class Query:
    """A running query to inspect; its properties are always those of the moment."""

    _graph: QueryGraph
    _running: RunningQuery

    def __repr__(self) -> str:
        return f"<Query {self.name}>"

    @property
    def name(self) -> str:
        """The query's name."""
        return self._running.name

    @property
    def plan(self) -> Plan:
        """The plan as it was given; during a migration, the new plan."""
        return self._running.plan

    @property
    def physical(self) -> Plan:
        """The physical plan; subplans that are being exchanged are Boxed."""
        return self._running.physical

    @property
    def complete_from(self) -> Time:
        """The instant from which on no result lacks an earlier element; FOREVER if there is none."""
        return self._running.complete_from

    @property
    def results(self) -> int:
        """The number of results so far."""
        return self._running.tally.results

    @property
    def is_exchanged(self) -> bool:
        """True if a part of the plan is being exchanged."""
        return self._running.is_exchanged

    @property
    def is_logged(self) -> bool:
        """True if the query's windows and outputs are logged."""
        return self._running.is_logged

    @property
    def _runs(self) -> bool:
        """False if the query has been removed."""
        return self._graph.queries.get(self.name) is self._running

    def progress(self, output: str | None = None) -> Time:
        """The time before which no later result of an output, by default the first, starts.

        It is FOREVER once the query has been removed.
        """
        root = self.physical.outputs[self._running.output(output)]
        return self._graph.base.progress_of(root) if self._runs else FOREVER


def catalog(unit: str | None = None) -> Catalog:
    """An empty catalog of streams, relations, functions and aggregates, which scripts fill and read.

    `unit` is the unit of application time and of integer timestamps. Without it scripts declare the unit, by
    SET time_unit or behind a stream. If nothing declares it, queries that count time refuse integers, and
    dates are counted in microseconds.

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
    return plan_of("sql", (Catalog(None, checks=True) if catalog is None else catalog).query(script))
