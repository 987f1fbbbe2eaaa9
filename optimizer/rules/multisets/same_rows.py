"""Helpers of rules that compare the columns of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from midstream.optimizer.rules.readings import condition_of
from midstream.plans.algebra.operators import Project
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import (
    Call,
    Col,
    Expression,
    Not,
    column_equality,
    conjunction,
    conjuncts,
    equality,
)
from midstream.plans.values.schema import Schema, unused

Pairs = Mapping[str, tuple[str, bool]]
"""By left column, the right column that it is compared with, and true if unknown counts as a value there."""


def under_other_names(left: Schema, right: Node) -> tuple[Node, Expression]:
    """Rename the columns of a subplan to names that the left side does not have.

    Returns the renamed subplan, and the condition that two rows are the same.
    """
    names: dict[str, str] = {}
    for column in left:
        names[column.name] = unused(column.name, [*left.names, *names.values()])
    renamed = Node(Project(tuple((names[name], Col(name)) for name in right.schema.names)), (right,))
    return renamed, conjunction(
        same_value(name, other, left[name].nullable and right.schema[name].nullable)
        for name, other in names.items()
    )


def same_value(left: str, right: str, may_be_unknown: bool) -> Expression:
    """The condition that two columns have the same value; unknown is a value if both may be unknown."""
    if not may_be_unknown:
        return equality(left, right)
    return Not(Call("is distinct from", (Col(left), Col(right))))


def compared_columns(condition: Expression, left: Schema, right: Schema) -> Pairs | None:
    """The pairs of columns that a condition compares; None if it does anything else.

    Each column of the left side is compared with a different one of the right side, of the same type.
    """
    pairs: dict[str, tuple[str, bool]] = {}
    parts = conjuncts(condition)
    for part in parts:
        one, other = _compared(part) or ("", "")
        if one in right:
            one, other = other, one
        if one not in left or other not in right or left[one].type != right[other].type:
            return None
        pairs[one] = (other, isinstance(part, Not))
    others = {other for other, _ in pairs.values()}
    return pairs if len(parts) == len(left) == len(pairs) == len(others) else None


def _compared(part: Expression) -> tuple[str, str] | None:
    match part:
        case Not(Call("is distinct from", (Col(one), Col(other)))):
            return one, other
    return column_equality(part)


def match_comparing(node: Node) -> Iterable[Pairs]:
    """The pairs of columns that a semi-join or an anti-join compares, if its condition does nothing else."""
    left, right = node.inputs
    pairs = compared_columns(condition_of(node), left.schema, right.schema)
    return [] if pairs is None else [pairs]


def tells_unknown(node: Node, pairs: Pairs) -> bool:
    """True if the condition holds for identical rows; an equality does not if both values are unknown."""
    left, right = (side.schema for side in node.inputs)
    return all(
        is_exact or not (left[one].nullable and right[other].nullable)
        for one, (other, is_exact) in pairs.items()
    )


def as_rows_of(left: Schema, right: Node, pairs: Pairs) -> Node:
    """The compared columns of the right side, under the names of the left one."""
    return Node(Project(tuple((name, Col(pairs[name][0])) for name in left.names)), (right,))
