"""The stage that makes a chart: the best plan for each region of rates and selectivities."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from midstream.optimizer.charts.chart import Chart, ChartError
from midstream.optimizer.charts.dimension_requests import dimension_request, requested_measures
from midstream.optimizer.charts.fidelity import Trajectory, trajectory
from midstream.optimizer.charts.printing import chart_text
from midstream.optimizer.cost.objective import objective_of
from midstream.optimizer.cost.units import units_in_use
from midstream.optimizer.statistics import Statistics
from midstream.optimizer.statistics_file import dump_statistics, read_statistics
from midstream.plans.algebra.serialise import dumps
from midstream.plans.values.errors import ArgumentError, StatisticsError
from midstream.scenarios.reports.contents import Picture, Report, Table
from midstream.scenarios.stages.base.options import FileName, Options, PlanFile, listed
from midstream.scenarios.stages.base.request import Request
from midstream.scenarios.stages.base.stage import Outcome, Stage, Work
from midstream.scenarios.stages.charts.parts import MOST_PARTS
from midstream.scenarios.streams.recorded.declaration import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from midstream.scenarios.stages.charts.stage import ChartResult

NAME = "charts"

WIDEST = 40
"""The largest number of parts of a chart that is printed in characters."""

ROUNDS = 1000
"""The most buckets for which the streams' way is drawn: nobody could follow a longer one."""


class ChartsOptions(Options):
    """Options of a chart."""

    plan: PlanFile = None
    along: Annotated[list[str], BeforeValidator(listed)] = Field(
        default_factory=list,
        description="A dimension: rate(STREAM) or selectivity(CONDITION), with a range as in "
        "'rate(bids)=0.1..2'; without one, the range is learned from the streams. By default the rates of "
        "all streams.",
    )
    parts: int = Field(default=10, ge=1, le=MOST_PARTS, description="Number of parts of each dimension.")
    logarithmic: bool = Field(
        default=False, description="Parts of rates are equal times as large, not equally long."
    )
    objective: str = Field(
        default="processing", description="The cost that plans are compared by, as in explain."
    )
    stats: FileName | None = Field(
        default=None,
        description="A file with statistics of what does not change; by default, it is measured.",
    )


def _check(request: Request, options: ChartsOptions) -> None:
    query = request.plan(options.plan)
    with request.errors_of("along", ChartError):
        requested_measures(query, [dimension_request(one) for one in options.along])
    with request.errors_of("objective", ArgumentError, StatisticsError):
        objective_of(options.objective)
    _statistics(request, options)


def _statistics(request: Request, options: ChartsOptions) -> Statistics | None:
    """The statistics of measures that do not change, where a file has them."""
    if options.stats is None:
        return None
    return read_statistics(request.folder / options.stats, [request.plan(options.plan)])


def _depends(request: Request, options: ChartsOptions) -> Any:
    statistics = _statistics(request, options)
    stats = None if statistics is None else dump_statistics(statistics)
    return [*request.part, dumps(request.plan(options.plan)), repr(units_in_use()), stats]


def _run(work: Work, options: ChartsOptions) -> tuple[ChartResult, Outcome]:
    from midstream.scenarios.stages.charts.report import charts_summary
    from midstream.scenarios.stages.charts.stage import charts

    recording = work.recording
    work.tell("asking the optimizer")
    result = charts(
        recording,
        work.study,
        work.request.plan(options.plan),
        [dimension_request(one) for one in options.along],
        parts=options.parts,
        is_logarithmic=options.logarithmic,
        objective=objective_of(options.objective),
        statistics=_statistics(work.request, options),
    )
    summary = charts_summary(work.study, result)
    points = [list(step.point) for step in result.trajectory.steps]
    drawn = {"chart": result.chart.dumps(), "way": points if len(points) <= ROUNDS else None}
    return result, Outcome(summary, drawn, work.elements, summary["places"])


def _write(result: ChartResult, outcome: Outcome, folder: Path) -> None:
    from midstream.scenarios.stages.charts.report import write_charts

    write_charts(result, outcome.summary, folder)


def _tell(study: Study, outcome: Outcome) -> Report:
    from midstream.scenarios.stages.charts.report import RANGES, plan_rows, range_rows

    summary = outcome.summary
    plans = plan_rows(summary)
    facts = [
        f"{len(plans):,} plans are the best somewhere, in {summary['regions']:,} regions of "
        f"{summary['places']:,} places. In {summary['rounds']:,} buckets the streams went from place to "
        f"place {summary['moves']:,} times, and to another plan {summary['switches']:,} times."
    ]
    words = [f"{plan}: best in {share} of the places, {rounds} buckets." for plan, share, rounds in plans]
    is_narrow = max(one["parts"] for one in summary["dimensions"]) <= WIDEST
    picture = Picture(
        "chart",
        "Which plan is best for which rates",
        "The regions in which a plan is best. The line is the way of the streams from bucket to bucket, a "
        "dot a change of the best plan.",
        words,
        partial(_drawn, outcome),
        has_own_ground=True,
        text=partial(_text, outcome) if is_narrow else None,
    )
    tables = [
        Table("The chart's dimensions", RANGES, range_rows(summary)),
        Table("Where plans are best", ("plan", "places", "buckets"), plans),
    ]
    return Report(facts, (), tables, [picture])


def _drawn(outcome: Outcome) -> Figure:
    from midstream.optimizer.charts.drawing import draw_chart

    return draw_chart(*_chart(outcome))


def _text(outcome: Outcome) -> str:
    return chart_text(*_chart(outcome))


def _chart(outcome: Outcome) -> tuple[Chart, Trajectory | None]:
    chart, points = Chart.loads(outcome.drawn["chart"]), outcome.drawn["way"]
    return chart, None if points is None else trajectory(chart, points)


STAGE = Stage(
    NAME,
    ChartsOptions,
    _run,
    _tell,
    _write,
    files=("chart.json", "chart-statistics.json", "chart-seen.jsonl", "charts.json"),
    pictures=("chart",),
    reads=("plan", "stats"),
    depends=_depends,
    check=_check,
    after=("ingest",),
    help="""Show which plan of a query is best for which rates and selectivities, on Spark.

    The chart is that of midstream chart; its ranges are learned from recorded streams, where none are given.
    """,
    examples=(
        "midstream study charts nycflights13 --data recordings --bucket 3h --parts 20 --output found",
        "midstream study charts query.sql --along 'rate(bids)=0.1..5' --along 'selectivity(item > 7)'",
    ),
)
