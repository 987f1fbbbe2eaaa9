"""The keys of rows, by which joins find equal rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import itemgetter
from typing import Any


def key_function(columns: Sequence[int]) -> Callable[[Any], Hashable]:
    """A function from a row to its key; None if a part of the key is NULL.

    A single column is the key itself.

    >>> key = key_function([0, 2])
    >>> key((1, 2, 3)), key((1, 2, None)), key_function([1])((1, 2)), key_function([])((1,))
    ((1, 3), None, 2, ())
    """
    if len(columns) == 1:
        return itemgetter(columns[0])
    if not columns:
        return lambda row: ()
    values = itemgetter(*columns)
    return lambda row: None if None in (key := values(row)) else key
