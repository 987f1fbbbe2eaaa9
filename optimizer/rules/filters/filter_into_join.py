"""Make the parts of a filter that read both sides of the join below it part of the join's condition.

    filter(p and q, join(c, L, R))  =  filter(q, join(p and c, L, R))        if p reads L and R

Why      A join's results are the pairs that satisfy its condition; a filter above it checks the same pairs.
Gain     Pairs that the filter would drop are not built; an equality lets the join hash.
Source   thesis, section 10.3.1
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.filters.filtered import Parts, filtered, parts_of, with_free, without
from midstream.optimizer.rules.measures import filtering
from midstream.optimizer.rules.readings import condition_of, operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Filter, Join
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import conjunction


def match(node: Node) -> Iterable[Parts]:
    """The parts of the filter's condition that read something of both sides."""
    sides = [set(side.schema.names) for side in node.inputs[0].inputs]
    yield from with_free(
        tuple(part for part in parts_of(node) if all(part.columns() & side for side in sides))
    )


def rewrite(node: Node, matched: Parts) -> Node:
    """The join under both conditions."""
    join = node.inputs[0]
    condition = conjunction([condition_of(join), *matched])
    joined = Node(Join(condition, operator_of(join, Join).columns), join.inputs)
    return filtered(without(parts_of(node), matched), joined)


FILTER_INTO_JOIN = Rule(
    name="filter-into-join",
    equation="filter(p, join(c, L, R)) = join(p and c, L, R)",
    shape=Shape(Filter, Shape(Join)),
    match=match,
    rewrite=rewrite,
    measure=filtering,
)
