"""Relations in CSV files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from midstream.io.progress import Progress
from midstream.io.readers import CsvStream
from midstream.io.relations.content import CHUNK, Chunk, Declaration, Period, RelationOrigin, collect
from midstream.io.relations.instants import as_clock
from midstream.io.time_units import Clock
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import Element


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
    return collect(_CsvFile(Path(path), "", {}).chunks(declared), declared, origin, progress)


class _CsvFile(CsvStream):
    """Reads a file like CsvStream, but without timestamps, and with each row's line number."""

    def chunks(self, declared: Declaration) -> Iterator[Chunk]:
        """The rows in the order of the file.

        State    One chunk.
        """
        records = self._records()
        first = next(records, None)
        if first is None:
            raise self._unexpected(1, None, "nothing", "the names of the columns")
        header = first[1]
        selected = [
            (self._position(header, name), name, column)
            for name, column in zip(declared.sources, declared.schema, strict=True)
        ]
        start, end = [self._position(header, name) for name in declared.period or ()] or (None, None)
        while some := list(islice(records, CHUNK)):
            payloads = [
                tuple([self._value(record[i], line, name, column) for i, name, column in selected])
                for line, record in some
            ]
            yield Chunk(
                [line for line, _ in some],
                payloads,
                [] if start is None else [record[start] for _, record in some],
                [] if end is None else [record[end] for _, record in some],
            )
