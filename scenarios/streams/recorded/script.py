"""A study from a script: its CREATE STREAMs declare the streams, and one of its queries is studied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from midstream.autopilot.looks import largest_window
from midstream.io.ingested import is_ingested
from midstream.io.text_file import read_text
from midstream.io.time_units import NANOSECONDS, UNITS, Clock
from midstream.plans.sql.declarations import StreamDeclaration
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.instants import EPOCH
from midstream.plans.values.schema import suggest
from midstream.plans.values.units import TimeUnit
from midstream.scenarios.streams.recorded.declaration import (
    FOLDER,
    SPARK_FORMATS,
    RecordedStream,
    Study,
    format_of,
    load_study,
)
from midstream.scenarios.streams.recorded.feeds import FILE_SOURCES, Feed, feeds_of_script, feeds_of_study
from midstream.scenarios.streams.recorded.renaming import studied

if TYPE_CHECKING:
    from midstream.plans.sql.catalog import Query

SCRIPTS = (".sql",)
"""The suffixes of scripts."""


def load_declared(name: str, data: Path | str | None = None, query: str | None = None) -> Study:
    """A study from a declaration or a script.

    Raises   InputFileError, and other errors of reading it.
    """
    if Path(name).suffix in SCRIPTS:
        return load_script(name, data, query)
    if query is not None:
        raise InputFileError(
            f"{name}: found --query {query}, expected none: a declaration has one query", path=name
        )
    return load_study(name, data)


def load_feeds(name: str, data: Path | str | None = None) -> tuple[Study, list[Feed]]:
    """The files behind all streams of a declaration or a script, and a study of them.

    The study of a script has neither streams nor a query: it says how time is shown.

    Raises   MidstreamError, as `feeds_of_script` and `load_study`.
    """
    if Path(name).suffix not in SCRIPTS:
        study = load_study(name, data)
        return study, feeds_of_study(study)
    feeds = feeds_of_script(name, None if data is None else str(data))
    stem = Path(name).stem
    return Study(stem, stem, Clock(_unit(name, feeds[0].chronon), EPOCH), {}, None), feeds


def load_script(script: str, data: Path | str | None = None, query: str | None = None) -> Study:
    """The study of a script's query; by its name, where there are several.

    Relative paths are relative to `data`, by default to the working folder. `data` may also be a folder into
    which the streams were ingested.

    Raises   SqlError; InputFileError where the query is ambiguous, or a stream is not recorded in files.
    """
    # As in `query_in_sql`: studies without a script do not load SQL.
    from midstream.plans.sql.catalog import Catalog

    catalog = Catalog(None)
    found = catalog.execute(read_text(script), script)
    chosen = _chosen(script, found, query)
    plan = studied(chosen.plan)
    read = {source.stream: catalog.streams.get(source.stream) for source in plan.sources}
    streams = {
        name: _recorded(script, declared, largest_window(plan) or 1, catalog.unit, data)
        for name, declared in read.items()
        if declared is not None
    }
    return Study(
        name=Path(script).stem,
        title=Path(script).stem if len(found) == 1 else f"{Path(script).stem}, query {chosen.name}",
        clock=Clock(_unit(script, catalog.unit), EPOCH),
        streams=streams,
        query=plan,
    )


def _chosen(script: str, queries: Sequence[Query], name: str | None) -> Query:
    names = [query.name for query in queries]
    if name is None and len(queries) == 1:
        return queries[0]
    if name is None or name not in names:
        found = f"no query {name}{suggest(name, names)}" if name else f"{len(queries)} queries"
        expected = f"--query with one of {', '.join(names)}" if names else "one at least"
        raise InputFileError(f"{script}: found {found}, expected {expected}", path=script)
    return queries[names.index(name)]


def _recorded(
    script: str, declared: StreamDeclaration, window: int, chronon: TimeUnit, data: Path | str | None
) -> RecordedStream:
    place = f"{script}, stream {declared.name}"
    if declared.ordered_by is None:
        raise InputFileError(f"{place}: found no timestamps, expected ORDERED BY a column", path=script)
    recorded = RecordedStream(
        name=declared.name,
        path="",
        format=FOLDER,
        time=declared.ordered_by,
        where=dict(declared.where),
        columns=declared.schema,
        window=window,
    )
    if data is not None and is_ingested(data):
        return replace(recorded, path=str(data))
    path, form = _file(script, declared)
    unit = declared.unit or chronon
    if form != FOLDER and unit != chronon:
        raise InputFileError(
            f"{place}: found timestamps in {unit.name}, expected {chronon.name}, as all streams have "
            "together; or ingest the streams first, and give the folder as --data",
            path=script,
        )
    return replace(recorded, path=path if data is None else str(Path(data) / path), format=form)


def _file(script: str, declared: StreamDeclaration) -> tuple[str, str]:
    """The path and the format of a stream's source."""
    source = declared.source
    kind = "" if source is None else source.kind.lower()
    if source is not None and source.arguments and isinstance(source.arguments[0], str):
        path = source.arguments[0]
        if kind == "ingested" and len(source.arguments) == 1:
            return path, FOLDER
        if kind in FILE_SOURCES and not declared.has_intervals:
            form = FILE_SOURCES[kind]
            known = format_of(path) if form is None else SPARK_FORMATS[form]
            if known is not None:
                return path, known
    kinds = ", ".join(f"{kind}('path')" for kind in ("csv", "jsonl", "parquet", "file", "ingested"))
    found = "no source" if source is None else f"the source {source}"
    raise InputFileError(
        f"{script}, stream {declared.name}: found {found}, expected one of {kinds}; or a folder that ingest "
        "has made, as --data",
        path=script,
    )


def _unit(script: str, unit: TimeUnit) -> str:
    if unit.nanoseconds not in UNITS:
        raise InputFileError(
            f"{script}: found time in {unit.name}, expected one of {', '.join(NANOSECONDS)}", path=script
        )
    return UNITS[unit.nanoseconds]
