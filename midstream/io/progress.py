"""Progress of long work."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

Progress = Callable[[int, int | None], object]
"""Receives how much work is done, and the total where it is known."""


def counted(tell: Callable[[int, int], object], total: int) -> Callable[[], object]:
    """A function to call after each of `total` pieces of work; it reports how many are done.

    >>> step = counted(lambda done, total: print(f"{done} of {total}"), 2)
    >>> step()
    1 of 2
    """
    done = count(1)
    return lambda: tell(next(done), total)
