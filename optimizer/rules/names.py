"""Names of columns that rules make."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, count


def unused(name: str, taken: Iterable[str]) -> str:
    """A name that is not taken: this one, or with a number behind.

    >>> unused("n", ["x"]), unused("n", ["n", "n_1"])
    ('n', 'n_2')
    """
    names = {*taken}
    candidates = chain([name], (f"{name}_{number}" for number in count(1)))
    return next(each for each in candidates if each not in names)
