"""The pictures of a simulation in which each plan runs alone: all plans in the same axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from matplotlib.figure import Figure

from midstream.scenarios.reports.pictures import FAINT, INK, style_axes
from midstream.scenarios.trials.simulator.panels import (
    WIDTH,
    Axis,
    draw_legend,
    edges,
    look_of,
    rate_unit,
    unit_for,
)
from midstream.scenarios.trials.simulator.results import Series, Simulation
from midstream.scenarios.trials.simulator.words import first_runs

Values = Callable[[Series], Sequence[float | None]]
Counts = Callable[[Series], Sequence[float]]


def looks(simulation: Simulation) -> dict[str, tuple[str, Any]]:
    """Colour and line of each run, equal in all pictures."""
    return {name: look_of(i) for i, name in enumerate(simulation.strategies)}


def output(simulation: Simulation) -> Figure:
    """Results over time, and those that the cost model predicts."""
    return _rates(simulation, "results", attrgetter("results"), attrgetter("predicted_results"))


def state(simulation: Simulation) -> Figure:
    """The whole state over time, and the state that the cost model predicts."""
    return _over_time(
        simulation, "state, elements", lambda series: series.state, lambda series: series.predicted_state
    )


def latency(simulation: Simulation) -> Figure:
    """The mean latency of the results of each bucket."""
    longest = max((run.totals.latency_max or 0 for run in first_runs(simulation)), default=0)
    unit, scale = unit_for(simulation, longest)
    return _over_time(
        simulation,
        f"mean latency, {unit}",
        lambda series: [None if n is None else n / scale for n in series.latency_mean],
    )


def intermediate(simulation: Simulation) -> Figure:
    """Intermediate results over time."""
    return _rates(simulation, "intermediate results", attrgetter("intermediate"))


def _rates(simulation: Simulation, what: str, counts: Counts, expected: Counts = lambda series: ()) -> Figure:
    """Counts by bucket as rates."""
    unit, chronons = rate_unit(simulation)
    scale = simulation.every / chronons
    return _over_time(
        simulation,
        f"{what} per {unit}",
        lambda series: [n / scale for n in counts(series)],
        lambda series: [n / scale for n in expected(series)],
    )


def _over_time(
    simulation: Simulation, label: str, values: Values, expected: Values = lambda series: ()
) -> Figure:
    axis = Axis.of(simulation)
    figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    axes = figure.subplots()
    for run in first_runs(simulation):
        color, line = looks(simulation)[run.strategy]
        ends = edges(simulation, len(run.series.results), axis)[1:]
        own: dict[str, Any] = {"color": color, "linewidth": 1.6, "linestyle": line}
        axes.plot(ends, _drawn(values(run.series)), label=run.strategy, **own)
        if any(predictions := expected(run.series)):
            own = {"color": INK, "linewidth": 1, "linestyle": (0, (3, 2))}
            axes.plot(ends, _drawn(predictions), label="expected by the cost model", **own)
    for time in simulation.adjusted:
        axes.axvline(time / axis.chronons, color=FAINT, linewidth=1, linestyle=(0, (1, 1.5)))
    axes.set_xlim(0, simulation.duration / axis.chronons)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(f"application time, {axis.unit}")
    axes.set_ylabel(label)
    style_axes(axes)
    draw_legend(figure, axes, "outside upper center")
    return figure


def _drawn(values: Sequence[float | None]) -> list[float]:
    """Values to draw, with gaps for unknown ones and for the last bucket, which includes the streams' end."""
    known = [math.nan if value is None else value for value in values]
    return [*known[:-1], math.nan]
