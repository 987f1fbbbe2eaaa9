"""Charts for `midstream chart`: made by the optimizer, or read from a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import indent
from typing import Any

from midstream.commands.explaining import assumed_statistics, is_free
from midstream.io.pictures import write_picture
from midstream.io.text_file import read_text
from midstream.optimizer.charts.chart import Chart, ChartError
from midstream.optimizer.charts.dimension_requests import DimensionRequest, changing_along, requested_measures
from midstream.optimizer.charts.fidelity import Trajectory, trajectory
from midstream.optimizer.charts.making import ask_optimizer
from midstream.optimizer.charts.measures import Measure, measure_named
from midstream.optimizer.charts.naming import plan_names
from midstream.optimizer.charts.printing import chart_text
from midstream.optimizer.cost.objective import Objective
from midstream.optimizer.statistics import Statistics
from midstream.optimizer.statistics_file import load_statistics
from midstream.plans.algebra.drawing import tree
from midstream.plans.algebra.operators import TimeWindow
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.errors import InputFileError, MidstreamError, PlanError

MOST_BYTES = 1 << 26
"""The largest size of a chart, or of statistics over time, in bytes; programs write them."""

Rounds = Sequence[tuple[float, ...]]
"""Observations of a stream: the values of a chart's measures, round by round."""


def made_chart(
    plan: Plan,
    statistics: Statistics | None,
    along: Sequence[DimensionRequest],
    seen: Sequence[Statistics],
    *,
    parts: int,
    is_logarithmic: bool,
    objective: Objective,
    tell: Callable[[int, int], None],
) -> Chart:
    """Make the chart of a query with the optimizer.

    Without statistics, the last of `seen` is used, or those that `explain` assumes.

    Raises   ChartError, and PlanError where a plan says how results are cut, or names implementations.
    """
    if not is_free(plan):
        raise PlanError("the plan says how results are cut, or names implementations: it has no alternatives")
    requested = requested_measures(plan, along)
    base = statistics or (seen[-1] if seen else _assumed(plan))
    rounds = rounds_of([measure for _, measure in requested], seen)
    changing = changing_along(requested, base, rounds, parts=parts, is_logarithmic=is_logarithmic)
    return ask_optimizer(plan, base, changing, objective, tell=tell)


def _assumed(plan: Plan) -> Statistics:
    """Statistics that are assumed of streams and unbounded windows.

    Those of other windows are left out: they would take precedence over the rates of streams, so that rates
    would change nothing.
    """
    known = assumed_statistics(plan)
    kept = {node: one for node, one in known.streams.items() if not node.inputs or _is_unbounded(node)}
    return replace(known, streams=kept)


def _is_unbounded(node: Node) -> bool:
    return isinstance(node.operator, TimeWindow) and node.operator.size is None


def saved_chart(file: str) -> Chart:
    """Read a chart from a file.

    Raises   InputFileError, with the file's name.
    """
    try:
        return Chart.loads(read_text(file, MOST_BYTES))
    except InputFileError:
        raise
    except MidstreamError as error:
        raise InputFileError(f"{file}: {error}", path=file) from error


def read_seen(file: Path, plans: Sequence[Plan]) -> list[Statistics]:
    """Read statistics over time from a file with one JSON object per line.

    Raises   InputFileError, with the file and the line.
    """
    found = []
    for number, line in enumerate(read_text(file, MOST_BYTES).splitlines(), 1):
        if line.strip():
            try:
                found.append(load_statistics(line, plans))
            except MidstreamError as error:
                raise InputFileError(f"{file}, line {number}: {error}", path=file) from error
    return found


def trajectory_of(chart: Chart, seen: Sequence[Statistics]) -> Trajectory | None:
    """A stream's trajectory over a chart; None if there are no observations."""
    if not seen:
        return None
    measures = [measure_named(dimension.name, chart.plans) for dimension in chart.dimensions]
    return trajectory(chart, rounds_of(measures, seen))


def rounds_of(measures: Sequence[Measure], seen: Sequence[Statistics]) -> Rounds:
    """Values of some measures in each of the given statistics.

    Raises   ChartError where statistics lack a measure.
    """
    found = []
    for number, known in enumerate(seen, 1):
        point = [measure.read(known) for measure in measures]
        for value, measure in zip(point, measures, strict=True):
            if value is None:
                raise ChartError(f"--seen: found nothing of {measure.name} in round {number}")
        found.append(tuple(value for value in point if value is not None))
    return found


def draw(chart: Chart, way: Trajectory | None, file: Path, title: str) -> None:
    """Draw a chart to a picture file."""
    from midstream.optimizer.charts.drawing import draw_chart

    write_picture(draw_chart(chart, way, title), file, file.suffix[1:])


def text_of(chart: Chart, way: Trajectory | None) -> str:
    """A chart, a stream's trajectory, and the plans as trees."""
    plans = [
        f"plan {number}: {name}\n{indent(tree(plan), '   ')}"
        for number, (name, plan) in enumerate(zip(plan_names(chart.plans), chart.plans, strict=True), 1)
    ]
    return "\n\n".join([chart_text(chart, way), *plans])


def facts_of(chart: Chart, way: Trajectory | None) -> dict[str, Any]:
    """A chart and a stream's trajectory as plain data for JSON."""
    facts = {
        "chart": json.loads(chart.dumps()),
        "names": list(plan_names(chart.plans)),
        "regions": len(set(chart.regions.values())),
    }
    if way is not None:
        plans = [step.number for step in way.steps]
        facts["way"] = {"rounds": len(plans), "moves": way.moves, "switches": way.switches, "plans": plans}
    return facts
