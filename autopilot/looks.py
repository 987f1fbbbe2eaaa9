"""The instants of application time at which the autopilot of a query looks."""

from __future__ import annotations

from typing import NamedTuple

from midstream.plans.algebra.operators import TimeWindow
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical


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
    """So many looks in a plan's largest window, or one in `every` chronons; None without both."""
    window = largest_window(plan)
    if every is not None:
        return Looks(window or every * looks, every)
    return None if window is None else Looks(window, max(1, window // looks))


def largest_window(plan: Plan) -> int | None:
    """In chronons; None where no window has an end."""
    operators = (logical(node) for node in plan.nodes)
    sizes = [one.size for one in operators if isinstance(one, TimeWindow) and one.size is not None]
    return max(sizes, default=None)
