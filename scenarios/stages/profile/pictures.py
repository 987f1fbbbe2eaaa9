"""The picture of a profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from midstream.io.time_units import Clock
from midstream.scenarios.reports.pictures import INK, SERIES
from midstream.scenarios.stages.base.time_axis import TEXT, WIDTH, draw_legend, position, style_time


def rates(clock: Clock, edges: Sequence[int], counts: Mapping[str, Sequence[int]]) -> Figure:
    """The number of elements of each stream that start in each stretch of time."""
    figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    axes = figure.subplots()
    at = [position(edge, clock) for edge in edges]
    for i, (name, numbers) in enumerate(counts.items()):
        axes.stairs(numbers, at, baseline=None, color=SERIES[i % len(SERIES)], linewidth=1.2, label=name)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("elements", fontsize=TEXT, color=INK)
    style_time(axes, clock, at)
    draw_legend(figure, axes)
    return figure
