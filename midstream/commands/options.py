"""Arguments and options of the commands on scripts, and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from midstream.plans.values.errors import MidstreamError

if TYPE_CHECKING:
    from midstream.io.distinct_files import PossibleUse
    from midstream.plans.sql.catalog import Catalog, Query
    from midstream.plans.sql.declarations import SourceClause
    from midstream.plans.sql.faults import Script as ScriptText

GENERATED = "nexmark"
"""The value of --source that gives all streams generated auctions."""

Script = Annotated[str, typer.Argument(help="A file with a script in SQL; - is standard input.")]
Sources = Annotated[
    list[str] | None,
    typer.Option(
        "--source",
        help="NAME=PATH: a file for a stream or relation (.csv, .jsonl, .parquet; - is standard input), "
        "instead of the source in the script. nexmark: generated auctions for all streams.",
    ),
]
Output = Annotated[str, typer.Option(help="A file for the results; - is standard output.")]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", help="jsonl, csv, parquet, arrow or table; by default that of the suffix, or jsonl."
    ),
]
Rows = Annotated[
    int | None,
    typer.Option(min=0, help="The largest number of rows of each stream; of nexmark, of events in all."),
]
DeadLetters = Annotated[
    Path | None,
    typer.Option(help="A file for rows that do not fit or come late; else the first one ends the run."),
]
Slack = Annotated[
    str | None,
    typer.Option(help="The largest delay of rows: 90s, 2 minutes, or a number in units of time."),
]
Delay = Annotated[
    str | None,
    typer.Option(
        help="The longest time from the timestamp of a live row to its arrival: 5s, or a number in units of "
        "time. With it, time goes on by the clock while live sources are silent."
    ),
]
Idle = Annotated[
    str | None,
    typer.Option(
        help="The silence after which a live source does not hold up the others, such as 5s; off by default. "
        "With it, results depend on the clock: rows that come later are late."
    ),
]
Header = Annotated[bool, typer.Option(help="CSV files begin with the names of their columns.")]
Unit = Annotated[
    str | None,
    typer.Option(
        "--time-unit", help="The unit of integer timestamps and bare numbers, unless the script sets it."
    ),
]


class TimesForm(StrEnum):
    """The form of times in results."""

    ISO = "iso"
    INTEGER = "integer"


Times = Annotated[
    TimesForm | None,
    typer.Option(
        help="The form of times: 2013-01-01T05:17:00 (UTC), or integers in the unit of time; by default "
        "that of the input."
    ),
]
Stats = Annotated[
    Path | None, typer.Option(help="A file with statistics of the streams (JSON), else they are assumed.")
]
Functions = Annotated[
    Path | None,
    typer.Option(help="A Python file whose register(catalog) adds functions and aggregates for the script."),
]


def tell(notes: Sequence[str]) -> None:
    """Print notes for the user on standard error."""
    for note in notes:
        typer.echo(f"note: {note}", err=True)


def read(script: str, unit: str | None, functions: Path | None) -> tuple[Catalog, list[Query]]:
    """Read the script in a file: its catalog and its queries.

    Raises   MidstreamError where it has no query.
    """
    from midstream.commands.running import read_script

    return executed(lambda: read_script(script), unit, functions)


def executed(
    read_script: Callable[[], ScriptText], unit: str | None, functions: Path | None
) -> tuple[Catalog, list[Query]]:
    """Execute a script: its catalog and its queries.

    Raises   MidstreamError where it has no query.
    """
    from midstream.io.sniffing.file_streams import FileStreams
    from midstream.plans.values.units import TimeUnit
    from midstream.scenarios.streams.nexmark.scripts import auction_catalog

    try:
        catalog = auction_catalog(None if unit is None else TimeUnit.of(unit))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--time-unit") from error
    if functions is not None:
        _register(functions, catalog)
    catalog.files = FileStreams()
    text = read_script()
    queries = catalog.execute(text.text, text.name)
    if not queries:
        raise MidstreamError(f"{text.name}: found no query, expected a SELECT")
    for query in queries:
        name = f"{text.name}, {query.name}" if len(queries) > 1 else text.name
        tell([f"{name}: {note}" for note in query.notes])
    return catalog, queries


def slack_of(slack: str | None, catalog: Catalog) -> int | None:
    """The value of --slack in chronons."""
    return _duration(slack, catalog, "--slack")


def delay_of(delay: str | None, catalog: Catalog) -> int | None:
    """The value of --delay in chronons."""
    return _duration(delay, catalog, "--delay")


def idle_of(idle: str | None) -> float | None:
    """The value of --idle in seconds by the clock."""
    from midstream.plans.values.units import duration

    if idle is None:
        return None
    try:
        length = duration(idle)
    except ValueError as error:
        raise typer.BadParameter(f"found {idle!r}, expected {error}", param_hint="--idle") from error
    if length <= 0:
        raise typer.BadParameter(f"found {idle!r}, expected more than nothing", param_hint="--idle")
    return length / 10**9


def every_of(every: str | None, catalog: Catalog) -> int | None:
    """The value of --every in chronons."""
    return _duration(every, catalog, "--every", least=1)


def _duration(text: str | None, catalog: Catalog, option: str, least: int = 0) -> int | None:
    if text is None:
        return None
    try:
        return catalog.unit.duration(text, least=least, number_unit=catalog.number_unit)
    except ValueError as error:
        raise typer.BadParameter(f"found {text!r}, expected {error}", param_hint=option) from error


def _register(path: Path, catalog: Catalog) -> None:
    """Let a user's file add its functions to a catalog."""
    from midstream.commands.python_files import definitions, running

    register = definitions(path).get("register")
    if not callable(register):
        raise MidstreamError(f"{path}: found no function register(catalog)")
    with running(path):
        register(catalog)


def sources_of(catalog: Catalog, values: Sequence[str]) -> Mapping[str, str | SourceClause]:
    """The values of --source, by stream or relation."""
    from midstream.plans.sql.declarations import SourceClause

    found: dict[str, str | SourceClause] = {}
    names = {name.lower(): name for name in (*catalog.streams, *catalog.relations)}
    for text in values:
        name, is_named, path = text.partition("=")
        if text == GENERATED:
            continue
        if not is_named or not path:
            raise typer.BadParameter(f"found {text!r}, expected NAME=PATH, or nexmark", param_hint="--source")
        name = names.get(name.lower(), name)
        if name in found:
            raise MidstreamError(f"--source {name}: found {found[name]} and {path}, expected one source")
        found[name] = path
    if GENERATED in values:
        for declared in catalog.streams.values():
            if declared.source is None or declared.source.kind.lower() != GENERATED:
                found.setdefault(declared.name, SourceClause(GENERATED))
    return found


def also_read(script: str, functions: Path | None, to: str | None = None) -> list[PossibleUse]:
    """Files that a command reads besides its sources, and must not overwrite."""
    return [("SCRIPT", script), ("--functions", functions), ("--to", to)]
