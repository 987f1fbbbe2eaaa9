"""The order of rows in a file, by a pass over their timestamps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from midstream.io.sources.bad_rows import BadRows
from midstream.io.sources.rows import Rows
from midstream.io.sources.sources import open_source
from midstream.io.timestamps import Timestamps
from midstream.plans.sql.declarations import ColumnDeclaration, StreamDeclaration
from midstream.plans.values.schema import Type
from midstream.plans.values.streams import Time
from midstream.plans.values.units import MICROSECONDS


@dataclass(slots=True)
class RowOrder:
    """The order of rows: their number, and the first that is before its predecessor, as file and line."""

    rows: int = 0
    unsorted: str = ""
    is_finer: bool = False
    """True if timestamps are finer than microseconds."""

    @property
    def is_sorted(self) -> bool:
        return not self.unsorted


class Unheeded(BadRows):
    """Leaves bad rows to the run, which reads them again."""

    def report(self, *_: Any) -> None:
        """Do nothing."""


def columns_beside(stream: StreamDeclaration, name: str, *, keep_type: bool) -> tuple[ColumnDeclaration, ...]:
    """A column as it is declared or as text, with what must be read beside it.

    That is the column with times of day, if there is one, and of CSV without a header all columns, because
    they go by position.
    """
    has_header = stream.source is None or stream.source.header is not False
    clock = (None if stream.source is None else stream.source.time_of_day) or name
    return tuple(
        one if one.name == name and keep_type else ColumnDeclaration(one.name, Type.STRING)
        for one in stream.columns
        if one.name == name or one.name.lower() == clock.lower() or not has_header
    )


def row_order(stream: StreamDeclaration) -> RowOrder:
    """The order of the rows of a stream, by a pass over its timestamps; bad rows are passed over."""
    columns = columns_beside(stream, stream.ordered_by or "", keep_type=True)
    timestamps = Timestamps(stream.unit or MICROSECONDS, stream.unit)
    order = RowOrder()
    last: Time | None = None
    with open_source(
        replace(stream, columns=columns, left_out=None), timestamps, bad_rows=Unheeded()
    ) as source:
        for batch in source:
            starts = [start for start, _, _ in batch]
            order.rows += len(starts)
            if order.is_sorted:
                known = starts if last is None else [last, *starts]
                back = next((i for i, (before, at) in enumerate(pairwise(known)) if at < before), None)
                if back is not None and isinstance(batch, Rows):
                    file, number = source.place(batch.numbers[back + (last is None)])
                    order.unsorted = f"{file}, {source.unit} {number}"
            last = starts[-1] if starts else last
    order.is_finer = stream.unit is None and timestamps.cut > 0
    return order
