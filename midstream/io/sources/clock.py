"""System time, which stamps the rows of streams without timestamps."""

from __future__ import annotations

import time
from collections.abc import Callable

from midstream.plans.values.units import TimeUnit, unit_of

Now = Callable[[], int]
"""Returns the present chronon."""


def system_clock(unit: TimeUnit | str) -> Now:
    """A clock that counts chronons, in a unit such as "seconds", since the beginning of 1970 in UTC."""
    length = unit_of("system_clock", unit).nanoseconds
    return lambda: time.time_ns() // length


def never_back(clock: Now) -> Now:
    """A clock that never goes back, as system time can: it stands still until the other one has caught up.

    >>> told = iter([5, 3, 6])
    >>> clock = never_back(lambda: next(told))
    >>> clock(), clock(), clock()
    (5, 5, 6)
    """
    latest: int | None = None

    def now() -> int:
        nonlocal latest
        told = clock()
        latest = told if latest is None else max(latest, told)
        return latest

    return now
