"""Filter, map and time window: one result an element at most, at once, with nothing kept.

Their loops are generated, so that the condition or the new payload is computed in line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from midstream.operators.operator import Operator
from midstream.plans.expressions import Expression, evaluate, row_scope, tuple_source
from midstream.plans.schema import Schema
from midstream.plans.streams import FOREVER, Batch


class _Stateless(Operator):
    """A function of single elements that keeps their starts."""

    def __init__(self, function: Callable[[Batch], Batch]) -> None:
        super().__init__()
        self._function = function

    def _process(self, port: int, batch: Batch) -> Batch:
        return self._function(batch) if batch else batch


class Filter(_Stateless):
    """Keep the elements whose payload satisfies a condition.

        filter(p, S)@t  =  { e | e in S@t, p(e) }

    Cost     O(1) per element.
    Source   thesis, Algorithm 2

    >>> from midstream.plans.expressions import col
    >>> Filter(col("x") > 3, Schema.of(x="integer")).push(0, [(0, 5, (3,)), (1, 5, (4,))])
    [(1, 5, (4,))]
    """

    def __init__(self, condition: Expression, schema: Schema) -> None:
        scope = row_scope(schema, "x[2]")
        super().__init__(evaluate(f"lambda batch: [x for x in batch if {condition.source(scope)}]", scope))


class Map(_Stateless):
    """Compute a new payload for every element; its validity stays.

        map(f, S)@t  =  { f(e) | e in S@t }

    Cost     O(1) per element.
    Source   thesis, Algorithm 3

    >>> from midstream.plans.expressions import col
    >>> Map([col("x") + 1], Schema.of(x="integer")).push(0, [(0, 5, (3,))])
    [(0, 5, (4,))]
    """

    def __init__(self, expressions: Sequence[Expression], schema: Schema) -> None:
        scope = row_scope(schema, "row")
        payload = tuple_source(expressions, scope)
        super().__init__(
            evaluate(f"lambda batch: [(start, end, {payload}) for start, end, row in batch]", scope)
        )


class TimeWindow(_Stateless):
    """Extend the validity of a chronon stream's elements to `size` chronons, for ever if None.

        window(w, S)@t  =  sum of S@u for t - w < u <= t

    Input    A chronon stream; the builder checks that, as the operator could not tell a wrong answer from a
             right one.
    Cost     O(1) per element.
    Source   thesis, Algorithm 12

    >>> TimeWindow(50).push(0, [(1, 2, "b"), (3, 4, "a")])
    [(1, 51, 'b'), (3, 53, 'a')]
    """

    def __init__(self, size: int | None) -> None:
        if size is None:
            super().__init__(lambda batch: [(start, FOREVER, row) for start, _, row in batch])
        else:
            super().__init__(lambda batch: [(start, start + size, row) for start, _, row in batch])
