"""Join the second and third of three inputs first.

    join(p, join(q, A, B), C)  =  join(p', A, join(q', B, C))        where p and q together say what p' and q'
    do

Why      Both sides are the triples of A × B × C that satisfy p and q and are valid together.
Gain     The smaller intermediate result.
Source   thesis, (10.4)

Equalities that follow from others are used: from a = b in q and b = c in p, the join of A and C gets a = c.
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.linking import Conditions
from midstream.optimizer.rules.rule import Rule
from midstream.plans.expressions import conjuncts
from midstream.plans.logical import Join
from midstream.plans.plan import Node


def match(node: Node) -> Iterable[tuple[Join, Join]]:
    """A join whose left side is a join."""
    if isinstance(node.operator, Join) and isinstance(node.inputs[0].operator, Join):
        return [(node.operator, node.inputs[0].operator)]
    return []


def rewrite(node: Node, found: tuple[Join, Join]) -> Node:
    """The join of A with the join of B and C."""
    upper, lower = found
    (a, b), c = node.inputs[0].inputs, node.inputs[1]
    conditions = Conditions([*conjuncts(upper.condition), *conjuncts(lower.condition)], (a, b, c))
    inner = conditions.join(b, c, tuple(sorted((*b.schema.names, *c.schema.names))))
    left = {part for part in conditions.rest if part.columns() <= set(inner.schema.names)}
    conditions.rest = [part for part in conditions.rest if part not in left]
    return conditions.join(a, inner, upper.columns)


JOIN_ASSOCIATIVITY = Rule(
    name="join-associativity",
    equation="join(join(A, B), C) = join(A, join(B, C))",
    match=match,
    rewrite=rewrite,
)
