"""Move negations inwards, to single comparisons.

    filter(not (p or q), S)  =  filter(not p and not q, S)        and so for all negations in conditions

Why      De Morgan's laws hold with unknown values; a comparison is unknown where its opposite is.
Gain     The parts can move separately, and comparisons can be compared with others.
Source   ours; three-valued logic as in SQL
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.measures import negated
from midstream.optimizer.rules.negations import inwards
from midstream.optimizer.rules.readings import condition_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Filter
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import (
    Expression,
    conjunction,
    conjuncts,
)


def match(node: Node) -> Iterable[list[Expression]]:
    """The parts of the condition with negations moved inwards, if any move."""
    parts = conjuncts(condition_of(node))
    moved = [inwards(part, node.schema) for part in parts]
    if moved != list(parts):
        yield moved


def rewrite(node: Node, moved: list[Expression]) -> Node:
    """The filter with the moved negations."""
    return Node(Filter(conjunction(moved)), node.inputs)


NEGATION_INWARDS = Rule(
    name="negation-inwards",
    equation="filter(not (p or q), S) = filter(not p and not q, S)",
    shape=Shape(Filter),
    match=match,
    rewrite=rewrite,
    measure=negated,
)
