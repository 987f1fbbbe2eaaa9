"""The stage that ingests recorded streams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import Field

from midstream.scenarios.reports.contents import Report, Table
from midstream.scenarios.stages.base.options import Options
from midstream.scenarios.stages.base.request import Request
from midstream.scenarios.stages.base.stage import Outcome, Stage, Work
from midstream.scenarios.stages.base.summaries import Summary
from midstream.scenarios.streams.recorded.declaration import FOLDER, Study

if TYPE_CHECKING:
    from midstream.scenarios.stages.ingest.ingest import Ingested

NAME = "ingest"

SHOWN = 5
"""The number of files with bad rows that are listed by name."""


class IngestOptions(Options):
    """Options of ingestion."""

    slack: str | None = Field(
        default=None,
        description="The most by which a row may be late in its file, for example 90s; later ones go to the "
        "quarantine.",
    )


def _slack(request: Request, options: IngestOptions) -> int | None:
    return None if options.slack is None else request.chronons("slack", options.slack)


def _check(request: Request, options: IngestOptions) -> None:
    _slack(request, options)


def _run(work: Work, options: IngestOptions) -> tuple[Ingested, Outcome]:
    from midstream.scenarios.stages.ingest.ingest import ingest
    from midstream.scenarios.stages.ingest.summary import ingest_summary

    slack = _slack(work.request, options)
    found = ingest(work.spark, work.request.feeds, work.place, slack=slack, step=work.tell)
    summary = ingest_summary(found)
    inputs = found.manifest.inputs
    rows_in = sum(one.rows - one.other for one in inputs)
    rows_out = sum(one["rows"] for one in summary["streams"].values())
    return found, Outcome(summary, rows_in=rows_in, rows_out=rows_out)


def _ready(work: Work) -> None:
    """Read the streams from the folder into which they were ingested."""
    folder = str(work.folder / NAME)
    study = work.request.study
    streams = {name: replace(stream, path=folder, format=FOLDER) for name, stream in study.streams.items()}
    work.read_from(replace(study, streams=streams))


def _tell(study: Study, outcome: Outcome) -> Report:
    summary, clock = outcome.summary, study.clock
    rows = [
        (
            name,
            f"{one['rows']:,}",
            f"{one['files']:,}",
            *("–" if one[key] is None else clock.show(one[key]) for key in ("first", "last")),
            *(f"{number:,}" for number in (one["quarantined"], one["double"], one["disorder"]["late"])),
        )
        for name, one in summary["streams"].items()
    ]
    titles = ("stream", "rows", "files", "from", "to", "bad", "double", "late")
    late = [_late(name, one, summary["unit"]) for name, one in summary["streams"].items()]
    tables = [Table("Ingested streams", titles, rows), *(table for table in late if table is not None)]
    return Report(list(_facts(summary)), tables=tables)


def _facts(summary: Summary) -> Iterator[str]:
    """The files that were read, and the rows that differ from what was expected."""
    if summary["run"] is None:
        yield "There were no new files."
    else:
        yield f"{summary['rows']:,} rows of {summary['inputs']:,} files were read."
    for name, one in summary["streams"].items():
        if one["late_runs"]:
            yield f"{name}: {one['late_runs']:,} rows start before the last of an earlier run."
        if one["cut"]:
            yield f"{name}: {one['cut']:,} timestamps were finer than a chronon and were cut off."
    for path, bad in list(summary["bad"].items())[:SHOWN]:
        yield f"{path}: {bad:,} rows are in quarantine."
    if summary["quarantine"]:
        yield f"The quarantine is in {', '.join(summary['quarantine'])}, in the folder of the streams."


def _late(name: str, one: Summary, unit: str) -> Table | None:
    """The rows that a slack loses and keeps waiting; None for a stream in order."""
    disorder = one["disorder"]
    if not disorder["late"]:
        return None
    rows = [
        (f"{slack['slack']:,}", f"{slack['late']:,}", f"{slack['held']:,.1f}") for slack in disorder["slacks"]
    ]
    caption = f"{name}: {disorder['share']:.2%} of the rows start before an earlier row of their file"
    return Table(caption, (f"slack, {unit}", "rows lost", "rows waiting"), rows, texts=0)


STAGE = Stage(
    NAME,
    IngestOptions,
    _run,
    _tell,
    depends=lambda *_: None,
    ready=_ready,
    check=_check,
    adds=True,
    asks=("study", "data"),
    help="""Read recorded streams into sorted Parquet files, with bad rows apart, and a manifest of all files.

    A second run over more files reads only the new ones. A run that is killed leaves the folder as it was.
    """,
    examples=(
        "midstream study ingest nycflights13 --data recordings --output streams",
        "midstream study ingest query.sql --data recordings --output streams",
    ),
)
