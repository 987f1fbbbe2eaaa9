"""Panels above each other, one for each strategy, with a common time axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from midstream.scenarios.reports.pictures import INK, SERIES, style_axes
from midstream.scenarios.trials.simulator.results import Moved, Run, Simulation

WIDTH = 8.2
PANEL = 1.55
"""Width of figures and height of panels, in inches."""

MOST, CUT = 3, 2
"""A height above `MOST` times the usual values is cut off at `CUT` times these values."""

UNITS = (("d", 86_400, 2), ("h", 3_600, 2), ("min", 60, 10), ("s", 1, 0))
"""Units of a time axis: the name, the length in seconds, and the least number of units to use it for."""

TITLE = 14
"""Distance from the axes to a panel's name, in points: above the texts of a migration's times."""

LINES: Sequence[Any] = ("solid", (0, (5, 1.5)), (0, (1, 1.2)))

CLOSE = 0.06
"""Marks that are closer than this share of the duration have a common text."""


class Axis(NamedTuple):
    """The axis of application time: a unit, its length in chronons, and the duration in chronons."""

    unit: str
    chronons: float
    duration: int

    @classmethod
    def of(cls, simulation: Simulation) -> Axis:
        """The unit that fits the duration."""
        return cls(*unit_for(simulation, simulation.duration), simulation.duration)


def look_of(number: int) -> tuple[str, Any]:
    """The colour and the line of one of several; when colours run out, the line changes."""
    return SERIES[number % len(SERIES)], LINES[number // len(SERIES) % len(LINES)]


def empty_panels(runs: Sequence[Run]) -> tuple[Figure, list[Axes]]:
    """A figure with a panel for each run."""
    figure = Figure(figsize=(WIDTH, 0.95 + PANEL * max(1, len(runs))), layout="constrained")
    if not runs:
        return figure, []
    panels = figure.subplots(len(runs), 1, sharex=True, sharey=True, squeeze=False)
    return figure, [row[0] for row in panels]


def name_panel(axes: Axes, run: Run, axis: Axis, color: str, label: str) -> None:
    """Name the panel, and mark its migrations."""
    axes.set_title(run.strategy, loc="left", color=color, fontsize=10, fontweight="bold", pad=TITLE)
    axes.set_ylabel(label, fontsize=8.5, color=INK)
    for moved in run.migrations:
        _shade(axes, moved, axis, color)
    if len(run.migrations) == 1:
        _tell_times(axes, run.migrations[0], axis)
    style_axes(axes)


def _shade(axes: Axes, moved: Moved, axis: Axis, color: str) -> None:
    if moved.split is not None:
        axes.axvline(moved.split / axis.chronons, color=INK, linewidth=1, linestyle=(0, (1, 1.5)))
    if moved.ended is not None:
        times = moved.asked / axis.chronons, moved.ended / axis.chronons
        axes.axvspan(*times, color=color, alpha=0.14, linewidth=0, zorder=-1)


def _tell_times(axes: Axes, moved: Moved, axis: Axis) -> None:
    """Mark the times of a migration: the beginning on the left, later times on the right.

    Times that are close to each other share a text.
    """
    over = "ended" if moved.aborted is None else "aborted"
    later = [(time, text) for time, text in ((moved.split, "split"), (moved.ended, over)) if time is not None]
    later.sort(key=itemgetter(0))
    if len(later) == 2 and later[1][0] - later[0][0] < CLOSE * axis.duration:
        later = [(later[0][0], f"{later[0][1]}, {later[1][1]}")]
    for time, text, side in ((moved.asked, "began", "right"), *((*one, "left") for one in later)):
        axes.annotate(
            text,
            (time / axis.chronons, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 2),
            textcoords="offset points",
            ha=side,
            va="bottom",
            fontsize=7.5,
            color=INK,
        )


def complete(
    simulation: Simulation,
    figure: Figure,
    panels: Sequence[Axes],
    axis: Axis,
    drawn: Sequence[Sequence[float]] = (),
    usual: Sequence[float] = (),
) -> None:
    """Give panels their common scales, the label of the time axis and a legend.

    If a drawn value exceeds `MOST` times the usual values, it is cut off and written as text; otherwise the
    usual values would be too low to see.
    """
    if not panels:
        return
    last = panels[-1]
    buckets = max(len(run.series.results) for run in simulation.runs)
    last.set_xlim(0, buckets * simulation.every / axis.chronons)
    last.set_xlabel(f"application time, {axis.unit}", fontsize=8.5, color=INK)
    most_usual = max((n for n in usual if not math.isnan(n)), default=0)
    most = max((n for heights in drawn for n in heights if not math.isnan(n)), default=0)
    if 0 < MOST * most_usual < most:
        limit = CUT * most_usual
        last.set_ylim(0, limit)
        for axes, heights in zip(panels, drawn, strict=True):
            _tell_cut(axes, heights, limit, simulation.every / axis.chronons)
    else:
        last.set_ylim(0, None)
    draw_legend(figure, panels[0], "outside upper right")


def _tell_cut(axes: Axes, heights: Sequence[float], limit: float, width: float) -> None:
    """Write the heights that are cut off; of neighbours only the largest."""
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


def draw_legend(figure: Figure, axes: Axes, place: Any) -> None:
    """Draw the legend of axes outside all axes."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc=place, ncols=4, frameon=False, fontsize=8, labelcolor=INK)


def unit_for(simulation: Simulation, time: float) -> tuple[str, float]:
    """The unit in which a time is shown, and its chronons."""
    seconds = time / simulation.second
    name, length = next((name, length) for name, length, least in UNITS if seconds >= least * length)
    return name, length * simulation.second


def rate_unit(simulation: Simulation) -> tuple[str, float]:
    """The largest unit, at least a second, that is not longer than a bucket, and its chronons."""
    bucket = simulation.every / simulation.second
    name, length = next(((n, size) for n, size, _ in UNITS if bucket >= size), ("s", 1))
    return name, length * simulation.second


def edges(simulation: Simulation, buckets: int, axis: Axis) -> list[float]:
    """The beginnings of the buckets, and the end of the last one, in the unit of the time axis."""
    return [i * simulation.every / axis.chronons for i in range(buckets + 1)]
