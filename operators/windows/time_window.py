"""Time-based sliding window over a chronon stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from midstream.operators.base.adjustable import Adjustable
from midstream.operators.base.facts import time_window_facts
from midstream.operators.base.operator import Code
from midstream.operators.base.running import Running
from midstream.plans.algebra import operators as logical
from midstream.plans.algebra.implementations import windows as facts
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Time


class TimeWindow(Adjustable[int | None]):
    """Extend the validity of a chronon stream's elements to `size` chronons, for ever if None.

        window(w, a, S)@t  =  sum of S@u for T - w < u <= T,        T the last of a - 1, 2a - 1, .. up to t

    With a slide of a > 1, starts and ends move to the next instant at which the window advances. An element
    that would be valid only between two advances, which is possible if a > w, is dropped.

    Input    A chronon stream; the planner makes sure of it, as the operator could not detect a wrong result.
    Output   Ordered by start.
    Cost     O(1) per element.
    Source   thesis, Algorithms 12 and 18

    >>> TimeWindow(50).push(0, [(1, 2, "b"), (3, 4, "a")])
    [(1, 51, 'b'), (3, 53, 'a')]
    >>> window = TimeWindow(50, slide=10)
    >>> window.push(0, [(1, 2, "b"), (10, 11, "a")])
    [(9, 59, 'b'), (19, 69, 'a')]
    >>> window.progress()
    19
    """

    def __init__(self, size: int | None, slide: int = 1) -> None:
        self.slide = slide
        """The number of chronons by which the window advances at once."""
        super().__init__(size)

    def resize(self, size: int | None, at: int) -> None:
        """Give the elements that start at `at` or later a new size (thesis, 21.3.1).

            S@u counts in the sum above where T - w(u) < u, and w(u) is the size in force at u

        Earlier elements keep their size, so for a while a window holds rows by both sizes. A later call
        cancels earlier requests for its time or after.

        Raises   PlanError for an invalid size, or where elements as late as `at` have been given out.

        >>> window = TimeWindow(50)
        >>> window.resize(20, at=3)
        >>> window.push(0, [(1, 2, "b"), (3, 4, "a")])
        [(1, 51, 'b'), (3, 23, 'a')]
        >>> window.history
        [(-inf, 50), (3, 20)]
        """
        window = logical.TimeWindow(size, self.slide)
        self._check(at)
        self._change(window.size, at)

    def _compile(self, size: int | None) -> Callable[[Batch], Batch]:
        # t + (-1 - t) % slide is the first k * slide - 1 from t on.
        slide = self.slide
        if size is None:
            if slide == 1:
                return lambda batch: [(start, FOREVER, row) for start, _, row in batch]
            return lambda batch: [(start + (-1 - start) % slide, FOREVER, row) for start, _, row in batch]
        if slide == 1:
            return lambda batch: [(start, start + size, row) for start, _, row in batch]
        return lambda batch: [
            (first, last, row)
            for start, _, row in batch
            if (first := start + (-1 - start) % slide) < (last := start + size + (-1 - start - size) % slide)
        ]

    def code(self, names: dict[str, Any]) -> Code | None:
        """Source of another end; None while the size is to change, or where starts move as well."""
        if self.slide != 1 or self.is_changing:
            return None
        names["FOREVER"] = FOREVER
        end = "FOREVER" if self.setting is None else f"start + {self.setting}"
        return Code(end=end, last_start="latest")

    def progress(self) -> Time:
        """The next advance at or after the input's progress."""
        reached = self.reached[0]
        if self.slide == 1 or reached in (BEGINNING, FOREVER):
            return reached
        return reached + (-1 - reached) % self.slide


RUNNING: Running = {
    facts.TIME_WINDOW: lambda node: TimeWindow(*time_window_facts(node)),
}
