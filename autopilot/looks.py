"""The instants of application time at which the autopilot of a query looks."""

from __future__ import annotations

from collections.abc import Iterator
from math import lcm
from typing import NamedTuple

from midstream.plans.algebra.operators import TimeWindow
from midstream.plans.algebra.operators.checks import most
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.values.streams import FOREVER


class Looks(NamedTuple):
    """A grid of instants, in chronons.

    window   the size of the query's largest time window
    step     the time from look to look
    """

    window: int
    step: int

    @property
    def idle(self) -> int:
        """The number of looks behind the last element: by then all elements have expired."""
        return self.window // self.step + 2


def looks_of(plan: Plan, looks: int, every: int | None = None) -> Looks | None:
    """So many looks in a plan's largest window, or one in `every` chronons; None without both.

    Windows that slide do so at looks: within a slide nothing comes out, and elements may wait for looks only
    where none has passed them (see `companions`).
    """
    window = largest_window(plan)
    if every is not None:
        return Looks(window or every * looks, every)
    if window is None:
        return None
    slides = lcm(*(one.slide for one in _time_windows(plan)))
    return Looks(window, slides * max(1, window // looks // slides))


def largest_window(plan: Plan, *, at_best: bool = False) -> int | None:
    """In chronons, by the present sizes or by the largest that bounds allow; None where none has an end."""
    sizes = (most(one.size, one.bounds if at_best else None) for one in _time_windows(plan))
    return max((int(size) for size in sizes if size < FOREVER), default=None)


def _time_windows(plan: Plan) -> Iterator[TimeWindow]:
    return (one for one in map(logical, plan.nodes) if isinstance(one, TimeWindow))
