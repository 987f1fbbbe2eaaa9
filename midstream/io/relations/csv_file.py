"""Relations in CSV files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from midstream.io.instants import as_clock
from midstream.io.progress import Progress
from midstream.io.readers import UNKNOWN
from midstream.io.relations.content import Chunk, Declaration, Period, RelationOrigin, collect, rows_of
from midstream.io.sources.arrivals import file_arrivals
from midstream.io.sources.bad_rows import BadRows
from midstream.io.sources.conversion import Conversion, read_value
from midstream.io.sources.csv_reader import CsvReader
from midstream.io.sources.selecting import text_converters
from midstream.io.time_units import Clock
from midstream.plans.sql.declarations import ColumnDeclaration, StreamDeclaration
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.schema import Schema, Type
from midstream.plans.values.streams import Batch, Element
from midstream.plans.values.units import MILLISECONDS


def load_csv(
    path: str | os.PathLike[str],
    schema: Schema,
    *,
    period: Period | None = None,
    columns: Mapping[str, str] | None = None,
    clock: Clock | str | None = None,
    progress: Progress | None = None,
) -> list[Element]:
    """Load the content of a relation from a CSV file with a header line, in UTF-8.

    schema    the relation's columns; other columns of the file are ignored
    period    the columns with the start and the end of validity; without it the relation is constant
    columns   by column of the relation, its name in the file, if that differs
    clock     converts dates and times in the period to chronons: a Clock, or a unit that counts from 1970

    An empty field and NA stand for None in a nullable column, and for FOREVER as an end.

    Raises   InputFileError, naming file, line and column, what was found and what was expected;
             IntervalError where validity is empty; SchemaError for a column that the schema lacks.

    >>> file = Path("people.csv")
    >>> size = file.write_text("id,name,since,until\\n1,Ann,1970-01-01,1970-01-03\\n2,Bob,1970-01-02,\\n")
    >>> people = Schema.of(id="integer", name="string")
    >>> load_csv(file, people)
    [(-inf, inf, (1, 'Ann')), (-inf, inf, (2, 'Bob'))]
    >>> load_csv(file, people, period=("since", "until"), clock="d")
    [(0, 2, (1, 'Ann')), (1, inf, (2, 'Bob'))]
    """
    declared = Declaration(schema, columns or {}, period, as_clock(clock))
    origin = RelationOrigin(os.fspath(path), "line", InputFileError)
    return collect(_chunks(path, declared), declared, origin, progress)


def _chunks(path: str | os.PathLike[str], declared: Declaration) -> Iterator[Chunk]:
    """The rows in the order of the file.

    State    One chunk.
    """
    reader = CsvReader(os.fspath(path), _Rows(declared), BadRows())
    width = len(declared.schema)
    with closing(file_arrivals(Path(path))) as arrivals:
        for batch in reader.batches(arrivals):
            rows: Sequence[tuple[Any, ...]] = batch
            numbers: Sequence[int] = batch.numbers  # type: ignore[attr-defined]
            times = zip(*(row[width:] for row in rows), strict=True) if declared.period else ()
            yield Chunk(numbers, [row[:width] for row in rows], *times)


class _Rows(Conversion):
    """Converts rows to their values, with the texts of the period behind those of the schema."""

    def __init__(self, declared: Declaration) -> None:
        columns = [
            ColumnDeclaration(name, column.type, column.nullable)
            for name, column in zip(declared.sources, declared.schema, strict=True)
        ]
        ends = [ColumnDeclaration(name, Type.STRING, False) for name in declared.period or ()]
        super().__init__(StreamDeclaration("", ()), MILLISECONDS, text_converters(UNKNOWN))
        self.names = [column.name for column in (*columns, *ends)]
        self._converters = [
            text_converters(UNKNOWN)(column, column.nullable, self.timestamps) for column in (*columns, *ends)
        ]

    def batch(self, columns: Sequence[Sequence[Any]], count: int) -> Batch:
        read = [converter.many(column) for converter, column in zip(self._converters, columns, strict=True)]
        return rows_of(read, count)

    def element(self, values: Sequence[Any]) -> Element:
        return tuple(map(read_value, self.names, self._converters, values))
