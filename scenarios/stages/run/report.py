"""The report of a study: one HTML file that needs no other files, with the recommendations first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from midstream.io.new_file import write_file
from midstream.scenarios.reports.contents import Report, Section, Table
from midstream.scenarios.reports.page import page_html
from midstream.scenarios.stages.run.run_log import RunLog, versions
from midstream.scenarios.stages.run.study_run import StudyRun

FILE = "report.html"


def write_report(run: StudyRun) -> Path:
    """Write the page of a study into its folder.

    Raises   ConnectorError where the file cannot be written.
    """
    file = run.folder / FILE
    write_file(file, report_html(run))
    return file


def report_html(run: StudyRun) -> str:
    """The page of a study, recommendations first; equal results and equal logs make equal pages."""
    return page_html(run.file.title, (), list(_sections(run)))


def _sections(run: StudyRun) -> Iterator[Section]:
    yield Section("", values=_facts(run))
    advice = run.advice()
    yield Section(
        "Recommendation",
        Report(() if advice else ["No stage of this study recommends anything."], advice),
    )
    for name, report in run.reports().items():
        yield Section(name, replace(report, advice=()))
    yield Section("Run log", Report(tables=[log_table(run)]))
    yield Section("Study file", texts=(("", run.file.text),))
    yield Section("Made with", values=tuple(versions().items()))


def log_table(run: StudyRun) -> Table:
    """The last run of each stage: when, how long, and how many rows."""
    done = RunLog(run.folder).last_done()
    rows = []
    for name, record in run.records.items():
        line: dict[str, Any] = done.get(name, {})
        seconds = line.get("seconds")
        rows.append(
            (
                name,
                str(line.get("at", "–"))[:19].replace("T", " "),
                f"{record.outcome.rows_in:,}",
                f"{record.outcome.rows_out:,}",
                "–" if seconds is None else f"{seconds:,.1f}",
            )
        )
    return Table("How each stage was done last", ("stage", "at, UTC", "rows in", "rows out", "s"), rows, 2)


def _facts(run: StudyRun) -> list[tuple[str, str]]:
    clock = run.file.study.clock
    return [
        ("streams", ", ".join(run.file.study.streams)),
        ("bucket", clock.show_duration(run.file.bucket)),
        ("stages", ", ".join(run.records)),
    ]
