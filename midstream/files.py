"""Streams from files, and queries in SQL over them and over declared streams."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from midstream.plans.algebra.builder import Stream, plan_of, recorded_stream
from midstream.plans.values.arguments import require, require_name, wrong
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.units import MICROSECONDS

if TYPE_CHECKING:
    from midstream.plans.algebra.plan import Plan
    from midstream.plans.sql.catalog import Catalog

Option = str | bool | Sequence[str]
"""The value of an option; several for those that may be given several times."""


def read_csv(path: str | os.PathLike[str], name: str | None = None, **options: Option) -> Stream:
    """The stream of a CSV file, or of the files of a pattern, with the types that the file shows.

    The plan knows where its elements are: `ms.run` needs none. They are read when it runs, in chronons of a
    microsecond, or of a nanosecond if the file's timestamps are as fine.

    name       the stream's name; by default the file's
    options    as in SQL: delim, quote, header, decimal_separator, thousands, encoding, format, time_of_day,
               nullstr, sparse, sort; time, the column that orders the rows; unit, of integer timestamps;
               types, such as "n TEXT, price REAL"

    Raises   InputFileError for a file that cannot be read, or in more than one way; ConnectorError for
             options that do not fit; MissingExtra without DuckDB.

    >>> import midstream as ms
    >>> from datetime import timedelta
    >>> size = open("orders.csv", "w").write("at;country\\n2026-11-27 10:00;DE\\n2026-11-27 10:04;FR\\n")
    >>> orders = ms.read_csv("orders.csv").window(timedelta(minutes=10))
    >>> [payload for _, _, payload in ms.run(orders.aggregate(orders=ms.count()))]
    [(1,), (2,), (1,)]
    """
    return _read("read_csv", path, name, options)


def read_json(path: str | os.PathLike[str], name: str | None = None, **options: Option) -> Stream:
    """The stream of a file in JSON Lines, or of the files of a pattern.

    Options are encoding, format, time_of_day, sparse, sort, time, unit and types; all else is as in
    `read_csv`.
    """
    return _read("read_json", path, name, options)


def read_parquet(path: str | os.PathLike[str], name: str | None = None, **options: Option) -> Stream:
    """The stream of a Parquet file, or of the files of a pattern; it needs pyarrow.

    Options are format, time_of_day, sparse, sort, time, unit and types; all else is as in `read_csv`.
    """
    return _read("read_parquet", path, name, options)


def _read(
    function: str, path: str | os.PathLike[str], name: str | None, options: dict[str, Option]
) -> Stream:
    from dataclasses import replace

    from midstream.io.sniffing.file_streams import FileElements, FileStreams

    if not isinstance(path, str | os.PathLike):
        raise wrong(f"{function}: path", path, "a path")
    pairs: list[tuple[str, str | bool]] = []
    for option, value in options.items():
        values = [value] if isinstance(value, str | bool) else value
        if not isinstance(values, list | tuple) or not all(isinstance(one, str | bool) for one in values):
            raise wrong(f"{function}: {option}", value, "a text, True or False, or a list of texts")
        pairs += [(option, one) for one in values]
    files = FileStreams()
    declared = files.declared(os.fspath(path), function, pairs, frozenset())
    if name is not None:
        require_name(function, name, "the name of a stream")
        declared = replace(declared, name=name)
    # Chronons of all files are alike, so that their streams can be joined, unless one needs finer ones.
    unit = min(declared.unit or MICROSECONDS, MICROSECONDS, key=lambda one: one.nanoseconds)
    return recorded_stream(declared.name, declared.schema, unit, FileElements(declared, unit, files))


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
    from midstream.io.sniffing.file_streams import FileStreams
    from midstream.plans.sql.catalog import Catalog

    if unit is not None:
        require_name("catalog", unit, "a unit of time such as 'seconds', or None")
    try:
        return Catalog(unit, checks=True, files=FileStreams())
    except ValueError as error:
        raise ArgumentError(f"catalog: {error}") from error


new_catalog = catalog


def sql(script: str, catalog: Catalog | None = None) -> Plan:
    """The plan of the query in a script, over files and the streams that the script, or a catalog, declares.

    A path in FROM is a stream: `FROM 'orders.csv'`, `FROM read_csv('orders.csv', time = 'at')`. `ms.run`
    reads such files, and those of declared sources, where it is given no elements.

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
    return plan_of("sql", (new_catalog() if catalog is None else catalog).query(script))
