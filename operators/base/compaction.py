"""Memory that is given back after most entries of a dict have left."""

from __future__ import annotations

from sys import getsizeof
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")

SPARE = 64
"""The number of empty places allowed besides as many as are taken: giving them back copies entries."""

MASK = SPARE - 1
"""A mask to check a dict only when its length is a multiple of `SPARE`."""


def compact(entries: dict[K, V]) -> dict[K, V]:
    """Return the dict, or a copy of it if most of its places are empty.

    A dict keeps the places of deleted entries until it grows again. After a burst, every iteration would pass
    over all of them, for ever.
    """
    return dict(entries) if getsizeof(entries) > 256 * (len(entries) + SPARE) else entries
