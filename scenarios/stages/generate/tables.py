"""Elements as tables of Arrow, in canonical order: by start, and by the payload where starts are equal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def sorted_table(starts: Any, payload: Mapping[str, pa.Array]) -> pa.Table:
    """The columns start and those of the payload, in canonical order.

    >>> sorted_table([2, 1, 1], {"k": pa.array(["a", "b", None])}).to_pydict()
    {'start': [1, 1, 2], 'k': [None, 'b', 'a']}
    """
    columns = [pa.array(starts, pa.int64()), *payload.values()]
    table = pa.Table.from_arrays(columns, ["start", *payload])
    keys: list[Any] = []
    for column in columns:
        if column.null_count:
            keys.append(pc.is_valid(column))  # what is missing comes first
        keys.append(column)
    names = [str(number) for number in range(len(keys))]
    order = pc.sort_indices(
        pa.Table.from_arrays(keys, names), sort_keys=[(name, "ascending") for name in names]
    )
    return table.take(order)


def canonical(stream: str, table: pa.Table) -> pa.Table:
    """The table with the columns of stored streams: stream, start, end, payload."""
    count = len(table)
    start = table.column(0)
    columns = {
        "stream": pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int8()), [stream]),
        "start": start,
        "end": pc.add(start, 1),
    }
    if inner := table.column_names[1:]:
        columns["payload"] = table.select(inner).combine_chunks().to_struct_array()
    return pa.table(columns)
