"""The picture of a what-if study.

It shows how much there was to do; and by each objective which order was best when, and what it costs to hold
on to one of them, or to take turns by what was known before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from matplotlib import colormaps
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from midstream.io.pictures import write_picture
from midstream.io.time_units import Clock
from midstream.scenarios.studies.course_drawing import (
    color_of_best,
    label_time,
    position,
    so_far,
    told_apart,
)
from midstream.scenarios.studies.declaration import Study
from midstream.scenarios.studies.pricing import relative, show_cost
from midstream.scenarios.studies.what_if.prices import OrderTotal, Prices, Stretch

CELLS = 1000
"""How many stretches of time a chart shows at most; there is not room for more."""

COLORS = [colormaps["tab10"](i) for i in (0, 1, 2, 3, 4, 5, 6, 9)]
"""The orders that are told apart have these; grey is for what no order has a colour for."""

NO_DIFFERENCE, OTHER = "#e6e6e6", "#8c8c8c"

Colors = Mapping[int, Any]
"""By an order's number."""


def draw(study: Study, prices: Sequence[Prices], file: Path) -> None:
    """Write the picture of what was found by some objectives as a PNG file."""
    colors = dict(zip(_chosen(prices), COLORS, strict=False))
    heights = [2.5, *(height for _ in prices for height in (0.8, 3.5))]
    figure = Figure(figsize=(11, 1.5 + sum(heights)), dpi=120, layout="constrained")
    load, *axes = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    _draw_load(load, study, prices[0])
    load.set_title(study.title, loc="left")
    for i, found in enumerate(prices):
        _draw_best(axes[2 * i], study.clock, found, colors)
        _draw_regret(axes[2 * i + 1], study.clock, found, colors)
    handles = [Patch(color=NO_DIFFERENCE, label="no difference")]
    if len(prices[0].orders) > len(colors):
        handles.append(Patch(color=OTHER, label="another order"))
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    axes[-1].set_xlabel(label_time(axes[-1], study.clock))
    write_picture(figure, file, "png")


def _draw_load(axes: Any, study: Study, found: Prices) -> None:
    drawn = found.stretches(CELLS)
    axes.stairs([min(one.spent) for one in drawn], _edges(drawn, study.clock), fill=True, color="#b0c4de")
    stretch = f" per {study.clock.show_duration(drawn[0].end - drawn[0].start)}" if drawn else ""
    axes.set_ylabel(
        f"{found.aim.name}\nof the best order\n{found.aim.unit}{stretch if found.aim.is_flow else ''}"
    )


def _draw_best(axes: Any, clock: Clock, found: Prices, colors: Colors) -> None:
    drawn = found.stretches(CELLS)
    edges = _edges(drawn, clock)
    widths = [after - before for before, after in pairwise(edges)]
    numbers = [total.order.number for total in found.totals]
    by_place = {i: colors[number] for i, number in enumerate(numbers) if number in colors}
    painted = [color_of_best(one.spent, by_place, alike=NO_DIFFERENCE, other=OTHER) for one in drawn]
    axes.bar(edges[:-1], 1, width=widths, align="edge", color=painted)
    axes.set_title(f"best order by {found.aim.name}", loc="left", fontsize="medium")
    axes.set_yticks([])
    axes.set_ylim(0, 1)


def _draw_regret(axes: Any, clock: Clock, found: Prices, colors: Colors) -> None:
    """What adds up over time is drawn as it grows; of a level, the mean so far."""
    drawn = found.stretches(CELLS)
    edges = _edges(drawn, clock)
    lines = [
        (_label(total, found), colors[total.order.number], [one.regret[i] for one in drawn], "solid")
        for i, total in enumerate(found.totals)
        if total.order.number in colors
    ]
    lost = found.cost_of(found.by_past) - found.least
    by_past = f"best by the past: {_amount(lost, found)}"
    lines.append((by_past, "black", [one.past_regret for one in drawn], "dashed"))
    for label, color, regrets, style in lines:
        drawn_so_far = so_far(regrets, is_mean=not found.aim.is_flow)
        axes.plot(edges, drawn_so_far, color=color, label=label, linestyle=style)
    axes.set_ylabel(
        f"{'' if found.aim.is_flow else 'mean '}regret so far, {found.aim.unit}\n(above the best order)"
    )
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", alpha=0.3)
    axes.legend(
        loc="upper left" if found.aim.is_flow else "upper right", title="regret in all", fontsize="small"
    )


def _chosen(prices: Sequence[Prices]) -> list[int]:
    """The orders told apart, by number: the given one, the cheapest by each objective, and what is often the
    best."""
    totals = {total.order.number: total for found in prices for total in found.totals}
    often = {
        number: sum(t.best_in for p in prices for t in p.totals if t.order.number == number)
        for number in totals
    }
    given = {number for number, total in totals.items() if total.is_given}
    return told_apart(often, given | {found.totals[0].order.number for found in prices}, len(COLORS))


def _label(total: OrderTotal, found: Prices) -> str:
    given = ", as written" if total.is_given else ""
    return f"{total.order.label}{given}: {_amount(total.regret, found)}"


def _amount(regret: float, found: Prices) -> str:
    return f"{show_cost(regret)} {found.aim.unit} = {relative(regret, found.least):.2%}"


def _edges(drawn: Sequence[Stretch], clock: Clock) -> list[float]:
    return [
        position(time, clock) for time in (*(one.start for one in drawn), *(one.end for one in drawn[-1:]))
    ]
