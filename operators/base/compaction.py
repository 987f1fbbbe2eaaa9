"""Room that is given back when what had it has left."""

from __future__ import annotations

from sys import getsizeof
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")

SPARE = 64
"""So many places may stay empty, besides as many as are taken: giving them back moves what is left."""

MASK = SPARE - 1
"""A dict is looked at when its length is a multiple of `SPARE`, and has none of these bits."""


def compact(kept: dict[K, V]) -> dict[K, V]:
    """A dict from which something was deleted, or a copy of it if most of it is empty places. A dict keeps
    the place of what has left until it grows again; after a burst, whoever iterates would pass over all of
    them, for ever."""
    return dict(kept) if getsizeof(kept) > 256 * (len(kept) + SPARE) else kept
