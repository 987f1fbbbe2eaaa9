"""The picture of a what-if study.

It shows how much there was to do, which order was best when, and what it costs to hold on to one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from matplotlib import colormaps
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from midstream.io.pictures import write_picture
from midstream.io.time_units import Clock
from midstream.scenarios.studies.declaration import Study
from midstream.scenarios.studies.pricing import TIE, show_cost
from midstream.scenarios.studies.what_if import OrderTotal, Stretch

COLORS = [colormaps["tab10"](i) for i in (0, 1, 2, 3, 4, 5, 6, 9)]
"""The orders that are told apart have these; grey is for what no order has a colour for."""

NO_DIFFERENCE, OTHER = "#e6e6e6", "#8c8c8c"


def draw(study: Study, totals: Sequence[OrderTotal], drawn: Sequence[Stretch], file: Path) -> None:
    """Write the picture of some stretches of time, one after the other and equally long, as a PNG file."""
    clock = study.clock
    chosen = _chosen(totals)
    colors = dict(zip(chosen, COLORS, strict=False))
    figure = Figure(figsize=(11, 8), dpi=120, layout="constrained")
    load, best, regret = figure.subplots(3, 1, sharex=True, height_ratios=(3, 1, 4))
    edges = [_position(time, clock) for time in (*(s.start for s in drawn), *(s.end for s in drawn[-1:]))]

    least = [min(stretch.spent) for stretch in drawn]
    load.stairs(least, edges, fill=True, color="#b0c4de")
    stretch = f" per {clock.show_duration(drawn[0].end - drawn[0].start)}" if drawn else ""
    load.set_ylabel(f"cost of the best order\nµs{stretch}")
    load.set_title(study.title, loc="left")

    best.bar(
        edges[:-1],
        1,
        width=[after - before for before, after in pairwise(edges)],
        align="edge",
        color=[_color(stretch, colors) for stretch in drawn],
    )
    best.set_ylabel("best order")
    best.set_yticks([])
    best.set_ylim(0, 1)

    for i in chosen:
        so_far = [0.0, *accumulate(stretch.regret[i] for stretch in drawn)]
        regret.plot(edges, so_far, color=colors[i], label=_label(totals[i]))
    regret.set_ylabel("regret so far, µs\n(cost above the best order)")
    regret.set_ylim(bottom=0)
    regret.grid(axis="y", alpha=0.3)
    _legend(figure, regret, len(totals) > len(chosen))
    _time_axis(regret, clock)
    write_picture(figure, file, "png")


def _chosen(totals: Sequence[OrderTotal]) -> list[int]:
    """The positions of the orders told apart: the given one, the cheapest, and what is often the best."""

    def rank(i: int) -> tuple[bool, int]:
        return (not totals[i].is_given and i > 0, -totals[i].best_in)

    return sorted(sorted(range(len(totals)), key=rank)[: len(COLORS)])


def _color(stretch: Stretch, colors: dict[int, Any]) -> Any:
    least = min(stretch.spent)
    best = [i for i, spent in enumerate(stretch.spent) if spent <= least * (1 + TIE)]
    if len(best) == len(stretch.spent):
        return NO_DIFFERENCE
    return next((colors[i] for i in best if i in colors), OTHER)


def _label(total: OrderTotal) -> str:
    given = ", as written" if total.is_given else ""
    return f"{total.order.label}{given}: {show_cost(total.regret)} µs = {total.relative_regret:.2%}"


def _legend(figure: Figure, axes: Any, has_others: bool) -> None:
    handles = [*axes.get_legend_handles_labels()[0], Patch(color=NO_DIFFERENCE, label="no difference")]
    if has_others:
        handles.append(Patch(color=OTHER, label="another order"))
    title = "order: regret in all, and relative to always the best"
    figure.legend(handles=handles, loc="outside lower center", ncols=2, title=title)


def _time_axis(axes: Any, clock: Clock) -> None:
    if clock.epoch is None:
        axes.set_xlabel(f"application time, {clock.unit}")
        return
    locator = AutoDateLocator()  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    axes.set_xlabel("application time, UTC")


def _position(chronon: int, clock: Clock) -> float:
    instant = clock.instant(chronon)
    return float(chronon) if instant is None else float(date2num(instant))  # type: ignore[no-untyped-call]
