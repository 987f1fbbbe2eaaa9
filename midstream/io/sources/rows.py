"""Batches that know where their elements come from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from midstream.plans.values.streams import Batch, Element


class Rows(list[Element]):
    """A batch, and per element the number of its line, or of its row where a source has no lines.

    It is a list like any other to whoever does not ask.
    """

    __slots__ = ("numbers",)

    def __init__(self, elements: Iterable[Element], numbers: Sequence[int]) -> None:
        super().__init__(elements)
        self.numbers = numbers


def part(batch: Batch, start: int, stop: int | None = None) -> Batch:
    """Some elements of a batch, in their order, which know as much.

    >>> part(Rows([(1, 2, ()), (3, 4, ()), (5, 6, ())], range(10, 13)), 1).numbers
    range(11, 13)
    """
    some = batch[start:stop]
    return Rows(some, batch.numbers[start:stop]) if isinstance(batch, Rows) else some


def number_of(element: object, batch: Batch) -> int | None:
    """Where an element of a batch comes from; None where nobody knows."""
    if isinstance(batch, Rows):
        for position, one in enumerate(batch):
            if one is element:
                return batch.numbers[position]
    return None
