"""Charts as pictures, with the trajectory of a stream; needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from textwrap import fill

import matplotlib.patheffects as effects
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogFormatter

from midstream.optimizer.charts.chart import Chart, Dimension
from midstream.optimizer.charts.fidelity import Trajectory
from midstream.optimizer.charts.naming import plan_names
from midstream.optimizer.charts.printing import mark
from midstream.optimizer.charts.slices import Slice, slices

INK, FAINT, GROUND = "#1b1b1d", "#8e8e93", "#fffffe"
"""The background is drawn too, so that texts are legible on a dark page."""
PLANS = ("#a6cee3", "#fdd0a2", "#b7e2c0", "#e3c1dc", "#f3e3a1", "#c9d3e0", "#f4b6b6", "#d3cbb8")
"""Light colours, so that texts stand out; colour-blind readers can distinguish neighbours in the list."""

PANEL, LEGEND = 5.0, 0.26
"""Inches: a panel's side, and a line of the legend."""
NARROW = 0.22
"""Share of the width below which a region shows its plan's mark instead of its name."""
WRAP = 26


class Plain(LogFormatter):
    """Formats 0.6 as 0.6 instead of 6e-01."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return f"{x:g}" if super().__call__(x, pos) else ""


def draw_chart(chart: Chart, trajectory: Trajectory | None = None, title: str = "") -> Figure:
    """Draw the regions of a chart with the names of their plans, and a stream's trajectory.

    The trajectory is a line from round to round, with a dot at each switch to another plan. With more than
    two dimensions, some slices are drawn; a round is in the nearest slice.
    """
    shown = slices(chart)
    names = [f"{mark(i)}  {name}" for i, name in enumerate(plan_names(chart.plans))]
    side = PANEL if len(shown) == 1 else 0.75 * PANEL
    flat = 0.45 if len(chart.dimensions) == 1 else 1.0
    height = side * flat + LEGEND * (len(names) + 2) + 0.5
    figure = Figure(figsize=(max(6.0, side * len(shown)), height), dpi=120, layout="constrained")
    figure.set_facecolor(GROUND)
    panels = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    for axes, one in zip(panels, shown, strict=True):
        _regions(axes, one)
        if trajectory is not None:
            _draw_trajectory(axes, one, shown, trajectory)
        _name_axes(axes, one, is_first=axes is panels[0], has_trajectory=trajectory is not None)
    handles: list[Patch | Line2D] = [
        Patch(color=_color(i), label=fill(name, 90)) for i, name in enumerate(names)
    ]
    if trajectory is not None:
        handles += _trajectory_handles(trajectory)
    figure.legend(handles=handles, loc="outside lower left", frameon=False, fontsize=8.5, labelcolor=INK)
    if title:
        figure.suptitle(title, fontsize=10, color=INK)
    return figure


def _regions(axes: Axes, one: Slice) -> None:
    """Draw colours by plan, lines between regions, and the plan in each region."""
    across, up = _dimensions(one)
    rows = one.rows()
    colors = ListedColormap([_color(i) for i in range(len(one.chart.plans))])
    axes.pcolormesh(
        *([one.at(i / one.parts) for i in range(one.parts + 1)] for one in (across, up)),
        rows,
        cmap=colors,
        vmin=-0.5,
        vmax=len(one.chart.plans) - 0.5,
    )
    axes.set_xscale("log" if across.is_logarithmic else "linear")
    axes.set_yscale("log" if up.is_logarithmic else "linear")
    axes.add_collection(LineCollection(_borders(one), colors=INK, linewidths=1.0, alpha=0.65))
    names = plan_names(one.chart.plans)
    for x, y, width, number in _labels(one):
        wide = width >= NARROW * one.width
        text = fill(names[number], max(8, int(WRAP * width / one.width))) if wide else mark(number)
        label = axes.text(
            _at(across, x), _at(up, y), text, ha="center", va="center", fontsize=8.5, color=INK, zorder=4
        )
        label.set_path_effects([effects.withStroke(linewidth=2.5, foreground=_color(number))])


def _dimensions(one: Slice) -> tuple[Dimension, Dimension]:
    """The two dimensions that are drawn; a chart with one dimension is a strip."""
    across, *others = one.chart.dimensions[:2]
    return across, others[0] if others else Dimension("", 0.0, 1.0, 1)


def _borders(one: Slice) -> list[list[tuple[float, float]]]:
    """Lines between places of different regions."""
    across, up = _dimensions(one)
    rows, found = one.rows(), []
    for y in range(one.height):
        for x in range(one.width):
            if x + 1 < one.width and rows[y][x] != rows[y][x + 1]:
                found.append([(_at(across, x + 0.5), _at(up, y + side)) for side in (-0.5, 0.5)])
            if y + 1 < one.height and rows[y][x] != rows[y + 1][x]:
                found.append([(_at(across, x + side), _at(up, y + 0.5)) for side in (-0.5, 0.5)])
    return found


def _labels(one: Slice) -> list[tuple[float, float, float, int]]:
    """For each region of a slice: centre and length of its longest row of places, and its plan's number.

    Of equally long rows, the one in the middle is taken.
    """
    runs: dict[int, list[tuple[int, int, int]]] = {}
    for y in range(one.height):
        places = [(one.chart.regions[one.place(x, y)], x) for x in range(one.width)]
        for region, run in groupby(places, key=itemgetter(0)):
            across = [x for _, x in run]
            runs.setdefault(region, []).append((len(across), across[0], y))
    found = []
    for rows in runs.values():
        length = max(width for width, _, _ in rows)
        longest = [row for row in rows if row[0] == length]
        _, first, y = longest[len(longest) // 2]
        number = one.chart.number_at(one.place(first, y))
        found.append((first + (length - 1) / 2, float(y), float(length), number))
    return found


def _draw_trajectory(axes: Axes, one: Slice, shown: list[Slice], trajectory: Trajectory) -> None:
    """Draw the rounds that are in a slice, connected if they are consecutive."""
    points = [
        _point(one, step.point, (i + 0.5) / len(trajectory.steps)) for i, step in enumerate(trajectory.steps)
    ]
    inside = [_nearest(shown, step.place) is one for step in trajectory.steps]
    lines = [pair for pair, here in zip(pairwise(points), pairwise(inside), strict=True) if all(here)]
    axes.add_collection(LineCollection(lines, colors=INK, linewidths=0.7, alpha=0.55, zorder=2))
    switched = [
        points[i + 1]
        for i, (before, after) in enumerate(pairwise(trajectory.steps))
        if before.number != after.number and inside[i + 1]
    ]
    if switched:
        x, y = zip(*switched, strict=True)
        axes.scatter(x, y, s=14, color=INK, zorder=3, linewidths=0)


def _point(one: Slice, point: Sequence[float], passed: float) -> tuple[float, float]:
    """The position of a round, within the ranges; on a strip, later rounds are further up."""
    across, up = _dimensions(one)
    x, y = point[0], point[1] if len(point) > 1 else passed
    return min(max(x, across.low), across.high), min(max(y, up.low), up.high)


def _nearest(shown: list[Slice], place: object) -> Slice:
    if len(shown) == 1:
        return shown[0]
    assert isinstance(place, tuple)
    return min(shown, key=lambda one: abs(one.beyond[0] - place[2]))


def _trajectory_handles(trajectory: Trajectory) -> list[Patch | Line2D]:
    rounds = f"{len(trajectory.steps):,} rounds, {trajectory.moves:,} moves to another place"
    switches = f"{trajectory.switches:,} switches to another plan"
    return [
        Line2D([], [], color=INK, linewidth=0.7, alpha=0.55, label=rounds),
        Line2D([], [], color=INK, marker="o", markersize=4, linestyle="", label=switches),
    ]


def _name_axes(axes: Axes, one: Slice, *, is_first: bool, has_trajectory: bool) -> None:
    across, up = _dimensions(one)
    axes.set_xlabel(across.name, fontsize=9, color=INK)
    axes.set_xlim(across.low, across.high)
    axes.set_ylim(up.low, up.high)
    if not up.name:
        axes.set_yticks([])
        axes.set_ylabel("rounds, upwards" if has_trajectory else "", fontsize=9, color=INK)
    elif is_first:
        axes.set_ylabel(up.name, fontsize=9, color=INK)
    if one.beyond:
        axes.set_title(one.title(), fontsize=9, color=INK)
    axes.tick_params(which="both", colors=INK, labelsize=8, width=0.6, color=FAINT)
    for axis, dimension in ((axes.xaxis, across), (axes.yaxis, up)):
        if dimension.is_logarithmic:
            axis.set_major_formatter(Plain())
            axis.set_minor_formatter(Plain(minor_thresholds=(2, 0.4)))
    for spine in axes.spines.values():
        spine.set_color(FAINT)


def _at(dimension: Dimension, part: float) -> float:
    """The value in the middle of a part; at part + 0.5, the border to the next one."""
    return dimension.at((part + 0.5) / dimension.parts)


def _color(number: int) -> str:
    return PLANS[number % len(PLANS)]
