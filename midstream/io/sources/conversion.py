"""Convert the columns of a source to batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice, repeat
from operator import add
from typing import Any, TypeVar

from midstream.io.sources.bad_rows import BadRows, Misfit, WrongSource, shown
from midstream.io.sources.clock import Now, never_back, system_clock
from midstream.io.sources.converter import ODD, Converter, Converters
from midstream.io.sources.rows import Rows, part
from midstream.io.times_of_day import TIME_OF_DAY, time_of_day
from midstream.io.timestamps import Timestamps, UndeclaredUnit
from midstream.plans.sql.declarations import ColumnDeclaration, StreamDeclaration
from midstream.plans.values.arguments import require
from midstream.plans.values.instants import DAY
from midstream.plans.values.schema import Type
from midstream.plans.values.streams import Batch, Element
from midstream.plans.values.unit_words import advice
from midstream.plans.values.units import TimeUnit

BATCH = 1024
"""The largest number of elements in a batch."""

NANOSECONDS = TimeUnit.of("nanoseconds")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of rows, for error messages: a source, and the unit of its row numbers, lines or rows."""

    name: str
    unit: str = "line"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row that may be bad: its number, its text, and its values or the misfit."""

    number: int
    text: Callable[[], str]
    values: Any


def require_declaration(stream: object) -> None:
    """Raise ArgumentError unless a stream is the declaration of one."""
    expected = "the declaration of a stream: catalog.streams['bid']"
    require("source", stream, StreamDeclaration, expected)


class Conversion:
    """Converts rows to batches as a stream's declaration says.

    An element is valid for one chronon, from the timestamp in the column `ordered_by`; without such a column,
    from the time of its conversion. Whole columns are converted in C loops. If this fails for a batch, the
    caller converts it row by row, so that errors are exact.

    Cost     O(columns) per row.

    >>> from midstream.plans.values.schema import Type
    >>> from midstream.plans.values.units import MILLISECONDS
    >>> from midstream.io.sources.texts import text_converter
    >>> item, ts = ColumnDeclaration("item", Type.INTEGER), ColumnDeclaration("ts", Type.INTEGER, False, True)
    >>> bids = StreamDeclaration("bid", (item, ts), ordered_by="ts")
    >>> Conversion(bids, MILLISECONDS, text_converter).batch([["7", ""], ["1000", "1005"]], 2)
    [(1000, 1001, (7,)), (1005, 1006, (None,))]
    """

    def __init__(
        self,
        stream: StreamDeclaration,
        unit: TimeUnit | Timestamps | str,
        converters: Converters,
        clock: Now | None = None,
    ) -> None:
        require_declaration(stream)
        self.stream = stream
        self.timestamps = Timestamps.of(unit)
        self.names: list[str] = [column.name for column in stream.columns]
        self._payload_names = list(stream.schema.names)
        self._now = never_back(clock or system_clock(self.timestamps.chronon))
        self._time = self.names.index(stream.ordered_by) if stream.ordered_by is not None else None
        self.clock = self._now if self._time is None else None
        """The clock that stamps rows; None if they have times."""
        stamp = ColumnDeclaration("timestamp", Type.INTEGER)
        if self._time is not None:
            stamp = stream.columns[self._time]
        stamp = replace(stamp, nullable=False, is_timestamp=True)
        clock_name = None if stream.source is None else stream.source.time_of_day
        self._clock_column = _position(self.names, clock_name) if self._time is not None else None
        """The position of the column with times of day, which the column of time then lacks."""
        if self._clock_column is not None:
            days = converters(stamp, False, Timestamps(NANOSECONDS, None))
            self._clock = ClockedDates(days, self.timestamps)
        self._stamp = converters(stamp, False, self.timestamps)
        self._converters = [
            self._stamp if position == self._time else converters(column, column.nullable, self.timestamps)
            for position, column in enumerate(stream.columns)
        ]
        self._payload = [c for position, c in enumerate(self._converters) if position != self._time]

    @property
    def optional(self) -> frozenset[str]:
        """The columns that a sparse source may lack: those that may be unknown, and tell no time."""
        source = self.stream.source
        if source is None or not source.sparse:
            return frozenset()
        times = {(name or "").lower() for name in (self.stream.ordered_by, source.time_of_day)}
        return frozenset(
            one.name for one in self.stream.columns if one.nullable and one.name.lower() not in times
        )

    def batch(self, columns: Sequence[Sequence[Any]], count: int) -> Batch:
        """The elements of `count` rows, given by columns.

        Raises   One of ODD where a value does not fit.
        """
        if self._time is None:
            with self.counted():
                return _elements([self._now()] * count, self.payloads(columns, count))
        rest = [column for position, column in enumerate(columns) if position != self._time]
        if self._clock_column is None:
            return self.stamped(columns[self._time], rest)
        with self.counted():
            starts = self._clock.many(columns[self._time], columns[self._clock_column])
            return _elements(starts, self.payloads(rest, count))

    def stamped(self, times: Sequence[Any], columns: Sequence[Sequence[Any]]) -> Batch:
        """The elements of rows, given by their times and the columns of the payload.

        Raises   One of ODD where a value does not fit.
        """
        with self.counted():
            return _elements(self._stamp.many(times), self.payloads(columns, len(times)))

    def payloads(self, columns: Sequence[Sequence[Any]], count: int) -> Iterable[tuple[Any, ...]]:
        """The payloads of `count` rows, given by the columns of the payload.

        Raises   One of ODD where a value does not fit.
        """
        read = [converter.many(column) for converter, column in zip(self._payload, columns, strict=True)]
        return zip(*read, strict=True) if read else repeat((), count)

    def element(self, values: Sequence[Any]) -> Element:
        """The element of one row.

        Raises   Misfit.
        """
        if self._clock_column is not None and self._time is not None:
            start = self._clock.single(values, self.names, self._time, self._clock_column)
            rest = [value for position, value in enumerate(values) if position != self._time]
            return start, start + 1, self.payload(rest)
        read = [
            read_value(name, converter, value)
            for name, converter, value in zip(self.names, self._converters, values, strict=True)
        ]
        start = self._now() if self._time is None else read.pop(self._time)
        return start, start + 1, tuple(read)

    def payload(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The payload of one row, from its values without the time.

        Raises   Misfit.
        """
        named = zip(self._payload_names, self._payload, values, strict=True)
        return tuple([read_value(name, converter, value) for name, converter, value in named])

    def instant(self, value: Any) -> int:
        """The timestamp of one row.

        Raises   Misfit.
        """
        return int(read_value(self.stream.ordered_by or "timestamp", self._stamp, value))

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Undo the count of rounded timestamps if a batch fails, because it is converted again row by row."""
        cut = self.timestamps.cut
        try:
            yield
        except ODD:
            self.timestamps.cut = cut
            raise


class ClockedDates:
    """Instants of dates in one column, and times of day in another."""

    def __init__(self, days: Converter, timestamps: Timestamps) -> None:
        self._days = days
        """Converts dates to nanoseconds."""
        self._timestamps = timestamps

    def many(self, dates: Sequence[Any], clocks: Sequence[Any]) -> Sequence[Any]:
        """The chronons of whole columns.

        Raises   One of ODD where a value does not fit.
        """
        days = self._days.many(dates)
        if any(day % DAY for day in days):
            raise ValueError("a time of day beside another")
        clocked = map(add, days, map(time_of_day, clocks))
        return self._timestamps.instants(list(clocked))

    def single(self, values: Sequence[Any], names: Sequence[str], date: int, clock: int) -> int:
        """The chronon of a row; `date` and `clock` are the positions of its columns.

        Raises   Misfit.
        """
        day = read_value(names[date], self._days, values[date])
        if day % DAY:
            expected = f"a date alone, as column {names[clock]} has the time of day"
            raise Misfit(names[date], shown(values[date]), expected)
        try:
            return self._timestamps.instant(day + time_of_day(values[clock]))
        except ODD:
            found = "nothing" if values[clock] in ("", None) else shown(values[clock])
            raise Misfit(names[clock], found, TIME_OF_DAY) from None


def _position(names: Sequence[str], name: str | None) -> int | None:
    """The position of a name in any case; None if it is not there."""
    lower = [one.lower() for one in names]
    return lower.index(name.lower()) if name is not None and name.lower() in lower else None


def _elements(times: Sequence[int], payloads: Iterable[tuple[Any, ...]]) -> Batch:
    return list(zip(times, map(add, times, repeat(1)), payloads, strict=True))


def read_value(name: str, converter: Converter, value: Any) -> Any:
    """Convert one value of a column; raises Misfit where it does not fit."""
    try:
        return converter.single(value)
    except UndeclaredUnit as error:
        error.column = name
        raise
    except ODD:
        found = "nothing" if value == "" else "null" if value is None else shown(value)
        raise Misfit(name, found, converter.expected) from None


def convert_each(
    candidates: Iterable[Candidate],
    convert: Callable[[Any], Element],
    origin: Origin,
    bad_rows: BadRows,
) -> Batch:
    """Convert rows one by one, and report those that do not fit to `bad_rows`.

    Raises   InputFileError for an integer where timestamps need a unit, and for a source that does not fit:
             these always end the run.
    """
    batch: Batch = []
    numbers: list[int] = []
    remaining = iter(candidates)
    for candidate in remaining:
        try:
            if isinstance(candidate.values, Misfit):
                raise candidate.values
            batch.append(convert(candidate.values))
            numbers.append(candidate.number)
        except Misfit as misfit:
            told = BadRows() if isinstance(misfit, WrongSource) else bad_rows
            told.report(origin.name, origin.unit, candidate.number, misfit, candidate.text())
        except UndeclaredUnit as error:
            values = [error.value, *_undeclared(remaining, convert)]
            lacking = Misfit(error.column, *advice(values, error.remedy))
            BadRows().report(origin.name, origin.unit, candidate.number, lacking, candidate.text())
    return Rows(batch, numbers)


def _undeclared(candidates: Iterable[Candidate], convert: Callable[[Any], Element]) -> Iterator[int]:
    """Integers without a unit in later rows: several of them give better advice on the unit."""
    for candidate in candidates:
        try:
            if not isinstance(candidate.values, Misfit):
                convert(candidate.values)
        except UndeclaredUnit as error:
            yield error.value
        except Misfit:
            pass


def lists_of(items: Iterable[T], size: int = BATCH) -> Iterator[list[T]]:
    """Lists of consecutive items, each of `size` items, taken on demand.

    >>> list(lists_of("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    remaining = iter(items)
    while some := list(islice(remaining, size)):
        yield some


def in_batches(batch: Batch) -> Iterator[Batch]:
    """Cut a batch into batches of at most BATCH elements; an empty batch yields none."""
    if 0 < len(batch) <= BATCH:
        yield batch
        return
    for first in range(0, len(batch), BATCH):
        yield part(batch, first, first + BATCH)
