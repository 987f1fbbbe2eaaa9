"""Write results in CSV."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from midstream.io.errors import ConnectorError
from midstream.io.file_formats import VALIDITY
from midstream.io.sinks.sink import Times, integers
from midstream.io.sinks.text_sink import Format, TextSink, line_format, value_part
from midstream.plans.values.schema import Column, Schema, Type
from midstream.plans.values.streams import BEGINNING, Batch

_SPECIAL = re.compile('[",\r\n]')


class CsvSink(TextSink):
    """Writes a line of names, and per element its start, its end and its row.

    An empty field stands for the end FOREVER, for the start BEGINNING, and for None; an empty string is an
    empty field, too.

    Raises   ConnectorError for a column called start or end.
    """

    def __init__(self, path: str, schema: Schema, name: str | None = None, times: Times = integers) -> None:
        refuse_validity(name or path, schema)
        self._commas = len(schema) + 1
        super().__init__(path, schema, name, times)

    def prepare(self, iso: Callable[[int], str] | None) -> None:
        self._plain = _format(self.schema, "str", iso, is_from_beginning=False)
        self._careful = _format(self.schema, "quote", iso, is_from_beginning=True)

    def header(self) -> str:
        return ",".join([*VALIDITY, *map(_quoted, self.schema.names)]) + "\n"

    def lines(self, batch: Batch) -> str:
        # Results are in order of start: only the first ones can start at BEGINNING.
        if batch[0][0] == BEGINNING:
            return self._careful(batch)
        text = self._plain(batch)
        # No value needs quotes if the text has only the commas and line feeds between fields and lines.
        if (
            '"' in text
            or "\r" in text
            or text.count("\n") != len(batch)
            or text.count(",") != len(batch) * self._commas
        ):
            return self._careful(batch)
        return text


def refuse_validity(path: str, schema: Schema) -> None:
    """Raise ConnectorError for columns called start or end."""
    for name in schema.names:
        if name.lower() in VALIDITY:
            raise ConnectorError(
                f"{path}: found a column {name}, expected other names than those of validity; rename it with "
                "AS, or write JSON Lines",
                column=name,
            )


def _format(
    schema: Schema, quote: str, iso: Callable[[int], str] | None, *, is_from_beginning: bool
) -> Format:
    start, end = ("start", "end") if iso is None else ("iso(start)", "iso(end)")
    if is_from_beginning:
        start = f'{start} if start != BEGINNING else ""'
    parts = [f"{{{start}}}", f',{{{end} if end != FOREVER else ""}}']
    for position, column in enumerate(schema):
        parts += [",", _value(column, f"c{position}", quote)]
    return line_format(parts, len(schema), {"quote": _quoted, "show": _shown, "iso": iso})


def _value(column: Column, value: str, quote: str) -> str:
    texts = {
        Type.ANY: f"{quote}(show({value}))",
        Type.STRING: value if quote == "str" else f"{quote}({value})",
    }
    return value_part(column, value, "", texts.get(column.type))


def _quoted(text: str) -> str:
    if _SPECIAL.search(text) is None:
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
