"""Names and types of the attributes of relational payloads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from enum import Enum
from itertools import chain, count
from math import isfinite
from operator import itemgetter
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from midstream.plans.values.arguments import listed, require
from midstream.plans.values.errors import SchemaError
from midstream.plans.values.finite import finite, python_value, within_floats
from midstream.plans.values.streams import Element

_ALWAYS_FINITE = frozenset({int, str, bool, bytes, tuple, type(None)})


class Type(Enum):
    """The type of a column; its value is the name in files."""

    INTEGER = "integer"
    FLOAT = "float"
    STRING = "string"
    BOOLEAN = "boolean"
    ANY = "any"

    @classmethod
    def _missing_(cls, value: object) -> Any:
        known = ", ".join(type_.value for type_ in cls)
        raise SchemaError(f"found type {value!r}, expected one of {known}")

    @property
    def is_numeric(self) -> bool:
        """True if sums and averages are defined on the type."""
        return self in (Type.INTEGER, Type.FLOAT, Type.ANY)


PYTHON_TYPES: Mapping[Type, frozenset[type]] = {
    Type.INTEGER: frozenset({int}),
    Type.FLOAT: frozenset({float, int}),
    Type.STRING: frozenset({str}),
    Type.BOOLEAN: frozenset({bool}),
}
"""The Python types that a column of each type accepts; ANY accepts every hashable value."""


FROM_PYTHON: Mapping[type, Type] = {
    int: Type.INTEGER,
    float: Type.FLOAT,
    str: Type.STRING,
    bool: Type.BOOLEAN,
    object: Type.ANY,
}
"""The Python types that may be written for a column's type."""

BY_NAME: Mapping[str, Type] = {
    **{type_.value: type_ for type_ in Type},
    **{python.__name__: type_ for python, type_ in FROM_PYTHON.items()},
    "bigint": Type.INTEGER,
    **dict.fromkeys(("real", "double", "decimal"), Type.FLOAT),
    **dict.fromkeys(("varchar", "text"), Type.STRING),
}
"""The types of columns by the names that may be written, those of Python and of SQL among them."""


Time = Literal["date", "timestamp"]
"""The forms in which users see integers that count chronons."""


@dataclass(frozen=True, slots=True)
class Column:
    """A named, typed attribute; None, SQL's NULL, is accepted only if it is `nullable`.

    `time` marks integers that count chronons since 1970, so that results show them as dates. It does not
    count for equality, so that plans of the builder equal plans of SQL.
    """

    name: str
    type: Type = Type.ANY
    nullable: bool = False
    time: Time | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        name: Any = self.name
        if not isinstance(name, str) or not name:
            raise SchemaError(f"a column's name must be a non-empty string, found {self.name!r}")
        require(f"column {name}", self.type, Type, "a type such as Type.INTEGER")
        require(f"column {name}: nullable", self.nullable, bool, "True or False")

    def __str__(self) -> str:
        return f"{self.name} {self.type.value}{' null' if self.nullable else ''}"


@dataclass(frozen=True, slots=True)
class Schema:
    """An ordered list of columns with distinct names.

    >>> bids = Schema.of(item="integer", price="float")
    >>> bids.names, bids.index("price")
    (('item', 'price'), 1)
    >>> bids.check([(7, 12.5)])
    >>> bids.check([(7, "dear")])
    Traceback (most recent call last):
    midstream.plans.values.errors.SchemaError: column price: found 'dear' (str), expected float
    """

    columns: tuple[Column, ...]
    _positions: Mapping[str, int] = field(init=False, repr=False, compare=False)
    """Positions by name, in order."""

    def __post_init__(self) -> None:
        columns: Any = self.columns
        if not isinstance(columns, tuple) or not all(isinstance(column, Column) for column in columns):
            raise SchemaError(f"schema: found {columns!r}, expected a tuple of columns")
        positions: dict[str, int] = {}
        for position, column in enumerate(self.columns):
            if positions.setdefault(column.name, position) != position:
                raise SchemaError(
                    f"column {column.name} occurs twice; rename one of them", column=column.name
                )
        object.__setattr__(self, "_positions", positions)

    @classmethod
    def of(cls, **types: ColumnType) -> Schema:
        """A schema from names and types: `Schema.of(item="integer", note="string?")`, where ? allows None."""
        return cls(tuple(parse_column(name, type_) for name, type_ in types.items()))

    def to_json(self) -> list[list[str]]:
        """`[[name, type], …]`, with `?` behind the type of a nullable column."""
        return [[column.name, column.type.value + ("?" if column.nullable else "")] for column in self]

    @classmethod
    def from_json(cls, data: Any) -> Schema:
        """The schema of data that `to_json` returned."""
        columns = (Column(str(name), Type(kind.rstrip("?")), kind.endswith("?")) for name, kind in data)
        return cls(tuple(columns))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self._positions)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._positions

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.columns))})"

    def index(self, name: str) -> int:
        """The position of a column; raises SchemaError, with the nearest name, if there is none."""
        if name not in self:
            raise SchemaError(f"there is no column {name} in {self}{suggest(name, self.names)}", column=name)
        return self._positions[name]

    def __getitem__(self, name: str) -> Column:
        return self.columns[self.index(name)]

    def put_right(self, other: Schema, whose: str) -> str:
        """The advice where another schema has these columns in another order, as part of a message.

        >>> Schema.of(x="integer", y="float").put_right(Schema.of(y="float", x="integer"), "the new plan")
        '; these are the same columns in another order: end the new plan with .select("x", "y")'
        """
        own, others = ([(column.name, column.type) for column in schema] for schema in (self, other))
        if own == others or sorted(own) != sorted(others):
            return ""
        names = ", ".join(f'"{name}"' for name in self.names)
        return f"; these are the same columns in another order: end {whose} with .select({names})"

    def select(self, names: Iterable[str]) -> Schema:
        """The named columns, in the given order."""
        return Schema(tuple(self[name] for name in listed("schema", names, "a list of names of columns")))

    def concat(self, other: Schema) -> Schema:
        """The columns of this schema, then those of another; raises SchemaError if a name occurs in both."""
        require("schema", other, Schema, "a schema")
        return Schema(self.columns + other.columns)

    def check(self, rows: Sequence[Any]) -> None:
        """Raise SchemaError unless every row is a tuple of this schema.

        Cost: O(rows × columns), in C loops.
        """
        if not isinstance(rows, Sequence):
            raise SchemaError(f"found {rows!r}, expected a list of rows")
        if not rows:
            return
        if set(map(type, rows)) != {tuple}:
            odd = next(row for row in rows if type(row) is not tuple)
            raise SchemaError(
                f"found row {odd!r} ({type(odd).__name__}), expected a tuple of {self}", row=odd
            )
        if set(map(len, rows)) != {len(self.columns)}:
            odd = next(row for row in rows if len(row) != len(self.columns))
            raise SchemaError(
                f"found row {odd!r} with {len(odd)} values, expected {len(self.columns)}: {self}", row=odd
            )
        for position, column in enumerate(self.columns):
            self._check_column(column, list(map(itemgetter(position), rows)))

    def as_declared(self, elements: list[Element]) -> list[Element]:
        """Elements of rows of this schema, with integers in float columns replaced by the nearest floats.

        Expressions of type float then have float values only.

        Cost: O(elements × columns), in C loops; O(elements) if there is nothing to do.

        >>> Schema.of(price="float?").as_declared([(0, 1, (7,)), (1, 2, (None,))])
        [(0, 1, (7.0,)), (1, 2, (None,))]
        """
        columns: dict[int, list[Any]] = {}
        for position, column in enumerate(self.columns):
            if column.type is Type.FLOAT:
                values = [row[position] for _, _, row in elements]
                if int in set(map(type, values)):
                    columns[position] = [float(v) if type(v) is int else v for v in values]
        if not columns:
            return elements
        all_columns = list(zip(*(row for _, _, row in elements), strict=True))
        rows = zip(*(columns.get(i, values) for i, values in enumerate(all_columns)), strict=True)
        return [(start, end, row) for (start, end, _), row in zip(elements, rows, strict=True)]

    @staticmethod
    def _check_column(column: Column, values: list[Any]) -> None:
        found = set(map(type, values))
        if column.nullable:
            found.discard(type(None))
        expected = PYTHON_TYPES.get(column.type)
        if expected is None:
            if not column.nullable and type(None) in found:
                raise SchemaError(f"column {column.name}: found None, expected a value", column=column.name)
            try:
                hash(tuple(values))
            except TypeError as error:
                raise SchemaError(f"column {column.name}: {error}, expected hashable values") from error
        elif not found <= expected:
            odd = next(v for v in values if type(v) not in expected and not (v is None and column.nullable))
            raise SchemaError(
                f"column {column.name}: found {odd!r} ({type(odd).__name__}), expected {column.type.value}"
                f"{_instead(odd)}",
                column=column.name,
                value=odd,
            )
        if found == {float} and isfinite(sum(filter(None, values))):
            return
        if not found <= _ALWAYS_FINITE or (column.type is Type.FLOAT and int in found):
            check = within_floats if column.type is Type.FLOAT else finite
            odd = next((value for value in values if value is not None and check(value) is None), None)
            if odd is not None:
                shown = "NaN" if odd != odd else "an integer beyond all floats" if type(odd) is int else odd
                raise SchemaError(
                    f"column {column.name}: found {shown}, expected a finite number; "
                    "None stands for an unknown value",
                    column=column.name,
                )


def _instead(value: Any) -> str:
    """The advice on a value that no column takes, as part of a message; often nothing."""
    if python_value(value) is not value:
        return "; .item() gives the Python value of NumPy's"
    if type(value).__name__ in ("NAType", "NaTType"):
        return "; None stands for an unknown value"
    return "; instants are integers, counted in chronons" if isinstance(value, date) else ""


TIMES: Mapping[type, Time] = {date: "date", datetime: "timestamp"}
"""The Python types that may be written for columns of instants."""

ColumnType = str | Type | type | UnionType
"""The forms of a column's type: "integer", "string?", `Type.INTEGER`, `int`, `str | None`, `datetime`."""


def parse_column(name: str, type_: ColumnType) -> Column:
    """A column from its name and its type; "string?" and `str | None` allow None.

    Timestamps and dates are integers that count chronons.

    >>> str(parse_column("item", int)), str(parse_column("note", str | None)), str(parse_column("x", "any?"))
    ('item integer', 'note string null', 'x any null')
    >>> str(parse_column("price", "DOUBLE?"))
    'price float null'
    """
    if isinstance(type_, Type):
        return Column(name, type_)
    if get_origin(type_) in (Union, UnionType) and len(get_args(type_)) == 2 and NoneType in get_args(type_):
        one, other = get_args(type_)
        return replace(parse_column(name, one if other is NoneType else other), nullable=True)
    if isinstance(type_, type) and type_ in FROM_PYTHON:
        return Column(name, FROM_PYTHON[type_])
    if isinstance(type_, type) and type_ in TIMES:
        return Column(name, Type.INTEGER, time=TIMES[type_])
    word = type_.rstrip("?").lower() if isinstance(type_, str) else ""
    if word in BY_NAME:
        return Column(name, BY_NAME[word], str(type_).endswith("?"))
    if word in TIMES.values():
        time: Time = "date" if word == "date" else "timestamp"
        return Column(name, Type.INTEGER, str(type_).endswith("?"), time)
    words = [*(t.value for t in Type), *TIMES.values()]
    known = ", ".join(dict.fromkeys([*words, *(t.__name__ for t in (*FROM_PYTHON, *TIMES))]))
    shown = type_.__name__ if isinstance(type_, type) else repr(type_)
    word = re.sub(r"[^a-z].*", "", str(shown).lower().removeprefix("dtype(").strip("'"))
    if type_ is timedelta or word.startswith(("time", "interval")):
        hint = "; durations are integers, counted in chronons"
    elif word.startswith("date"):
        hint = suggestion("timestamp")
    else:
        hint = suggestion(BY_NAME[word].value) if word in BY_NAME else suggest(word, BY_NAME)
    raise SchemaError(f"column {name}: found type {shown}, expected one of {known}{hint}", column=name)


def unused(name: str, taken: Iterable[str]) -> str:
    """A name that is not taken: this one, or one with a number appended.

    >>> unused("n", ["x"]), unused("n", ["n", "n_1"])
    ('n', 'n_2')
    """
    names = {*taken}
    candidates = chain([name], (f"{name}_{number}" for number in count(1)))
    return next(each for each in candidates if each not in names)


def suggest(name: object, names: Iterable[str]) -> str:
    """`; did you mean …?` if one of the names is near, else nothing."""
    import difflib

    if not isinstance(name, str):
        return "; a name is a string"
    near = difflib.get_close_matches(name, list(names), n=1)
    return suggestion(near[0]) if near else ""


def suggest_in_any_case(name: str, names: Iterable[str]) -> str:
    """As `suggest`, for names that do not depend on case; the suggestion keeps the given spelling.

    >>> suggest_in_any_case("ITEMIT", ["itemID", "price"])
    '; did you mean itemID?'
    """
    spelled = {one.lower(): one for one in names}
    near = suggest(name.lower(), spelled)
    return next((suggestion(one) for lower, one in spelled.items() if near == suggestion(lower)), "")


def suggest_spelling(name: str, names: Iterable[str]) -> str:
    """As `suggest`, for names with a meaning of their own: only where one letter is wrong.

    Another letter at the end is no slip, but a variant: INSTRB of Oracle counts bytes, and SUMX is no SUM.

    >>> suggest_spelling("lenght", ["length", "left"]), suggest_spelling("first", ["instr"])
    ('; did you mean length?', '')
    >>> [suggest_spelling(name, ["count"]) for name in ("coun", "countt", "counta")]
    ['; did you mean count?', '; did you mean count?', '']
    """
    near = (other for other in names if _is_slip(name, other))
    return next(map(suggestion, near), "")


def _is_slip(name: str, other: str) -> bool:
    if len(name) < 4 or name[0] != other[0] or (name[:-1] == other and name[-1] != other[-1]):
        return False
    same = zip(name, other, strict=False)
    start = next((i for i, (a, b) in enumerate(same) if a != b), min(len(name), len(other)))
    wrong, right = name[start:], other[start:]
    is_swapped = wrong[:2] == right[1::-1] and wrong[2:] == right[2:]
    return is_swapped or wrong[1:] == right[1:] or wrong[1:] == right or wrong == right[1:]


def suggestion(name: str) -> str:
    """The suggestion of a near name, as part of a message."""
    return f"; did you mean {name}?"
