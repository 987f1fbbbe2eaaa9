"""What is remembered of a stream inside a plan: for the statistics of the cost model, and for split times."""

from __future__ import annotations

from collections import deque
from operator import itemgetter

from midstream.operators.base.way import Take
from midstream.operators.engine.log import Log
from midstream.plans.values.streams import BEGINNING, Batch, Element, Time

RECENT = 4096
"""How many of the last elements are kept."""


class Meter:
    """The last elements that a node gave, and the largest end of all; and a log, for who asked for it.

    Cost     O(1) per element, in C loops, besides the log.
    """

    __slots__ = ("_has_ordered_ends", "_max_end", "log", "recent")

    def __init__(self, has_ordered_ends: bool) -> None:
        self._has_ordered_ends = has_ordered_ends
        self._max_end: Time = BEGINNING
        self.recent: deque[Element] = deque(maxlen=RECENT)
        self.log: Log | None = None
        """What is still valid; None where nobody asked for it."""

    @property
    def see(self) -> Take:
        """What is to take every batch."""
        if self.log is not None:
            return self._see_and_keep
        return self.recent.extend if self._has_ordered_ends else self._see

    def expect_any_order(self) -> None:
        """Ends may decrease from now on, as those of a window that is made smaller."""
        self._max_end = self.max_end
        self._has_ordered_ends = False

    def _see(self, batch: Batch) -> None:
        self.recent.extend(batch)
        self._max_end = max(self._max_end, *map(itemgetter(1), batch))

    def _see_and_keep(self, batch: Batch) -> None:
        assert self.log is not None
        self._see(batch)
        self.log.see(batch)

    @property
    def max_end(self) -> Time:
        """The largest end timestamp so far; BEGINNING where there was none."""
        if not self._has_ordered_ends:
            return self._max_end
        return self.recent[-1][1] if self.recent else BEGINNING
