"""Functions of single elements: one result an element at most, at once, with nothing kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from midstream.operators.base.operator import Operator
from midstream.plans.expressions.expressions import (
    Expression,
    condition_source,
    evaluate,
    row_scope,
    tuple_source,
)
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import Batch


class Stateless(Operator):
    """A function of single elements that keeps their starts."""

    def __init__(self, function: Callable[[Batch], Batch]) -> None:
        super().__init__()
        self._function = function

    def _process(self, port: int, batch: Batch) -> Batch:
        return self._function(batch) if batch else batch


def filtering(condition: Expression, schema: Schema) -> Callable[[Batch], Batch]:
    """From a batch to its elements whose payload satisfies a condition, computed in line."""
    scope = row_scope(schema, "x[2]")
    function: Callable[[Batch], Batch] = evaluate(
        f"lambda batch: [x for x in batch if {condition_source(condition, scope)}]", scope
    )
    return function


def mapping(expressions: Sequence[Expression], schema: Schema) -> Callable[[Batch], Batch]:
    """From a batch to its elements with a new payload each, computed in line."""
    scope = row_scope(schema, "row")
    payload = tuple_source(expressions, scope)
    function: Callable[[Batch], Batch] = evaluate(
        f"lambda batch: [(start, end, {payload}) for start, end, row in batch]", scope
    )
    return function
