"""Declarations of streams and relations in a catalog."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Protocol

from midstream.plans.algebra.operators.declarations import Key, Reference
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.schema import Column, Schema, Time, Type
from midstream.plans.values.streams import FOREVER, Element
from midstream.plans.values.units import TimeUnit

Constant = str | int | float | bool
"""A value that rows of a source are compared with."""


UNKNOWN_SCALE = -1
"""The number of digits behind the point of a DECIMAL that was declared without one."""


@dataclass(frozen=True)
class ColumnDeclaration:
    """A declared column; a timestamp is an integer, the number of chronons since 1970 (UTC).

    It `is_sniffed` if nobody declared it, but a file's beginning showed its type. Then values of another look
    are refused: a user who declares an integer takes 02139 as 2139, and a sniffer cannot know. This is no
    part of the column's meaning, and statements do not have it.

    `decimals` is the number of digits behind the point of a DECIMAL, whose values become floats; None for
    other columns, and UNKNOWN_SCALE where nothing says how many there are.
    """

    name: str
    type: Type
    nullable: bool = True
    is_timestamp: bool = False
    is_date: bool = False
    is_sniffed: bool = field(default=False, compare=False)
    decimals: int | None = field(default=None, compare=False)

    @property
    def time(self) -> Time | None:
        """ "date" or "timestamp" if the column holds these."""
        return ("date" if self.is_date else "timestamp") if self.is_timestamp else None


OptionValue = str | bool
"""The value of an option of a source."""

FIELDS: Mapping[str, str] = {
    "delim": "delim",
    "quote": "quote",
    "header": "header",
    "decimal_separator": "decimal",
    "thousands": "thousands",
    "encoding": "encoding",
    "sparse": "sparse",
    "format": "formats",
    "time_of_day": "time_of_day",
    "nullstr": "unknown",
    "sort": "sort",
}
"""The options of a source, in the order in which they are written, and the fields that hold them."""

SWITCHES = ("header", "sparse", "sort")
"""The options that are true or false; the others are texts."""

ISO = "iso"
"""The format of dates and timestamps in ISO 8601, and of integers."""

REPEATABLE = ("format", "nullstr")
"""The options that may be given several times."""


@dataclass(frozen=True)
class SourceClause:
    """The source of a stream: `SOURCE kind('argument', …, option = value, …)`.

    unknown     texts that stand for a missing value in CSV, besides nothing
    formats     the forms of dates and timestamps as text, for `strptime`; ISO for ISO 8601. Without any, they
                are in ISO 8601 or integers
    time_of_day the column with times of day, where the column that orders rows has dates alone
    delim       the character between fields of CSV; by default a comma
    quote       the character around fields of CSV; "" if there is none
    header      if CSV begins with the names of the columns; None leaves that to the reader
    decimal     the character before the decimals of numbers in CSV; by default a point
    thousands   the character between thousands of numbers in CSV; by default none
    encoding    the encoding of text, by a name that Python knows; by default UTF-8
    sparse      if objects of JSON, or further files of a pattern, may lack columns, which are then unknown
    sort        if rows are not in order of time, and must be sorted
    """

    kind: str
    arguments: tuple[Any, ...] = ()
    unknown: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    delim: str | None = None
    quote: str | None = None
    header: bool | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    sparse: bool = False
    sort: bool = False
    time_of_day: str | None = None

    @classmethod
    def of(
        cls, kind: str, arguments: Sequence[Any], options: Iterable[tuple[str, OptionValue]]
    ) -> SourceClause:
        """The clause with some options, by their names in SQL, as `options` gives them."""
        values: dict[str, Any] = {}
        for name, value in options:
            attribute = FIELDS[name]
            values[attribute] = (*values.get(attribute, ()), value) if name in REPEATABLE else value
        return cls(kind, tuple(arguments), **values)

    @property
    def options(self) -> tuple[tuple[str, OptionValue], ...]:
        """The options that differ from their defaults, by their names in SQL.

        >>> SourceClause("csv", ("a.csv",), unknown=("NA", "-"), header=False).options
        (('header', False), ('nullstr', 'NA'), ('nullstr', '-'))
        """
        usual = {one.name: one.default for one in fields(self)}
        options: list[tuple[str, OptionValue]] = []
        for name, attribute in FIELDS.items():
            value = getattr(self, attribute)
            if value != usual[attribute]:
                options += [(name, one) for one in (value if name in REPEATABLE else (value,))]
        return tuple(options)

    def __str__(self) -> str:
        words = [option_words(name, value) for name, value in self.options]
        return f"{self.kind}({', '.join([*map(literal, self.arguments), *words])})"


class Files(Protocol):
    """Declares streams of files that a query names in FROM, and reads the sources of streams."""

    def declared(
        self, path: str, function: str | None, options: Sequence[tuple[str, OptionValue]], taken: Set[str]
    ) -> StreamDeclaration:
        """The stream of a file, under a name that is not among the `taken` ones, in lower case."""

    def elements(self, stream: StreamDeclaration, unit: TimeUnit) -> Iterable[Element] | None:
        """The elements of a stream's source, in chronons of a unit, for each loop anew; None for others."""

    def advice(self, error: InputFileError) -> str:
        """The way to read rows of another type in a file that nobody declared; empty for other errors."""


def option_words(name: str, value: OptionValue) -> str:
    """An option as SQL writes it; a tab between fields can be seen.

    >>> print(option_words("delim", "\\t"), option_words("header", False))
    delim = '\\t' header = false
    """
    text = literal(value)
    if name == "delim":
        text = text.replace("\t", r"\t")
    return f"{name} = {text}"


def literal(value: Constant) -> str:
    """A constant as SQL writes it.

    >>> literal("it's"), literal(5), literal(False)
    ("'it''s'", '5', 'false')
    """
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value).lower()


@dataclass(frozen=True)
class ReferenceDeclaration:
    """A declared reference, as in a plan, but with time in nanoseconds; None is for all time."""

    columns: tuple[str, ...]
    to: str
    to_columns: tuple[str, ...]
    nanoseconds: int | None = 0
    is_enforced: bool = True

    def counted_in(self, unit: TimeUnit) -> Reference:
        """The reference with time in chronons of a unit, rounded up."""
        time = FOREVER if self.nanoseconds is None else -(-self.nanoseconds // unit.nanoseconds)
        return Reference(self.columns, self.to, self.to_columns, time, self.is_enforced)


@dataclass(frozen=True)
class StreamDeclaration:
    """A stream as declared by CREATE STREAM.

    ordered_by   the column that holds an element's timestamp; without it, elements are stamped on arrival
    source       the source that the statement names, if any
    unit         the unit of integer timestamps of the source; None if it is undeclared
    keys         the declared keys
    primary_key  the columns of the key to which references without columns refer
    references   the declared references of its rows
    where        columns of the source, and the constant that a row must have there to belong to the stream
    left_out     the names of other columns that the source may have; None for any. If nobody declared the
                 stream, but a file's beginning showed its columns, there are none, or those without a name

    The timestamp is no part of the payload (thesis, Remark 7.1).
    """

    name: str
    columns: tuple[ColumnDeclaration, ...]
    ordered_by: str | None = None
    source: SourceClause | None = None
    unit: TimeUnit | None = None
    keys: tuple[Key, ...] = ()
    primary_key: tuple[str, ...] | None = None
    references: tuple[ReferenceDeclaration, ...] = ()
    where: tuple[tuple[str, Constant], ...] = ()
    left_out: frozenset[str] | None = field(default=None, compare=False)

    @property
    def has_intervals(self) -> bool:
        """True if the elements carry intervals of their own, as results of another query do."""
        return self.source is not None and self.source.kind.lower() == "elements"

    @property
    def time_column(self) -> tuple[str, int] | None:
        """The column that holds the timestamp, with its place; None if elements are stamped on arrival."""
        names = [column.name for column in self.columns]
        return None if self.ordered_by is None else (self.ordered_by, names.index(self.ordered_by))

    @cached_property
    def schema(self) -> Schema:
        """The columns of the payload."""
        return _payload(self.columns, self.ordered_by)


@dataclass(frozen=True)
class RelationDeclaration:
    """A relation as declared by CREATE RELATION.

    valid_from, valid_to    the columns of a temporal relation that hold the period in which a row is valid;
                            both None if the relation is constant
    source, unit, keys, primary_key, references   as of a stream
    """

    name: str
    columns: tuple[ColumnDeclaration, ...]
    valid_from: str | None = None
    valid_to: str | None = None
    source: SourceClause | None = None
    unit: TimeUnit | None = None
    keys: tuple[Key, ...] = ()
    primary_key: tuple[str, ...] | None = None
    references: tuple[ReferenceDeclaration, ...] = ()

    @cached_property
    def schema(self) -> Schema:
        """The columns of the rows, without the period."""
        return _payload(self.columns, self.valid_from, self.valid_to)


def _payload(columns: tuple[ColumnDeclaration, ...], *times: str | None) -> Schema:
    return Schema(tuple(Column(c.name, c.type, c.nullable, c.time) for c in columns if c.name not in times))
