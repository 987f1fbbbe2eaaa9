"""Converters of a column's values from the source's form to the stream's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from midstream.io.timestamps import Timestamps
from midstream.plans.sql.declarations import ISO, ColumnDeclaration
from midstream.plans.values.schema import Type
from midstream.plans.values.units import INSTANT as DATE

ODD = (ValueError, TypeError, KeyError, OverflowError)
"""The exceptions by which `many` refuses a column; UnicodeEncodeError is a ValueError."""

INSTANT = f"an integer, or {DATE}"
DAY = "an integer, or a date in ISO 8601"
NO_CLOCK = "a column declared TIMESTAMP takes times of day, and CAST(column AS DATE) gives its days"


@dataclass(frozen=True, slots=True)
class Converter:
    """A converter for one column, with a fast way for batches and an exact way for values.

    many       converts all values of a batch at once, in C loops; it may refuse unusual values by one of ODD,
               even if they are correct
    single     converts a value; raises ValueError for a wrong value, and UndeclaredUnit
    expected   the values that `single` accepts, in words

    If `many` accepts a value, `single` accepts it with the same result: a property test checks this.
    """

    many: Callable[[Sequence[Any]], Sequence[Any]]
    single: Callable[[Any], Any]
    expected: str


Converters = Callable[[ColumnDeclaration, bool, Timestamps], Converter]
"""Makes a converter from a column, True if it may be unknown, and the conversion of timestamps."""


def describe(column: ColumnDeclaration, nothing: str | None, formats: Sequence[str] = ()) -> str:
    """Describe the values that a column accepts; `nothing` is the source's text for an unknown value."""
    kinds = ["a value" if column.type is Type.ANY else column.type.value]
    if column.is_timestamp:
        kinds = [
            (DAY if column.is_date else INSTANT) if form == ISO else f"a timestamp of the form {form}"
            for form in formats or (ISO,)
        ]
    words = ", or ".join([*kinds, *([] if nothing is None else [nothing])])
    return f"{words}; {NO_CLOCK}" if column.is_date else words
