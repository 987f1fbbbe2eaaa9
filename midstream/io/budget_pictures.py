"""Pictures of a budget: memory, processing and precision over time, with a mark at each adjustment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HELD, EXPECTED, LIMIT, PRECISION, MARK = "#0072b2", "#d55e00", "#333333", "#009e73", "#8e8e93"
"""The colours of lines and marks; colour-blind readers can tell them apart."""


@dataclass(frozen=True, slots=True)
class BudgetCourse:
    """The use of a resource over time, beside its limit.

    label      the resource and its unit
    times      instants in the unit of the time axis, in order
    held       the use that was seen at these; None if it was not measured
    expected   the use that was expected once all has come with the settings of the time
    limit      the budget, and `target` that without the reserve; None if it is not drawn
    """

    label: str
    times: Sequence[float]
    held: Sequence[float] | None
    expected: Sequence[float]
    limit: float
    target: float | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """An adjustment, and the instant at which it is complete, on the time axis."""

    at: float
    complete_at: float


def draw_use(axes: Axes, use: BudgetCourse) -> None:
    """Draw what was held and expected, beside the budget."""
    highest = [use.limit, *(one for one in use.expected if one == one)]
    if use.held is not None:
        axes.plot(use.times, use.held, color=HELD, label="held by the queries")
        highest += (one for one in use.held if one == one)
    axes.plot(
        use.times,
        use.expected,
        color=EXPECTED,
        drawstyle="steps-post",
        linewidth=1,
        label="expected, once complete",
    )
    axes.axhline(use.limit, color=LIMIT, linestyle="--", linewidth=1, label="budget")
    if use.target is not None:
        axes.axhline(use.target, color=LIMIT, linestyle=":", linewidth=1, label="without reserve")
    axes.set_ylabel(use.label)
    axes.set_ylim(0, 1.15 * max(highest))
    axes.legend(loc="best", frameon=False, fontsize="small")


def draw_precision(axes: Axes, times: Sequence[float], precision: Sequence[float]) -> None:
    """Draw the expected precision of the results."""
    axes.plot(times, precision, color=PRECISION, drawstyle="steps-post")
    axes.set_ylabel("precision,\nexpected")
    axes.set_ylim(0, 1.05)


def draw_marks(axes: Axes, marks: Sequence[Mark]) -> None:
    """A band from each adjustment to the instant at which it is complete, behind everything else."""
    for mark in marks:
        axes.axvline(mark.at, color=MARK, linewidth=0.8)
        if mark.complete_at > mark.at:
            axes.axvspan(mark.at, mark.complete_at, color=MARK, alpha=0.12, linewidth=0)
