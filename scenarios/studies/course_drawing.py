"""The common parts of pictures of the costs of orders over time."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar

from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num

from midstream.scenarios.studies.pricing import TIE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from midstream.io.time_units import Clock

C = TypeVar("C")
"""The type of colours."""


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


def told_apart(best_in: Mapping[int, int], needed: Container[int], most: int) -> list[int]:
    """At most `most` orders to colour: those that are needed, then those that are often the best.

    >>> told_apart({0: 5, 1: 7, 2: 9, 3: 0}, needed=[3], most=3)
    [1, 2, 3]
    """
    ranked = sorted(best_in, key=lambda one: (one not in needed, -best_in[one], one))
    return sorted(ranked[:most])


def color_of_best(spent: Sequence[float], colors: Mapping[int, C], *, alike: C, other: C) -> C:
    """The colour of the order that costs least, by position.

    It is `alike` where all orders cost the same, and `other` where the best ones have no colour.

    >>> color_of_best([3.0, 1.0, 2.0], {0: "red", 1: "blue"}, alike="white", other="grey")
    'blue'
    """
    least = min(spent)
    best = [i for i, one in enumerate(spent) if one <= least * (1 + TIE)]
    if len(best) == len(spent):
        return alike
    return next((colors[i] for i in best if i in colors), other)


def so_far(amounts: Iterable[float], *, is_mean: bool) -> list[float]:
    """The sums of amounts, or their means, before each amount and after the last.

    >>> so_far([2.0, 4.0], is_mean=False), so_far([2.0, 4.0], is_mean=True)
    ([0.0, 2.0, 6.0], [0.0, 2.0, 3.0])
    """
    totals = [0.0, *accumulate(amounts)]
    return [total / max(1, i) for i, total in enumerate(totals)] if is_mean else totals
