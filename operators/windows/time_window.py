"""Time-based sliding window over a chronon stream."""

from __future__ import annotations

from typing import Any

from midstream.operators.base.facts import time_window_facts
from midstream.operators.base.operator import Code
from midstream.operators.base.running import Running
from midstream.operators.base.setting import Setting, WithSetting
from midstream.plans.algebra.implementations import windows as facts
from midstream.plans.algebra.operators import Bounds
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time, later


class TimeWindow(WithSetting):
    """Extend the validity of a chronon stream's elements to `size` chronons, for ever if None.

        window(w, a, S)@t  =  sum of S@u for T - w(u) < u <= T,     T the last of a - 1, 2a - 1, .. up to t

    w(u) is the size in force at u. It changes only if the window has `bounds`; then elements keep the size
    with which they came, so that for a while the window holds rows by both sizes (thesis, 21.3.1).

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
    >>> window = TimeWindow(50, bounds=(1, 50))
    >>> window.change(20, at=3)
    >>> window.push(0, [(1, 2, "b"), (3, 4, "a")])
    [(1, 51, 'b'), (3, 23, 'a')]
    """

    def __init__(self, size: int | None, slide: int = 1, bounds: Bounds | None = None) -> None:
        super().__init__()
        self.slide = slide
        """The number of chronons by which the window advances at once."""
        self._is_fixed = bounds is None
        self.setting: Setting[Time] = Setting(FOREVER if size is None else size)

    def _process(self, port: int, batch: Batch) -> Batch:
        slide, out = self.slide, list[Element]()
        for size, part in self.setting.parts(batch, self.reached[0]):
            if slide > 1:
                out += [
                    (first, last, row)
                    for start, _, row in part
                    if (first := _advance(start, slide)) < (last := _advance(later(start, size), slide))
                ]
            elif size == FOREVER:
                out += [(start, FOREVER, row) for start, _, row in part]
            else:
                out += [(start, start + size, row) for start, _, row in part]
        return out

    def code(self, names: dict[str, Any]) -> Code | None:
        """Source of another end; None where starts move as well."""
        if self.slide != 1:
            return None
        name = f"setting{len(names)}"
        if self._is_fixed:
            # The size is a value beside the source, so that windows of all sizes share their compiled code.
            names[name] = self.setting.now
            return Code(end=name if self.setting.now == FOREVER else f"start + {name}")
        names[name] = self.setting
        return Code(end=f"start + {name}.now", setting=name)

    def progress(self) -> Time:
        """The next advance at or after the input's progress."""
        reached = self.reached[0]
        if self.slide == 1 or reached in (BEGINNING, FOREVER):
            return reached
        return _advance(reached, self.slide)


def _advance(time: Time, slide: int) -> Time:
    """The first k * slide - 1 from a time on."""
    return time if time == FOREVER else time + (-1 - time) % slide


RUNNING: Running = {
    facts.TIME_WINDOW: lambda node: TimeWindow(*time_window_facts(node)),
}
