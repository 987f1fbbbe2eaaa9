"""Batches that know the line or row of each element."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from midstream.plans.values.streams import Batch, Element

Row = tuple[int, tuple[Any, ...]]
"""A timestamp and a payload."""


class Rows(list[Element]):
    """A batch with a number per element: its line, or its row if the source has no lines.

    It is an ordinary list otherwise.
    """

    __slots__ = ("numbers",)

    def __init__(self, elements: Iterable[Element], numbers: Sequence[int]) -> None:
        super().__init__(elements)
        self.numbers = numbers


def part(batch: Batch, start: int, stop: int | None = None) -> Batch:
    """Some elements of a batch, in their order, with their numbers.

    >>> part(Rows([(1, 2, ()), (3, 4, ()), (5, 6, ())], range(10, 13)), 1).numbers
    range(11, 13)
    """
    some = batch[start:stop]
    return Rows(some, batch.numbers[start:stop]) if isinstance(batch, Rows) else some


FILE = 1 << 40
"""The distance between the numbers of rows of one file and those of the next, where a source has several."""


def of_file(batch: Batch, position: int) -> Batch:
    """A batch of one of several files, with numbers that are different in each.

    >>> of_file(Rows([(1, 2, ())], [7]), 2).numbers == [2 * FILE + 7]
    True
    """
    if not isinstance(batch, Rows) or not position:
        return batch
    return Rows(batch, [position * FILE + number for number in batch.numbers])


def stamped(batch: Batch, now: int) -> Batch:
    """The rows of a batch as elements that arrive at an instant, with their numbers.

    >>> stamped([(1, 2, ("a",)), (2, 3, ("b",))], 7)
    [(7, 8, ('a',)), (7, 8, ('b',))]
    """
    made: Batch = [(now, now + 1, row) for _, _, row in batch]
    return Rows(made, batch.numbers) if isinstance(batch, Rows) else made


def number_of(element: object, batch: Batch) -> int | None:
    """The line or row of an element of a batch; None if it is unknown."""
    if isinstance(batch, Rows):
        for position, one in enumerate(batch):
            if one is element:
                return batch.numbers[position]
    return None
