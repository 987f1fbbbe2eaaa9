"""What an operator does with one element, as source."""

from __future__ import annotations

from typing import NamedTuple


class Code(NamedTuple):
    """Source for the work of an operator that is a function of single elements and keeps their starts.

    It is in terms of `start`, `end` and `row`. What comes out, if the condition holds, is `(start, end, row)`
    with a new end or row.
    """

    condition: str | None = None
    end: str | None = None
    row: str | None = None
    last_start: str | None = None
    """The attribute in which the operator keeps the start of the last element that it was given, if any."""
