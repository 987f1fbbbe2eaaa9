"""The stage that ingests recorded streams."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import Field

from midstream.scenarios.studies.contents import Report, Table
from midstream.scenarios.studies.declaration import FOLDER, Study
from midstream.scenarios.studies.run.stage import Options, Outcome, Stage, Work

NAME = "ingest"


class IngestOptions(Options):
    """Options of ingestion."""

    slack: str | None = Field(
        default=None, description="Put rows into the quarantine that come later than so, for example 90s."
    )


def _run(work: Work, options: IngestOptions) -> tuple[Any, Outcome]:
    from midstream.scenarios.studies.ingest.ingest import ingest
    from midstream.scenarios.studies.ingest.report import ingest_summary

    slack = None if options.slack is None else work.request.chronons("slack", options.slack)
    found = ingest(work.spark, work.feeds, work.place, slack=slack, step=work.tell)
    summary = ingest_summary(found, NAME)
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
    from midstream.scenarios.studies.ingest.report import TITLES, stream_rows

    rows = stream_rows(outcome.summary, study.clock)
    facts = [f"{path}: {bad:,} rows are in quarantine." for path, bad in outcome.summary["bad"].items()]
    return Report(facts=facts, tables=[Table("Streams that were ingested", TITLES, rows)])


STAGE = Stage(NAME, IngestOptions, _run, _tell, depends=lambda *_: None, ready=_ready, adds=True)
