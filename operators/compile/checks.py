"""The checks of elements at the entrance of their stream, as generated source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from midstream.operators.compile.generated import define
from midstream.plans.values.finite import LARGEST, finite
from midstream.plans.values.schema import PYTHON_TYPES, Column, Schema, Type
from midstream.plans.values.streams import FOREVER, Batch, Time

# Types are looked up several times for each element, so their names are local.
_LOOK = """
def look(batch, last, tuple=tuple, int=int, float=float, str=str, bool=bool):
    in_order, integers = True, False
    for element in batch:
        start, end, row = element
        {unpack}
        if not ({sound}):
            return False, False, False
        if start < last:
            in_order = False
        last = start
    return True, in_order, integers
"""

_CONVERSION = """
def convert(batch):
    return [(start, end, {floats}) for start, end, row in batch{loop}]
"""


class Checks:
    """Generated source of checks, which reads `element` and its `start`, `end` and `row`.

    It follows the declaration of a stream: its columns, and `intervals` or chronons.
    """

    __slots__ = ("_columns", "floats", "sound", "unpack")

    def __init__(self, schema: Schema, *, intervals: bool) -> None:
        columns = list(schema)
        # Unpacking a row of another length raises, and costs less than a check of its length.
        self._columns = "".join(f"c{i}, " for i in range(len(columns)))
        self.unpack = f"{self._columns}= row" if columns else "pass"
        """A first statement, which names the values of the row."""
        self.sound = " and ".join(_tests(columns, intervals=intervals))
        """A condition, which sets `integers` where a column of floats holds an integer."""
        values = [
            f"float(c{i}) if c{i}.__class__ is int else c{i}, " if column.type is Type.FLOAT else f"c{i}, "
            for i, column in enumerate(columns)
        ]
        self.floats = f"({''.join(values)})"
        """The row with floats in place of integers."""

    def look(self) -> Callable[[list[Any], Time], tuple[bool, bool, bool]]:
        """A function that checks a batch, given the progress before it.

        It returns three flags: all elements are certainly as declared; they are also in order; columns of
        floats hold integers.
        """
        names: dict[str, Any] = {"FOREVER": FOREVER, "finite": finite}
        source = _LOOK.format(unpack=self.unpack, sound=self.sound)
        look: Callable[[list[Any], Time], tuple[bool, bool, bool]] = define(
            source, "look", names, "look at elements"
        )
        return look

    def in_floats(self) -> Callable[[Batch], Batch]:
        """A function from sound elements to elements whose columns of floats hold floats."""
        loop = f" for {self._columns}in (row,)" if self._columns else ""
        source = _CONVERSION.format(floats=self.floats, loop=loop)
        convert: Callable[[Batch], Batch] = define(source, "convert", {}, "floats of elements")
        return convert


def _tests(columns: list[Column], *, intervals: bool) -> list[str]:
    tests = ["element.__class__ is tuple", "start.__class__ is int"]
    if intervals:
        tests += ["start < end", "(end.__class__ is int or end.__class__ is float and end == FOREVER)"]
    else:
        tests += ["end.__class__ is int", "end - start == 1"]
    tests += ["row.__class__ is tuple"] if columns else ["row == ()"]
    return [*tests, *(_test(f"c{i}", column) for i, column in enumerate(columns))]


def _test(value: str, column: Column) -> str:
    types = PYTHON_TYPES.get(column.type)
    if types is None:
        known = f"finite({value}) is not None and (hash({value}) or True)"
    elif column.type is Type.FLOAT:
        is_number = f"({value}.__class__ is float or {value}.__class__ is int and (integers := True))"
        known = f"{is_number} and {-LARGEST} <= {value} <= {LARGEST}"
    else:
        known = f"{value}.__class__ is {min(kind.__name__ for kind in types)}"
    return f"({value} is None or {known})" if column.nullable else known
