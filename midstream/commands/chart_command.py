"""`midstream chart`: the best plan by rates and selectivities."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from midstream.commands import options
from midstream.commands.queries_read import is_plan_file, only
from midstream.console.options import AsJson, LittleOf, Logarithmic
from midstream.console.progress import progress_bar
from midstream.plans.values.errors import MidstreamError

if TYPE_CHECKING:
    from midstream.optimizer.charts.chart import Chart


def chart(
    script: Annotated[
        str, typer.Argument(help="A file with a query in SQL, or with a chart that was saved (.json).")
    ],
    along: Annotated[
        list[str] | None,
        typer.Option(
            help="A dimension: rate(STREAM) or selectivity(CONDITION), as explain shows it, with a range as "
            "in 'rate(bids)=0.1..2' or without. By default the rates of all streams."
        ),
    ] = None,
    stats: options.Stats = None,
    seen: Annotated[
        Path | None,
        typer.Option(
            help="A file with statistics over time, an object like that of --stats in each line: ranges are "
            "learned from it, and the stream's trajectory over the chart is drawn."
        ),
    ] = None,
    parts: Annotated[int, typer.Option(min=1, help="The number of parts of each dimension.")] = 10,
    logarithmic: Logarithmic = False,
    objective: LittleOf = "processing",
    output: Annotated[Path | None, typer.Option(help="A file for the chart (JSON).")] = None,
    picture: Annotated[
        Path | None, typer.Option(help="A file for a drawing, .png or .svg; needs the extra plot.")
    ] = None,
    as_json: AsJson = False,
    unit: options.Unit = None,
    functions: options.Functions = None,
) -> None:
    """Show which plan of a query is best for which rates and selectivities.

    The optimizer is asked in the middle of each part. Rates are in elements per unit of time.
    """
    from midstream.commands.charting import (
        draw,
        facts_of,
        made_chart,
        read_seen,
        text_of,
        trajectory_of,
    )
    from midstream.io.distinct_files import require_distinct_files
    from midstream.io.new_file import nothing_written, write_file
    from midstream.io.output import STDOUT
    from midstream.io.pictures import require_picture
    from midstream.optimizer.charts.dimension_requests import dimension_request
    from midstream.optimizer.cost.objective import objective_of
    from midstream.optimizer.statistics_file import read_statistics

    reads = [*options.also_read(script, functions), ("--stats", stats), ("--seen", seen)]
    require_distinct_files(reads, [("--output", output), ("--picture", picture)])
    if picture is not None:
        require_picture(picture)
    with progress_bar("questions") as advance, nothing_written():
        if is_plan_file(script):
            found = _saved(script, along, stats)
            trajectory = trajectory_of(found, [] if seen is None else read_seen(seen, found.plans))
        else:
            catalog, queries = options.read(script, unit, functions)
            plan = only(queries, script, "make a chart of").plan
            rounds = [] if seen is None else read_seen(seen, [plan])
            found = made_chart(
                plan,
                None if stats is None else read_statistics(stats, [plan]),
                [dimension_request(one) for one in along or ()],
                rounds,
                parts=parts,
                is_logarithmic=logarithmic,
                objective=replace(objective_of(objective), chronon=catalog.unit.nanoseconds / 1000),
                tell=advance,
            )
            trajectory = trajectory_of(found, rounds)
    if output is not None:
        write_file(output, found.dumps() + "\n")
    if picture is not None:
        draw(found, trajectory, picture, Path(script).name)
    if STDOUT in (str(output), str(picture)):
        return
    if as_json:
        typer.echo(json.dumps(facts_of(found, trajectory), indent=2, ensure_ascii=False))
    else:
        typer.echo(text_of(found, trajectory))


def _saved(script: str, along: list[str] | None, stats: Path | None) -> Chart:
    """A saved chart; it cannot be combined with other options of its making."""
    for use, given in (("--along", along), ("--stats", stats)):
        if given:
            raise MidstreamError(f"{use}: found one beside a chart that was saved, expected none")
    from midstream.commands.charting import saved_chart

    return saved_chart(script)
