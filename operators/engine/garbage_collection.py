"""Settings of Python's garbage collector for streams."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLDS = (20_000, 2, 2)
"""The thresholds of the three generations.

The youngest generation is collected after 20,000 new objects, less those gone; the next one after 2
collections of the youngest; all objects after 2 collections of that, if they have grown by a quarter.
"""


@contextmanager
def streaming_gc() -> Iterator[None]:
    """Within a block, let the garbage collector run seldom, and never on objects that exist already.

    CPython collects the youngest objects whenever 700 more were made than have gone, and a batch of results
    has that many. Cycles are still found: young ones after 20,000 objects, old ones when the objects made
    since have grown by a quarter. So memory is bounded, though users' functions make cycles.

    The setting is the whole process's, so only the owner of the process asks for it. It nests, and the
    earlier settings return afterwards, after exceptions too. A collector that is turned off stays off.
    Objects that the owner has frozen (gc.freeze) stay frozen, and then nothing more is.

    >>> import gc
    >>> before = gc.get_threshold()
    >>> with streaming_gc():
    ...     gc.get_threshold()
    (20000, 2, 2)
    >>> gc.get_threshold() == before
    True
    """
    before = gc.get_threshold()
    freezes = not gc.get_freeze_count()
    if freezes:
        gc.collect()
        gc.freeze()
        # The growth is measured against the collected objects: none now, rather than all existing ones.
        gc.collect()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if freezes:
            gc.unfreeze()
