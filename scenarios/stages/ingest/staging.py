"""Read files on the executors into rows of one form, which later steps count, sort and write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from itertools import accumulate
from operator import itemgetter
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from midstream.plans.values.errors import MidstreamError
from midstream.plans.values.schema import Column, Schema
from midstream.plans.values.streams import FOREVER, Element
from midstream.scenarios.spark.arrow_schemas import ARROW_TYPES, payload_field, spark_schema
from midstream.scenarios.stages.ingest.reading import BadRow, PieceReader
from midstream.scenarios.stages.ingest.survey import PIECE, FilePiece, survey
from midstream.scenarios.streams.recorded.feeds import Feed
from midstream.scenarios.streams.recorded.input_files import InputFile

ROW, BAD, PIECE_DONE, FAULT = range(4)
"""Kinds of staged rows: an element, a row that does not fit, the counts of a piece, a reading error."""

TOGETHER = 16_384
"""The number of rows sent to Spark at once."""

MOST_TASKS = 4096

PLACE = (
    ("kind", pa.int32()),
    ("path", pa.string()),
    ("piece", pa.int32()),
    ("position", pa.int64()),
    ("start", pa.int64()),
    ("end", pa.int64()),
    ("ahead", pa.int64()),
    ("reason", pa.string()),
    ("text", pa.string()),
    ("rows", pa.int64()),
    ("other", pa.int64()),
    ("bad", pa.int64()),
    ("cut", pa.int64()),
    ("sha256", pa.string()),
)
"""The columns of staged rows besides the payload.

    start, end, ahead    of an element; `ahead` is the greatest start before it in its piece. Of a piece,
                         `ahead` is the greatest start in it
    rows, other, bad     of a piece: how many rows it has, and how many of them belong to other streams or do
                         not fit
    cut                  of a piece: of how many timestamps something was cut off
"""

_TEXTS = ("path", "form", "sha256", "fault")
_COLUMNS = ("path", "form", "number", "since", "until", "line", "header", "sha256", "fault")
SURVEYED = pa.schema([(name, pa.string() if name in _TEXTS else pa.int64()) for name in _COLUMNS])
"""The columns of pieces: the fields of a FilePiece, and the fault where there is none."""


def _columns_of(payload: Schema) -> pa.Schema:
    """The columns of a stream's staged rows."""
    return pa.schema([*PLACE, *payload_field(payload)])


def staged(spark: SparkSession, feed: Feed, files: Sequence[InputFile], piece_size: int = PIECE) -> DataFrame:
    """The rows of a feed's files, lazily, in the columns of PLACE.

    Each file is surveyed in a task, and each piece read in one. A file or piece that cannot be read becomes a
    row FAULT: an error would end the task, and hide its message in a trace.
    """
    listed = spark.createDataFrame(
        [(file.path, file.form, file.size, file.modified) for file in files],
        "path string, form string, size long, modified long",
    )
    pieces = sum(1 + file.size // piece_size for file in files)
    return (
        listed.repartition(min(len(files), MOST_TASKS))
        .mapInArrow(partial(survey_batches, piece_size=piece_size), spark_schema(SURVEYED))
        .repartition(min(pieces, MOST_TASKS))
        .mapInArrow(partial(read_batches, feed=feed), spark_schema(_columns_of(feed.declaration.schema)))
    )


Batches = Iterable[pa.RecordBatch]


def survey_batches(batches: Batches, piece_size: int) -> Iterator[pa.RecordBatch]:
    """The pieces of some files, surveyed on the executors."""
    for batch in batches:
        for row in batch.to_pylist():
            file = InputFile(**row)
            try:
                found = [asdict(piece) for piece in survey(file, piece_size)]
            except MidstreamError as error:
                found = [{"path": file.path, "fault": str(error)}]
            yield pa.RecordBatch.from_pylist(found, SURVEYED)


def read_batches(batches: Batches, feed: Feed) -> Iterator[pa.RecordBatch]:
    """The staged rows of some pieces, read on the executors."""
    for batch in batches:
        for row in batch.to_pylist():
            fault = row.pop("fault")
            if fault is not None:
                yield _Made(feed, row["path"], 0).fault(fault)
            else:
                yield from read_piece(feed, FilePiece(**row))


def read_piece(feed: Feed, piece: FilePiece) -> Iterator[pa.RecordBatch]:
    """The staged rows of a piece."""
    made = _Made(feed, piece.path, piece.number)
    reader = PieceReader(feed, piece)
    positions: list[int] = []
    elements: list[Element | None] = []
    try:
        for numbers, batch in reader.batches():
            positions += numbers
            elements += batch
            if len(elements) >= TOGETHER:
                yield made.rows(positions, elements)
                positions, elements = [], []
            yield from made.bad(reader.bad.take())
        yield made.rows(positions, elements)
        yield from made.bad([*reader.bad.take(), *made.too_large()])
    except MidstreamError as error:
        yield made.fault(str(error))
    else:
        yield made.done(piece.sha256, reader.cut)


class _Made:
    """A writer of the staged rows of a piece, which counts them."""

    def __init__(self, feed: Feed, path: str, number: int) -> None:
        self._schema = _columns_of(feed.declaration.schema)
        self._payload = list(feed.declaration.schema)
        self._path = path
        self._number = number
        self._greatest: int | None = None
        self._rows = self._other = self._bad = 0
        self._too_large: list[BadRow] = []

    def rows(self, positions: list[int], elements: Sequence[Element | None]) -> pa.RecordBatch:
        """A batch of elements; None stands for a row of another stream."""
        self._rows += len(elements)
        kept = [(n, one) for n, one in zip(positions, elements, strict=True) if one is not None]
        self._other += len(elements) - len(kept)
        try:
            return self._elements(kept)
        except (OverflowError, pa.ArrowInvalid):
            fitting = []
            for position, element in kept:
                if (misfit := _too_large(element, self._payload)) is None:
                    fitting.append((position, element))
                else:
                    self._too_large.append(BadRow(position, str(misfit), str(element)))
            self._rows -= len(kept) - len(fitting)
            return self._elements(fitting)

    def too_large(self) -> list[BadRow]:
        """Rows with integers that do not fit into Parquet."""
        return self._too_large

    def bad(self, found: Sequence[BadRow]) -> Iterator[pa.RecordBatch]:
        """A batch of rows that do not fit, if there are any."""
        if found:
            self._rows += len(found)
            self._bad += len(found)
            yield self._batch(
                BAD,
                len(found),
                position=[one.position for one in found],
                reason=[one.reason for one in found],
                text=[one.text for one in found],
            )

    def fault(self, message: str) -> pa.RecordBatch:
        """The reason why the piece cannot be read."""
        return self._batch(FAULT, 1, reason=[message])

    def done(self, sha256: str, cut: int) -> pa.RecordBatch:
        """The counts of the piece, once it has been read."""
        return self._batch(
            PIECE_DONE,
            1,
            ahead=[self._greatest],
            rows=[self._rows],
            other=[self._other],
            bad=[self._bad],
            cut=[cut],
            sha256=[sha256],
        )

    def _elements(self, kept: Sequence[tuple[int, Element]]) -> pa.RecordBatch:
        positions, elements = list(map(itemgetter(0), kept)), list(map(itemgetter(1), kept))
        starts = list(map(itemgetter(0), elements))
        ends = [None if end == FOREVER else end for end in map(itemgetter(1), elements)]
        columns = list(zip(*map(itemgetter(2), elements), strict=True)) or [()] * len(self._payload)
        if self._greatest is None:
            greatest: list[int | None] = [None, *accumulate(starts, max)]
        else:
            greatest = [*accumulate(starts, max, initial=self._greatest)]
        last = greatest.pop()
        batch = self._batch(
            ROW, len(kept), position=positions, start=starts, end=ends, ahead=greatest, payload=columns
        )
        self._greatest = last  # not before: what does not fit is tried again without some rows
        return batch

    def _batch(self, kind: int, count: int, **given: Any) -> pa.RecordBatch:
        given |= {"kind": [kind] * count, "path": [self._path] * count, "piece": [self._number] * count}
        arrays = []
        for field in self._schema:
            values = given.get(field.name)
            if values is None:
                arrays.append(pa.nulls(count, field.type))
            elif field.name == "payload":
                inner = [
                    pa.array(one, ARROW_TYPES[column.type])
                    for one, column in zip(values, self._payload, strict=True)
                ]
                arrays.append(pa.StructArray.from_arrays(inner, fields=list(field.type)))
            else:
                arrays.append(pa.array(values, field.type))
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


LARGEST = 2**63


def _too_large(element: Element, columns: Sequence[Column]) -> str | None:
    """The fault of an element with an integer that does not fit into 64 bits; None without one."""
    start, end, payload = element
    named = [("timestamp", start), ("end", end), *zip((c.name for c in columns), payload, strict=True)]
    for name, value in named:
        if type(value) is int and not -LARGEST <= value < LARGEST:
            return f"column {name}: found {value}, expected an integer of 64 bits"
    return None
