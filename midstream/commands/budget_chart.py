"""A chart of a budget: what queries hold and take beside the limits, and each adjustment."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from midstream.autopilot.budget_records import BudgetRecord
from midstream.io.pictures import drawn
from midstream.optimizer.allocation.limits import Limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HELD, EXPECTED, LIMIT, PRECISION = "#0072b2", "#d55e00", "#333333", "#009e73"
"""The colours of lines; colour-blind readers can tell them apart."""


def draw(records: Sequence[BudgetRecord], form: str) -> bytes:
    """Draw the chart: a picture of each limited resource, and one of the precision."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    limits = records[0].terms.limits if records else Limits()
    pictures: list[Callable[[Axes, Sequence[BudgetRecord]], None]] = []
    if limits.memory < math.inf or not records:
        pictures.append(_memory)
    if limits.processor < math.inf:
        pictures.append(_processor)
    pictures.append(_precision)
    with rc_context({"text.parse_math": False}):
        figure = Figure(figsize=(9, 0.6 + 2.8 * len(pictures)), layout="constrained")
        every = figure.subplots(len(pictures), squeeze=False, sharex=True)[:, 0]
        for axes, picture in zip(every, pictures, strict=True):
            if records:
                picture(axes, records)
                _mark_changes(axes, records)
            axes.spines[["top", "right"]].set_visible(False)
        every[-1].set_xlabel(f"chronons since {records[0].at}" if records else "no looks")
    return drawn(figure, form.removeprefix("."))


def _memory(axes: Axes, records: Sequence[BudgetRecord]) -> None:
    times = _times(records)
    limit = records[0].terms.limits.memory / 1e6
    axes.plot(times, [one.measured.memory / 1e6 for one in records], color=HELD, label="held by the queries")
    expected = [one.after.memory / 1e6 for one in records]
    axes.plot(
        times, expected, color=EXPECTED, drawstyle="steps-post", linewidth=1, label="expected, once complete"
    )
    axes.axhline(limit, color=LIMIT, linestyle="--", linewidth=1, label="budget")
    axes.axhline(
        records[0].terms.target.memory / 1e6, color=LIMIT, linestyle=":", linewidth=1, label="without reserve"
    )
    axes.set_ylabel("memory, MB")
    axes.set_ylim(0, 1.15 * max(limit, *expected, *(one.measured.memory / 1e6 for one in records)))
    axes.legend(loc="best", frameon=False, fontsize="small")


def _processor(axes: Axes, records: Sequence[BudgetRecord]) -> None:
    times, chronon = _times(records), records[0].terms.chronon / 100
    limit = records[0].terms.limits.processor / chronon
    expected = [one.after.processor / chronon for one in records]
    axes.plot(times, expected, color=EXPECTED, drawstyle="steps-post", label="expected")
    axes.axhline(limit, color=LIMIT, linestyle="--", linewidth=1, label="budget")
    axes.set_ylabel("of a processor, %")
    axes.set_ylim(0, 1.15 * max(limit, *expected))
    axes.legend(loc="best", frameon=False, fontsize="small")


def _precision(axes: Axes, records: Sequence[BudgetRecord]) -> None:
    precision = [one.precision for one in records]
    axes.plot(_times(records), precision, color=PRECISION, drawstyle="steps-post")
    axes.set_ylabel("expected precision")
    axes.set_ylim(0, 1.05)


def _mark_changes(axes: Axes, records: Sequence[BudgetRecord]) -> None:
    """A band from each adjustment to the instant at which it is complete, behind everything else."""
    first, last = records[0].at, records[-1].at
    for one in records:
        if one.changes:
            end = last if one.complete_at is None else min(float(one.complete_at), float(last))
            axes.axvline(one.at - first, color="#8e8e93", linewidth=0.8)
            if end > one.at:
                axes.axvspan(one.at - first, end - first, color="#8e8e93", alpha=0.12, linewidth=0)


def _times(records: Sequence[BudgetRecord]) -> list[int]:
    return [one.at - records[0].at for one in records]
