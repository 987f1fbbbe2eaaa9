"""Relations that a program updates, as streams of their changes."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import repeat
from operator import itemgetter
from typing import Literal, Protocol

from midstream.io.errors import RelationError
from midstream.plans.values.errors import IntervalError, SchemaError, StreamOrderError
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Payload, Time, chronons


class Receiver(Protocol):
    """A receiver of streams, above all an engine."""

    def push(self, stream: str, elements: Iterable[Element], /) -> object:
        """Take a batch of elements of a stream."""

    def advance(self, stream: str, time: int, /) -> object:
        """No later element of the stream starts before `time`."""

    def end(self, stream: str, /) -> object:
        """The stream has ended."""


class TimeVaryingRelation:
    """A multiset of rows for every instant; a program inserts and deletes at instants that never go back.

        Istream(R)@t  =  R@t − R@(t−1)         Dstream(R)@t  =  R@(t−1) − R@t         Rstream(R)@t  =  R@t

    The differences are those of multisets: a row that is deleted and inserted again at one instant is in
    neither. So the changes at an instant are streamed when it has passed, that is, at the first call with a
    later time.

    schema      its columns
    retention   the number of chronons that rows are remembered after their deletion; None for ever

    Output   Raw streams, one chronon per element, with heartbeats; to each subscriber, from the instant at
             which it subscribed.
    State    The rows, and the remembered deleted ones.
    Cost     O(1) per row that is inserted or deleted.
    Raises   StreamOrderError, RelationError, SchemaError, IntervalError; then nothing was changed. And errors
             of receivers.
    Source   thesis, section 17.4.1

    >>> people = TimeVaryingRelation(Schema.of(name="string"))
    >>> people.insert(1, [("Ann",), ("Bob",)])
    >>> people.delete(3, [("Ann",)])
    >>> people.elements()
    [(1, 3, ('Ann',)), (1, inf, ('Bob',))]
    >>> people.advance(5)
    >>> list(people.rstream(2, 4))
    [(2, 3, ('Ann',)), (2, 3, ('Bob',)), (3, 4, ('Bob',))]
    """

    def __init__(self, schema: Schema, retention: int | None = None) -> None:
        self.schema = schema
        self._retention = retention
        self._time: Time = BEGINNING
        self._starts: dict[Payload, deque[int]] = {}
        self._deleted: deque[Element] = deque()
        self._forgotten: Time = BEGINNING
        self._changes: Counter[Payload] = Counter()
        self._subscribers: list[tuple[Literal[1, -1], Receiver, str]] = []

    @property
    def time(self) -> Time:
        """The instant at which changes are made; earlier instants cannot change any more."""
        return self._time

    def istream(self, receiver: Receiver, stream: str) -> None:
        """Stream later insertions into a stream of an engine."""
        self._subscribe(1, receiver, stream)

    def dstream(self, receiver: Receiver, stream: str) -> None:
        """Stream later deletions into a stream of an engine, each at the first instant without the row."""
        self._subscribe(-1, receiver, stream)

    def rstream(self, start: int, end: int) -> Iterator[Element]:
        """Every row at every instant from `start` up to, not including, `end`, as a raw stream.

        Cost     O(rows) for each instant, and a sort of the remembered rows.
        Raises   RelationError where some of these instants have not passed, or are no longer remembered.
        """
        if start < self._forgotten or end > self._time:
            raise RelationError(
                f"relation: found instants from {start} to {end}, expected them from {self._forgotten} to "
                f"{self._time}, which are the ones that have passed and are remembered"
            )
        return _snapshots(self.elements(), start, end)

    def insert(self, time: int, rows: Iterable[Payload]) -> None:
        """Add rows at an instant."""
        added = self._checked(time, rows)
        self._move(time)
        for row in added:
            self._starts.setdefault(row, deque()).append(time)
        self._changes.update(added)

    def delete(self, time: int, rows: Iterable[Payload]) -> None:
        """Delete one row at an instant for each given row.

        Of equal rows, the deleted one is the oldest, or one that was inserted at the same instant.
        """
        gone = self._checked(time, rows)
        for row, count in Counter(gone).items():
            if count > (there := len(self._starts.get(row, ()))):
                raise RelationError(
                    f"relation: found {count} deletions of {row!r} at {time}, expected at most {there}, as "
                    "there are rows",
                    row=row,
                    time=time,
                )
        self._move(time)
        for row in gone:
            starts = self._starts[row]
            if starts[-1] == time:
                starts.pop()
            else:
                self._deleted.append((starts.popleft(), time, row))
            if not starts:
                del self._starts[row]
        self._changes.subtract(gone)

    def advance(self, time: int) -> None:
        """Advance the time: no later change is made before `time`."""
        self._checked(time, ())
        self._move(time)

    def close(self) -> None:
        """Stream the changes of the last instant, and end the streams."""
        if isinstance(self._time, int):
            self._stream(self._time)
        for _, receiver, stream in self._subscribers:
            receiver.end(stream)
        self._subscribers.clear()

    def rows(self) -> Counter[Payload]:
        """The current rows, with their multiplicities."""
        return Counter({row: len(starts) for row, starts in self._starts.items()})

    def elements(self) -> list[Element]:
        """All remembered rows as a temporal relation, ordered by start; current rows end at FOREVER.

        Cost     O(n log n) in the current and remembered rows.
        """
        there = [(start, FOREVER, row) for row, starts in self._starts.items() for start in starts]
        return sorted([*self._deleted, *there], key=itemgetter(0))

    def _subscribe(self, sign: Literal[1, -1], receiver: Receiver, stream: str) -> None:
        self._subscribers.append((sign, receiver, stream))
        if isinstance(self._time, int):
            receiver.advance(stream, self._time)

    def _checked(self, time: int, rows: Iterable[Payload]) -> list[Payload]:
        if type(time) is not int:
            raise IntervalError(f"relation: found time {time!r}, expected an integer")
        if time < self._time:
            raise StreamOrderError(
                f"relation: found a change at {time}, expected none before {self._time}",
                time=time,
                progress=self._time,
            )
        batch = list(rows)
        try:
            self.schema.check(batch)
        except SchemaError as error:
            raise SchemaError(f"relation, at {time}: {error}") from error
        return batch

    def _move(self, time: int) -> None:
        """Let the instants before `time` pass."""
        if time == self._time:
            return
        passed, self._time = self._time, time
        if isinstance(passed, int):
            self._stream(passed)
        if self._retention is not None:
            self._forget(time - self._retention)
        for _, receiver, stream in self._subscribers:
            receiver.advance(stream, time)

    def _stream(self, instant: int) -> None:
        changes = {row: count for row, count in self._changes.items() if count}
        self._changes.clear()
        for sign, receiver, stream in self._subscribers:
            rows = [row for row, count in changes.items() for _ in range(sign * count)]
            if rows:
                receiver.push(stream, list(chronons(zip(repeat(instant), rows, strict=False))))

    def _forget(self, limit: int) -> None:
        deleted = self._deleted
        while deleted and deleted[0][1] <= limit:
            deleted.popleft()
        self._forgotten = limit


def _snapshots(elements: list[Element], start: int, end: int) -> Iterator[Element]:
    """The rows at every instant of a range.

    State    The rows at one instant, and the later changes.
    """
    changes: dict[Time, Counter[Payload]] = {}
    for begin, until, row in elements:
        if begin < end and until > start:
            changes.setdefault(max(begin, start), Counter())[row] += 1
            changes.setdefault(until, Counter())[row] -= 1
    rows: Counter[Payload] = Counter()
    for instant in range(start, end):
        if instant in changes:
            rows.update(changes[instant])
            rows = +rows
        yield from ((instant, instant + 1, row) for row in rows.elements())
