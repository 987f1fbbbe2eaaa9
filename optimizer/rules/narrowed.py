"""Subplans with fewer columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from midstream.plans.algebra.operators import Aggregate, Filter, Join, Project
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Col


def chosen(names: Iterable[str], node: Node) -> Node:
    """Some columns of a node; the node itself if these are all its columns, in the same order."""
    names = tuple(names)
    if names == node.schema.names:
        return node
    return Node(Project(tuple((name, Col(name)) for name in names)), (node,))


def narrowed(node: Node, read: Collection[str], *, adds_projection: bool = True) -> Node:
    """A subplan without columns that no operator reads.

    An operator that chooses its columns chooses fewer. Otherwise a projection is added, if `adds_projection`
    and no join is below, where it would prevent a reordering of joins. At least one column stays, since the
    rows exist even if no operator reads them.
    """
    kept = tuple(name for name in node.schema.names if name in read) or node.schema.names[:1]
    if kept == node.schema.names:
        return node
    match node.operator:
        case Join(condition):
            return Node(Join(condition, kept), node.inputs)
        case Project(columns):
            return Node(Project(tuple(each for each in columns if each[0] in kept)), node.inputs)
        case Aggregate(keys, calls) if set(keys) <= set(kept):
            return Node(Aggregate(keys, tuple(call for call in calls if call[0] in kept)), node.inputs)
        case Filter(condition) if is_joined(node):
            return node.with_inputs((narrowed(node.inputs[0], {*kept, *condition.columns()}),))
    return chosen(kept, node) if adds_projection else node


def is_joined(node: Node) -> bool:
    """True if there is a join below filters and projections."""
    while isinstance(node.operator, Filter | Project):
        (node,) = node.inputs
    return isinstance(node.operator, Join)
