"""Write results in JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from json.encoder import encode_basestring
from math import isfinite
from typing import Any

from midstream.io.sinks.sink import Times, integers
from midstream.io.sinks.text_sink import Format, TextSink, line_format, literal, value_part
from midstream.plans.values.schema import Column, Schema, Type
from midstream.plans.values.streams import BEGINNING, Batch

_quote: Callable[[str], str] = encode_basestring


class JsonSink(TextSink):
    """Writes one object per line: `{"start": 1000, "end": 6000, "row": {"item": 7, "price": 12.5}}`.

    An end of null is FOREVER, a start of null is BEGINNING. Times may also be texts in ISO 8601. If `query`
    is given, it is the first entry of each line: `{"query": "prices", "start": …`.

    >>> from pathlib import Path
    >>> with JsonSink("results.jsonl", Schema.of(item="integer", name="string?")) as sink:
    ...     sink.write([(1000, 6000, (7, 'a "lamp"')), (1000, float("inf"), (8, None))])
    >>> print(Path("results.jsonl").read_text().rstrip())
    {"start": 1000, "end": 6000, "row": {"item": 7, "name": "a \\"lamp\\""}}
    {"start": 1000, "end": null, "row": {"item": 8, "name": null}}
    """

    def __init__(
        self,
        path: str,
        schema: Schema,
        name: str | None = None,
        times: Times = integers,
        query: str | None = None,
    ) -> None:
        self._query = query
        self._numbers = [i for i, column in enumerate(schema) if column.type is Type.FLOAT]
        super().__init__(path, schema, name, times)

    def prepare(self, iso: Callable[[int], str] | None) -> None:
        self._plain = _format(self.schema, self._query, iso, is_from_beginning=False)
        self._from_beginning = _format(self.schema, self._query, iso, is_from_beginning=True)

    def lines(self, batch: Batch) -> str:
        # Results are in order of start: only the first ones can start at BEGINNING.
        text = (self._from_beginning if batch[0][0] == BEGINNING else self._plain)(batch)
        if ": inf" in text or ": -inf" in text or ": nan" in text:
            self._require_finite(batch)
        return text

    def _require_finite(self, batch: Batch) -> None:
        for _, _, row in batch:
            for position in self._numbers:
                if row[position] is not None and not isfinite(row[position]):
                    name = self.schema.columns[position].name
                    raise ValueError(f"column {name} is {row[position]}, and JSON has finite numbers only")


def _format(
    schema: Schema, query: str | None, iso: Callable[[int], str] | None, *, is_from_beginning: bool
) -> Format:
    start, end = ("start", "end") if iso is None else ("quote(iso(start))", "quote(iso(end))")
    if is_from_beginning:
        start = f'{start} if start != BEGINNING else "null"'
    beginning = '{"start": ' if query is None else f'{{"query": {_quote(query)}, "start": '
    parts = [literal(beginning), f"{{{start}}}"]
    parts += [literal(', "end": '), f'{{{end} if end != FOREVER else "null"}}']
    for position, column in enumerate(schema):
        before = ', "row": {' if position == 0 else ", "
        parts += [literal(f"{before}{_quote(column.name)}: "), _value(column, f"c{position}")]
    parts.append(literal("}}" if len(schema) else ', "row": {}}'))
    return line_format(parts, len(schema), {"quote": _quote, "dump": _dump, "iso": iso})


def _value(column: Column, value: str) -> str:
    if column.type is Type.ANY:
        return f"{{dump({value})}}"
    return value_part(column, value, "null", f"quote({value})" if column.type is Type.STRING else None)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)
