"""Converters: from what a source holds in a column to what the stream has there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from midstream.io.timestamps import Timestamps
from midstream.plans.sql.declarations import ColumnDeclaration
from midstream.plans.values.schema import Type

ODD = (ValueError, TypeError, KeyError, OverflowError)
"""What `many` raises where it does not take a column. UnicodeEncodeError is a ValueError."""

INSTANT = "an integer, or a date or a date with a time in ISO 8601"


@dataclass(frozen=True, slots=True)
class Converter:
    """How a column is read, whole and value by value.

    many       takes all values of a batch at once, in C loops; where something in them is out of the
               ordinary it may raise one of ODD, also if all is well
    one        takes a value; raises ValueError for what is none, and UndeclaredUnit
    expected   what `one` takes, in words

    What `many` takes, `one` takes, and makes the same of it: that is a property test.
    """

    many: Callable[[Sequence[Any]], Sequence[Any]]
    one: Callable[[Any], Any]
    expected: str


Converters = Callable[[ColumnDeclaration, bool, Timestamps], Converter]
"""From a column, whether it may be unknown, and how timestamps are read to its converter."""


def describe(column: ColumnDeclaration, nothing: str | None) -> str:
    """What a column expects, in words; `nothing` is how its source spells that a value is unknown."""
    what = INSTANT if column.is_timestamp else "a value" if column.type is Type.ANY else column.type.value
    return what if nothing is None else f"{what}, or {nothing}"
