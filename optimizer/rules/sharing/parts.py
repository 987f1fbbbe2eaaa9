"""Subsets of the parts of a condition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from midstream.optimizer.rules.filters.filtered import Parts
from midstream.plans.expressions.expressions import Expression

MANY = 5
"""From this many parts on, only single parts, all but one, and all are taken, not all combinations."""


def some_of(conditions: Iterable[Expression], *, are_all: bool) -> Iterator[Parts]:
    """Nonempty subsets of a condition's parts; with `are_all`, also the set of all of them.

    >>> from midstream.plans.expressions.expressions import Col
    >>> [sorted(map(str, some)) for some in some_of([Col("a"), Col("b")], are_all=True)]
    [['a'], ['b'], ['a', 'b']]
    """
    parts = list(dict.fromkeys(conditions))
    last = len(parts) if are_all else len(parts) - 1
    for number in _numbers(len(parts), last):
        yield from combinations(parts, number)


def _numbers(parts: int, last: int) -> Sequence[int]:
    """Sizes of the subsets: any number; with many parts only one, all but one, and all."""
    wanted = range(1, last + 1)
    return [n for n in wanted if parts < MANY or n == 1 or n >= parts - 1]
