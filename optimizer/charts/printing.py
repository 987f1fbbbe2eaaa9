"""Charts as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from string import ascii_lowercase, digits

from midstream.optimizer.charts.chart import Chart
from midstream.optimizer.charts.fidelity import Trajectory
from midstream.optimizer.charts.naming import plan_names
from midstream.optimizer.charts.slices import Slice, slices

MARKS = digits[1:] + ascii_lowercase
"""Marks of plans, in the order of their numbers; the plans beyond share the last one."""
BEYOND = "+"

INDENT = 2


def mark(number: int) -> str:
    """The mark of a plan in a grid."""
    return MARKS[number] if number < len(MARKS) else BEYOND


def chart_text(chart: Chart, trajectory: Trajectory | None = None) -> str:
    """A chart as a grid of marks, with the plans that they stand for, and counts of a stream's trajectory.

    >>> from midstream.optimizer.charts.chart import Dimension
    >>> from midstream.plans.algebra.builder import stream
    >>> s = stream("s", x="integer")
    >>> plans = (s.filter(s["x"] > 1).plan(), s.filter(s["x"] > 2).plan())
    >>> dimensions = (Dimension("rate(s)", 0, 3, 3), Dimension("k", 0, 1, 2))
    >>> print(chart_text(Chart(dimensions, plans, (0, 0, 0, 1, 1, 1))))
    2 plans, 2 regions, 6 places
    1  s | x > 1   50 % of the places
    2  s | x > 2   50 % of the places
    <BLANKLINE>
      k, up, from 0 to 1
      122
      112
      rate(s), to the right, from 0 to 3
    """
    names, share = plan_names(chart.plans), Counter(chart.best)
    widest = max(map(len, names))
    lines = [
        f"{_count(len(chart.plans), 'plan')}, {_count(len(set(chart.regions.values())), 'region')}, "
        f"{_count(len(chart.best), 'place')}"
    ]
    lines += [
        f"{mark(i)}  {name:<{widest}}   {100 * share[i] / len(chart.best):.0f} % of the places"
        for i, name in enumerate(names)
    ]
    for one in slices(chart):
        lines += ["", *(f"{'':{INDENT}}{line}".rstrip() for line in _grid(one))]
    if trajectory is not None:
        lines += [
            "",
            f"{_count(len(trajectory.steps), 'round')}: {_count(trajectory.moves, 'move')} to another place, "
            f"{_count(trajectory.switches, 'switch', 'switches')} to another plan",
        ]
    return "\n".join(lines)


def _grid(one: Slice) -> Iterator[str]:
    across, *others = one.chart.dimensions[:2]
    if title := one.title():
        yield title
    for up in others:
        yield f"{up.name}, up, from {up.low:g} to {up.high:g}"
    for row in reversed(one.rows()):
        yield "".join(map(mark, row))
    yield f"{across.name}, to the right, from {across.low:g} to {across.high:g}"


def _count(number: int, what: str, several: str | None = None) -> str:
    return f"{number:,} {what if number == 1 else several or what + 's'}"
