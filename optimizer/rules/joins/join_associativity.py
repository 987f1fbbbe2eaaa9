"""Join the second and third of three inputs first.

    join(p, join(q, A, B), C)  =  join(p', A, join(q', B, C))        if p and q together are equivalent to p'
        and q' together

Why      Both sides are the triples of A × B × C that satisfy p and q and are valid together.
Gain     The smaller intermediate result.
Guard    If the lower join drops a column of B, and C has a column of that name, B and C cannot be joined: the
         name would be ambiguous.
Source   thesis, (10.4)

Equalities that follow from others are used: from a = b in q and b = c in p, the join of A and C gets a = c.
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.linking import Conditions, hides_columns_of
from midstream.optimizer.rules.readings import operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Join
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import conjuncts

Joins = tuple[Join, Join]


def match(node: Node) -> Iterable[Joins]:
    """The upper join and the lower one."""
    return [(operator_of(node, Join), operator_of(node.inputs[0], Join))]


def names_are_distinct(node: Node, matched: Joins) -> bool:
    """True if no column name occurs in two of the three inputs: it would be ambiguous."""
    lower, c = node.inputs
    return not hides_columns_of(lower, c)


def rewrite(node: Node, matched: Joins) -> Node:
    """The join of A with the join of B and C."""
    upper, lower = matched
    (a, b), c = node.inputs[0].inputs, node.inputs[1]
    parts = [*conjuncts(upper.condition), *conjuncts(lower.condition)]
    conditions = Conditions(parts, (a, b, c), upper.columns)
    return conditions.outer(a, conditions.inner(b, c))


JOIN_ASSOCIATIVITY = Rule(
    name="join-associativity",
    equation="join(join(A, B), C) = join(A, join(B, C))",
    shape=Shape(Join, Shape(Join)),
    match=match,
    guards=(names_are_distinct,),
    rewrite=rewrite,
    keeps_links=True,
)
