"""`midstream study charts`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from midstream.console.help import examples
from midstream.console.options import AsJson, LittleOf, Logarithmic
from midstream.io.new_file import nothing_written
from midstream.io.pictures import require_picture, write_picture
from midstream.io.requirements import require_spark
from midstream.optimizer.charts.chart import ChartError
from midstream.optimizer.charts.wanted import measures_wanted, wanted
from midstream.optimizer.statistics_file import read_statistics
from midstream.scenarios.studies.charts.parts import MOST_PARTS
from midstream.scenarios.studies.options import (
    BUCKET,
    DATA,
    MASTER,
    PLAN,
    QUERY,
    SINCE,
    STUDY,
    UNTIL,
    errors_of,
    length_of,
    make_folder,
    objective_named,
    opened,
    plan_to_study,
    print_found,
    replaced_in,
    require_files_apart,
)
from midstream.scenarios.studies.script import load_declared

EPILOG = examples(
    "midstream study charts nycflights13 --data recordings --bucket 3h --parts 20 --output found",
    "midstream study charts study.toml --along 'rate(bids)=0.1..5' --along 'selectivity(item > 7)'",
)


def charts(
    study: STUDY,
    data: DATA = None,
    plan: PLAN = None,
    query: QUERY = None,
    since: SINCE = None,
    until: UNTIL = None,
    along: Annotated[
        list[str] | None,
        typer.Option(
            help="What changes: rate(STREAM) or selectivity(CONDITION), with a range as in "
            "'rate(bids)=0.1..2'; without one, it is learned from the streams. By default the rates of all "
            "streams."
        ),
    ] = None,
    parts: Annotated[
        int, typer.Option(min=1, max=MOST_PARTS, help="How many parts each dimension has.")
    ] = 10,
    logarithmic: Logarithmic = False,
    objective: LittleOf = "processing",
    stats: Annotated[
        Path | None,
        typer.Option(help="A file with statistics of what does not change; by default, it is measured."),
    ] = None,
    bucket: BUCKET = "1h",
    master: MASTER = "local[*]",
    output: Annotated[
        Path | None, typer.Option(help="A folder for the chart, and for what it was made from.")
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(help="A file for a drawing (.png, .svg); by default chart.png in --output."),
    ] = None,
    no_picture: Annotated[bool, typer.Option("--no-picture", help="Draw nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show which plan of a query is best for which rates and selectivities, on Spark.

    The chart is that of midstream chart; its ranges are learned from recorded streams, where none are given.
    """
    declared = load_declared(study, data, query).within(since, until)
    length = length_of(declared, bucket, "--bucket")
    asked = plan_to_study(declared, plan)
    with errors_of("--along", ChartError):
        dimensions = [wanted(one) for one in along or []]
        measures_wanted(asked, dimensions)
    aim = objective_named(objective)
    known = None if stats is None else read_statistics(stats, [asked])
    drawn = _picture(output, picture, no_picture)
    require_spark()
    from midstream.scenarios.studies.charts.report import CHARTS, charts_summary, show_charts, write_charts
    from midstream.scenarios.studies.charts.stage import charts as made

    reads = [] if stats is None else [("--stats", stats)]
    writes = [] if drawn is None else [("--picture", drawn)]
    require_files_apart(study, declared, plan, [*replaced_in(output, CHARTS), *writes], reads)
    make_folder(output)
    make_folder(None if drawn is None else drawn.parent)
    following = ("asking the optimizer", "summing up")
    with nothing_written(), opened(master, declared, length, *following) as (recording, step):
        found = made(
            recording,
            declared,
            asked,
            dimensions,
            parts=parts,
            is_logarithmic=logarithmic,
            objective=aim,
            known=known,
        )
        step()
        summary = charts_summary(declared, found)
    if output is not None:
        write_charts(found, summary, output)
    if drawn is not None:
        from midstream.optimizer.charts.drawing import draw_chart

        write_picture(draw_chart(found.chart, found.way, declared.title), drawn, drawn.suffix[1:])
    print_found(declared, summary, as_json, lambda one, told, console: show_charts(one, told, found, console))


def _picture(output: Path | None, picture: Path | None, no_picture: bool) -> Path | None:
    """The file for a drawing, if there is to be one."""
    if no_picture:
        return None
    file = output / "chart.png" if picture is None and output is not None else picture
    if file is not None:
        require_picture(file)
    return file
