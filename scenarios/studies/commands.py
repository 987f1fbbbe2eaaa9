"""`midstream study`: what recorded streams are like over time, and what other plans would have cost."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from midstream.console.help import examples
from midstream.console.options import AsJson
from midstream.io.distinct_files import Use, require_distinct_files
from midstream.io.new_file import nothing_written
from midstream.io.plan_files import read_plan
from midstream.io.requirements import require_libraries, require_spark
from midstream.optimizer.search.enumeration import enumerate_plans
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.values.errors import InputFileError, MidstreamError, PlanError
from midstream.scenarios.studies.declaration import Study, load_study
from midstream.scenarios.studies.generate_command import generate
from midstream.scenarios.studies.ingest_command import ingest
from midstream.scenarios.studies.inputs import plan_inputs
from midstream.scenarios.studies.steps import steps
from midstream.scenarios.studies.verify_commands import EPILOG as VERIFY_EPILOG
from midstream.scenarios.studies.verify_commands import verify
from midstream.scenarios.studies.verify_run_command import EPILOG as VERIFY_RUN_EPILOG
from midstream.scenarios.studies.verify_run_command import verify_run

app = typer.Typer(
    help="Studies of recorded streams, on Spark.", no_args_is_help=True, pretty_exceptions_enable=False
)

app.command(
    epilog=examples(
        "midstream study ingest nycflights13 --data recordings --output streams",
        "midstream study ingest query.sql --data recordings --output streams",
    )
)(ingest)

app.command(
    epilog=examples(
        "midstream study generate nexmark --events 10000000 --output auctions",
        "midstream study generate streams.yaml --arrivals --output recorded",
    )
)(generate)

NAME = Annotated[
    str,
    typer.Argument(
        metavar="STUDY", help="A study declaration (.toml), or a ready-made one by name: nycflights13."
    ),
]
DATA = Annotated[
    Path | None,
    typer.Option(help="The folder to which the declaration's paths are relative; by default its own."),
]
BUCKET = Annotated[str, typer.Option(help="How long a time bucket is, in s, m, h or d, for example 3h.")]
MASTER = Annotated[
    str, typer.Option(help="Where Spark runs: local[2], local[*], or the address of a cluster.")
]
FOLDER = Annotated[Path | None, typer.Option(help="A folder for the results as Parquet files.")]
SHOWN_ROWS = Annotated[int, typer.Option(min=0, help="How many buckets to print; files have all.")]


@app.command(
    epilog=examples(
        "midstream study profile nycflights13 --data recordings --bucket 3h",
        "midstream study profile study.toml --output found --json",
    )
)
def profile(
    study: NAME,
    data: DATA = None,
    bucket: BUCKET = "1h",
    master: MASTER = "local[*]",
    output: FOLDER = None,
    rows: SHOWN_ROWS = 24,
    as_json: AsJson = False,
) -> None:
    """Rates, (d, l, g) and join selectivities of recorded streams, by time bucket and in all."""
    declared = load_study(study, data)
    length = _length(declared, bucket)
    require_spark()
    from midstream.scenarios.studies.recording import open_recording
    from midstream.scenarios.studies.report import profile_summary, show_profile
    from midstream.scenarios.studies.session import spark_session
    from midstream.scenarios.studies.stream_profile import profile as profiled
    from midstream.scenarios.studies.writing import PROFILE, write_profile

    _require_distinct_files(study, declared, None, _in(output, PROFILE))
    _make(output)
    with ExitStack() as stack:
        with nothing_written():
            step = stack.enter_context(
                steps("starting Spark", "reading the streams", "counting pairs", "summing up")
            )
            spark = stack.enter_context(spark_session(master))
            step()
            recording = stack.enter_context(open_recording(spark, declared, length))
            step()
            found = stack.enter_context(profiled(recording, declared))
            step()
            summary = profile_summary(declared, found, rows)
        if output is not None:
            write_profile(found, summary, output)
    _print(declared, summary, as_json, show_profile)


@app.command(
    "what-if",
    epilog=examples(
        "midstream study what-if nycflights13 --data recordings --bucket 3h --output found",
        "midstream study what-if study.toml --plan plan.json --no-chart",
    ),
)
def what_if(
    study: NAME,
    data: DATA = None,
    plan: Annotated[
        Path | None, typer.Option(help="A JSON file with the plan; by default the declaration's query.")
    ] = None,
    bucket: BUCKET = "1h",
    master: MASTER = "local[*]",
    output: FOLDER = None,
    chart: Annotated[
        Path | None, typer.Option(help="A PNG file for a chart; by default what-if.png in --output.")
    ] = None,
    no_chart: Annotated[bool, typer.Option("--no-chart", help="Draw no chart.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many plans to price at most.")] = 20_000,
    rows: SHOWN_ROWS = 24,
    as_json: AsJson = False,
) -> None:
    """Price every equivalent plan of a query in every time bucket.

    Tells which join order is best when, and what it costs to hold on to one all the time.
    """
    declared = load_study(study, data)
    length = _length(declared, bucket)
    plans = enumerate_plans(_query(declared, plan), limit=limit)
    picture = _picture(output, chart, no_chart)
    if picture is not None:
        require_libraries(["matplotlib"], "plot")
    require_spark()
    from midstream.scenarios.studies.recording import open_recording
    from midstream.scenarios.studies.report import show_what_if, what_if_summary
    from midstream.scenarios.studies.session import spark_session
    from midstream.scenarios.studies.what_if import stretches
    from midstream.scenarios.studies.what_if import what_if as asked
    from midstream.scenarios.studies.writing import WHAT_IF, write_what_if

    drawn = [] if picture is None else [("--chart", picture)]
    _require_distinct_files(study, declared, plan, [*_in(output, WHAT_IF), *drawn])
    _make(output)
    _make(None if picture is None else picture.parent)
    with ExitStack() as stack:
        with nothing_written():
            step = stack.enter_context(
                steps("starting Spark", "reading the streams", "pricing plans", "summing up")
            )
            spark = stack.enter_context(spark_session(master))
            step()
            recording = stack.enter_context(open_recording(spark, declared, length))
            step()
            found = stack.enter_context(asked(recording, declared, plans))
            step()
            summary = what_if_summary(declared, found, rows)
        if output is not None:
            write_what_if(found, summary, output)
        if picture is not None:
            from midstream.scenarios.studies.chart import draw

            draw(declared, found.totals, stretches(found), picture)
    _print(declared, summary, as_json, show_what_if)


app.command("verify", epilog=VERIFY_EPILOG)(verify)
app.command("verify-run", epilog=VERIFY_RUN_EPILOG)(verify_run)


def _length(study: Study, bucket: str) -> int:
    try:
        return study.clock.chronons(bucket)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--bucket") from error


def _query(study: Study, file: Path | None) -> Plan:
    """The plan to study, found to fit the streams."""
    if file is None and study.query is None:
        raise InputFileError(
            f"study {study.name}: found no [query] and no --plan, expected one of them", path=study.name
        )
    plan = study.query if file is None else logical_plan(read_plan(file))
    assert plan is not None
    try:
        plan_inputs(plan, study.streams)
    except PlanError as error:
        raise InputFileError(f"{file or f'study {study.name}'}: {error}", path=file or study.name) from error
    return plan


def _in(output: Path | None, names: Sequence[str]) -> list[Use]:
    """What is replaced in a folder for results."""
    return [] if output is None else [("--output", output / name) for name in names]


def _require_distinct_files(name: str, study: Study, plan: Path | None, writes: Sequence[Use]) -> None:
    """Raise MidstreamError where something that is replaced is also read, or holds what is read."""
    reads: list[Use] = [("STUDY", name), *([] if plan is None else [("--plan", plan)])]
    for stream in study.streams.values():
        # Of a pattern of files, what stands before the first wildcard.
        reads.append((f"stream {stream.name}", re.split(r"[*?\[{]", stream.path)[0]))
    require_distinct_files(reads, writes)
    for use, path in reads:
        for written, replaced in writes:
            if Path(replaced).resolve() in Path(path).resolve().parents:
                raise MidstreamError(f"{written}: found {replaced}, which holds what {use} reads: {path}")


def _picture(output: Path | None, chart: Path | None, no_chart: bool) -> Path | None:
    if no_chart:
        return None
    if chart is None and output is not None:
        return output / "what-if.png"
    return chart


def _make(folder: Path | None) -> None:
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputFileError(f"{folder}: {error.strerror or error}", path=folder) from error


def _print(
    study: Study,
    summary: dict[str, Any],
    as_json: bool,
    show: Callable[[Study, dict[str, Any], Console], None],
) -> None:
    if as_json:
        typer.echo(json.dumps(summary, indent=2, ensure_ascii=False))
    else:
        show(study, summary, Console())
