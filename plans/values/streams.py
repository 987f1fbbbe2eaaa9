"""Physical streams: elements, batches and application time.

A physical stream element is a tuple `(start, end, payload)`: the payload is valid in the half-open interval
`[start, end)` of application time. A batch is a list of elements in stream order, that is, non-decreasing in
`start` (thesis, Definition 6.3).

Application time is counted in chronons by Python integers of any size and sign. Two other values occur:
`FOREVER` as an end, and `BEGINNING` as the progress of an input that has not delivered anything yet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from datetime import date
from fractions import Fraction
from itertools import pairwise
from operator import index, itemgetter
from typing import Any

from midstream.plans.values.arguments import read_once, require_elements, wrong
from midstream.plans.values.errors import ArgumentError, IntervalError
from midstream.plans.values.finite import python_value

Payload = Any
"""The valid content of an element: any hashable value; a plain tuple if a schema is known."""

Time = int | float | Fraction
"""An instant: an integer, FOREVER or BEGINNING; only migrations use finer instants internally."""

Element = tuple[Time, Time, Payload]
Batch = list[Element]

START, END = itemgetter(0), itemgetter(1)
"""Functions from an element to the start and the end of its validity."""

FOREVER: float = math.inf
"""The end of an element that never expires; also the progress of an input that has ended."""

BEGINNING: float = -math.inf
"""The progress of an input that has not delivered anything yet."""

_LARGEST_EXACT_HALF = 2**51
"""The largest n for which n + 0.5 is exact as a float."""


def is_ordered(elements: Iterable[Element]) -> bool:
    """True if starts never decrease.

    >>> is_ordered([(1, 9, "a"), (1, 2, "b"), (3, 4, "c")]), is_ordered([(3, 4, "c"), (1, 9, "a")])
    (True, False)
    """
    return all(start <= following for (start, *_), (following, *_) in pairwise(elements))


def just_before(chronon_end: int) -> Time:
    """An instant inside the chronon `[chronon_end - 1, chronon_end)`, which no integer timestamp equals.

    Its order is exact against integers of any size. It is a float where that is exact, because floats compare
    fastest.

    >>> just_before(41)
    40.5
    >>> 2**80 - 1 < just_before(2**80) < 2**80
    True
    """
    if abs(chronon_end) <= _LARGEST_EXACT_HALF:
        return chronon_end - 0.5
    return Fraction(2 * chronon_end - 1, 2)


def later(time: Time, chronons: Time) -> Time:
    """The instant some chronons later; FOREVER if they are, also where an integer is beyond all floats."""
    return FOREVER if chronons == FOREVER else time + chronons


def chronon_end(instant: Time) -> Time:
    """The first integer at or after an instant; FOREVER and BEGINNING do not change.

    >>> chronon_end(40.5), chronon_end(7), chronon_end(FOREVER)
    (41, 7, inf)
    """
    return instant if isinstance(instant, int) or instant in (FOREVER, BEGINNING) else math.ceil(instant)


def instant(time: int | date | str, time_unit: str) -> int:
    """The chronon of a date, or a date and time, counted in a unit from the beginning of 1970.

    Times without a zone are in UTC. An integer is a chronon already.

    Raises   IntervalError where the time is invalid, or lies between two chronons.

    >>> from datetime import datetime
    >>> instant(datetime(1970, 1, 1, 0, 1), "seconds"), instant("1970-01-02", "hours"), instant(7, "days")
    (60, 24, 7)
    """
    from midstream.plans.values.units import TimeUnit  # loads what reads SQL

    if type(time) is int:
        return time
    if type(time := python_value(time)) is int:
        return time
    if type(time).__name__ == "datetime64":  # NumPy's, as text in ISO 8601
        time = str(time)
    if not isinstance(time, date | str):
        hint = CUT if isinstance(time, float) else ""
        raise IntervalError(
            f"instant: found {time!r}, expected an integer, a datetime, or a date and time in ISO 8601{hint}"
        )
    if not isinstance(time_unit, str):
        raise IntervalError(f"instant: found {time_unit!r}, expected a unit of time such as 'seconds'")
    try:
        unit = TimeUnit.of(time_unit)
    except ValueError as error:
        raise IntervalError(f"instant: {error}") from error
    try:
        return unit.instant(time if isinstance(time, str) else time.isoformat())
    except ValueError as error:
        raise IntervalError(f"instant: found {time!r}, expected {error}") from error


class Chronons(Iterable[Element]):
    """The elements of a raw stream, with the unit of their time, if it was given.

    Each loop reads `elements` anew. Those of an iterator can be read once.

    Raises   ArgumentError for a second loop over an iterator.
    """

    __slots__ = ("_elements", "_is_read", "unit")

    def __init__(self, elements: Iterable[Element], unit: str | None) -> None:
        self._elements = elements
        self._is_read = False
        self.unit = unit

    def __iter__(self) -> Iterator[Element]:
        if self._is_read:
            raise ArgumentError(
                f"chronons: found a {type(self._elements).__name__}, which was read before, expected a list, "
                "which can be read again: ms.chronons(list(rows))"
            )
        self._is_read = isinstance(self._elements, Iterator)
        return iter(self._elements)


CUT = "; int(t) cuts a float t, and round(t * 1000) keeps milliseconds of seconds"
"""The ways to make an integer of a float, as part of a message."""


def _integer(time: Any) -> int:
    """An integer of another library as Python's; raises TypeError for others."""
    if type(time) is bool:
        raise TypeError("a truth value")
    return index(time)


def chronons(rows: Iterable[tuple[int | date | str, Payload]], time_unit: str | None = None) -> Chronons:
    """A raw stream `(timestamp, payload)` as a physical stream: each payload is valid for one chronon.

    With a unit of time, timestamps may be dates and times, and a plan that counts the stream in another unit
    refuses it.

    Raises   ArgumentError where there is no such unit.
    Source   thesis, section 6.5.1

    Rows of an iterator can be read once; others are read anew by each run.

    >>> list(chronons([(3, "a"), (3, "b"), (5, "a")]))
    [(3, 4, 'a'), (3, 4, 'b'), (5, 6, 'a')]
    >>> from datetime import datetime
    >>> list(chronons([(datetime(1970, 1, 1, 0, 1), "a")], "seconds"))
    [(60, 61, 'a')]
    """
    require_elements("chronons", rows, "rows (timestamp, payload)")
    if time_unit is None:
        return Chronons(_raw(rows, None), None)
    if not isinstance(time_unit, str):
        raise wrong("chronons", time_unit, "a unit of time such as 'seconds', or None")
    from midstream.plans.values.units import TimeUnit  # loads what reads SQL

    try:
        name = TimeUnit.of(time_unit).name
    except ValueError as error:
        raise ArgumentError(f"chronons: {error}") from error
    return Chronons(_raw(rows, time_unit), name)


def _raw(rows: Iterable[Any], time_unit: str | None) -> Iterable[Element]:
    return _chronons(rows, time_unit) if isinstance(rows, Iterator) else _RawStream(rows, time_unit)


class _RawStream(Iterable[Element]):
    """The elements of rows, converted anew by each loop."""

    def __init__(self, rows: Iterable[Any], time_unit: str | None) -> None:
        self._rows, self._time_unit = rows, time_unit

    def __iter__(self) -> Iterator[Element]:
        return _chronons(self._rows, self._time_unit)


def _chronons(rows: Iterable[Any], time_unit: str | None) -> Iterator[Element]:
    for row in read_once("chronons", rows):
        try:
            time, payload = row
            if time_unit is not None:
                time = instant(time, time_unit)
            elif type(time) is not int:
                time = _integer(time)
            element = (time, time + 1, payload)
        except (TypeError, ValueError) as error:
            hint = ""
            if isinstance(row, tuple) and len(row) == 2 and isinstance(row[0], date | str):
                hint = "; datetimes need a unit of time: chronons(rows, 'seconds')"
            elif isinstance(row, tuple) and len(row) == 2 and isinstance(row[0], float):
                hint = CUT
            raise IntervalError(
                f"chronons: found {row!r}, expected a row (timestamp, payload) with an integer{hint}"
            ) from error
        yield element
