"""Filter and map, with at most one result per element and no state; and the running operators of union.

Their loops are generated, so that the condition or the new payload is computed in line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from midstream.operators.base.facts import filter_facts, map_facts
from midstream.operators.base.operator import Code
from midstream.operators.base.running import Running
from midstream.operators.base.stateless import Stateless, filtering, mapping
from midstream.operators.base.union import Union
from midstream.plans.algebra.implementations import rows as facts
from midstream.plans.expressions.expressions import Col, Expression, condition_source, row_scope, tuple_source
from midstream.plans.values.schema import Schema


class Filter(Stateless):
    """Keep the elements whose payload satisfies a condition.

        filter(p, S)@t  =  { e | e in S@t, p(e) }

    Cost     O(1) per element.
    Source   thesis, Algorithm 2

    >>> from midstream.plans.expressions.operands import col
    >>> Filter((col("x") > 3).expression, Schema.of(x="integer")).push(0, [(0, 5, (3,)), (1, 5, (4,))])
    [(1, 5, (4,))]
    """

    def __init__(self, condition: Expression, schema: Schema) -> None:
        super().__init__(filtering(condition, schema))
        self._condition, self._schema = condition, schema

    def code(self, names: dict[str, Any]) -> Code:
        """Source of the condition."""
        return Code(condition=condition_source(self._condition, row_scope(self._schema, "row", names)))


class Map(Stateless):
    """Compute a new payload for every element; its validity stays.

        map(f, S)@t  =  { f(e) | e in S@t }

    Cost     O(1) per element.
    Source   thesis, Algorithm 3

    >>> from midstream.plans.expressions.operands import col
    >>> Map([(col("x") + 1).expression], Schema.of(x="integer")).push(0, [(0, 5, (3,))])
    [(0, 5, (4,))]
    """

    def __init__(self, expressions: Sequence[Expression], schema: Schema) -> None:
        super().__init__(mapping(expressions, schema))
        self._expressions, self._schema = tuple(expressions), schema

    def code(self, names: dict[str, Any]) -> Code:
        """Source of the new row, unless columns are only renamed."""
        if self._expressions == tuple(map(Col, self._schema.names)):
            return Code()
        return Code(row=tuple_source(self._expressions, row_scope(self._schema, "row", names)))


RUNNING: Running = {
    facts.FILTER: lambda node: Filter(*filter_facts(node)),
    facts.MAP: lambda node: Map(*map_facts(node)),
    facts.UNION: lambda node: Union(len(node.inputs)),
}
