"""Tuples of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from midstream.plans.functions.function import VALUE, Argument, Function, Names
from midstream.plans.values.schema import Type

TUPLE = "tuple"
"""The name of the function that makes a tuple."""


@dataclass(frozen=True, slots=True)
class MakingTuples(Function):
    """Some values as one tuple, for aggregate functions of several values; unknown if a value is."""

    def body(self, arguments: Sequence[Argument], texts: Sequence[str], scope: Names) -> str:
        return f"({', '.join(texts)},)"

    def spelled(self, texts: Sequence[str]) -> str:
        return f"({', '.join(texts)})"


TUPLE_FUNCTIONS: Mapping[str, Function] = {
    TUPLE: MakingTuples(TUPLE, (VALUE,), lambda *values: values, Type.ANY, repeats=True)
}
"""Functions that SQL does not have; aggregate functions need them."""
