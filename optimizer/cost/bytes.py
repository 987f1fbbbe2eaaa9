"""Bytes of an operator's state, measured as the Box contract does: by the sizes of CPython objects.

An element is a tuple of two timestamps and a payload. The sizes of values follow from a sample if there is
one, else from the types of the columns.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable

from midstream.optimizer.cost.column_facts import Facts
from midstream.optimizer.cost.costing import Costing
from midstream.optimizer.cost.estimate import Work, times
from midstream.optimizer.cost.partial_aggregates import share_of_several
from midstream.plans.algebra.operators import Aggregate
from midstream.plans.algebra.plan import Node, fact_of_node
from midstream.plans.expressions.expressions import Expression
from midstream.plans.values.schema import Schema, Type

INTEGER = float(sys.getsizeof(1))
SIZES = {
    Type.INTEGER: INTEGER,
    Type.FLOAT: float(sys.getsizeof(1.5)),
    Type.STRING: float(sys.getsizeof("a" * 10)),
    Type.BOOLEAN: float(sys.getsizeof(True)),
    Type.ANY: INTEGER,
}
"""Bytes of a value of which only the type is known."""


def kept_bytes(costing: Costing, work: Work, results: Facts) -> float:
    """Bytes of the elements in an operator's state: elements of its inputs, and results that wait."""
    node = costing.node
    if not work.state:
        return 0.0
    mine = _row_of(node.inputs[0], costing.inputs[0].facts)
    operator = costing.operator
    if isinstance(operator, Aggregate):
        mine = _partial_aggregate(costing, operator)
    return math.fsum(
        (
            times(work.state - work.waiting - work.second, element_bytes(mine)),
            times(work.second, element_bytes(_row_of(node.inputs[-1], costing.inputs[-1].facts))),
            times(work.waiting, element_bytes(_row_of(node, results))),
        )
    )


def _partial_aggregate(costing: Costing, operator: Aggregate) -> float:
    """Bytes of a partial aggregate: the group and the values of the arguments.

    One of several rows also has their number, and sums beside the extreme of the same argument.
    """
    schema, facts = costing.schemas[0], costing.inputs[0].facts
    functions: dict[Expression, set[str]] = {}
    for _, call in operator.calls:
        if call.argument is not None:
            functions.setdefault(call.argument, set()).add("sum" if call.name == "avg" else call.name)
    read = [name for argument in functions for name in sorted(argument.columns())]
    merged = [INTEGER]
    for argument, names in functions.items():
        sums = len(names - {"min", "max", "count"})
        beside = sums if names & {"min", "max"} else max(0, sums - 1)
        merged += [INTEGER] * (beside + argument.kind(schema).nullable)
    several = share_of_several(costing) * (8 * len(merged) + math.fsum(merged))
    return _tuple(_value(schema, facts, name) for name in (*operator.keys, *read)) + several


def element_bytes(payload: float) -> float:
    """Bytes of an element, from the bytes of its payload."""
    return sys.getsizeof((0, 0, ())) + 2 * INTEGER + payload


def row_bytes(schema: Schema, facts: Facts) -> float:
    """Bytes of a row of a schema: the tuple and its values.

    >>> row_bytes(Schema.of(x="integer", y="float"), {}) == sys.getsizeof((1, 1.5)) + 28 + 24
    True
    """
    return _tuple(_value(schema, facts, name) for name in schema.names)


def _row_of(node: Node, facts: Facts) -> float:
    is_sampled = any(known.sample is not None for known in facts.values())
    return row_bytes(node.schema, facts) if is_sampled else _row_by_types(node)


@fact_of_node
def _row_by_types(node: Node) -> float:
    return row_bytes(node.schema, {})


def _tuple(values: Iterable[float]) -> float:
    sizes = list(values)
    return sys.getsizeof(()) + 8 * len(sizes) + math.fsum(sizes)


def _value(schema: Schema, facts: Facts, name: str) -> float:
    known = facts.get(name)
    if known is not None and known.sample is not None and known.sample.rows:
        return known.sample.value_bytes(known.name)
    return SIZES[schema[name].type]
