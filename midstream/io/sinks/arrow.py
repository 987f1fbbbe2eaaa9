"""Results in Arrow: the columns start and end, and those of the row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from midstream.io.errors import ConnectorError
from midstream.io.file_formats import VALIDITY
from midstream.io.requirements import require_libraries
from midstream.io.sinks.csv_sink import refuse_validity
from midstream.plans.values.instants import iso_format
from midstream.plans.values.schema import Schema, Type
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Time
from midstream.plans.values.units import NANOSECONDS, TimeUnit

if TYPE_CHECKING:
    import pyarrow as pa

DAY = NANOSECONDS["day"]


class ArrowResults:
    """Turns results into record batches; the end FOREVER is null.

    name    the name of the results in errors
    unit    the unit of a chronon if times are timestamps without a zone, in UTC; None for integers
    dates   True if columns that carry time are timestamps and dates, too

    A column of type any holds JSON.

    Raises   ConnectorError for a column called start or end; MissingExtra without pyarrow.
    """

    def __init__(self, name: str, schema: Schema, unit: TimeUnit | None, *, dates: bool = False) -> None:
        require_libraries(("pyarrow",), "arrow")
        import pyarrow as pa

        refuse_validity(name, schema)
        self._name, self._schema = name, schema
        instants, self._scale = (pa.int64(), 1) if unit is None else _instants(unit)
        self._length = 0 if unit is None else unit.nanoseconds
        self._times = [column.time if dates and unit is not None else None for column in schema]
        kinds = {None: None, "timestamp": instants, "date": pa.date32()}
        times = [pa.field(name, instants) for name in VALIDITY]
        rows = [
            pa.field(column.name, kinds[time] or TYPES[column.type](pa), column.nullable)
            for column, time in zip(schema, self._times, strict=True)
        ]
        self.fields = pa.schema([*times, *rows])

    def batch(self, results: Batch, before: int = 0) -> pa.RecordBatch:
        """The record batch of results, which are not empty; `before` is the number of earlier ones.

        Raises   ConnectorError for integers of more than 64 bits.
        """
        import pyarrow as pa

        starts: Sequence[Time | None]
        ends: Sequence[Time | None]
        starts, ends, rows = zip(*results, strict=True)
        scale = self._scale
        # Results are in order of start: only the first ones can start at BEGINNING.
        if scale != 1 or starts[0] == BEGINNING:
            starts = [None if start == BEGINNING else start * scale for start, _, _ in results]
        if scale != 1 or FOREVER in ends:
            ends = [None if end == FOREVER else end * scale for _, end, _ in results]
        columns: list[Any] = [starts, ends]
        of_rows = zip(*rows, strict=True) if self._schema.names else ()
        for column, time, values in zip(self._schema, self._times, of_rows, strict=True):
            if time == "timestamp":
                columns.append([None if value is None else value * scale for value in values])
            elif time == "date":
                columns.append([None if value is None else value * self._length // DAY for value in values])
            elif column.type is Type.ANY:
                columns.append([None if value is None else _json(value) for value in values])
            else:
                columns.append(values)
        arrays = []
        for place, (values, field) in enumerate(zip(columns, self.fields, strict=True)):
            try:
                arrays.append(pa.array(values, field.type))
            except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
                fault = self._fault(place, results, before) or f"found a value of no type of Arrow: {error}"
                raise ConnectorError(f"{self._name}: {fault}", path=self._name) from error
        return pa.RecordBatch.from_arrays(arrays, schema=self.fields)

    def _fault(self, place: int, batch: Batch, before: int) -> str:
        """Describe the first integer of a column that has more than 64 bits; empty if there is none.

        Instants have as many bits in the unit of the column.
        """
        scale = self._scale if self._is_instant(place) else 1
        for number, (start, end, row) in enumerate(batch, before + 1):
            value = (start, end, *row)[place]
            if not isinstance(value, int) or -(2**63) <= value * scale < 2**63:
                continue
            name = self.fields.field(place).name
            found = f"result {number}, column {name}: found"
            if self._is_instant(place):
                instant = iso_format(self._length)(value)
                unit = self.fields.field(place).type.unit
                return (
                    f"{found} {instant}, which has more than 64 bits as a timestamp in {unit}; a file in "
                    ".jsonl or .csv has it, and so has a stream with a longer TIME_UNIT"
                )
            return (
                f"{found} an integer beyond 64 bits, for which there is no type; write CAST({name} AS TEXT), "
                "or a file in .jsonl or .csv"
            )
        return ""

    def _is_instant(self, place: int) -> bool:
        """True for a column of timestamps."""
        if not self._length:
            return False
        return place < len(VALIDITY) or self._times[place - len(VALIDITY)] == "timestamp"


def _instants(unit: TimeUnit) -> tuple[pa.DataType, int]:
    """The Arrow type of instants, at most milliseconds, and the number of its units in a chronon."""
    import pyarrow as pa

    name = {1: "ns", 1000: "us"}.get(unit.nanoseconds, "ms")
    return pa.timestamp(name), unit.nanoseconds // {"ns": 1, "us": 10**3, "ms": 10**6}[name]


TYPES = {
    Type.INTEGER: lambda pa: pa.int64(),
    Type.FLOAT: lambda pa: pa.float64(),
    Type.STRING: lambda pa: pa.string(),
    Type.BOOLEAN: lambda pa: pa.bool_(),
    Type.ANY: lambda pa: pa.string(),
}
"""By type of column, the type in Arrow."""


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
