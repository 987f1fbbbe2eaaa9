"""The stage that ingests recorded streams."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from midstream.scenarios.simulator.stream_spec import Strict
from midstream.scenarios.studies.declaration import FOLDER
from midstream.scenarios.studies.run.stage import Found, Stage, Table, Told, Work

if TYPE_CHECKING:
    from midstream.scenarios.studies.run.study_file import StudyFile

NAME = "ingest"


class Options(Strict):
    """slack    rows that come later than so, for example 90s, go to the quarantine"""

    slack: str | None = None


def _run(work: Work, options: Options) -> Found:
    from midstream.scenarios.studies.ingest.ingest import ingest
    from midstream.scenarios.studies.ingest.report import ingest_summary

    slack = None if options.slack is None else work.file.chronons(("stages", NAME, "slack"), options.slack)
    found = ingest(work.spark, work.file.feeds, work.place, slack=slack, step=work.tell)
    summary = ingest_summary(found, NAME)
    inputs = found.manifest.inputs
    return Found(
        summary,
        rows_in=sum(one.rows - one.other for one in inputs),
        rows_out=sum(one["rows"] for one in summary["streams"].values()),
    )


def _ready(work: Work) -> None:
    """From now on the streams are read from where they have been ingested."""
    folder = str(work.folder / NAME)
    streams = {
        name: replace(stream, path=folder, format=FOLDER) for name, stream in work.file.study.streams.items()
    }
    work.read_from(replace(work.file.study, streams=streams))


def _told(file: StudyFile, found: Found) -> Told:
    from midstream.scenarios.studies.ingest.report import TITLES, stream_rows

    rows = stream_rows(found.summary, file.study.clock)
    facts = [f"{path}: {bad:,} rows are in quarantine." for path, bad in found.summary["bad"].items()]
    return Told(facts=facts, tables=[Table("Streams that were ingested", TITLES, rows)])


STAGE = Stage(NAME, Options, _run, _told, reads=lambda file, _: file.inputs(), ready=_ready, adds=True)
