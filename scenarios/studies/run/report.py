"""The report of a study: one HTML file that needs no other files, with the recommendations first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from midstream.io.new_file import write_file
from midstream.scenarios.simulator.page import facts_list, figure_html, html_page
from midstream.scenarios.studies.contents import Picture, Table
from midstream.scenarios.studies.run.run_log import RunLog, versions
from midstream.scenarios.studies.run.study_run import StudyRun

FILE = "report.html"


def write_report(run: StudyRun) -> Path:
    """Write the page of a study into its folder.

    Raises   ConnectorError where the file cannot be written.
    """
    file = run.folder / FILE
    write_file(file, report_html(run))
    return file


def report_html(run: StudyRun) -> str:
    """The page as HTML; equal results and equal logs make equal pages."""
    templates = Environment(
        loader=PackageLoader(__package__, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    table = templates.get_template("table.html")
    body = templates.get_template("study.html").render(
        title=run.file.title,
        facts=Markup(facts_list(_facts(run))),
        advice=run.advice(),
        stages=run.reports(),
        figure=lambda stage, picture: Markup(_figure(stage, picture)),
        log=log_table(run),
        text=run.file.text,
        versions=Markup(facts_list(tuple(versions().items()))),
        show=lambda one: Markup(table.render(table=one)),
    )
    return html_page(run.file.title, body)


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


def _figure(stage: str, picture: Picture) -> str:
    html = figure_html(
        picture.draw,
        f"{stage}-{picture.name}",
        picture.title,
        picture.caption,
        picture.words,
        has_own_ground=picture.has_own_ground,
    )
    return html.replace("<figure>", '<figure class="narrow">', 1)
