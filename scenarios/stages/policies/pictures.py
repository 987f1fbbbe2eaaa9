"""The picture of the costs of policies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from midstream.scenarios.reports.pictures import BASE, FAINT, INK, SERIES, style_axes
from midstream.scenarios.stages.base.time_axis import TEXT, WIDTH
from midstream.scenarios.stages.policies.judging import CLAIRVOYANT, autopilot_policy

CLOSE = 0.1
"""Points closer than this share of the height have their names below each other."""


def policies(summary: Mapping[str, Any]) -> Figure:
    """The cost of each policy over its number of migrations."""
    figure = Figure(figsize=(WIDTH, 4.2), layout="constrained")
    axes = figure.subplots()
    best = autopilot_policy(summary["recommended"])
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
