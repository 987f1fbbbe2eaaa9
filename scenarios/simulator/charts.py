"""The pictures of a simulation: what each strategy does to output, state and costs while time goes on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate, groupby
from operator import itemgetter
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from midstream.scenarios.simulator.pictures import BASE, FAINT, HELD, INK, NEW, OLD, SERIES
from midstream.scenarios.simulator.results import BASELINE, Moved, Run, Series, Simulation

WIDTH = 8.2
PANEL = 1.45
"""Inches."""

MOST, CUT = 3, 2
"""Above so many times what is usual, a height is cut off at so many times."""

UNITS = (("d", 86_400, 2), ("h", 3_600, 3), ("min", 60, 10), ("s", 1, 0))
"""A unit of the time axis, its length in seconds, and the least number of them for which it is taken."""


CLOSE = 0.06
"""Marks that are closer than this part of the duration share a text."""


class Axis(NamedTuple):
    """Application time as pictures show it: the name of a unit, how many chronons it has; the duration in
    chronons."""

    unit: str
    chronons: float
    duration: int

    @classmethod
    def of(cls, simulation: Simulation) -> Axis:
        """The unit that fits the duration."""
        seconds = simulation.duration / simulation.second
        name, length = next((name, length) for name, length, least in UNITS if seconds >= least * length)
        return cls(name, length * simulation.second, simulation.duration)


def drawn_runs(simulation: Simulation) -> list[Run]:
    """The first run of each strategy that migrated, in order."""
    first = {run.strategy: run for run in reversed(simulation.runs)}
    return [
        first[name]
        for name in simulation.strategies
        if first[name].migrations and first[name].refused is None
    ]


def colors(simulation: Simulation) -> dict[str, str]:
    """A colour for each strategy, the same in all pictures."""
    moved = [run.strategy for run in drawn_runs(simulation)]
    return {name: SERIES[i % len(SERIES)] for i, name in enumerate(moved)}


def output_rate(simulation: Simulation) -> Figure:
    """Results over time, a panel for each strategy, above those without migration."""
    axis = Axis.of(simulation)
    bucket = simulation.every / axis.chronons
    return _panels(
        simulation, f"results per {axis.unit}", lambda series: [n / bucket for n in series.results], axis
    )


def intermediate_results(simulation: Simulation) -> Figure:
    """What operators give to operators, a panel for each strategy."""
    axis = Axis.of(simulation)
    bucket = simulation.every / axis.chronons
    return _panels(
        simulation,
        f"intermediate\nresults per {axis.unit}",
        lambda series: [n / bucket for n in series.intermediate],
        axis,
    )


def latency(simulation: Simulation) -> Figure:
    """The largest and the mean latency of the results of each bucket, a panel for each strategy."""
    axis = Axis.of(simulation)
    runs = drawn_runs(simulation)
    base = _first(simulation, BASELINE)
    unit = "ms" if simulation.second >= 1000 and _longest(runs) < 10 * simulation.second else "s"
    scale = simulation.second / (1000 if unit == "ms" else 1)
    figure, panels = _figure(runs)
    largest: list[Sequence[float]] = []
    for run, axes in zip(runs, panels, strict=True):
        color = colors(simulation)[run.strategy]
        edges = _edges(simulation, len(run.series.results), axis)
        for name, values, line in (
            ("largest", run.series.latency_max, "solid"),
            ("mean", run.series.latency_mean, (0, (2, 1.2))),
        ):
            heights = [math.nan if value is None else value / scale for value in values]
            axes.stairs(heights, edges, baseline=None, color=color, linewidth=1.3, linestyle=line, label=name)
        _finish(axes, run, axis, color, f"latency, {unit}")
        largest.append([math.nan if value is None else value / scale for value in run.series.latency_max])
    usual = [n / scale for n in base.series.latency_max if n is not None] if base is not None else []
    _complete(simulation, figure, panels, axis, largest, usual)
    return figure


def state(simulation: Simulation) -> Figure:
    """The state of both plans and what is held between them, stacked, a panel for each strategy."""
    axis = Axis.of(simulation)
    runs = drawn_runs(simulation)
    figure, panels = _figure(runs)
    base = _first(simulation, BASELINE)
    for run, axes in zip(runs, panels, strict=True):
        series = run.series
        x = _edges(simulation, len(series.old), axis)
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
                _edges(simulation, len(total), axis),
                _with_zero(total),
                color=INK,
                linewidth=1,
                linestyle=(0, (4, 2)),
                label="without migration",
            )
        _finish(axes, run, axis, colors(simulation)[run.strategy], "state,\nelements")
    _complete(simulation, figure, panels, axis)
    return figure


def costs(simulation: Simulation) -> Figure:
    """Processing over application time, and results over processing (the form of thesis, Figure 30.3)."""
    axis = Axis.of(simulation)
    figure = Figure(figsize=(WIDTH, 3.5), layout="constrained")
    over_time, over_cpu = figure.subplots(1, 2)
    shown = [
        run
        for name in simulation.strategies
        if (run := _first(simulation, name)) is not None and run.refused is None
    ]
    for run in shown:
        color, line = _look(simulation, run.strategy)
        cpu = [0.0, *run.series.cpu]
        results = [0, *accumulate(run.series.results)]
        style: dict[str, Any] = {"color": color, "linestyle": line, "linewidth": 1.5}
        over_time.plot(_edges(simulation, len(run.series.cpu), axis), cpu, label=_name(run.strategy), **style)
        over_cpu.plot(cpu, results, **style)
    over_time.set_xlabel(f"application time, {axis.unit}")
    over_time.set_ylabel("processing so far, CPU s")
    over_cpu.set_xlabel("processing so far, CPU s")
    over_cpu.set_ylabel("results so far")
    for axes in (over_time, over_cpu):
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        _plain(axes)
    handles, labels = over_time.get_legend_handles_labels()
    _style_legend(
        figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False, fontsize=8)
    )
    return figure


def _panels(
    simulation: Simulation, label: str, values: Callable[[Series], Sequence[float]], axis: Axis
) -> Figure:
    runs = drawn_runs(simulation)
    figure, panels = _figure(runs)
    base = _first(simulation, BASELINE)
    for run, axes in zip(runs, panels, strict=True):
        color = colors(simulation)[run.strategy]
        own = values(run.series)
        if base is not None:
            without = values(base.series)
            axes.stairs(
                without,
                _edges(simulation, len(without), axis),
                fill=True,
                color=BASE,
                alpha=0.35,
                linewidth=0,
                label="without migration",
            )
        axes.stairs(own, _edges(simulation, len(own), axis), color=color, linewidth=1.4, baseline=None)
        _finish(axes, run, axis, color, label)
    usual = [] if base is None else values(base.series)
    _complete(simulation, figure, panels, axis, [values(run.series) for run in runs], usual)
    return figure


def _figure(runs: Sequence[Run]) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(WIDTH, 0.95 + PANEL * max(1, len(runs))), layout="constrained")
    if not runs:
        return figure, []
    panels = figure.subplots(len(runs), 1, sharex=True, sharey=True, squeeze=False)
    return figure, [row[0] for row in panels]


def _finish(axes: Axes, run: Run, axis: Axis, color: str, label: str) -> None:
    """Name the panel, and mark its migrations."""
    axes.set_title(run.strategy, loc="left", color=color, fontsize=10, fontweight="bold", pad=4)
    axes.set_ylabel(label, fontsize=8.5, color=INK)
    for moved in run.migrations:
        _mark(axes, moved, axis, color)
    _plain(axes)


def _mark(axes: Axes, moved: Moved, axis: Axis, color: str) -> None:
    events = [(moved.asked, "began")]
    if moved.split is not None:
        axes.axvline(moved.split / axis.chronons, color=INK, linewidth=1, linestyle=(0, (1, 1.5)))
        events.append((moved.split, "split"))
    if moved.ended is not None:
        end = moved.ended / axis.chronons
        axes.axvspan(moved.asked / axis.chronons, end, color=color, alpha=0.14, linewidth=0, zorder=-1)
        events.append((moved.ended, "ended" if moved.aborted is None else "aborted"))
    for time, text in _joined(events, near=CLOSE * axis.duration):
        axes.annotate(
            text,
            (time / axis.chronons, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 2),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=7.5,
            color=INK,
        )


def _joined(events: Sequence[tuple[int, str]], near: float) -> list[tuple[float, str]]:
    """Texts at times, those that would lie over each other as one."""
    joined: list[tuple[float, str]] = []
    for time, text in sorted(events, key=itemgetter(0)):
        if joined and time - joined[-1][0] < near:
            joined[-1] = (joined[-1][0], f"{joined[-1][1]}, {text}")
        else:
            joined.append((time, text))
    return joined


def _look(simulation: Simulation, strategy: str) -> tuple[str, Any]:
    if strategy in (known := colors(simulation)):
        return known[strategy], "solid"
    return (BASE, "solid") if strategy == BASELINE else (BASE, (0, (3, 2)))


def _name(strategy: str) -> str:
    return "without migration" if strategy == BASELINE else strategy


def _first(simulation: Simulation, strategy: str) -> Run | None:
    return next(iter(simulation.of(strategy)), None)


def _plain(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.tick_params(colors=INK, labelsize=8, width=0.6, color=FAINT)
    axes.grid(axis="y", color=FAINT, alpha=0.3, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_color(INK)
        label.set_fontsize(8.5)


def _complete(
    simulation: Simulation,
    figure: Figure,
    panels: Sequence[Axes],
    axis: Axis,
    drawn: Sequence[Sequence[float]] = (),
    usual: Sequence[float] = (),
) -> None:
    """Scales, labels and legend of panels that share both. Where something drawn exceeds `MOST` times what is
    usual, it is cut off, and its height is written there: the rest would be too low to be seen."""
    if not panels:
        return
    last = panels[-1]
    buckets = max(len(run.series.results) for run in simulation.runs)
    last.set_xlim(0, buckets * simulation.every / axis.chronons)
    last.set_xlabel(f"application time, {axis.unit}", fontsize=8.5, color=INK)
    limit = CUT * max((n for n in usual if not math.isnan(n)), default=0)
    if (
        limit
        and max((n for heights in drawn for n in heights if not math.isnan(n)), default=0)
        > limit * MOST / CUT
    ):
        last.set_ylim(0, limit)
        for axes, heights in zip(panels, drawn, strict=True):
            _tell_cut(axes, heights, limit, simulation.every / axis.chronons)
    else:
        last.set_ylim(0, None)
    _style_legend(
        figure.legend(
            *panels[0].get_legend_handles_labels(),
            loc="outside upper right",
            ncols=4,
            frameon=False,
            fontsize=8,
        )
    )


def _tell_cut(axes: Axes, heights: Sequence[float], limit: float, width: float) -> None:
    """Write the heights that are cut off, of neighbours the largest."""
    cut = [i for i, height in enumerate(heights) if height > limit]
    for _, group in groupby(enumerate(cut), key=lambda pair: pair[1] - pair[0]):
        top = max((i for _, i in group), key=heights.__getitem__)
        axes.annotate(
            f"▲ {heights[top]:,.0f}",
            ((top + 0.5) * width, 0.97),
            xycoords=("data", "axes fraction"),
            xytext=(6, 0),
            textcoords="offset points",
            va="top",
            fontsize=8,
            color=INK,
        )


def _style_legend(legend: Any) -> None:
    for text in legend.get_texts():
        text.set_color(INK)


def _edges(simulation: Simulation, buckets: int, axis: Axis) -> list[float]:
    return [i * simulation.every / axis.chronons for i in range(buckets + 1)]


def _with_zero(values: Sequence[float]) -> list[float]:
    return [0, *values]


def _longest(runs: Sequence[Run]) -> int:
    return max((n for run in runs for n in run.series.latency_max if n is not None), default=0)
