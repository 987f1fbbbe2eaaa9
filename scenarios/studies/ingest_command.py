"""`midstream study ingest`."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from midstream.console.help import examples
from midstream.console.options import AsJson
from midstream.io.new_file import nothing_written
from midstream.io.requirements import require_spark
from midstream.io.time_units import UNITS, Clock
from midstream.plans.values.errors import ArgumentError, MidstreamError
from midstream.scenarios.studies.declaration import load_study
from midstream.scenarios.studies.options import MASTER, errors_of
from midstream.scenarios.studies.script import SCRIPTS
from midstream.scenarios.studies.steps import steps

EPILOG = examples(
    "midstream study ingest nycflights13 --data recordings --output streams",
    "midstream study ingest query.sql --data recordings --output streams",
)


def ingest(
    study: Annotated[
        str,
        typer.Argument(
            metavar="STREAMS",
            help="What declares the streams: a study (.toml, or a ready-made one) or a script (.sql).",
        ),
    ],
    output: Annotated[Path, typer.Option(help="The folder for the streams; new files are added to it.")],
    data: Annotated[
        Path | None,
        typer.Option(
            help="The folder to which paths are relative; by default that of a study, for a script this one."
        ),
    ] = None,
    slack: Annotated[
        str | None,
        typer.Option(help="Put rows into the quarantine that come later than so, for example 90s."),
    ] = None,
    master: MASTER = "local[*]",
    as_json: AsJson = False,
) -> None:
    """Read recorded streams into sorted Parquet files, with bad rows apart, and a manifest of what was read.

    A second run over more files reads only these. What killed it leaves the folder as it was.
    """
    from midstream.scenarios.studies.ingest.feeds import feeds_of_script, feeds_of_study

    if Path(study).suffix in SCRIPTS:
        feeds = feeds_of_script(study, None if data is None else str(data))
    else:
        feeds = feeds_of_study(load_study(study, data))
    with errors_of("--slack", ArgumentError):
        bound = None if slack is None else chronons_of_slack(slack, feeds[0].chronon.nanoseconds)
    require_spark()
    from midstream.scenarios.studies.ingest.ingest import ingest as ingested
    from midstream.scenarios.studies.ingest.report import ingest_summary, show_ingested
    from midstream.scenarios.studies.session import spark_session

    _require_apart([feed.path for feed in feeds], output)
    with ExitStack() as stack:
        with nothing_written():
            step = stack.enter_context(steps("starting Spark", *(f"stream {feed.name}" for feed in feeds)))
            spark = stack.enter_context(spark_session(master))
        found = ingested(spark, feeds, output, slack=bound, step=lambda _: step())
    summary = ingest_summary(found, str(output))
    if as_json:
        typer.echo(json.dumps(summary, indent=2, ensure_ascii=False))
    else:
        show_ingested(found, summary, Console())


def chronons_of_slack(text: str, chronon: int) -> int:
    """A slack such as "90s" in chronons of so many nanoseconds.

    Raises   ArgumentError
    """
    try:
        return Clock(UNITS[chronon]).chronons(text)
    except (ValueError, KeyError) as error:
        raise ArgumentError(str(error)) from error


def _require_apart(reads: list[str], output: Path) -> None:
    """Raise MidstreamError where the folder for the streams is, or holds, or lies in, what is read."""
    import re

    written = output.resolve()
    for path in reads:
        read = Path(re.split(r"[*?\[{]", path)[0]).resolve()
        if written == read or written in read.parents or read in written.parents:
            raise MidstreamError(f"--output: found {output}, which holds what is read, or lies in it: {path}")
