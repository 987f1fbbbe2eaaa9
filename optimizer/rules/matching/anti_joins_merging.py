"""Merge two anti-joins into one over a union, or split it.

    anti-join(p, anti-join(p, S, L), R)  =  anti-join(p, S, union(L, R))

Why      No row of L and none of R satisfies p exactly if none of their union does.
Gain     Merged: the rows of S are kept once. Split: a small L may keep most rows from R.
Source   ours, by (8.3) and (8.16)

It does not hold for semi-joins: one form requires a match in both streams, the other in either.
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.readings import second_input
from midstream.optimizer.rules.rule import ANY, Rule, Shape
from midstream.optimizer.rules.successive import at_once, one_by_one
from midstream.plans.algebra.operators import AntiJoin, Union
from midstream.plans.algebra.plan import Node


def match_two(node: Node) -> Iterable[Node]:
    """The lower anti-join, if it has the same condition on the same columns."""
    lower, right = node.inputs
    columns = [[(c.name, c.type) for c in side.schema] for side in (lower.inputs[1], right)]
    return [lower] if lower.operator == node.operator and columns[0] == columns[1] else []


ANTI_JOINS_MERGING = Rule(
    name="anti-joins-merging",
    equation="anti-join(anti-join(S, L), R) = anti-join(S, union(L, R))",
    shape=Shape(AntiJoin, Shape(AntiJoin)),
    match=match_two,
    rewrite=at_once,
)

ANTI_JOINS_SPLITTING = Rule(
    name="anti-joins-splitting",
    equation="anti-join(S, union(L, R)) = anti-join(anti-join(S, L), R)",
    shape=Shape(AntiJoin, ANY, Shape(Union)),
    match=second_input,
    rewrite=one_by_one,
)
