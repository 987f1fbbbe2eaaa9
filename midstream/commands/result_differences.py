"""The differences between the results in two files, query by query, snapshot by snapshot."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from sys import float_info
from typing import Any

from midstream.io.sources.result_files import FileResults, Truth, value_of
from midstream.plans.equivalence.trials import TOLERANCE
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.instants import SECOND, iso_format
from midstream.plans.values.snapshots import NormalForm, compare, normal_form
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Payload, Time
from midstream.plans.values.verdicts import SHOWN_DIFFERENCES, SnapshotDifference

LARGEST = float_info.max
"""The largest float; larger integers are close to no float."""


@dataclass(frozen=True)
class QueryDifferences:
    """The differences between the results of one query in two files.

    query          its name; "" if the files name none
    counts         the number of results in each file
    missing        the columns that each file lacks and the other one has
    differences    rows that are valid more often in one of the files, in order of time
    """

    query: str
    counts: tuple[int, int]
    columns: Sequence[str]
    missing: tuple[Sequence[str], Sequence[str]]
    differences: Sequence[SnapshotDifference]
    is_iso: bool

    @property
    def is_equal(self) -> bool:
        """True if both files mean the same."""
        return not (self.differences or any(self.missing))

    def text(self, files: tuple[str, str]) -> str:
        """The counts, and the first differences."""
        counts = f"{self.counts[0]:,} results in {files[0]}, {self.counts[1]:,} in {files[1]}"
        query = f"{self.query}: " if self.query else ""
        if self.is_equal:
            return f"{query}equal: {counts}"
        lines = [
            f"  {file} has no column {', '.join(names)}"
            for file, names in zip(files, self.missing, strict=True)
            if names
        ]
        since = ""
        if self.differences:
            first = self.differences[0].start
            since = " from the beginning on" if first == BEGINNING else f" from {self._time(first)} on"
        for one in self.differences[:SHOWN_DIFFERENCES]:
            start = "…" if one.start == BEGINNING else self._time(one.start)
            until = "for ever" if one.end == FOREVER else f"{self._time(one.end)})"
            row = json.dumps(self._row(one), ensure_ascii=False)
            lines.append(
                f"  [{start}, {until}: {row} {one.left} times in {files[0]}, {one.right} in {files[1]}"
            )
        if (more := len(self.differences) - SHOWN_DIFFERENCES) > 0:
            lines.append(f"  and {more:,} more")
        return "\n".join([f"{query}different{since}: {counts}", *lines])

    def as_dict(self) -> dict[str, Any]:
        """All differences as plain data for JSON; times are as in results."""
        return {
            "query": self.query or None,
            "equal": self.is_equal,
            "results": list(self.counts),
            "missing_columns": list(map(list, self.missing)),
            "differences": [
                {
                    "start": None if one.start == BEGINNING else self._time(one.start),
                    "end": None if one.end == FOREVER else self._time(one.end),
                    "row": self._row(one),
                    "times": [one.left, one.right],
                }
                for one in self.differences
            ],
        }

    def _row(self, difference: SnapshotDifference) -> dict[str, Any]:
        values = difference.payload
        assert isinstance(values, tuple)
        shown = (value is Truth.TRUE if isinstance(value, Truth) else value for value in values)
        return dict(zip(self.columns, shown, strict=True))

    def _time(self, time: Time) -> int | str:
        if not self.is_iso:
            return int(time)
        second, rest = divmod(int(time), SECOND)
        return iso_format(1)(int(time)).rstrip("0") if rest else iso_format(SECOND)(second)


def differences(
    left: Mapping[str, FileResults], right: Mapping[str, FileResults], files: tuple[str, str]
) -> list[QueryDifferences]:
    """Compare the results of two files, query by query.

    Two files with results of one query are compared whatever it is called, if one of them does not name it.
    A query that only one file names has no results in the other.

    Raises   InputFileError where times are integers in one file and dates in the other.
    """
    names = list(dict.fromkeys([*left, *right]))
    if len(left) == len(right) == 1 and "" in names:
        ((name, ours),), ((other, theirs),) = left.items(), right.items()
        return [_compared(name or other, ours, theirs, files)]
    pairs = ((name, left.get(name, FileResults()), right.get(name, FileResults())) for name in names)
    # A file without any result names no query.
    return [
        _compared(name, ours, theirs, files)
        for name, ours, theirs in pairs
        if name or ours.elements or theirs.elements
    ]


def _compared(query: str, left: FileResults, right: FileResults, files: tuple[str, str]) -> QueryDifferences:
    if None not in (left.is_iso, right.is_iso) and left.is_iso is not right.is_iso:
        iso, integers = files if left.is_iso else files[::-1]
        raise InputFileError(
            f"{integers}: found integers as times, expected dates as in {iso}; write both by one --times",
            path=integers,
        )
    ours = left.columns if left.columns is not None else right.columns
    theirs = right.columns if right.columns is not None else left.columns
    ours, theirs = ours or (), theirs or ()
    missing = [name for name in theirs if name not in ours], [name for name in ours if name not in theirs]
    common = [name for name in ours if name in theirs]
    is_text = left.is_text or right.is_text
    found = differing(
        _rows(left, common, is_text=is_text),
        _rows(right, common, is_text=is_text),
    )
    counts = len(left.elements), len(right.elements)
    return QueryDifferences(query, counts, common, missing, found, bool(left.is_iso or right.is_iso))


def _rows(results: FileResults, columns: Sequence[str], *, is_text: bool) -> Iterable[Element]:
    """Results with these columns; with `is_text`, texts have become what they would be in a file of texts."""
    own = list(results.columns or ())
    positions = [own.index(name) for name in columns] if own else []
    is_plain = positions == list(range(len(own))) and not (is_text and not results.is_text)
    if is_plain:
        return results.elements
    typed = is_text and not results.is_text

    def value(value: Payload) -> Payload:
        return value_of(value) if typed and isinstance(value, str) else value

    return [(start, end, tuple(value(row[p]) for p in positions)) for start, end, row in results.elements]


def differing(left: Iterable[Element], right: Iterable[Element]) -> Sequence[SnapshotDifference]:
    """The differences between two streams of rows; floats are equal up to rounding.

    Floats of a column that lie closer than the tolerance are one value, also through others between them.

    Cost     O(n log n).

    >>> differing([(1, 9, (0.1 + 0.2,))], [(1, 5, (0.3,)), (5, 9, (0.3,))])
    ()
    """
    ours, theirs = normal_form(left), normal_form(right)
    found = compare(ours, theirs).differences
    rows = {difference.payload for difference in found}
    rounded = _rounded(rows)
    if all(row == other for row, other in rounded.items()):
        return found
    return compare(normal_form(_moved(ours, rounded)), normal_form(_moved(theirs, rounded))).differences


def _moved(form: NormalForm, rounded: Mapping[Payload, Payload]) -> Iterable[Element]:
    """The elements of some rows of a normal form, with other values."""
    for row, other in rounded.items():
        for start, end, times in form.get(row, ()):
            for _ in range(times):
                yield start, end, other


def _rounded(rows: Iterable[Any]) -> dict[Payload, Payload]:
    """By row, the row with the least of the close values in place of each number."""
    rows = list(rows)
    columns = [_least(column) for column in zip(*rows, strict=True)]
    return {
        row: tuple(least.get(value, value) for least, value in zip(columns, row, strict=True)) for row in rows
    }


def _least(values: Iterable[Any]) -> dict[Any, Any]:
    """By number, the least of those that are close to it; integers are close to floats only."""
    numbers = sorted({value for value in values if isinstance(value, float | int) and abs(value) < LARGEST})
    least: dict[Any, Any] = {}
    before: Any = None
    for value in numbers:
        is_rounded = before is not None and (isinstance(before, float) or isinstance(value, float))
        is_close = is_rounded and isclose(before, value, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        least[value] = least[before] if is_close else value
        before = value
    return least
