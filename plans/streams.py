"""Physical streams: elements, batches and application time.

A physical stream element is the tuple `(start, end, payload)`: the payload is valid in the half-open interval
`[start, end)` of application time. A batch is a list of elements in stream order, that is, non-decreasing in
`start` (thesis, Definition 6.3).

Application time is counted in chronons by Python integers of any size and sign. Two values that are no
integers occur: `FOREVER` as an end, and `BEGINNING` as the progress of an input that has not spoken yet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

Payload = Any
"""What is valid: any hashable value; a plain tuple where a schema is known."""

Time = int | float | Fraction
"""An instant. Users see integers, FOREVER and BEGINNING. Only the inside of a migration knows finer
instants."""

Element = tuple[Time, Time, Payload]
Batch = list[Element]

FOREVER: float = math.inf
"""The end of what stays valid; also the progress of an input that has ended."""

BEGINNING: float = -math.inf
"""The progress of an input that has not delivered anything."""

_LARGEST_EXACT_HALF = 2**51
"""Up to here, n + 0.5 is exact as a float."""


def just_before(chronon_end: int) -> Time:
    """An instant inside the chronon `[chronon_end - 1, chronon_end)`, so that no integer timestamp equals it.

    Order is exact against integers of any size. A float serves where it is exact, because it compares
    fastest.

    >>> just_before(41)
    40.5
    >>> 2**80 - 1 < just_before(2**80) < 2**80
    True
    """
    if abs(chronon_end) <= _LARGEST_EXACT_HALF:
        return chronon_end - 0.5
    return Fraction(2 * chronon_end - 1, 2)


def chronon_end(instant: Time) -> Time:
    """The first integer at or after an instant; FOREVER and BEGINNING stay what they are.

    >>> chronon_end(40.5), chronon_end(7), chronon_end(FOREVER)
    (41, 7, inf)
    """
    return instant if isinstance(instant, int) or instant in (FOREVER, BEGINNING) else math.ceil(instant)


def chronons(rows: Iterable[tuple[int, Payload]]) -> Iterator[Element]:
    """A raw stream `(timestamp, payload)` as a physical one: each payload is valid for one chronon (section
    6.5.1).

    >>> list(chronons([(3, "a"), (3, "b"), (5, "a")]))
    [(3, 4, 'a'), (3, 4, 'b'), (5, 6, 'a')]
    """
    return ((time, time + 1, payload) for time, payload in rows)
