"""`midstream study what-if`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from midstream.console.help import examples
from midstream.console.options import AsJson
from midstream.io.new_file import nothing_written
from midstream.io.requirements import require_libraries, require_spark
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.errors import ArgumentError, StatisticsError
from midstream.scenarios.studies.declaration import Study
from midstream.scenarios.studies.inputs import plan_inputs
from midstream.scenarios.studies.options import (
    BUCKET,
    DATA,
    FOLDER,
    MASTER,
    PLAN,
    QUERY,
    SHOWN_ROWS,
    SINCE,
    STUDY,
    UNTIL,
    length_of,
    make_folder,
    opened,
    plan_to_study,
    print_found,
    replaced_in,
    require_files_apart,
)
from midstream.scenarios.studies.script import load_declared
from midstream.scenarios.studies.what_if.candidates import LIMIT
from midstream.scenarios.studies.what_if.objectives import aim_of
from midstream.scenarios.studies.what_if.past import HALF_LIFE, remembered

EPILOG = examples(
    "midstream study what-if nycflights13 --data recordings --bucket 3h --output found",
    "midstream study what-if query.sql --data streams --objective processing --objective memory",
    "midstream study what-if study.toml --plan plan.json --no-chart",
)


def what_if(
    study: STUDY,
    data: DATA = None,
    plan: PLAN = None,
    query: QUERY = None,
    since: SINCE = None,
    until: UNTIL = None,
    objective: Annotated[
        list[str] | None,
        typer.Option(
            help="What plans are compared by: processing, memory, state, latency, rate, buffers, "
            "intermediate, or a sum such as 'processing + 0.001 memory'; may be given several times."
        ),
    ] = None,
    half_life: Annotated[
        str | None,
        typer.Option(help=f"When what lies before a bucket counts half; by default {HALF_LIFE} windows."),
    ] = None,
    bucket: BUCKET = "1h",
    master: MASTER = "local[*]",
    output: FOLDER = None,
    chart: Annotated[
        Path | None, typer.Option(help="A PNG file for a chart; by default what-if.png in --output.")
    ] = None,
    no_chart: Annotated[bool, typer.Option("--no-chart", help="Draw no chart.")] = False,
    limit: Annotated[
        int, typer.Option(min=1, help="How many plans to price at most; the search finds them, if need be.")
    ] = LIMIT,
    rows: SHOWN_ROWS = 24,
    as_json: AsJson = False,
) -> None:
    """Price every equivalent plan of a query in every time bucket.

    Tells which join order is best when, what it costs to hold on to one all the time, and what it would have
    cost to take turns: in hindsight, and by what was known before, with the cost of migrating.
    """
    declared = load_declared(study, data, query).within(since, until)
    length = length_of(declared, bucket, "--bucket")
    asked = plan_to_study(declared, plan)
    objectives = _objectives(declared, objective or ["processing"])
    forgets = _half_life(declared, asked, half_life, length)
    picture = _picture(output, chart, no_chart)
    if picture is not None:
        require_libraries(["matplotlib"], "plot")
    require_spark()
    from midstream.scenarios.studies.what_if.report import show_what_if, what_if_summary
    from midstream.scenarios.studies.what_if.stage import what_if as priced
    from midstream.scenarios.studies.what_if.writing import WHAT_IF, write_what_if

    drawn = [] if picture is None else [("--chart", picture)]
    require_files_apart(study, declared, plan, [*replaced_in(output, WHAT_IF), *drawn])
    make_folder(output)
    make_folder(None if picture is None else picture.parent)
    with ExitStack() as stack:
        with nothing_written():
            following = ("pricing plans", "summing up")
            recording, step = stack.enter_context(opened(master, declared, length, *following))
            found = stack.enter_context(
                priced(recording, declared, asked, objectives, half_life=forgets, limit=limit)
            )
            step()
            summary = what_if_summary(declared, found, rows)
        if output is not None:
            write_what_if(found, summary, output)
        if picture is not None:
            from midstream.scenarios.studies.what_if.chart import draw

            draw(declared, found.prices, picture)
    print_found(declared, summary, as_json, show_what_if)


def _objectives(study: Study, texts: list[str]) -> list[str]:
    try:
        return [aim_of(text, study.clock).name for text in texts]
    except StatisticsError as error:
        raise typer.BadParameter(str(error), param_hint="--objective") from error


def _half_life(study: Study, plan: Plan, text: str | None, bucket: int) -> int:
    """In chronons."""
    window = max(one.length for one in plan_inputs(plan, study.streams))
    try:
        half_life = HALF_LIFE * window if text is None else study.clock.chronons(text)
        remembered(half_life, bucket)
    except (ValueError, ArgumentError) as error:
        raise typer.BadParameter(str(error), param_hint="--half-life") from error
    return half_life


def _picture(output: Path | None, chart: Path | None, no_chart: bool) -> Path | None:
    if no_chart:
        return None
    if chart is None and output is not None:
        return output / "what-if.png"
    return chart
