"""Queries in SQL as users meet them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from midstream.plans.values.arguments import require, require_name
from midstream.plans.values.errors import ArgumentError

if TYPE_CHECKING:
    from midstream.plans.algebra.plan import Plan
    from midstream.plans.sql import Catalog


def catalog(unit: str = "milliseconds") -> Catalog:
    """An empty catalog of streams, relations, functions and aggregates, for scripts to fill and to read.

    `unit` is what application time is counted in.

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
    from midstream.plans.sql import Catalog

    require_name("catalog", unit, "a unit of time such as 'seconds'")
    try:
        return Catalog(unit)
    except ValueError as error:
        raise ArgumentError(f"catalog: {error}") from error


def sql(script: str, catalog: Catalog | None = None) -> Plan:
    """The plan of the query in a script, over the streams that the script, or a catalog, declares.

    Raises SqlError, with line, column and a caret.

    >>> import midstream as ms
    >>> plan = ms.sql('''
    ...     CREATE STREAM bid(item INT, price REAL, at TIMESTAMP) ORDERED BY at;
    ...     SELECT item, MAX(price) AS top FROM bid WINDOW(RANGE 1 MINUTE) GROUP BY item;
    ... ''')
    >>> ms.run(plan, {"bid": ms.chronons([(0, (7, 12.5)), (30_000, (7, 9.0))])})
    [(0, 30000, (7, 12.5)), (30000, 60000, (7, 12.5)), (60000, 90000, (7, 9.0))]
    """
    from midstream.plans.sql import Catalog

    require_name("sql", script, "a script")
    if catalog is not None:
        require("sql: catalog", catalog, Catalog, "a catalog, or None")
    return (Catalog() if catalog is None else catalog).query(script).plan
