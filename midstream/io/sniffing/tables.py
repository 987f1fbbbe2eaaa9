"""The columns of a file, as its beginning shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from midstream.plans.sql.declarations import ISO, OptionValue
from midstream.plans.sql.statements import identifier
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.schema import Type

Kind = Literal["csv", "jsonl", "parquet"]


@dataclass(frozen=True, slots=True)
class Doubt:
    """A value that can be read in two ways, or by DuckDB alone; the user has to decide.

    line        the line of the value; None for another value of its column
    value       the value, in words
    expected    what to write, in words; empty for a type
    """

    line: int | None
    value: str
    expected: str = ""


@dataclass(frozen=True, slots=True)
class FoundColumn:
    """A column.

    values    the known values that were looked at, as the file has them
    lines     the line of each value, or its row
    forms     the forms in which all of them are dates or timestamps; none if they are something else
    """

    name: str
    type: Type
    values: Sequence[Any] = ()
    forms: tuple[str, ...] = ()
    is_date: bool = False
    doubt: Doubt | None = None
    lines: Sequence[int] = ()
    decimals: int | None = None
    """The digits behind the point of decimals that become floats."""

    def place(self, path: str, position: int, unit: str = "line") -> str:
        """The place of a value of the column, in words."""
        line = f", {unit} {self.lines[position]}" if self.lines else ""
        return f"{path}{line}, column {self.name}"

    @property
    def is_iso(self) -> bool:
        """True if it holds dates or timestamps that need no further word."""
        return self.forms == (ISO,)


def doubtful(path: str, column: FoundColumn, doubt: Doubt) -> InputFileError:
    """The error for a doubt about a column."""
    expected = doubt.expected or (
        f"one that Midstream reads; mend it, or write types = '{identifier(column.name)} TEXT', which takes "
        "such values as texts"
    )
    line = "" if doubt.line is None else f", line {doubt.line}"
    return InputFileError(
        f"{path}{line}, column {column.name}: found {doubt.value}, expected {expected}",
        path=path,
        column=column.name,
    )


@dataclass(frozen=True, slots=True)
class Table:
    """A file: its columns, and how it is written.

    options    the options of its source
    layout     the same in words
    notes      what else was found
    is_whole   True if all rows were looked at
    left_out   the names of columns that are left out, which a note says
    """

    kind: Kind
    columns: tuple[FoundColumn, ...]
    options: tuple[tuple[str, OptionValue], ...]
    layout: str
    notes: tuple[str, ...] = field(default=())
    is_whole: bool = True
    left_out: frozenset[str] = frozenset()
