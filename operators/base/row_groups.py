"""The rows of a group in a window that counts rows: which enter, and at which later row each leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from midstream.plans.values.streams import FOREVER, Payload, Time

T = TypeVar("T")


class RowGroup(Generic[T]):
    """Counts the rows of one group, and finds those that enter and leave its window.

    With a slide of A, the window advances at every row whose number is a multiple of A. The row with the
    number i that comes with a size of n enters at the next advance, and leaves at the first one whose number
    is at least i + n. So each row leaves by its own size, and none comes back.

    State    The rows in the window, as the operator keeps them, and those that enter at the next advance.
    Cost     O(1) amortised per row.

    >>> group = RowGroup()
    >>> for row, size in (("a", 2), ("b", 1), ("c", 2)):
    ...     for last, entering in group.take(row, size):
    ...         print(entering, "enters,", *group.leaving(), "leaves")
    ...         group.keep(last, entering)
    a enters, leaves
    b enters, leaves
    c enters, a b leaves
    """

    __slots__ = ("_kept", "_number", "waiting")

    def __init__(self) -> None:
        self._number = 0
        self.waiting: list[tuple[Time, Payload]] = []
        """The rows that enter at the next advance, each with the number at which it leaves."""
        self._kept: dict[Time, list[T]] = {}

    def take(self, row: Payload, size: Time, slide: int = 1) -> Sequence[tuple[Time, Payload]]:
        """Take a row with its size; returns the rows that enter, each with the number at which it leaves."""
        self._number += 1
        number = self._number
        if slide == 1:
            return ((number + size, row),)
        leaves = FOREVER if size == FOREVER else -(-(number + size) // slide) * slide
        advance = number + -number % slide
        if leaves > advance:
            self.waiting.append((leaves, row))
        if number < advance:
            return ()
        entering, self.waiting = self.waiting, []
        return entering

    def enter(self, row: T, size: Time) -> Sequence[T]:
        """Take a row that enters at once and leaves one day, with a slide of 1; returns those that leave.

        It does what `take`, `keep` and `leaving` do.
        """
        number = self._number = self._number + 1
        kept, leaves = self._kept, number + size
        if leaves in kept:
            kept[leaves].append(row)
        else:
            kept[leaves] = [row]
        return kept.pop(number, ())

    def leaving(self) -> Sequence[T]:
        """Take out the rows that leave at the last row taken."""
        return self._kept.pop(self._number, ())

    def keep(self, number: Time, row: T) -> None:
        """Keep a row that enters until it leaves at the row with a number."""
        if number != FOREVER:
            self._kept.setdefault(number, []).append(row)

    def inside(self) -> list[T]:
        """The rows in the window that will leave."""
        return [row for rows in self._kept.values() for row in rows]

    def is_over(self, slide: int) -> bool:
        """True if a new group would do the same for later rows."""
        return not self._kept and not self.waiting and self._number % slide == 0
