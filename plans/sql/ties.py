"""What ties a query in a condition to the query around it."""

from __future__ import annotations

from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Binary, Call, Col, Expression, Not
from midstream.plans.sql.scope import OUTER, reads_outer


def inner_side(tie: Expression) -> Expression | None:
    """Of an equality between an expression of the query and one of the query around, the former."""
    if isinstance(tie, Binary) and tie.operator == "==":
        for side, other in ((tie.left, tie.right), (tie.right, tie.left)):
            around = other.columns()
            if not reads_outer(side) and around and all(name.startswith(OUTER) for name in around):
                return side
    return None


def other_side(tie: Expression, side: Expression) -> Expression:
    """What an equality equates a side with."""
    assert isinstance(tie, Binary)
    return tie.right if tie.left == side else tie.left


def same(around: Col, inside: Col, node: Node) -> Expression:
    """Whether a value around is the one inside; of unknown values, whether both are."""
    if node.schema[around.name.removeprefix(OUTER)].nullable:
        return Not(Call("is distinct from", (around, inside)))
    return Binary("==", around, inside)
