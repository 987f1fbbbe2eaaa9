"""Two queries made alike for set operations: equal names, and the wider types."""

from __future__ import annotations

from collections.abc import Sequence

from midstream.plans.algebra.operators import Project
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Cast, Col, Expression
from midstream.plans.values.errors import PlanError
from midstream.plans.values.schema import Column, Type


def projected(node: Node, outputs: Sequence[tuple[str, Expression]]) -> Node:
    """Rows mapped to named values; the same node if that changes nothing."""
    if tuple((name, Col(name)) for name in node.schema.names) == tuple(outputs):
        return node
    return Node(Project(tuple(outputs)), (node,))


def alike(left: Node, right: Node) -> tuple[Node, Node]:
    """Two queries with columns of equal names and types: the names of the left query, and the wider types."""
    if len(left.schema) != len(right.schema):
        raise PlanError(f"found {len(left.schema)} columns and {len(right.schema)}, expected as many")
    types = [_common(one, other) for one, other in zip(left.schema, right.schema, strict=True)]
    return _cast(left, left.schema.names, types), _cast(right, left.schema.names, types)


def _common(one: Column, other: Column) -> Type:
    if one.type is other.type:
        return one.type
    if {one.type, other.type} == {Type.INTEGER, Type.FLOAT}:
        return Type.FLOAT
    if Type.ANY in (one.type, other.type):
        return one.type if other.type is Type.ANY else other.type
    raise PlanError(
        f"column {one.name}: found {one.type.value} and {other.type.value}, expected types that can be "
        "combined"
    )


def _cast(node: Node, names: Sequence[str], types: Sequence[Type]) -> Node:
    columns: list[tuple[str, Expression]] = []
    for name, column, type_ in zip(names, node.schema, types, strict=True):
        same = column.type is type_
        columns.append((name, Col(column.name) if same else Cast(Col(column.name), type_)))
    return projected(node, columns)
