"""Read streams in JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from operator import itemgetter, lt
from typing import Any

from midstream.io.sources.bad_rows import BadRows, Misfit, shown
from midstream.io.sources.columns import find_column
from midstream.io.sources.conversion import Candidate, Conversion, convert_each
from midstream.io.sources.converter import INSTANT, ODD
from midstream.io.sources.rows import Rows
from midstream.io.sources.text_reader import TextReader, decode, require_text
from midstream.io.timestamps import UndeclaredUnit
from midstream.plans.values.instants import nanoseconds
from midstream.plans.values.streams import FOREVER, Batch, Element, Time

LAYOUTS = 256
"""How many different lists of keys are remembered."""

Object = Mapping[str, Any]


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


_DECODER = json.JSONDecoder(parse_constant=_refuse)  # NaN and Infinity are no JSON
_scan: Callable[[str, int], tuple[Any, int]] = _DECODER.scan_once  # type: ignore[attr-defined]


class Keys:
    """Where objects have the declared columns: matched by key, whatever the case; others are not looked at.

    Of a key that an object has twice, the last value counts, as in Python's json.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self._layouts: dict[tuple[str, ...], list[str]] = {}

    def of(self, layout: tuple[str, ...]) -> list[str]:
        """The keys of the columns in an object that has these keys. Raises Misfit."""
        found = self._layouts.get(layout)
        if found is None:
            found = [layout[find_column(name, layout)] for name in self.names]
            if len(self._layouts) >= LAYOUTS:
                self._layouts.clear()
            self._layouts[layout] = found
        return found

    def columns(self, objects: Sequence[Object]) -> list[list[Any]]:
        """The columns of several objects. Raises Misfit where one of them lacks a column."""
        layouts = set(map(tuple, objects))
        if len(layouts) == 1:
            return [list(map(itemgetter(key), objects)) for key in self.of(layouts.pop())]
        rows = list(map(self.values, objects))
        return [list(map(itemgetter(position), rows)) for position in range(len(self.names))]

    def values(self, found: Object) -> list[Any]:
        """The values of one object. Raises Misfit."""
        return [found[key] for key in self.of(tuple(found))]


class JsonReader(TextReader):
    """Reads one JSON object a line; blank lines are none.

    The objects of a block of lines are read in one C loop; where anything is odd, line by line.
    """

    def __init__(self, name: str, conversion: Conversion, bad_rows: BadRows) -> None:
        super().__init__(name, conversion, bad_rows)
        self.keys = Keys(self.columns)

    @property
    def columns(self) -> Sequence[str]:
        """The columns that an object must have."""
        return self.conversion.names

    def read(self, block: bytes) -> Batch:
        text, is_text = decode(block)
        batch = self._together(text) if is_text else None
        if batch is None:
            candidates = self._candidates(text)
            batch = convert_each(candidates, self.element, self.origin, self.bad_rows)
        else:
            batch = Rows(batch, range(self.number, self.number + len(batch)))
        self.number += text.count("\n")
        return batch

    def batch(self, objects: Sequence[Object]) -> Batch:
        """The elements of several objects. Raises Misfit, or one of ODD, where something is odd."""
        return self.conversion.batch(self.keys.columns(objects), len(objects))

    def element(self, found: Object) -> Element:
        """The element of one object. Raises Misfit."""
        return self.conversion.element(self.keys.values(found))

    def _together(self, text: str) -> Batch | None:
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        lines = text.removesuffix("\n").split("\n")
        try:
            scanned = list(map(_scan, lines, repeat(0)))
            objects = list(map(itemgetter(0), scanned))
            # A line that the scanner does not take ends the loop early, as it raises StopIteration.
            if list(map(itemgetter(1), scanned)) != list(map(len, lines)) or set(map(type, objects)) != {
                dict
            }:
                return None
            return self.batch(objects)
        except (RecursionError, Misfit, *ODD):
            return None

    def _candidates(self, text: str) -> Iterator[Candidate]:
        for number, line in enumerate(text.split("\n"), self.number):
            if line.strip():
                yield Candidate(number, partial(str, line.rstrip("\r")), _parsed(line))


class ElementReader(JsonReader):
    """Reads results of Midstream: objects with `start`, `end` and `row`, which is valid in that interval.

    Start and end are integers, or dates or dates with times in ISO 8601. An end of null is for ever. The
    column that the stream is ordered by is no part of the rows.
    """

    @property
    def columns(self) -> Sequence[str]:
        return self.conversion.stream.schema.names

    def batch(self, objects: Sequence[Object]) -> Batch:
        starts = [found["start"] for found in objects]
        ends = [found["end"] for found in objects]
        rows = [found["row"] for found in objects]
        kinds = set(map(type, starts))
        if len(kinds) != 1 or not set(map(type, ends)) <= {*kinds, type(None)}:
            raise ValueError("times of several types")
        with self.conversion.counted():
            since = self._instants(starts)
            until = [FOREVER if end is None else end for end in self._instants(ends)]
            if not all(map(lt, since, until)):
                raise ValueError("validity that is empty")
            if set(map(type, rows)) != {dict}:
                raise ValueError("rows that are no objects")
            payloads = self.conversion.payloads(self.keys.columns(rows), len(rows))
            return list(zip(since, until, payloads, strict=True))

    def element(self, found: Object) -> Element:
        for key in ("start", "end", "row"):
            if key not in found:
                raise Misfit(key, "no such key", "start, end and row")
        start, end, row = found["start"], found["end"], found["row"]
        since = self._instant("start", start, INSTANT)
        expected = f"an integer after start, {start}, or null"
        if isinstance(start, str):
            expected = f"a date or a date with a time after start, {start}, or null"
        until: Time = FOREVER if end is None else self._instant("end", end, expected)
        if until <= since:
            raise Misfit("end", shown(end), expected)
        if not isinstance(row, dict):
            raise Misfit("row", shown(row), "a JSON object")
        return since, until, self.conversion.payload(self.keys.values(row))

    def _instants(self, times: Sequence[Any]) -> Sequence[Any]:
        """Chronons of times that are all integers, or all texts, where they are not unknown."""
        if set(map(type, times)) <= {int, type(None)}:
            return self.conversion.timestamps.integers(times)
        return self.conversion.timestamps.instants(
            [None if time is None else nanoseconds(time) for time in times]
        )

    def _instant(self, key: str, time: Any, expected: str) -> int:
        if type(time) is int:
            try:
                return self.conversion.timestamps.integer(time)
            except UndeclaredUnit as error:
                error.column = key
                raise
        try:
            return self.conversion.timestamps.instant(nanoseconds(time))
        except (TypeError, ValueError):
            raise Misfit(key, shown(time), expected) from None


def _parsed(line: str) -> Object | Misfit:
    try:
        require_text(line)
        value = _DECODER.decode(line)
    except Misfit as misfit:
        return misfit
    except RecursionError:
        return Misfit(None, "values nested too deeply", "a JSON object")
    except json.JSONDecodeError as error:
        return Misfit(None, f"{error.msg} at character {error.pos + 1}", "a JSON object")
    except ValueError as error:
        # NaN and Infinity, and integers that Python does not read for their length
        return Misfit(None, str(error), "a JSON object")
    return value if isinstance(value, dict) else Misfit(None, shown(value), "a JSON object")
