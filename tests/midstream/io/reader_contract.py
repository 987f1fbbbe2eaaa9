"""The ways by which rows come in, as readers that all keep one contract.

`READERS` has a reader for each way. It takes rows as texts by column, and types; it writes or makes the data,
and returns the payloads that a query reads. A new reader belongs there.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import midstream as ms

Rows = Sequence[Mapping[str, str]]
"""Rows as texts by column; each has a time in the column `ts`."""

Types = Mapping[str, str]
"""The types of columns besides `ts`, in SQL."""

Reader = Callable[..., list[tuple[Any, ...]]]
"""Reads rows of some types, in a folder, and what is selected of them."""


def value(text: str, type_: str, *, decimals: bool = True) -> Any:
    """A text as the value of Python that a program has for a type."""
    if type_ in ("DATE", "TIMESTAMP"):
        moment = datetime.fromisoformat(text)
        return moment.date() if type_ == "DATE" and len(text) == 10 else moment
    if type_ == "DOUBLE":
        return Decimal(text) if decimals else float(text)
    return int(text) if type_ == "BIGINT" else text


def statement(types: Types, source: str = "", select: str = "*") -> str:
    columns = ", ".join(f"{name} {type_}" for name, type_ in types.items())
    declared = f"CREATE STREAM s(ts TIMESTAMP, {columns}) {source} ORDERED BY ts TIME_UNIT 'seconds'"
    return f"{declared}; SELECT {select} FROM s"


def payloads(plan: Any, streams: Mapping[str, Any] | None = None, **time: str) -> list[tuple[Any, ...]]:
    """The rows of a query's results as dicts have them, in order."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = ms.run(plan, streams, **time).to_dicts()
    return [tuple(row[name] for name in row if name not in ("start", "end")) for row in results]


def in_file(suffix: str, write: Callable[[Rows, Types, Path], None], source: str | None) -> Reader:
    """A reader of a declared file, or of one that nobody declares, if there is no `source`."""

    def read(rows: Rows, types: Types, folder: Path, select: str = "*") -> list[tuple[Any, ...]]:
        path = folder / f"rows.{suffix}"
        write(rows, types, path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if source is not None:
                return payloads(ms.sql(statement(types, f"SOURCE {source.format(path)}", select)))
            return payloads(ms.sql(f"SELECT {select} FROM '{path}'"))

    return read


def given(make: Callable[[Rows, Types], Any]) -> Reader:
    """A reader of data that a program gives to `run`."""

    def read(rows: Rows, types: Types, _: Path, select: str = "*") -> list[tuple[Any, ...]]:
        return payloads(ms.sql(statement(types, select=select)), {"s": make(rows, types)}, time="ts")

    return read


def pushed(rows: Rows, types: Types, _: Path, select: str = "*") -> list[tuple[Any, ...]]:
    """Rows that are pushed into a running engine."""
    results = ms.Results()
    engine = ms.Engine(ms.sql(statement(types, select=select)), results)
    engine.push_rows("s", as_dicts(rows, types))
    engine.close()
    return [tuple(row.values())[2:] for row in results.to_dicts()]


def write_csv(rows: Rows, types: Types, path: Path) -> None:
    lines = [",".join(("ts", *types)), *(",".join(row[name] for name in ("ts", *types)) for row in rows)]
    path.write_text("".join(f"{line}\n" for line in lines))


def write_json(rows: Rows, types: Types, path: Path) -> None:
    keys = ("ts", *types)
    plain = {name for name, type_ in types.items() if type_ in ("BIGINT", "DOUBLE")}
    objects = (
        ", ".join(f'"{key}": {row[key] if key in plain else json.dumps(row[key])}' for key in keys)
        for row in rows
    )
    path.write_text("".join(f"{{{one}}}\n" for one in objects))


def write_parquet(rows: Rows, types: Types, path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(as_arrow(rows, types), path)


def as_dicts(rows: Rows, types: Types) -> list[dict[str, Any]]:
    return [{"ts": row["ts"], **{name: value(row[name], types[name]) for name in types}} for row in rows]


def as_tuples(rows: Rows, types: Types) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in as_dicts(rows, types)]


def as_arrow(rows: Rows, types: Types) -> Any:
    import pyarrow as pa

    columns = {name: [value(row[name], type_) for row in rows] for name, type_ in types.items()}
    for name, column in columns.items():
        if any(isinstance(one, datetime) for one in column):  # a column has one type
            columns[name] = [datetime.fromisoformat(row[name]) for row in rows]
    arrays = {name: pa.array(column) for name, column in columns.items()}
    return pa.table({"ts": [datetime.fromisoformat(row["ts"]) for row in rows], **arrays})


def as_pandas(rows: Rows, types: Types) -> Any:
    import pandas as pd

    columns = {name: [value(row[name], type_) for row in rows] for name, type_ in types.items()}
    frame = pd.DataFrame({"ts": pd.to_datetime([row["ts"] for row in rows]), **columns})
    for name, type_ in types.items():
        if type_ == "DATE":  # pandas has no type of dates
            frame[name] = pd.to_datetime(frame[name])
    return frame


def as_polars(rows: Rows, types: Types) -> Any:
    import polars as pl

    return pl.from_arrow(as_arrow(rows, types))


def as_duckdb(rows: Rows, types: Types) -> Any:
    import duckdb

    connection = duckdb.connect()
    connection.register("t", as_arrow(rows, types))
    return connection.sql("SELECT * FROM t")


READERS: dict[str, Reader] = {
    "csv": in_file("csv", write_csv, "csv('{}')"),
    "csv, sniffed": in_file("csv", write_csv, None),
    "jsonl": in_file("jsonl", write_json, "jsonl('{}')"),
    "jsonl, sniffed": in_file("jsonl", write_json, None),
    "parquet": in_file("parquet", write_parquet, "parquet('{}')"),
    "parquet, sniffed": in_file("parquet", write_parquet, None),
    "file": in_file("csv", write_csv, "file('{}')"),
    "dicts": given(as_dicts),
    "tuples": given(as_tuples),
    "push_rows": pushed,
    "arrow": given(as_arrow),
    "pandas": given(as_pandas),
    "polars": given(as_polars),
    "duckdb": given(as_duckdb),
}
"""The readers by name, those of kinds of sources by the name of the kind."""

ELSEWHERE = {
    "elements": "results of Midstream, whose dates are chronons",
    "ingested": "rows that another reader has converted",
    "stdin": "the readers of csv and jsonl",
    "socket": "the readers of csv and jsonl",
}
"""The kinds of sources that other readers read, and why."""


def day(text: str) -> date:
    return date.fromisoformat(text)
