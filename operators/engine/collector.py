"""Python's collector of cyclic garbage, set for streams."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLDS = (20_000, 2, 2)
"""After how many objects made, less those gone, the youngest generation is looked through; after how many
times that the next one; and after how many times that everything, if it has grown by a quarter."""


@contextmanager
def streaming_gc() -> Iterator[None]:
    """While it lasts, the collector looks seldom, and not at all at what is there already.

    CPython looks through the youngest objects whenever 700 more were made than have gone, and a batch of
    results is that many. Cycles are still found: young ones after 20,000 objects, old ones when what has
    been made since has grown by a quarter. So memory is bounded, though users' functions make cycles.

    The setting is the whole process's, and so is never made behind its owner's back. It nests; the settings
    before it are back afterwards, after exceptions too. A collector that is turned off stays off. What the
    owner has frozen (gc.freeze) stays frozen, and then nothing more is.

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
        # What comes is held against what is looked at: nothing now, and not all that was there.
        gc.collect()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if freezes:
            gc.unfreeze()
