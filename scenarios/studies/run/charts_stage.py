"""The stage that makes a chart: which plan is best for which rates and selectivities."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from midstream.optimizer.charts.chart import ChartError
from midstream.optimizer.charts.wanted import measures_wanted, wanted
from midstream.optimizer.cost.objective import objective_of
from midstream.optimizer.cost.units import units_in_use
from midstream.plans.algebra.serialise import dumps
from midstream.plans.values.errors import StatisticsError
from midstream.scenarios.simulator.stream_spec import Strict
from midstream.scenarios.studies.charts.parts import MOST_PARTS
from midstream.scenarios.studies.run.stage import Found, Picture, Stage, Table, Told, Work

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from midstream.scenarios.studies.run.study_file import StudyFile

NAME = "charts"

ROUNDS = 1000
"""Of more buckets the streams' way is not drawn: nobody could follow it."""


class Options(Strict):
    """plan        a file with a plan instead of the study's query, relative to the study file
    along         what changes: rate(STREAM) or selectivity(CONDITION), with a range or without; or a list
    parts         into so many parts each dimension is divided
    logarithmic   whether parts of rates are equal times as large
    objective     what plans are compared by
    """

    plan: str | None = None
    along: Annotated[
        list[str], BeforeValidator(lambda given: [given] if isinstance(given, str) else given)
    ] = Field(default_factory=list)
    parts: int = Field(default=10, ge=1, le=MOST_PARTS)
    logarithmic: bool = False
    objective: str = "processing"


def _check(file: StudyFile, options: Options) -> None:
    query = file.query(NAME, options.plan)
    with file.document.errors_at(("stages", NAME, "along"), ChartError):
        measures_wanted(query, [wanted(one) for one in options.along])
    with file.document.errors_at(("stages", NAME, "objective"), StatisticsError):
        objective_of(options.objective)


def _reads(file: StudyFile, options: Options) -> Any:
    return [*file.part, dumps(file.query(NAME, options.plan)), repr(units_in_use())]


def _run(work: Work, options: Options) -> Found:
    from midstream.scenarios.studies.charts.report import charts_summary, write_charts
    from midstream.scenarios.studies.charts.stage import charts

    recording = work.recording
    work.tell("asking the optimizer")
    found = charts(
        recording,
        work.study,
        work.file.query(NAME, options.plan),
        [wanted(one) for one in options.along],
        parts=options.parts,
        is_logarithmic=options.logarithmic,
        objective=objective_of(options.objective),
    )
    summary = charts_summary(work.study, found)
    write_charts(found, summary, work.place)
    points = [list(step.point) for step in found.way.steps]
    drawn = {"chart": found.chart.dumps(), "way": points if len(points) <= ROUNDS else None}
    return Found(summary, drawn, work.elements, summary["places"])


def _told(file: StudyFile, found: Found) -> Told:
    from midstream.scenarios.studies.charts.report import RANGES, plan_rows, range_rows

    summary = found.summary
    plans = plan_rows(summary)
    facts = [
        f"{len(plans):,} plans are the best somewhere, in {summary['regions']:,} regions of "
        f"{summary['places']:,} places. In {summary['rounds']:,} buckets the streams went from place to "
        f"place {summary['moves']:,} times, and to another plan {summary['switches']:,} times."
    ]
    words = [f"{plan}: best in {share} of the places, {rounds} buckets." for plan, share, rounds in plans]
    picture = Picture(
        "chart",
        "Which plan is best for which rates",
        "The regions in which a plan is best. The line is the way of the streams from bucket to bucket, a "
        "dot a change of the best plan.",
        words,
        partial(_drawn, found),
        has_own_ground=True,
    )
    tables = [
        Table("The chart's dimensions", RANGES, range_rows(summary)),
        Table("Where plans are best", ("plan", "places", "buckets"), plans),
    ]
    return Told(facts, (), tables, [picture])


def _drawn(found: Found) -> Figure:
    from midstream.optimizer.charts.chart import Chart
    from midstream.optimizer.charts.drawing import draw_chart
    from midstream.optimizer.charts.fidelity import trajectory

    chart, points = Chart.loads(found.drawn["chart"]), found.drawn["way"]
    return draw_chart(chart, None if points is None else trajectory(chart, points))


STAGE = Stage(NAME, Options, _run, _told, reads=_reads, after=("ingest",), check=_check)
