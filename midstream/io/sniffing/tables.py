"""The columns of a file, as its beginning shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from midstream.plans.sql.declarations import ISO, OptionValue
from midstream.plans.values.schema import Type

Kind = Literal["csv", "jsonl", "parquet"]


@dataclass(frozen=True, slots=True)
class FoundColumn:
    """A column.

    values    the known values that were looked at, as the file has them
    forms     the forms in which all of them are dates or timestamps; none if they are something else
    """

    name: str
    type: Type
    values: Sequence[Any] = ()
    forms: tuple[str, ...] = ()
    is_date: bool = False
    doubt: str = ""
    """A value of another type, in words, if the column is text, but not to DuckDB; the user has to decide."""

    @property
    def is_iso(self) -> bool:
        """True if it holds dates or timestamps that need no further word."""
        return self.forms == (ISO,)


@dataclass(frozen=True, slots=True)
class Table:
    """A file: its columns, and how it is written.

    options    the options of its source
    layout     the same in words
    notes      what else was found
    is_whole   True if all rows were looked at
    """

    kind: Kind
    columns: tuple[FoundColumn, ...]
    options: tuple[tuple[str, OptionValue], ...]
    layout: str
    notes: tuple[str, ...] = field(default=())
    is_whole: bool = True
