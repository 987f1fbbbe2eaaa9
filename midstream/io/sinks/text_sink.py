"""The common part of sinks whose formats consist of lines."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from midstream.io.errors import ConnectorError
from midstream.io.output import TextOutput
from midstream.io.sinks.sink import Sink, Times, integers
from midstream.io.sources.bad_rows import shown
from midstream.operators.compile.generated import define
from midstream.plans.values.instants import iso_format
from midstream.plans.values.schema import Column, Schema, Type
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element

Format = Callable[[Batch], str]


class TextSink(Sink):
    """Writes a line per element by generated code: for each batch one comprehension over f-strings.

    times    called before the first element is written

    Cost     O(columns) per element.
    """

    def __init__(self, path: str, schema: Schema, name: str | None = None, times: Times = integers) -> None:
        self.schema = schema
        self._times = times
        self._is_prepared = False
        self._written = 0
        self._output = TextOutput(path, name)
        if header := self.header():
            self._output.write(header)

    def header(self) -> str:
        """The lines before the first element."""
        return ""

    @property
    def is_wanted(self) -> bool:
        return self._output.is_wanted

    def write(self, batch: Batch) -> None:
        if not batch:
            return
        if not self._is_prepared:
            unit = self._times()
            self.prepare(None if unit is None else iso_format(unit.nanoseconds))
            self._is_prepared = True
        try:
            lines = self.lines(batch)
        except (ValueError, TypeError, RecursionError) as error:
            raise ConnectorError(f"{self._output.name}: {self._culprit(batch, error)}") from error
        self._written += len(batch)
        self._output.write(lines)

    @abstractmethod
    def prepare(self, iso: Callable[[int], str] | None) -> None:
        """Prepare for elements, whose times are formatted by `iso`, or are integers if it is None."""

    @abstractmethod
    def lines(self, batch: Batch) -> str:
        """The lines of a batch."""

    def flush(self) -> None:
        self._output.flush()

    def close(self) -> None:
        self._output.close()

    def _culprit(self, batch: Batch, error: Exception) -> str:
        for number, element in enumerate(batch, self._written + 1):
            try:
                self.lines([element])
            except (ValueError, TypeError, RecursionError):
                if column := too_long(self.schema, element):
                    most = f"{sys.get_int_max_str_digits():,} digits, expected fewer"
                    where = f"result {number}, column {column}"
                    return f"{where}: found an integer of more than {most}; write CAST({column} AS TEXT)"
                try:
                    text = shown(element)
                except ValueError:  # an integer that is too long to be shown
                    text = "an element"
                return f"found {text}, expected what the format can hold: {error}"
        return str(error)


def too_long(schema: Schema, element: Element) -> str:
    """The column of an integer with more digits than Python writes; empty if there is none."""
    most = sys.get_int_max_str_digits()
    for column, value in zip(schema, element[2], strict=True):
        if most and type(value) is int and abs(value) >= 10**most:
            return column.name
    return ""


def line_format(parts: Sequence[str], count: int, names: dict[str, Any]) -> Format:
    """A function from a batch to its lines.

    parts    the source inside an f-string: literals, and expressions over `start`, `end` and the payload's
             values `c0`, `c1`, …
    count    the number of values of a payload
    names    other names in the expressions

    >>> line_format([literal("it's {"), "{start}", literal("} "), "{c0}"], 1, {})([(1, 2, ("a",))])
    "it's {1} a\\n"
    """
    values = "".join(f"c{position}, " for position in range(count))
    line = "".join(parts)
    source = f"lines = lambda batch: ''.join([f'{line}\\n' for start, end, ({values}) in batch])"
    scope = {"FOREVER": FOREVER, "BEGINNING": BEGINNING, **names}
    made: Format = define(source, "lines", scope, "lines of a sink")
    return made


def literal(text: str) -> str:
    """A text as it is written inside an f-string in single quotes."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return escaped.replace("{", "{{").replace("}", "}}")


def value_part(column: Column, value: str, nothing: str, expression: str | None) -> str:
    """The f-string part for a column's value; `nothing` stands for None.

    Without an expression, numbers are written as they are, and booleans as words.
    """
    if expression is None:
        expression = f'("true" if {value} else "false")' if column.type is Type.BOOLEAN else value
    return f'{{"{nothing}" if {value} is None else {expression}}}' if column.nullable else f"{{{expression}}}"
