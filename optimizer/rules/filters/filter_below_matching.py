"""Push a filter below a semi-join or an anti-join.

    filter(p, semi-join(c, L, R))  =  semi-join(c, filter(p, L), R)        and so for anti-joins

Why      The results are rows of L, unchanged, and the match of a row does not depend on the other rows.
Gain     Fewer rows wait for a match.
Source   thesis, section 10.3.1, by (8.11) with erratum 5, and (8.16)
"""

from __future__ import annotations

from midstream.optimizer.rules.filters.filtered import Parts, all_parts, filtered, parts_of, without
from midstream.optimizer.rules.measures import filtering
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import AntiJoin, Filter, SemiJoin
from midstream.plans.algebra.plan import Node


def rewrite(node: Node, matched: Parts) -> Node:
    """The operator over the filtered left side; parts that may not move stay above."""
    below = node.inputs[0]
    moved = below.with_input(0, filtered(matched, below.inputs[0]))
    return filtered(without(parts_of(node), matched), moved)


FILTER_BELOW_MATCHING = Rule(
    name="filter-below-matching",
    equation="filter(p, semi-join(c, L, R)) = semi-join(c, filter(p, L), R)",
    shape=Shape(Filter, Shape((SemiJoin, AntiJoin))),
    match=all_parts,
    rewrite=rewrite,
    measure=filtering,
)
