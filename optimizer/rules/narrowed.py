"""Subplans with fewer columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from midstream.plans.algebra.operators import Aggregate, Filter, Join, Project
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Col


def chosen(names: Iterable[str], node: Node) -> Node:
    """Some columns of a node; the node itself where these are all, in the same order."""
    names = tuple(names)
    if names == node.schema.names:
        return node
    return Node(Project(tuple((name, Col(name)) for name in names)), (node,))


def narrowed(node: Node, read: Collection[str], *, adds_projection: bool = True) -> Node:
    """A subplan without columns that nobody reads. What chooses columns itself chooses fewer; else a
    projection does, if that is wanted and no join is below: there it would be in the way of joins above.

    One column stays in any case: rows are there, whether they are read or not.
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
    """Whether there is a join below filters and projections."""
    while isinstance(node.operator, Filter | Project):
        (node,) = node.inputs
    return isinstance(node.operator, Join)
