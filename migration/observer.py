"""Observer: what a migration looks like from outside, moment by moment."""

from __future__ import annotations

from collections.abc import Callable
from time import time as clock_time

from midstream.migration.fuse import Origins
from midstream.migration.trace import Listener, Sampling, TraceEntry, finite
from midstream.plans.values.streams import Time

LOOK_EVERY = 16
"""After how many elements and heartbeats sizes are looked at again."""


class Observer:
    """Keeps the trace of a migration, and the largest sizes that were seen.

    To look at sizes takes as long as a light element: it is done after few elements, by powers of two, and
    then seldom. Whoever looks counts what has `seen` since, up to `look_at`.

    >>> observer = Observer(split=40.5)
    >>> looked = []
    >>> for observer.seen in range(1, 70):
    ...     if observer.seen >= observer.look_at:
    ...         observer.measure(0, 0, 0)
    ...         looked.append(observer.seen)
    >>> looked
    [1, 2, 4, 8, 16, 32, 48, 64]
    """

    def __init__(self, split: Time) -> None:
        self.trace: list[TraceEntry] = []
        """An entry for the beginning, for every change of phase, and for samples in between."""
        self.listener: Listener | None = None
        """Gets each entry of the trace as it occurs."""
        self.peak_old = 0
        """The largest state of the old plan, in elements, of those that were looked at."""
        self.peak_new = 0
        """The same of the new plan."""
        self.peak_held = 0
        """The largest number of elements that waited in the joiners."""
        self.seen = 0
        """How many elements and heartbeats have come."""
        self.look_at = 1
        """After how many of them sizes are to be looked at again."""
        self.clock: Callable[[], float] = clock_time
        """Tells the seconds since 1970-01-01 UTC."""
        self.sampling = Sampling(split)
        """Tells whether the inputs have come so far that another sample is due."""

    def measure(self, old: int, new: int, held: int) -> None:
        """Take note of the sizes of the old plan and of the new one, and of what waits in the joiners."""
        self.look_at = self.seen + min(self.seen, LOOK_EVERY)
        self.peak_old = max(self.peak_old, old)
        self.peak_new = max(self.peak_new, new)
        self.peak_held = max(self.peak_held, held)

    def record(
        self,
        phase: str,
        now: Time,
        sizes: tuple[int, int, int],
        waiting: int,
        origins: Origins,
        note: str = "",
    ) -> None:
        """Make an entry of the trace. `sizes` are as in `measure`; `waiting` elements are on their way to the
        new plan."""
        self.measure(*sizes)
        old, new, held = sizes
        entry = TraceEntry(
            phase=phase,
            time=finite(now),
            wall_time=self.clock(),
            old_state=old,
            new_state=new + waiting,
            held=held,
            results_old=origins.old,
            results_new=origins.new,
            results_fused=origins.fused,
            unmatched=origins.unmatched,
            note=note,
        )
        self.trace.append(entry)
        if self.listener is not None:
            self.listener(entry)
