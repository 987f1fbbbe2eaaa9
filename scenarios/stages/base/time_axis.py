"""Parts of pictures over the time of a recording, in the colours of a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.figure import Figure

from midstream.io.time_units import Clock
from midstream.scenarios.reports.pictures import INK, style_axes

WIDTH = 6.4
"""The width in inches: narrow, so that texts can be read on a small screen."""

TEXT = 9.0
"""The size of texts in points."""


def position(chronon: int, clock: Clock) -> float:
    """The position of an instant on the axis."""
    instant = clock.instant(chronon)
    return float(chronon) if instant is None else float(date2num(instant))  # type: ignore[no-untyped-call]


def label_time(axes: Axes, clock: Clock, ticks: int | None = None) -> str:
    """Show instants as dates where a clock has them, with at most so many ticks; return the axis label."""
    if clock.epoch is None:
        return f"application time, {clock.unit}"
    locator = AutoDateLocator(maxticks=ticks)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    return "application time, UTC"


def style_time(axes: Axes, clock: Clock, at: Sequence[float]) -> None:
    """Give axes the look of a page, and the time below."""
    style_axes(axes)
    axes.tick_params(labelsize=TEXT - 0.5)
    axes.set_xlim(at[0], at[-1])
    axes.set_xlabel(label_time(axes, clock, ticks=7), fontsize=TEXT, color=INK)


def draw_legend(figure: Figure, axes: Axes) -> None:
    """Draw the legend of axes above all axes."""
    handles, labels = axes.get_legend_handles_labels()
    columns = 3 if max(map(len, labels), default=0) < 12 else 1
    look: dict[str, Any] = {"frameon": False, "fontsize": TEXT - 0.5, "labelcolor": INK}
    figure.legend(handles, labels, loc="outside upper left", ncols=columns, **look)
