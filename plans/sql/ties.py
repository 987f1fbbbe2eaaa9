"""Ties: conditions between a query in a condition and its outer query."""

from __future__ import annotations

from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Binary, Call, Col, Expression, Not
from midstream.plans.sql.scope import OUTER, reads_outer


def inner_side(tie: Expression) -> Expression | None:
    """The inner side of an equality between the query and its outer query; None for other conditions."""
    if isinstance(tie, Binary) and tie.operator == "==":
        for side, other in ((tie.left, tie.right), (tie.right, tie.left)):
            around = other.columns()
            if not reads_outer(side) and around and all(name.startswith(OUTER) for name in around):
                return side
    return None


def other_side(tie: Expression, side: Expression) -> Expression:
    """The other side of an equality."""
    assert isinstance(tie, Binary)
    return tie.right if tie.left == side else tie.left


def same(around: Col, inside: Col, node: Node) -> Expression:
    """The condition that an outer and an inner value are equal, or both unknown."""
    if node.schema[around.name.removeprefix(OUTER)].nullable:
        return Not(Call("is distinct from", (around, inside)))
    return Binary("==", around, inside)
