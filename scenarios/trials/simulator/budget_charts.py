"""The picture of runs within budgets: memory beside the budget, precision, and each adjustment."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.figure import Figure

from midstream.io.budget_pictures import BudgetCourse, Mark, draw_marks, draw_precision, draw_use
from midstream.scenarios.reports.pictures import INK, style_axes
from midstream.scenarios.trials.simulator.panels import WIDTH, Axis, edges
from midstream.scenarios.trials.simulator.results import Run, Simulation
from midstream.scenarios.trials.simulator.words import first_runs


def runs_within_budgets(simulation: Simulation) -> list[Run]:
    """The first run within each budget."""
    return [run for run in first_runs(simulation) if run.series.limit]


def budget(simulation: Simulation) -> Figure:
    """Memory, precision and queries over time for each budget, with a mark at each adjustment."""
    runs, axis = runs_within_budgets(simulation), Axis.of(simulation)
    figure = Figure(figsize=(WIDTH, 0.5 + 4.4 * len(runs)), layout="constrained")
    heights = [2.4, 1.0, 0.7] * len(runs)
    panels = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
    for run, memory, precision, number in zip(runs, panels[::3], panels[1::3], panels[2::3], strict=True):
        series = run.series
        # The last bucket includes the streams' end.
        times = edges(simulation, len(series.queries), axis)[1:-1]
        if series.limit[0] < math.inf:
            measured = None not in series.bytes
            held = [(size or 0) / 1e6 for size in series.bytes[:-1]] if measured else None
            expected = _numbers(series.predicted_bytes, 1e6)
            limit, target = series.limit[0] / 1e6, series.target[0] / 1e6
            draw_use(memory, BudgetCourse("memory, MB", times, held, expected, limit, target))
        draw_precision(precision, times, _numbers(series.precision))
        number.plot(times, series.queries[:-1], color=INK, drawstyle="steps-pre", linewidth=1)
        number.set_ylim(0, 1.15 * max(series.queries))
        number.set_ylabel("queries")
        marks = [
            Mark(
                one.at / axis.chronons,
                min(one.complete_at or simulation.duration, simulation.duration) / axis.chronons,
            )
            for one in run.adjustments
        ]
        memory.set_title(run.strategy, loc="left", fontsize=10, fontweight="bold", color=INK)
        for axes in (memory, precision, number):
            draw_marks(axes, marks)
            style_axes(axes)
    panels[-1].set_xlim(0, simulation.duration / axis.chronons)
    panels[-1].set_xlabel(f"application time, {axis.unit}", fontsize=8.5, color=INK)
    return figure


def _numbers(values: Sequence[float | None], scale: float = 1.0) -> list[float]:
    """Values to draw, with gaps for unknown ones, and without the last bucket."""
    return [math.nan if value is None else value / scale for value in values[:-1]]
