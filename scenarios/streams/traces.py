"""Recorded streams as streams of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import islice

from midstream.io import open_source
from midstream.io.sources.rows import Row, number_of
from midstream.io.timestamps import Timestamps
from midstream.plans.sql.declarations import ColumnDeclaration, StreamDeclaration
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.instants import iso_format
from midstream.plans.values.schema import Type
from midstream.plans.values.units import TimeUnit
from midstream.scenarios.streams.stream_spec import Recorded, Trace

SECOND = 10**9
"""In nanoseconds."""


def recorded_rows(name: str, trace: Trace, columns: Mapping[str, Recorded], second: int) -> Iterator[Row]:
    """The starts, in chronons of the scenario, and the values of the columns, in order of time.

        start  =  offset + (timestamp - origin) / speed

    Records before the origin are left out.

    name       of the stream, for errors
    second     chronons per second
    State      One batch of the file.
    Raises     InputFileError for what cannot be read or is not in order of time, ConnectorError for a file of
               no known format.
    """
    selected = (row for row in _in_order(name, trace, columns) if row[0] >= 0)
    scale = Fraction(second, SECOND) / Fraction(trace.speed)
    for since_origin, values in islice(selected, trace.limit):
        yield trace.offset + int(since_origin * scale), values


def _in_order(name: str, trace: Trace, columns: Mapping[str, Recorded]) -> Iterator[Row]:
    """Timestamps relative to the origin, in nanoseconds, and values of the rows that fulfil `where`."""
    wanted = {own: recorded.column or own for own, recorded in columns.items()}
    types = {wanted[own]: Type(recorded.type) for own, recorded in columns.items()}
    names = list(types)
    declared = StreamDeclaration(
        name,
        (
            ColumnDeclaration(trace.time, Type.INTEGER, nullable=False, is_timestamp=True),
            *(ColumnDeclaration(column, type_, nullable=False) for column, type_ in types.items()),
        ),
        ordered_by=trace.time,
        where=tuple(trace.where.items()),
    )
    picked = [names.index(column) for column in wanted.values()]
    nanosecond = TimeUnit.of("nanoseconds")
    unit = None if trace.unit is None else TimeUnit.of(trace.unit)
    remedy = f"unit: {{0}} in the arrivals of stream {name}"
    origin = None if trace.origin is None or unit is None else trace.origin * unit.nanoseconds
    before: int | None = None
    if not trace.path.is_file():
        raise InputFileError(
            f"stream {name}: {trace.path}: found no such file, expected the recording that is replayed; "
            "name the folder of recordings with --data, or in the environment variable MIDSTREAM_DATA",
            path=trace.path,
        )
    timestamps = Timestamps(nanosecond, unit, remedy)
    with open_source(declared, timestamps, trace.path) as source:
        for batch in source:
            for element in batch:
                start, payload = int(element[0]), element[2]
                if before is not None and start < before:
                    line, (late, latest) = number_of(element, batch), map(_shown(unit), (start, before))
                    raise InputFileError(
                        f"stream {name}: {trace.path}, {source.unit} {line}: found a row of {late} behind "
                        f"one of {latest}, expected rows in order of {trace.time}; sort the file",
                        path=trace.path,
                        **{source.unit: line},
                    )
                before = start
                origin = start if origin is None else origin
                yield start - origin, tuple([payload[i] for i in picked])


def _shown(unit: TimeUnit | None) -> Callable[[int], str]:
    """Function that shows an instant in nanoseconds as the file writes it."""
    return iso_format(1) if unit is None else lambda time: str(time // unit.nanoseconds)
