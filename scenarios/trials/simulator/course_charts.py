"""Pictures of the cumulative costs of policies, beside the best fixed plan and the clairvoyant."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from midstream.scenarios.reports.pictures import BASE, FAINT, GROUND, HELD, INK, NEW, OLD, style_axes
from midstream.scenarios.trials.simulator.courses import CostCurve, Times
from midstream.scenarios.trials.simulator.panels import look_of

WIDTH, COSTS, MORE, STRIP = 5.4, 2.6, 1.6, 0.42
"""Sizes in inches; narrow, so that texts can be read on a small screen."""

TEXT = 9.0
"""Size of texts, in points."""

OF_PLANS = (OLD, NEW, HELD, BASE, FAINT)
"""Colours of running plans; those in `SERIES` are for policies."""


def drawn(courses: Sequence[CostCurve]) -> list[CostCurve]:
    """Policies, the cheapest fixed plan, and the cheapest clairvoyant, if there is one."""
    policies = [one for one in courses if one.kind == "policy"]
    marks = [
        min(of_kind, key=lambda one: one.spent[-1])
        for kind in ("fixed", "clairvoyant")
        if (of_kind := [one for one in courses if one.kind == kind])
    ]
    return [*policies, *marks]


def costs_and_plans(courses: Sequence[CostCurve], times: Times) -> Figure:
    """Draw cumulative costs, their excess over a clairvoyant's, and the plans of policies that move."""
    shown = drawn(courses)
    moving = [one for one in shown if one.kind != "fixed"]
    cheapest = [one for one in shown if one.kind == "clairvoyant"]
    heights = [COSTS, *[MORE for _ in cheapest], *[STRIP for _ in moving]]
    figure = Figure(figsize=(WIDTH, 0.55 + sum(heights)), layout="constrained")
    axes, *others = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
    draw_costs(axes, shown, times)
    handles, labels = axes.get_legend_handles_labels()
    _legend(figure, handles, labels, "outside upper left")
    for more, known in zip(others, cheapest, strict=False):
        _draw_more(more, shown, known, times)
    strips = others[len(cheapest) :]
    plans = dict.fromkeys(name for one in moving for name in (one.start, *(move.new for move in one.moves)))
    colors = {name: OF_PLANS[i % len(OF_PLANS)] for i, name in enumerate(plans)}
    for strip, one in zip(strips, moving, strict=True):
        _draw_plans(strip, one, times, colors, look(shown, one)["color"])
    last = strips[-1] if strips else axes
    last.tick_params(bottom=True, labelbottom=True)
    last.set_xlabel(times.label, fontsize=TEXT, color=INK)
    if strips:
        patches = [Patch(color=color, label=name) for name, color in colors.items()]
        _legend(figure, patches, list(colors), "outside lower left")
    return figure


def draw_costs(axes: Axes, shown: Sequence[CostCurve], times: Times) -> None:
    """Draw costs as lines that begin at 0, with a mark for each move."""
    for one in shown:
        ends = [times.first + times.every * i for i in range(len(one.spent) + 1)]
        heights = [0.0, *one.spent]
        own = look(shown, one)
        axes.plot([times.at(end) for end in ends], heights, label=_label(one), **own)
        at = [move.at for move in one.moves]
        axes.plot(
            [times.at(time) for time in at],
            [_between(ends, heights, time) for time in at],
            linestyle="none",
            marker="o",
            markersize=4 if len(at) < MANY else 2,
            markerfacecolor=own["color"],
            markeredgecolor=GROUND,
            markeredgewidth=0.5 if len(at) < MANY else 0,
            zorder=3,
        )
    axes.set_xlim(0, times.duration / times.scale)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("intermediate results so far", fontsize=TEXT, color=INK)
    style_axes(axes)
    axes.tick_params(labelsize=TEXT - 0.5)


def _draw_more(axes: Axes, shown: Sequence[CostCurve], known: CostCurve, times: Times) -> None:
    """Draw by how much the cumulative costs of policies exceed the clairvoyant's."""
    policies = [one for one in shown if one.kind == "policy"]
    for one in policies:
        heights = [0.0, *(own - least for own, least in zip(one.spent, known.spent, strict=True))]
        ends = [times.first + times.every * i for i in range(len(heights))]
        axes.plot([times.at(end) for end in ends], heights, **look(shown, one))
    axes.set_ylabel("more than the\nclairvoyant", fontsize=TEXT, color=INK)
    style_axes(axes)
    axes.tick_params(labelsize=TEXT - 0.5)


MANY = 40
"""From this number of moves on, marks are smaller."""


def look(shown: Sequence[CostCurve], curve: CostCurve) -> dict[str, Any]:
    """Line style: a colour for each policy; grey or the colour of texts for what needs foreknowledge."""
    if curve.kind == "fixed":
        return {"color": BASE, "linewidth": 1.6, "linestyle": (0, (4, 2))}
    if curve.kind == "clairvoyant":
        return {"color": INK, "linewidth": 1.2, "linestyle": "solid"}
    policies = [each.name for each in shown if each.kind == "policy"]
    color, line = look_of(policies.index(curve.name))
    return {"color": color, "linewidth": 1.7, "linestyle": line}


def _label(one: CostCurve) -> str:
    if one.kind != "fixed":
        return one.name
    return f"best fixed: {one.start}" if one.start else "best fixed plan"


def _draw_plans(axes: Axes, one: CostCurve, times: Times, colors: dict[str, str], color: str) -> None:
    """A strip in the colours of the plans; while two run, the old one is above the new one."""
    since: float = times.first
    running, end = one.start, times.first + times.duration
    for move in one.moves:
        until = end if move.until is None else min(move.until, end)
        _draw_strip(axes, times, (since, move.at), (0, 1), colors[running])
        _draw_strip(axes, times, (move.at, until), (0.5, 1), colors[running])
        _draw_strip(axes, times, (move.at, until), (0, 0.5), colors[move.new])
        since, running = until, move.new
    _draw_strip(axes, times, (since, end), (0, 1), colors[running])
    axes.set_ylim(0, 1)
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    axes.tick_params(bottom=False, labelbottom=False, colors=INK, labelsize=TEXT - 0.5)
    axes.set_title(one.name, loc="left", fontsize=TEXT - 0.5, color=color, pad=2)


def _draw_strip(
    axes: Axes, times: Times, span: tuple[float, float], part: tuple[float, float], color: str
) -> None:
    if span[1] > span[0]:
        axes.axvspan(times.at(span[0]), times.at(span[1]), *part, color=color, linewidth=0)


def _between(ends: Sequence[float], heights: Sequence[float], time: float) -> float:
    """The height of a line at an instant.

    >>> _between([0, 10, 20], [0, 4, 5], 15)
    4.5
    """
    i = min(max(bisect_right(ends, time), 1), len(ends) - 1)
    share = (time - ends[i - 1]) / (ends[i] - ends[i - 1])
    return heights[i - 1] + min(1.0, share) * (heights[i] - heights[i - 1])


def _legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str], place: Any) -> None:
    columns = 2 if max(map(len, labels), default=0) < 38 else 1
    figure.legend(
        handles, labels, loc=place, ncols=columns, frameon=False, fontsize=TEXT - 0.5, labelcolor=INK
    )
