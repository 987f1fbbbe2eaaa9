"""The picture of the costs of orders over time."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, TypeVar

from matplotlib.figure import Figure

from midstream.io.time_units import Clock
from midstream.scenarios.recordings.pricing import TIE
from midstream.scenarios.reports.pictures import FAINT, INK, SERIES
from midstream.scenarios.stages.base.time_axis import TEXT, WIDTH, draw_legend, position, style_time

C = TypeVar("C")
"""The type of colours."""


def orders(clock: Clock, objective: Mapping[str, Any], drawn: Mapping[str, Any]) -> Figure:
    """The cost of the best order over time, the best order itself, and the regret of keeping one."""
    figure = Figure(figsize=(WIDTH, 6.0), layout="constrained")
    load, best, regret = figure.subplots(3, 1, sharex=True, height_ratios=(3, 1, 4))
    totals, unit = objective["orders"], objective["unit"]
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
        color=[color_of_best(spent, colors, alike="none", uncolored=FAINT) for spent in drawn["spent"]],
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
        regret.plot(at, so_far(regrets, is_mean=objective["is_mean"]), label=label, **look)
    regret.set_ylim(bottom=0)
    regret.set_ylabel(
        f"{'mean ' if objective['is_mean'] else ''}regret so far, {unit}", fontsize=TEXT, color=INK
    )
    for axes in (load, best, regret):
        style_time(axes, clock, at)
    best.set_yticks([])
    best.grid(visible=False)
    for axes in (load, best):
        axes.set_xlabel("")
    draw_legend(figure, regret)
    return figure


def _chosen(totals: Sequence[Mapping[str, Any]]) -> list[int]:
    """The positions of the orders with own colours: the given one, the cheapest, and those often the best."""
    best_in = {i: total["best_in"] for i, total in enumerate(totals)}
    needed = {i for i, total in enumerate(totals) if total["is_given"] or i == 0}
    return colored_orders(best_in, needed, len(SERIES))


def colored_orders(best_in: Mapping[int, int], needed: Container[int], most: int) -> list[int]:
    """At most `most` orders to colour: those that are needed, then those that are often the best.

    >>> colored_orders({0: 5, 1: 7, 2: 9, 3: 0}, needed=[3], most=3)
    [1, 2, 3]
    """
    ranked = sorted(best_in, key=lambda one: (one not in needed, -best_in[one], one))
    return sorted(ranked[:most])


def color_of_best(spent: Sequence[float], colors: Mapping[int, C], *, alike: C, uncolored: C) -> C:
    """The colour of the order that costs least, by position.

    It is `alike` where all orders cost the same, and `uncolored` where the best ones have no colour.

    >>> color_of_best([3.0, 1.0, 2.0], {0: "red", 1: "blue"}, alike="white", uncolored="grey")
    'blue'
    """
    least = min(spent)
    best = [i for i, one in enumerate(spent) if one <= least * (1 + TIE)]
    if len(best) == len(spent):
        return alike
    return next((colors[i] for i in best if i in colors), uncolored)


def so_far(amounts: Iterable[float], *, is_mean: bool) -> list[float]:
    """The sums of amounts, or their means, before each amount and after the last.

    >>> so_far([2.0, 4.0], is_mean=False), so_far([2.0, 4.0], is_mean=True)
    ([0.0, 2.0, 6.0], [0.0, 2.0, 3.0])
    """
    totals = [0.0, *accumulate(amounts)]
    return [total / max(1, i) for i, total in enumerate(totals)] if is_mean else totals
