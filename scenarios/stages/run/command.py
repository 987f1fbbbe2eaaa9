"""`midstream study run`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from midstream.console.help import examples
from midstream.console.options import AsJson
from midstream.console.progress import telling
from midstream.io.requirements import require_libraries, require_spark
from midstream.scenarios.stages.base.command_options import MASTER, require_files_apart

if TYPE_CHECKING:
    from midstream.scenarios.stages.run.study_run import StudyRun

EPILOG = examples(
    "midstream study run study.yaml --out found",
    "midstream study run nycflights13 --data recordings --master local[2] --out found",
)


def run(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A study file (.yaml), or the name of one that comes with Midstream: nycflights13.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder for results, the report and the log.")],
    data: Annotated[
        Path | None,
        typer.Option(help="The folder to which paths of streams are relative; by default as the file says."),
    ] = None,
    master: MASTER = "local[*]",
    again: Annotated[
        bool, typer.Option("--again", help="Run all stages, also those whose results are there.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run a whole study, from recorded streams to a recommendation and a report.

    A stage whose inputs and options have not changed is not run again. Exit status: 0 if all is done and
    what stages verify holds; 1 if that does not hold; 2 for bad input.
    """
    require_libraries(["pydantic", "PyYAML"], "simulate", "study files need")
    require_libraries(["jinja2"], "spark", "reports need")
    require_libraries(["matplotlib"], "plot", "reports need")
    from midstream.scenarios.stages.run.reading import load_study_file
    from midstream.scenarios.stages.run.records import FOLDER as RECORDS
    from midstream.scenarios.stages.run.report import FILE as REPORT
    from midstream.scenarios.stages.run.run_log import FILE as LOG

    found = load_study_file(file, data)
    written = (*found.stages, RECORDS, REPORT, LOG)
    require_files_apart(file, found.study, [("--out", out / name) for name in written])
    require_spark()
    from midstream.scenarios.spark.session import spark_session
    from midstream.scenarios.stages.run.running import run_study

    with telling() as tell:
        done = run_study(lambda: spark_session(master), found, out, again=again, tell=tell)
    if as_json:
        typer.echo(json.dumps(done.as_dict(), indent=2, ensure_ascii=False))
    else:
        _show(done, out)
    if not done.holds:
        raise typer.Exit(1)


def _show(done: StudyRun, out: Path) -> None:
    from rich.console import Console
    from rich.text import Text

    from midstream.scenarios.reports.contents import Report, Table
    from midstream.scenarios.reports.terminal import show_report
    from midstream.scenarios.stages.run.report import FILE

    outcomes = {name: record.outcome for name, record in done.records.items()}
    rows = [
        (name, done.statuses[name], f"{one.rows_in:,}", f"{one.rows_out:,}") for name, one in outcomes.items()
    ]
    table = Table("Stages", ("stage", "status", "rows in", "rows out"), rows, texts=2)
    console = Console()
    show_report(done.file.title, Report(advice=done.advice(), tables=[table]), console)
    console.print(Text(f"\nThe report is {out / FILE}"), soft_wrap=True)
