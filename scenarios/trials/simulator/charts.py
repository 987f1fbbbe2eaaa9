"""Pictures of a simulation: output, state and costs over time for each strategy, and costs of policies."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from matplotlib.figure import Figure

from midstream.scenarios.reports.pictures import BASE, HELD, INK, NEW, OLD, SERIES, style_axes
from midstream.scenarios.trials.simulator.course_charts import costs_and_plans
from midstream.scenarios.trials.simulator.courses import CostCurve, Times
from midstream.scenarios.trials.simulator.panels import (
    WIDTH,
    Axis,
    complete,
    draw_legend,
    edges,
    empty_panels,
    name_panel,
    rate_unit,
    unit_for,
)
from midstream.scenarios.trials.simulator.plan_charts import looks
from midstream.scenarios.trials.simulator.results import BASELINE, Run, Series, Simulation
from midstream.scenarios.trials.simulator.words import first_runs, shown_name


def drawn_runs(simulation: Simulation) -> list[Run]:
    """The first run of each strategy that migrated, in order."""
    return [run for run in first_runs(simulation) if run.migrations]


def colors(simulation: Simulation) -> dict[str, str]:
    """A colour for each strategy, equal in all pictures."""
    moved = [run.strategy for run in drawn_runs(simulation)]
    return {name: SERIES[i % len(SERIES)] for i, name in enumerate(moved)}


def output(simulation: Simulation) -> Figure:
    """Results over time, a panel for each strategy, in front of those without migration."""
    return _rates(simulation, "results", lambda series: series.results)


def intermediate(simulation: Simulation) -> Figure:
    """Intermediate results over time, a panel for each strategy."""
    return _rates(simulation, "intermediate\nresults", lambda series: series.intermediate)


def latency(simulation: Simulation) -> Figure:
    """The largest and the mean latency of the results of each bucket, a panel for each strategy."""
    axis = Axis.of(simulation)
    runs = drawn_runs(simulation)
    base = _baseline(simulation)
    longest = max((n for run in runs for n in run.series.latency_max if n is not None), default=0)
    unit, scale = unit_for(simulation, longest)
    figure, panels = empty_panels(runs)
    largest: list[Sequence[float]] = []
    for run, axes in zip(runs, panels, strict=True):
        color = colors(simulation)[run.strategy]
        x = edges(simulation, len(run.series.results), axis)
        for name, values, line in (
            ("largest", run.series.latency_max, "solid"),
            ("mean", run.series.latency_mean, (0, (2, 1.2))),
        ):
            heights = [math.nan if value is None else value / scale for value in values]
            axes.stairs(heights, x, baseline=None, color=color, linewidth=1.3, linestyle=line, label=name)
        name_panel(axes, run, axis, color, f"latency, {unit}")
        largest.append([math.nan if value is None else value / scale for value in run.series.latency_max])
    usual = [n / scale for n in base.series.latency_max if n is not None] if base is not None else []
    complete(simulation, figure, panels, axis, largest, usual)
    return figure


def state(simulation: Simulation) -> Figure:
    """The state of both plans and the elements held between them, stacked, a panel for each strategy."""
    axis = Axis.of(simulation)
    runs = drawn_runs(simulation)
    figure, panels = empty_panels(runs)
    base = _baseline(simulation)
    for run, axes in zip(runs, panels, strict=True):
        series = run.series
        x = edges(simulation, len(series.old), axis)
        axes.stackplot(
            x,
            _with_zero(series.old),
            _with_zero(series.new),
            _with_zero(series.held),
            colors=(OLD, NEW, HELD),
            labels=("old plan", "new plan", "held between them"),
            linewidth=0,
        )
        if base is not None:
            total = [
                sum(parts) for parts in zip(base.series.old, base.series.new, base.series.held, strict=True)
            ]
            axes.plot(
                edges(simulation, len(total), axis),
                _with_zero(total),
                color=INK,
                linewidth=1,
                linestyle=(0, (4, 2)),
                label="without migration",
            )
        name_panel(axes, run, axis, colors(simulation)[run.strategy], "state,\nelements")
    complete(simulation, figure, panels, axis)
    return figure


def costs(simulation: Simulation) -> Figure:
    """Processing over application time, and results over processing, in the form of thesis, Figure 30.3."""
    axis = Axis.of(simulation)
    figure = Figure(figsize=(WIDTH, 3.5), layout="constrained")
    over_time, over_cpu = figure.subplots(1, 2)
    shown = [run for run in first_runs(simulation) if run.migrations or run.refused is None]
    for run in shown:
        color, line = _look(simulation, run.strategy)
        cpu = [0.0, *run.series.cpu]
        results = [0, *accumulate(run.series.results)]
        look: dict[str, Any] = {"color": color, "linestyle": line, "linewidth": 1.5}
        over_time.plot(
            edges(simulation, len(run.series.cpu), axis), cpu, label=shown_name(run.strategy), **look
        )
        over_cpu.plot(cpu, results, **look)
    over_time.set_xlabel(f"application time, {axis.unit}")
    over_time.set_ylabel("processing so far, CPU s")
    over_cpu.set_xlabel("processing so far, CPU s")
    over_cpu.set_ylabel("results so far")
    for axes in (over_time, over_cpu):
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        style_axes(axes)
    draw_legend(figure, over_time, "outside upper center")
    return figure


def regret(simulation: Simulation) -> Figure:
    """Cumulative costs of each policy in the first repetition, and the plan that ran at each time."""
    unit, scale = unit_for(simulation, simulation.duration)
    times = Times(0, simulation.every, simulation.duration, f"application time, {unit}", scale)
    courses = [
        CostCurve(one.policy, one.kind, one.start, one.spent, one.migrations)
        for one in simulation.judged
        if one.repetition == 0 and one.start is not None
    ]
    return costs_and_plans(courses, times)


def _rates(simulation: Simulation, what: str, counts: Callable[[Series], Sequence[int]]) -> Figure:
    """Counts by bucket as rates, a panel for each strategy."""
    axis = Axis.of(simulation)
    runs = drawn_runs(simulation)
    unit, chronons = rate_unit(simulation)

    def rates(run: Run) -> list[float]:
        return [n * chronons / simulation.every for n in counts(run.series)]

    figure, panels = empty_panels(runs)
    base = _baseline(simulation)
    for run, axes in zip(runs, panels, strict=True):
        if base is not None:
            without = rates(base)
            axes.stairs(
                without,
                edges(simulation, len(without), axis),
                fill=True,
                color=BASE,
                alpha=0.35,
                linewidth=0,
                label="without migration",
            )
        own = rates(run)
        color = colors(simulation)[run.strategy]
        axes.stairs(own, edges(simulation, len(own), axis), color=color, linewidth=1.4, baseline=None)
        name_panel(axes, run, axis, color, f"{what} per {unit}")
    complete(simulation, figure, panels, axis, list(map(rates, runs)), [] if base is None else rates(base))
    return figure


def _look(simulation: Simulation, strategy: str) -> tuple[str, Any]:
    if simulation.compares_plans:
        return looks(simulation)[strategy]
    if strategy in (known := colors(simulation)):
        return known[strategy], "solid"
    return (BASE, "solid") if strategy == BASELINE else (BASE, (0, (3, 2)))


def _baseline(simulation: Simulation) -> Run | None:
    return next(iter(simulation.of(BASELINE)), None)


def _with_zero(values: Sequence[float]) -> list[float]:
    return [0, *values]
