"""The query of a study: declared as a list of joins, or in SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping

from midstream.plans.algebra.builder import Stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.expressions.aggregates import MEANING, AggregateCall, count
from midstream.plans.expressions.expressions import Col
from midstream.plans.values.errors import InputFileError, MidstreamError, SqlError
from midstream.plans.values.schema import Schema, suggest
from midstream.scenarios.streams.recorded.renaming import studied
from midstream.scenarios.streams.recorded.toml_table import TomlTable

Equality = tuple[str, str]


def build_query(table: TomlTable, streams: Mapping[str, Stream]) -> Plan:
    """The plan of a `[query]`: the joins in the order written, then the grouping.

    Each join adds one more stream, on all listed equalities between it and the streams before it.

    Raises   InputFileError, naming file and key.
    """
    table.allow("joins", "group_by", "aggregates")
    owners = _owners(table, streams)
    equalities = [_equality(table, pair, owners) for pair in _listed_joins(table)]
    start = owners[equalities[0][0]]
    joined, query = {start}, streams[start]
    for one, other in equalities:
        added = {owners[one], owners[other]} - joined
        if not added:
            continue
        if len(added) > 1:
            raise table.unexpected("joins", f"{one} or {other} to belong to a stream that was joined before")
        (name,) = added
        conditions = [pair for pair in equalities if _links(pair, joined, name, owners)]
        query = query.join(streams[name], on=conditions)
        joined.add(name)
    return _grouped(table, query).plan()


def query_in_sql(table: TomlTable, streams: Mapping[str, Schema], unit: str) -> Plan:
    """The plan of a query in SQL over streams.

    Raises   InputFileError, naming the file and the fault of the query.
    """
    # SQL takes 0.3 s to load, here and in workers.
    from midstream.plans.sql.catalog import Catalog

    catalog = Catalog(unit)
    for name, schema in streams.items():
        catalog.add_stream(name, schema)
    try:
        queries = catalog.execute(table.text("query"), f"{table.file}, key query")
    except SqlError as error:
        raise InputFileError(str(error), path=table.file, key="query") from error
    if len(queries) != 1:
        raise table.unexpected("query", "one query")
    return studied(queries[0].plan)


def _owners(table: TomlTable, streams: Mapping[str, Stream]) -> dict[str, str]:
    """The stream of each column."""
    owners: dict[str, str] = {}
    for stream, built in streams.items():
        for column in built.schema.names:
            if column in owners:
                raise InputFileError(
                    f"{table.file}: streams {owners[column]} and {stream} both have a column {column}, "
                    "expected different names for a query; give each stream an alias",
                    path=table.file,
                    column=column,
                )
            owners[column] = stream
    return owners


def _listed_joins(table: TomlTable) -> list[list[str]]:
    joins = table.entries.get("joins")
    expected = 'pairs of columns, for example [["a.x", "b.x"], ["b.x", "c.x"]]'
    if not isinstance(joins, list) or not joins:
        raise table.unexpected("joins", expected)
    for pair in joins:
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(name, str) for name in pair):
            raise table.unexpected("joins", expected)
    return joins


def _equality(table: TomlTable, pair: list[str], owners: Mapping[str, str]) -> Equality:
    for name in pair:
        if name not in owners:
            raise table.unexpected("joins", f"columns of the streams, not {name}{suggest(name, owners)}")
    one, other = pair
    if owners[one] == owners[other]:
        raise table.unexpected(
            "joins", f"{one} and {other} to belong to two streams, not both to {owners[one]}"
        )
    return one, other


def _links(pair: Equality, joined: set[str], added: str, owners: Mapping[str, str]) -> bool:
    sides = {owners[pair[0]], owners[pair[1]]}
    return added in sides and bool(sides & joined)


def _grouped(table: TomlTable, query: Stream) -> Stream:
    keys = table.texts("group_by")
    aggregates = table.table("aggregates")
    if not keys and aggregates is None:
        return query
    calls = {"count": count()} if aggregates is None else _calls(aggregates)
    try:
        return query.group_by(*keys).aggregate(**calls)
    except MidstreamError as error:
        raise InputFileError(f"{table.file}, key {table.place}: {error}", path=table.file) from error


def _calls(table: TomlTable) -> dict[str, AggregateCall]:
    calls = {}
    for name in table.entries:
        match = re.fullmatch(r"(\w+)\((.*)\)", table.text(name))
        if match is None or match[1] not in MEANING:
            raise table.unexpected(name, f"one of {', '.join(MEANING)} of a column, for example max(a.x)")
        calls[name] = AggregateCall(match[1], Col(match[2]) if match[2] else None)
    return calls
