"""The pictures of a study's page, in the page's colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from midstream.scenarios.reports.pictures import BASE, FAINT, INK, SERIES, style_axes
from midstream.scenarios.studies.course_drawing import (
    color_of_best,
    label_time,
    position,
    so_far,
    told_apart,
)
from midstream.scenarios.studies.policies.judging import CLAIRVOYANT, flown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from midstream.io.time_units import Clock

WIDTH = 6.4
"""The width in inches: narrow, so that texts can be read on a small screen."""

TEXT = 9.0
"""The size of texts in points."""

CLOSE = 0.1
"""Points closer than this share of the height have their names below each other."""


def rates(clock: Clock, edges: Sequence[int], counts: Mapping[str, Sequence[int]]) -> Figure:
    """The number of elements of each stream that start in each stretch of time."""
    figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    axes = figure.subplots()
    at = [position(edge, clock) for edge in edges]
    for i, (name, numbers) in enumerate(counts.items()):
        axes.stairs(numbers, at, baseline=None, color=SERIES[i % len(SERIES)], linewidth=1.2, label=name)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("elements", fontsize=TEXT, color=INK)
    _style(axes, clock, at)
    _legend(figure, axes)
    return figure


def orders(clock: Clock, found: Mapping[str, Any], drawn: Mapping[str, Any]) -> Figure:
    """The cost of the best order over time, the best order itself, and the regret of keeping one."""
    figure = Figure(figsize=(WIDTH, 6.0), layout="constrained")
    load, best, regret = figure.subplots(3, 1, sharex=True, height_ratios=(3, 1, 4))
    totals, unit = found["orders"], found["unit"]
    at = [position(edge, clock) for edge in drawn["edges"]]
    chosen = _chosen(totals)
    colors = dict(zip(chosen, SERIES, strict=False))
    load.stairs([min(spent) for spent in drawn["spent"]], at, baseline=None, color=INK, linewidth=1)
    load.set_ylabel(f"best order, {unit}", fontsize=TEXT, color=INK)
    load.set_ylim(bottom=0)
    best.bar(
        at[:-1],
        1,
        width=[after - before for before, after in pairwise(at)],
        align="edge",
        color=[color_of_best(spent, colors, alike="none", other=FAINT) for spent in drawn["spent"]],
    )
    best.set_ylim(0, 1)
    best.set_ylabel("best\norder", fontsize=TEXT, color=INK)
    lines = {
        totals[i]["order"] + (", as written" if totals[i]["is_given"] else ""): (
            [cell[i] for cell in drawn["regret"]],
            {"color": colors[i], "linewidth": 1.5},
        )
        for i in chosen
    }
    lines["best by the past"] = (
        drawn["past_regret"],
        {"color": INK, "linewidth": 1.2, "linestyle": (0, (4, 2))},
    )
    for label, (regrets, look) in lines.items():
        regret.plot(at, so_far(regrets, is_mean=found["is_mean"]), label=label, **look)
    regret.set_ylim(bottom=0)
    regret.set_ylabel(f"{'mean ' if found['is_mean'] else ''}regret so far, {unit}", fontsize=TEXT, color=INK)
    for axes in (load, best, regret):
        _style(axes, clock, at)
    best.set_yticks([])
    best.grid(visible=False)
    for axes in (load, best):
        axes.set_xlabel("")
    _legend(figure, regret)
    return figure


def _chosen(totals: Sequence[Mapping[str, Any]]) -> list[int]:
    """The positions of the orders with own colours: the given one, the cheapest, and those often the best."""
    best_in = {i: total["best_in"] for i, total in enumerate(totals)}
    needed = {i for i, total in enumerate(totals) if total["is_given"] or i == 0}
    return told_apart(best_in, needed, len(SERIES))


def _style(axes: Axes, clock: Clock, at: Sequence[float]) -> None:
    style_axes(axes)
    axes.tick_params(labelsize=TEXT - 0.5)
    axes.set_xlim(at[0], at[-1])
    axes.set_xlabel(label_time(axes, clock, ticks=7), fontsize=TEXT, color=INK)


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    columns = 3 if max(map(len, labels), default=0) < 12 else 1
    look: dict[str, Any] = {"frameon": False, "fontsize": TEXT - 0.5, "labelcolor": INK}
    figure.legend(handles, labels, loc="outside upper left", ncols=columns, **look)


def policies(summary: Mapping[str, Any]) -> Figure:
    """The cost of each policy over its number of migrations."""
    figure = Figure(figsize=(WIDTH, 4.2), layout="constrained")
    axes = figure.subplots()
    best = flown(summary["recommended"])
    highest = max(one["total"] for one in summary["policies"]) or 1
    # Policies that are close have their names below each other.
    places: list[list[Mapping[str, Any]]] = []
    for one in sorted(summary["policies"], key=lambda one: (one["moves"], -one["total"])):
        last = places[-1][-1] if places else None
        is_close = last is not None and last["total"] - one["total"] < CLOSE * highest
        if last is not None and is_close and last["moves"] == one["moves"]:
            places[-1].append(one)
        else:
            places.append([one])
    for together in places:
        for one in together:
            name = one["policy"]
            color = SERIES[1] if name == best else BASE if name == CLAIRVOYANT else SERIES[0]
            axes.plot(one["moves"], one["total"], "o", color=color, markersize=5, zorder=2 + (name == best))
        axes.annotate(
            "\n".join(one["policy"] for one in together),
            (together[0]["moves"], sum(one["total"] for one in together) / len(together)),
            (6, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
            color=INK,
        )
    front = [one for name in summary["front"] for one in summary["policies"] if one["policy"] == name]
    points = [one["moves"] for one in front], [one["total"] for one in front]
    axes.step(*points, where="post", color=FAINT, linewidth=1)
    style_axes(axes)
    axes.set_xscale("symlog", linthresh=1)
    axes.set_xlim(-0.2, 8 * max(1, *(one["moves"] for one in summary["policies"])))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.set_ylim(0, 1.1 * highest)
    axes.set_xlabel("migrations", fontsize=TEXT, color=INK)
    axes.set_ylabel(summary["cost_unit"], fontsize=TEXT, color=INK)
    return figure
