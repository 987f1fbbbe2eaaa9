"""The valid rows of an aggregation, as partial aggregates by their ends."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice, repeat
from typing import Any, cast

from midstream.plans.values.streams import Time

NEVER: Time = math.nan
"""An end that no time reaches, as no comparison with it is true; FOREVER is reached when a stream ends."""


class ValidRows:
    """The partial aggregates of valid rows: per group and end, the number of rows and the values they add.

    The rows of a group that leave together are one partial aggregate, as it is all the same which of them
    leaves first. Where a function needs each row by itself, such as a median, each is one.

    Ends that come in order pass through queues, others through a heap. Ends in the heap lie before the last
    of the queues. So the queues are not empty while the heap is not, and go first among equal ends. The
    generated loop writes queues and heap itself, as calls would double the cost of a row.

    No partial aggregate of one row holds both its values and its group: garbage collection would look at it
    for as long as the row is valid.
    """

    __slots__ = ("ends", "entries", "late", "late_ends", "late_more", "members", "run")

    def __init__(self) -> None:
        self.ends: deque[Time] = deque()
        self.members: deque[Any] = deque()
        """The groups, where there may be several; where rows are only counted, lists of group and number."""
        self.entries: deque[Any] = deque()
        """The partial aggregates: a tuple for one row, a list for several; numbers if rows are counted."""
        self.run: list[Any] = []
        """The groups of the last end, if several rows have it, each with its partial aggregate.

        The queues have only the first of these, as the last end must be there.
        """
        self.late_ends: list[Time] = []
        """A heap of the ends in `late`."""
        self.late: dict[Time, Any] = {}
        """By end, the partial aggregates out of order, each with its group.

        One is a pair. Several are a dictionary by group, or by number where each row is one. When the end is
        reached, they are a list of pairs, the next one last.
        """
        self.late_more = 0
        """The number of partial aggregates in `late` less that of ends."""

    def begin_run(self) -> None:
        """Begin a run with the row that is the last in the queues."""
        group = self.members[-1]
        group.part, group.part_end = self.entries[-1] if self.entries else 1, self.ends[-1]
        self.run.append(group)

    def end_run(self) -> None:
        """Move the partial aggregates of the last end into the queues."""
        run = self.run
        self.ends.extend(repeat(self.ends[-1], len(run) - 1))
        self.members.pop()
        if self.entries:
            self.members.extend(run)
            self.entries.pop()
            self.entries.extend([group.part for group in run])
        else:
            self.members.extend([group if group.part == 1 else [group, group.part] for group in run])
        run.clear()

    def first_end(self) -> Time:
        """The end of the row that leaves first; NEVER without rows."""
        if not self.ends:
            return NEVER
        return min(self.ends[0], self.late_ends[0]) if self.late_ends else self.ends[0]

    def parts(self, alone: Any) -> Iterator[tuple[Time, Any, tuple[Any, ...]]]:
        """All partial aggregates, with end and group; `alone` is the group if there is one at most."""
        members, entries = self.members or repeat(alone), self.entries or repeat(1)
        in_queues = zip(self.ends, members, entries, strict=False)
        for end, group, entry in islice(in_queues, len(self.ends) - bool(self.run)):
            yield (end, *_counted(group)) if isinstance(group, list) else (end, group, _values(entry))
        for group in self.run:
            yield self.ends[-1], group, _values(group.part)
        for end, late in self.late.items():
            for group, entry in _pairs(late):
                yield end, group, _values(entry)

    def __len__(self) -> int:
        return len(self.ends) + max(0, len(self.run) - 1) + len(self.late_ends) + self.late_more


def _pairs(late: Any) -> Iterable[tuple[Any, Any]]:
    """The groups and partial aggregates of one end of those out of order."""
    if isinstance(late, tuple):
        return [cast(tuple[Any, Any], late)]
    if isinstance(late, dict):
        return late.values() if 0 in late else late.items()
    return cast(list[tuple[Any, Any]], late)


def _counted(member: list[Any]) -> tuple[Any, tuple[Any, ...]]:
    """The group and the partial aggregate of several rows that are only counted."""
    group, number = member
    return group, (number,)


def _values(entry: Any) -> tuple[Any, ...]:
    """The values of a partial aggregate; a row that is only counted has none."""
    if isinstance(entry, int):
        return (entry,) if entry > 1 else ()
    return tuple(entry)
