"""The trace of a migration: an entry for each change of phase, and samples in between."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from math import ceil
from time import time as clock_time
from typing import Any, NamedTuple, Protocol

from midstream.migration.fuse import Origins
from midstream.plans.values.streams import BEGINNING, FOREVER, Time, chronon_end

SAMPLES = 20
"""The largest number of entries, besides those of changes."""

LOOK_EVERY = 16
"""The number of elements and heartbeats between two measurements of sizes."""

Listener = Callable[["TraceEntry"], None]


class TraceEntry(NamedTuple):
    """A migration at one moment; sizes are in elements, results are counted since the beginning."""

    phase: str
    time: int | None
    """The least progress of the inputs, in chronons; None before all have spoken and after all ended."""
    wall_time: float
    """Seconds since 1970-01-01 UTC."""
    old_state: int
    new_state: int
    held: int
    """Elements in the joiners."""
    results_old: int
    results_new: int
    results_fused: int
    unmatched: int
    note: str = ""
    """The reason why the strategy was chosen, or why the migration was aborted."""

    def as_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return self._asdict()


class Writable(Protocol):
    """An object that takes text, such as an open file."""

    def write(self, text: str, /) -> object:
        """Write a piece of text."""


def write_jsonl(entries: Iterable[Mapping[str, Any]], file: Writable) -> None:
    """Write each entry, as a transition's trace has it, as a line of JSON.

    >>> import sys
    >>> write_jsonl([TraceEntry("moving", 4, 0.5, 9, 0, 0, 7, 0, 0, 0).as_dict()], sys.stdout)
    ... # doctest: +NORMALIZE_WHITESPACE
    {"phase": "moving", "time": 4, "wall_time": 0.5, "old_state": 9, "new_state": 0, "held": 0,
     "results_old": 7, "results_new": 0, "results_fused": 0, "unmatched": 0, "note": ""}
    """
    for entry in entries:
        file.write(json.dumps(entry, ensure_ascii=False) + "\n")


class Sampling:
    """The instants of samples on the way to the split time: at most `SAMPLES`, at even steps.

    >>> sampling = Sampling(split=40.5)
    >>> [t for t in range(50) if t >= sampling.due and sampling.is_due(t)]
    [0, 3, 6, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39]
    """

    def __init__(self, split: Time) -> None:
        self._split = split
        self._left = SAMPLES
        self.due: Time = BEGINNING
        """The instant of application time of the next sample."""

    def is_due(self, now: Time) -> bool:
        """True if a sample is due now; then the next one is scheduled."""
        if now < self.due or now == BEGINNING:
            return False
        self._left -= 1
        if now >= self._split:
            self.due = FOREVER
            return False
        # With one left, the next is the split time.
        self.due = now + ceil((self._split - now) / self._left)
        return True


class Observer:
    """A recorder of a migration's trace and of its largest sizes.

    Measuring sizes takes as long as a light element, so it is done at first after few elements, in powers of
    two, and later after every `LOOK_EVERY`. The caller adds to `seen`, and measures when it comes to
    `look_at`.

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
        """The entries for the beginning, for every change of phase, and for samples in between."""
        self.listener: Listener | None = None
        """A function that gets each entry of the trace as it occurs."""
        self.peak_old = 0
        """The largest measured state of the old plan, in elements."""
        self.peak_new = 0
        """The largest measured state of the new plan, in elements."""
        self.peak_held = 0
        """The largest number of elements that waited in the joiners."""
        self.seen = 0
        """The number of elements and heartbeats so far."""
        self.look_at = 1
        """The value of `seen` at which sizes are measured next."""
        self.clock: Callable[[], float] = clock_time
        """A clock, in seconds since 1970-01-01 UTC."""
        self.sampling = Sampling(split)
        """The schedule of samples."""

    def measure(self, old: int, new: int, held: int) -> None:
        """Record the sizes of the old plan, the new plan and the joiners, in elements."""
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
        """Add an entry to the trace.

        `sizes` are as in `measure`; `waiting` elements are on their way to the new plan.
        """
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


def finite(time: Time) -> int | None:
    """An instant as the chronon boundary that users see; None for BEGINNING and FOREVER."""
    end = chronon_end(time)
    return end if isinstance(end, int) else None
