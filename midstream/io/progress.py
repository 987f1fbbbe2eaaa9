"""How far long work is."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

Progress = Callable[[int, int | None], object]
"""Is told how much is done, and of how much, where that is known."""


def counted(tell: Callable[[int, int], object], total: int) -> Callable[[], object]:
    """A function to be called after each of so many pieces of work: it tells how many are done.

    >>> step = counted(lambda done, total: print(f"{done} of {total}"), 2)
    >>> step()
    1 of 2
    """
    done = count(1)
    return lambda: tell(next(done), total)
