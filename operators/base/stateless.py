"""Functions of single elements: at most one result per element, at once, without state."""

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
    """A function from a batch to its elements that satisfy a condition, computed in line."""
    scope = row_scope(schema, "x[2]")
    function: Callable[[Batch], Batch] = evaluate(
        f"lambda batch: [x for x in batch if {condition_source(condition, scope)}]", scope
    )
    return function


def mapping(expressions: Sequence[Expression], schema: Schema) -> Callable[[Batch], Batch]:
    """A function from a batch to its elements with new payloads, computed in line."""
    scope = row_scope(schema, "row")
    payload = tuple_source(expressions, scope)
    function: Callable[[Batch], Batch] = evaluate(
        f"lambda batch: [(start, end, {payload}) for start, end, row in batch]", scope
    )
    return function
