"""Streams of rows that a Python program makes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import fields, is_dataclass
from functools import partial
from itertools import repeat
from operator import attrgetter
from typing import Any

from midstream.io.errors import ConnectorError
from midstream.io.sources.bad_rows import BadRows, Misfit, shown
from midstream.io.sources.clock import Now
from midstream.io.sources.conversion import BATCH, Candidate, Conversion, Origin, convert_each, lists_of
from midstream.io.sources.converter import ODD
from midstream.io.sources.json_reader import Keys
from midstream.io.sources.source import Source
from midstream.io.sources.values import value_converter
from midstream.io.timestamps import Timestamps
from midstream.plans.sql.declarations import StreamDeclaration
from midstream.plans.values.streams import Batch, Element
from midstream.plans.values.units import TimeUnit

NESTED = (tuple, list, Mapping)
"""The types of the payload in a pair of timestamp and payload; no column holds such a value."""


def rows_source(
    rows: Iterable[Any],
    stream: StreamDeclaration,
    unit: TimeUnit | Timestamps | str,
    *,
    bad_rows: BadRows | None = None,
    clock: Now | None = None,
    together: int | None = None,
) -> Source:
    """Make a source of rows in any of three forms.

    - tuples or lists of the declared columns, in order,
    - mappings by column name, in any case, or dataclasses,
    - pairs of a timestamp and one of these, without the column that the stream is ordered by.

    unit        the chronon, which is also the unit of integers, such as "seconds"; Timestamps if these differ
    together    the number of rows in a batch; by default, 1,024 for a collection, and one for a generator,
                which may wait for each row

    >>> from midstream.plans.values.schema import Type
    >>> from midstream.plans.sql.declarations import ColumnDeclaration
    >>> from midstream.plans.values.units import MILLISECONDS
    >>> ts, item = ColumnDeclaration("ts", Type.INTEGER, False, True), ColumnDeclaration("item", Type.INTEGER)
    >>> bid = StreamDeclaration("bid", (ts, item), ordered_by="ts")
    >>> rows = [(1000, 7), {"Item": 8, "ts": "1970-01-01T00:00:02"}, (3000, (9,))]
    >>> list(rows_source(rows, bid, MILLISECONDS))
    [[(1000, 1001, (7,)), (2000, 2001, (8,)), (3000, 3001, (9,))]]
    """
    size = together or (BATCH if isinstance(rows, Sized) else 1)
    reader = RowReader(stream, unit, bad_rows or BadRows(), clock)
    return reader.source(lists_of(rows, size), is_live=not isinstance(rows, Sized))


def async_rows_source(
    rows: AsyncIterable[Any],
    stream: StreamDeclaration,
    unit: TimeUnit | Timestamps | str,
    *,
    bad_rows: BadRows | None = None,
    clock: Now | None = None,
) -> Source:
    """Make a source of rows that arrive asynchronously, in the forms of `rows_source`.

    Rows that are ready at once form a batch. The source has its own event loop, which runs only while a batch
    is awaited.

    Raises   ConnectorError, when the first batch is asked for inside a running event loop.
    """
    reader = RowReader(stream, unit, bad_rows or BadRows(), clock)
    return reader.source(_ready_together(rows, stream.name), is_live=True)


def _ready_together(rows: AsyncIterable[Any], name: str) -> Iterator[list[Any]]:
    """Lists of rows that are ready without waiting."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise ConnectorError(
            f"{name}: found a running event loop, expected none; read an asynchronous source in a thread of "
            "its own, for example with asyncio.to_thread"
        )
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        remaining = aiter(rows)
        pending: asyncio.Task[Any] | None = None
        try:
            while True:
                some: list[Any] = []
                pending = pending or loop.create_task(_next(remaining))
                loop.run_until_complete(asyncio.wait([pending]))
                while pending.done() and len(some) < BATCH:
                    try:
                        some.append(pending.result())
                    except StopAsyncIteration:
                        if some:
                            yield some
                        return
                    pending = loop.create_task(_next(remaining))
                    loop.run_until_complete(asyncio.sleep(0))
                yield some
        finally:
            if pending is not None and not pending.done():
                pending.cancel()
                loop.run_until_complete(asyncio.wait([pending]))


async def _next(remaining: AsyncIterator[Any]) -> Any:
    return await anext(remaining)


class RowReader:
    """Converts rows to elements, and numbers them."""

    def __init__(
        self,
        stream: StreamDeclaration,
        unit: TimeUnit | Timestamps | str,
        bad_rows: BadRows,
        clock: Now | None,
    ) -> None:
        self.conversion = Conversion(stream, unit, value_converter, clock)
        self.origin = Origin(stream.name, "row")
        self._bad_rows = bad_rows
        self._keys = Keys(self.conversion.names)
        self._payload_keys = Keys(stream.schema.names)
        self._count = 0

    def source(self, lists: Iterator[list[Any]], *, is_live: bool) -> Source:
        """A source of elements, from lists of rows."""
        batches = (batch for rows in lists if (batch := self.read(rows)))
        timestamps, clock = self.conversion.timestamps, self.conversion.clock
        return Source(self.origin.name, batches, is_live, timestamps, "row", now=clock)

    def number(self, rows: int) -> int:
        """The number of the first of so many further rows."""
        first, self._count = self._count + 1, self._count + rows
        return first

    def read(self, rows: Sequence[Any]) -> Batch:
        """The elements of rows that follow those before."""
        number = self.number(len(rows))
        try:
            return self._together(rows)
        except (Misfit, AttributeError, *ODD):
            pass
        candidates = (Candidate(n, partial(_text, row), row) for n, row in enumerate(rows, number))
        return convert_each(candidates, self._element, self.origin, self._bad_rows)

    def _together(self, rows: Sequence[Any]) -> Batch:
        """The elements of rows that all have one form.

        Raises   Misfit, or one of ODD, where they differ or do not fit.
        """
        kinds = set(map(type, rows))
        if kinds == {dict}:
            return self.conversion.batch(self._keys.columns(rows), len(rows))
        if kinds != {tuple}:
            (kind,) = kinds  # of several, each row is read by itself
            if is_dataclass(kind):
                names = self._keys.of(tuple(one.name for one in fields(kind)))
                of_names = [[*map(attrgetter(name), rows)] for name in names if name is not None]
                return self.conversion.batch(of_names, len(rows))
            if not issubclass(kind, tuple):
                raise TypeError(kind)
        columns = list(zip(*rows, strict=True))
        if len(columns) != 2 or not any(map(isinstance, columns[1], repeat(NESTED))):
            return self.conversion.batch(columns, len(rows))
        times, payloads = columns
        if set(map(type, payloads)) != {tuple}:
            raise TypeError("payloads of several kinds")
        return self.conversion.stamped(times, list(zip(*payloads, strict=True)))

    def _element(self, row: Any) -> Element:
        if isinstance(row, tuple) and len(row) == 2 and isinstance(row[1], NESTED):
            time, payload = row
            values = self._values(payload, self._payload_keys)
            start = self.conversion.instant(time)
            return start, start + 1, self.conversion.payload(values)
        return self.conversion.element(self._values(row, self._keys))

    @staticmethod
    def _values(row: Any, keys: Keys) -> Sequence[Any]:
        if is_dataclass(row):
            row = {one.name: getattr(row, one.name) for one in fields(row)}
        if isinstance(row, Mapping):
            return keys.values({str(key): value for key, value in row.items()})
        if not isinstance(row, tuple | list):
            raise Misfit(None, shown(row), "a tuple, a list, a mapping or a dataclass")
        if len(row) != len(keys.names):
            expected = f"{len(keys.names)}: {', '.join(keys.names)}"
            raise Misfit(None, f"{len(row)} values", expected)
        return row


def _text(row: Any) -> str:
    try:
        return json.dumps(row, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return repr(row)
