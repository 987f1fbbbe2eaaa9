"""The content of a relation: rows of any origin as elements, checked against a schema, ordered by start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from operator import itemgetter, le
from typing import Any

from midstream.io.instants import DatesOnly, chronon
from midstream.io.progress import Progress
from midstream.io.readers import UNKNOWN, position
from midstream.io.time_units import Clock
from midstream.plans.values.errors import IntervalError, MidstreamError, SchemaError
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Time

Period = tuple[str, str]
"""The names of the columns with the start and the end of a row's validity."""

CHUNK = 10_000
"""The number of rows that are read, checked and reported at once."""


@dataclass(frozen=True, slots=True)
class RelationOrigin:
    """The origin of a relation's rows, for error messages.

    name    the file, or the table and its database
    unit    the unit of row numbers: lines or rows
    error   the type of errors about the rows
    """

    name: str
    unit: str
    error: type[MidstreamError]

    def misfit(
        self,
        number: int | None,
        column: str | None,
        value: str,
        expected: str,
        error: type[MidstreamError] | None = None,
    ) -> MidstreamError:
        """An error that names the place, the value found there, and what was expected."""
        place = [self.name]
        if number is not None:
            place.append(f"{self.unit} {number}")
        if column is not None:
            place.append(f"column {column}")
        message = f"{', '.join(place)}: found {value}, expected {expected}"
        facts = {self.unit: number, "column": column, "found": value, "expected": expected}
        return (error or self.error)(message, origin=self.name, **facts)

    def position(self, columns: Sequence[str], name: str) -> int:
        """The position of a column among the existing ones."""
        return position(columns, name, partial(self.misfit, None, name))


@dataclass(frozen=True, slots=True)
class Declaration:
    """The declaration of a relation.

    schema    its columns
    names     by column, its name at the origin, if that differs
    period    two more columns, with the rows' validity; without them the relation is constant
    clock     converts dates and times to chronons
    """

    schema: Schema
    names: Mapping[str, str]
    period: Period | None
    clock: Clock | None

    def __post_init__(self) -> None:
        for name in self.names:
            self.schema.index(name)

    @property
    def sources(self) -> list[str]:
        """The names of the schema's columns at the origin."""
        return [self.names.get(name, name) for name in self.schema.names]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rows as they were read: numbers, payloads, and for a temporal relation their validity."""

    numbers: Sequence[int]
    payloads: list[tuple[Any, ...]]
    starts: Sequence[Any] = ()
    ends: Sequence[Any] = ()


def rows_of(columns: Sequence[Sequence[Any]], count: int) -> list[tuple[Any, ...]]:
    """Columns as rows; `count` is the number of rows, which is needed if there is no column."""
    return list(zip(*columns, strict=True)) if columns else [()] * count


def collect(
    chunks: Iterable[Chunk],
    declared: Declaration,
    origin: RelationOrigin,
    progress: Progress | None,
    total: int | None = None,
) -> list[Element]:
    """Make the elements of a relation: always valid if it is constant, else valid during the period.

    Output   Ordered by start; rows that start together stay in the order of their origin.
    Cost     O(columns) per row, and a sort where starts are not in order.
    Raises   The origin's error for values that do not fit, IntervalError for empty validity; both with the
             row's number.
    """
    elements: list[Element] = []
    for chunk in chunks:
        _check(chunk, declared.schema, origin)
        starts: Iterable[Time] = repeat(BEGINNING, len(chunk.payloads))
        ends: Iterable[Time] = repeat(FOREVER, len(chunk.payloads))
        if declared.period is not None:
            starts, ends = _validity(chunk, declared.period, declared.clock, origin)
        elements.extend(zip(starts, ends, chunk.payloads, strict=True))
        if progress is not None:
            progress(len(elements), total)
    elements.sort(key=itemgetter(0))
    return elements


def _check(chunk: Chunk, schema: Schema, origin: RelationOrigin) -> None:
    try:
        schema.check(chunk.payloads)
    except SchemaError:
        for number, payload in zip(chunk.numbers, chunk.payloads, strict=True):
            try:
                schema.check([payload])
            except SchemaError as error:
                message = f"{origin.name}, {origin.unit} {number}, {error}"
                raise origin.error(message, origin=origin.name, **{origin.unit: number}) from None
        raise


def _validity(
    chunk: Chunk, period: Period, clock: Clock | None, origin: RelationOrigin
) -> tuple[Sequence[Time], Sequence[Time]]:
    starts: Sequence[Time] = chunk.starts
    is_plain = not isinstance(clock, DatesOnly)
    if set(map(type, starts)) != {int} or not is_plain:
        starts = [
            _instant(n, period[0], start, clock, origin)
            for n, start in zip(chunk.numbers, starts, strict=True)
        ]
    ends: Sequence[Time] = [
        FOREVER
        if end is None or end in UNKNOWN
        else end
        if type(end) is int and is_plain
        else _instant(n, period[1], end, clock, origin)
        for n, end in zip(chunk.numbers, chunk.ends, strict=True)
    ]
    if any(map(le, ends, starts)):
        number, start, end = next(
            row for row in zip(chunk.numbers, starts, ends, strict=True) if row[2] <= row[1]
        )
        raise origin.misfit(
            number,
            None,
            f"validity from {start} to {end}",
            f"{period[1]} to be after {period[0]}",
            IntervalError,
        )
    return starts, ends


def _instant(number: int, column: str, value: Any, clock: Clock | None, origin: RelationOrigin) -> int:
    try:
        return chronon(value, clock)
    except ValueError as error:
        found = "nothing" if value is None or value == "" else repr(value)
        raise origin.misfit(number, column, found, str(error)) from None
