"""Read streams in JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from operator import itemgetter, lt
from typing import Any

from midstream.io.readers import SEPARATORS, fields_of
from midstream.io.sources.bad_rows import BadRows, Misfit, WrongSource, shown
from midstream.io.sources.columns import find_column, require_no_further
from midstream.io.sources.conversion import Candidate, Conversion, convert_each
from midstream.io.sources.converter import INSTANT, ODD
from midstream.io.sources.rows import Rows
from midstream.io.sources.text_reader import TextReader, decode, require_text
from midstream.io.timestamps import UndeclaredUnit
from midstream.plans.values.instants import nanoseconds
from midstream.plans.values.schema import suggest
from midstream.plans.values.streams import FOREVER, Batch, Element, Time

MOST_QUERIES = 10
"""The largest number of queries that a message names."""

LAYOUTS = 256
"""The largest number of key lists that `Keys` remembers."""

Object = Mapping[str, Any]


NOT_JSON = ("NaN", "Infinity", "-Infinity")
"""Words that Python writes for floats, and that JSON does not have."""


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


class Repeated(dict[str, Any]):
    """An object in which a key occurs twice; iteration yields every occurrence."""

    def __init__(self, pairs: Sequence[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self._keys = [key for key, _ in pairs]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)


def _object(pairs: Sequence[tuple[str, Any]]) -> Object:
    found = dict(pairs)
    return found if len(found) == len(pairs) else Repeated(pairs)


Scan = Callable[[str, int], tuple[Any, int]]

# NaN and Infinity are not JSON.
_DECODER = json.JSONDecoder(parse_constant=_refuse, object_pairs_hook=_object)
_scan: Scan = _DECODER.scan_once  # type: ignore[attr-defined]
_scan_fast: Scan = json.JSONDecoder(parse_constant=_refuse).scan_once  # type: ignore[attr-defined]
"""A reader that overlooks repeated keys, in two thirds of the time."""

_SPACED = ('" ', '"\t', '"\r')
"""The characters that may stand between a key and its colon."""


class Keys:
    """Finds the declared columns in objects by key, in any case; other keys are ignored.

    A column that an object has twice, in any spelling, is a misfit. So are other keys, unless they are among
    those that may be `left_out`; None allows any.
    """

    def __init__(
        self, names: Sequence[str], *, is_sparse: bool = False, left_out: Collection[str] | None = None
    ) -> None:
        self.names = names
        self._is_sparse = is_sparse
        self._left_out = left_out
        self._layouts: dict[tuple[str, ...], list[str | None]] = {}

    def of(self, layout: tuple[str, ...]) -> list[str | None]:
        """The keys of the columns in an object with the keys `layout`; None for a column that it may lack.

        Raises   Misfit.
        """
        found = self._layouts.get(layout)
        if found is None:
            lower = {key.lower() for key in layout} if self._is_sparse else None
            found = [
                layout[find_column(name, layout)] if lower is None or name.lower() in lower else None
                for name in self.names
            ]
            require_no_further(self.names, layout, self._left_out)
            if len(self._layouts) >= LAYOUTS:
                self._layouts.clear()
            self._layouts[layout] = found
        return found

    def columns(self, objects: Sequence[Object]) -> list[list[Any]]:
        """The columns of several objects.

        Raises   Misfit where an object lacks a column.
        """
        layouts = set(map(tuple, objects))
        if len(layouts) == 1:
            return [
                [None] * len(objects) if key is None else list(map(itemgetter(key), objects))
                for key in self.of(layouts.pop())
            ]
        rows = list(map(self.values, objects))
        return [list(map(itemgetter(position), rows)) for position in range(len(self.names))]

    def values(self, record: Object) -> list[Any]:
        """The values of one object.

        Raises   Misfit.
        """
        return [None if key is None else record[key] for key in self.of(tuple(record))]


class JsonReader(TextReader):
    """Reads one JSON object per line, and skips blank lines.

    One C loop reads the objects of a block of lines; if it fails, they are read line by line.
    """

    def __init__(
        self,
        name: str,
        conversion: Conversion,
        bad_rows: BadRows,
        *,
        encoding: str = "UTF-8",
        is_sparse: bool = False,
    ) -> None:
        super().__init__(name, conversion, bad_rows, encoding)
        self.keys = Keys(self.columns, is_sparse=is_sparse, left_out=conversion.stream.left_out)
        self._scan = _scan_fast

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
        self.number += text.count("\n")
        return batch

    def batch(self, objects: Sequence[Object]) -> Batch:
        """The elements of several objects.

        Raises   Misfit, or one of ODD, where an object does not fit.
        """
        return self.conversion.batch(self.keys.columns(objects), len(objects))

    def element(self, record: Object) -> Element:
        """The element of one object.

        Raises   Misfit.
        """
        return self.conversion.element(self.keys.values(record))

    def reads(self, record: Object) -> bool:
        """True if an object is one of the stream's rows."""
        return True

    def _together(self, text: str) -> Batch | None:
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        lines = text.removesuffix("\n").split("\n")
        try:
            scanned = list(map(self._scan, lines, repeat(0)))
            objects = list(map(itemgetter(0), scanned))
            # A line that the scanner rejects ends the loop early, because it raises StopIteration.
            if list(map(itemgetter(1), scanned)) != list(map(len, lines)) or set(map(type, objects)) != {
                dict
            }:
                return None
            if self._scan is _scan_fast and _may_repeat(text, objects):
                self._scan = _scan
                return self._together(text)
            rows = list(filter(self.reads, objects))
            numbers: Sequence[int] = range(self.number, self.number + len(objects))
            if len(rows) < len(objects):
                numbers = [n for n, found in zip(numbers, objects, strict=True) if self.reads(found)]
            return Rows(self.batch(rows), numbers) if rows else []
        except (RecursionError, Misfit, *ODD):
            return None

    def _csv(self, line: str) -> Misfit | None:
        """The misfit of a first line that seems to be CSV: the names of the columns, or as many fields."""
        if line.lstrip().startswith(("{", "[")):
            return None
        columns = {name.lower() for name in self.columns}
        for separator in (",", *SEPARATORS):
            fields = fields_of(line.strip().lower(), separator)
            if not columns.isdisjoint(fields) or len(fields) == len(columns) > 1:
                break
        else:
            return None
        name = self.origin.name
        host, _, port = name.rpartition(":")
        if name == "stdin":
            kind, arguments = "stdin", ["'csv'"]
        elif host and port.isdigit():
            kind, arguments = "socket", [repr(host), port, "'csv'"]
        else:
            kind, arguments = "csv", [repr(name)]
        if separator != ",":
            arguments.append(f"delim = {separator!r}")
        what = "a row" if columns.isdisjoint(fields) else "the header"
        expected = f"a JSON object; declare SOURCE {kind}({', '.join(arguments)})"
        return WrongSource(None, f"what seems to be {what} of CSV", expected)

    def _candidates(self, text: str) -> Iterator[Candidate]:
        for number, line in enumerate(text.split("\n"), self.number):
            if line.strip():
                found = parsed_line(line, self.encoding)
                if number == 1 and isinstance(found, Misfit):
                    found = self._csv(line) or found
                if isinstance(found, Misfit) or self.reads(found):
                    yield Candidate(number, partial(str, line.rstrip("\r")), found)


def _may_repeat(text: str, objects: Sequence[Object]) -> bool:
    """True if the text of some objects may contain more keys than the objects have.

    Each key ends in a quotation mark and a colon. If their number in the text is the number of the objects'
    keys, no key is repeated or nested.
    """
    return text.count('":') != sum(map(len, objects)) or any(some in text for some in _SPACED)


class ElementReader(JsonReader):
    """Reads results of Midstream: objects with `start`, `end` and `row`, which is valid in that interval.

    Start and end are integers, or dates or dates with times in ISO 8601. An end of null is FOREVER. The rows
    do not contain the column that the stream is ordered by.

    Objects may name their `query`. All must be results of one query, unless `query` selects one.
    """

    def __init__(
        self,
        name: str,
        conversion: Conversion,
        bad_rows: BadRows,
        *,
        query: str | None = None,
        encoding: str = "UTF-8",
    ) -> None:
        super().__init__(name, conversion, bad_rows, encoding=encoding)
        self._query = query
        self._seen: dict[str, None] = {}
        """The queries that objects have named, in order; of many only the first ones."""

    def reads(self, record: Object) -> bool:
        if self._query is None:
            return True
        query = _query_of(record)
        if len(self._seen) < MOST_QUERIES:
            self._seen[query] = None
        return query == self._query or _repeats(record, "query")

    def begin(self, block: bytes) -> None:
        """Note the query of the first line when reading starts later in the file."""
        for candidate in self._candidates(decode(block)[0]):
            if not isinstance(candidate.values, Misfit):
                self._seen[_query_of(candidate.values)] = None

    def finish(self) -> Batch:
        if self._query is not None and self._seen and self._query not in self._seen:
            found = f"results of {', '.join(self._seen)}"
            expected = f"some of {self._query}{suggest(self._query, self._seen)}"
            BadRows().report(self.origin.name, "line", 1, Misfit("query", found, expected), "")
        return super().finish()

    @property
    def columns(self) -> Sequence[str]:
        return self.conversion.stream.schema.names

    def batch(self, objects: Sequence[Object]) -> Batch:
        self._require_one_query(map(_query_of, objects))
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

    def element(self, record: Object) -> Element:
        self._require_one_query([_query_of(record)])
        require_validity(record)
        start, end, row = record["start"], record["end"], record["row"]
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

    def _require_one_query(self, queries: Iterable[str]) -> None:
        if self._query is not None:
            return
        seen = {**self._seen, **dict.fromkeys(queries)}
        if len(seen) > 1:
            first, second, *_ = seen
            name = second if first == NO_QUERY else first
            raise WrongSource(
                "query",
                f"results of {first} and of {second}",
                f"those of one query; elements('{self.origin.name}', '{name}') reads one of several",
            )
        self._seen = seen

    def _instants(self, times: Sequence[Any]) -> Sequence[Any]:
        """The chronons of times that are all integers, or all texts; None stands for unknown ones."""
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


NO_QUERY = "no named query"


def _query_of(found: Object) -> str:
    query = found.get("query")
    return NO_QUERY if query is None else query if isinstance(query, str) else shown(query)


def _repeats(found: Object, key: str) -> bool:
    return isinstance(found, Repeated) and tuple(found).count(key) > 1


def require_validity(record: Object) -> None:
    """Raise Misfit unless an object has start, end and row, each once."""
    for key in ("start", "end", "row"):
        if key not in record:
            raise Misfit(key, "no such key", "start, end and row")
    for key in ("start", "end", "row", "query"):
        if _repeats(record, key):
            raise Misfit(key, "several keys of this name", "one")


def parsed_line(line: str, encoding: str = "UTF-8") -> Object | Misfit:
    """The JSON object of a line, or the misfit."""
    try:
        require_text(line, encoding)
        value = _DECODER.decode(line)
    except Misfit as misfit:
        return misfit
    except RecursionError:
        return Misfit(None, "values nested too deeply", "a JSON object")
    except json.JSONDecodeError as error:
        return Misfit(None, f"{error.msg} at character {error.pos + 1}", "a JSON object")
    except ValueError as error:
        # NaN and Infinity, and integers that are too long for Python
        if str(error) in NOT_JSON:
            return Misfit(None, f"{error}, which is no JSON", "a number or null")
        return Misfit(None, str(error), "a JSON object")
    return value if isinstance(value, dict) else Misfit(None, shown(value), "a JSON object")
