"""A chart of a budget: what queries hold and take beside the limits, and each adjustment."""

from __future__ import annotations

import math
from collections.abc import Sequence

from midstream.autopilot.budget_records import BudgetRecord
from midstream.io.budget_pictures import BudgetCourse, Mark, draw_marks, draw_precision, draw_use
from midstream.io.pictures import drawn


def draw(records: Sequence[BudgetRecord], form: str, resident: int | None = None) -> bytes:
    """Draw the chart: a picture of each limited resource, and one of the precision.

    `resident` is the memory of the whole process in bytes, which is noted beside.
    """
    from matplotlib.figure import Figure

    courses, times, marks = _courses(records), _times(records), _marks(records)
    figure = Figure(figsize=(9, 0.6 + 2.8 * (len(courses) + 1)), layout="constrained")
    *of_uses, of_precision = figure.subplots(len(courses) + 1, squeeze=False, sharex=True)[:, 0]
    for axes, course in zip(of_uses, courses, strict=True):
        draw_use(axes, course)
    draw_precision(of_precision, times, [one.precision for one in records])
    for axes in (*of_uses, of_precision):
        draw_marks(axes, marks)
        axes.spines[["top", "right"]].set_visible(False)
    of_precision.set_xlabel(f"chronons since {records[0].at}" if records else "no looks")
    if resident is not None:
        figure.suptitle(
            f"the process as a whole: {resident / 1e6:,.0f} MB at the end",
            x=0.99,
            ha="right",
            fontsize="small",
        )
    return drawn(figure, form.removeprefix("."))


def _courses(records: Sequence[BudgetRecord]) -> list[BudgetCourse]:
    """The courses of the limited resources."""
    courses: list[BudgetCourse] = []
    if not records:
        return courses
    times, terms = _times(records), records[0].terms
    if terms.limits.memory < math.inf:
        held = [one.measured.memory / 1e6 for one in records]
        expected = [one.after.memory / 1e6 for one in records]
        limit, target = terms.limits.memory / 1e6, terms.target.memory / 1e6
        courses.append(BudgetCourse("memory, MB", times, held, expected, limit, target))
    if terms.limits.processor < math.inf:
        percent = terms.chronon / 100
        expected = [one.after.processor / percent for one in records]
        limit = terms.limits.processor / percent
        courses.append(BudgetCourse("of a processor, %", times, None, expected, limit))
    return courses


def _times(records: Sequence[BudgetRecord]) -> list[float]:
    return [float(one.at - records[0].at) for one in records]


def _marks(records: Sequence[BudgetRecord]) -> list[Mark]:
    marks = []
    for one in records:
        if one.changes:
            first, last = records[0].at, records[-1].at
            end = last if one.complete_at is None else min(float(one.complete_at), float(last))
            marks.append(Mark(one.at - first, end - first))
    return marks
