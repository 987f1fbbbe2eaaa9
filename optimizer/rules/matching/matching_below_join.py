"""Push a semi-join or an anti-join below the join input that it reads, or pull it up.

    op(p, join(L, R), S)  =  join(op(p, L, S), R)        if p reads only columns of L and S
    op(p, join(L, R), S)  =  join(L, op(p, R, S))        if p reads only columns of R and S

Why      A pair has the columns of its half, so both have the same matches.
Gain     Below: fewer elements enter the join's state. Above: less to look up if the join is selective.
Guard    If p reads both halves, a single half lacks some columns. The names that S and p use must mean the
         same above and below: a half may have columns that the join drops, and so may the other half.
Source   ours, by (8.10), (8.16) and erratum 5
"""

from __future__ import annotations

from midstream.optimizer.rules.changing_places import pulled_up, pushed_down
from midstream.optimizer.rules.readings import condition_of, first_place, second_place
from midstream.optimizer.rules.rule import ANY, Rule, Shape
from midstream.plans.algebra.operators import Join, Matching
from midstream.plans.algebra.plan import Node


def reads_one_half(node: Node, place: int) -> bool:
    """True if the condition reads no column of the other half, which does not exist below."""
    join, looked_up = node.inputs
    return condition_of(node).columns() <= {*join.inputs[place].schema.names, *looked_up.schema.names}


def has_other_names(node: Node, place: int) -> bool:
    """True if no column of that half, including dropped ones, has the name of a column that is looked up."""
    join, looked_up = node.inputs
    return not any(name in looked_up.schema for name in join.inputs[place].schema.names)


def keeps_what_is_read(node: Node, place: int) -> bool:
    """True if the join keeps the columns that the condition reads, so that they exist above."""
    matching = node.inputs[place]
    return condition_of(matching).columns() <= {*node.schema.names, *matching.inputs[1].schema.names}


def keeps_other_names(node: Node, place: int) -> bool:
    """True if no column of a pair has the name of a column that is looked up."""
    return not any(name in node.schema for name in node.inputs[place].inputs[1].schema.names)


MATCHING_BELOW_LEFT = Rule(
    name="matching-below-left",
    equation="op(join(L, R), S) = join(op(L, S), R)",
    shape=Shape(Matching, Shape(Join)),
    match=first_place,
    guards=(reads_one_half, has_other_names),
    rewrite=pushed_down,
)

MATCHING_BELOW_RIGHT = Rule(
    name="matching-below-right",
    equation="op(join(L, R), S) = join(L, op(R, S))",
    shape=Shape(Matching, Shape(Join)),
    match=second_place,
    guards=(reads_one_half, has_other_names),
    rewrite=pushed_down,
)

MATCHING_ABOVE_LEFT = Rule(
    name="matching-above-left",
    equation="join(op(L, S), R) = op(join(L, R), S)",
    shape=Shape(Join, Shape(Matching)),
    match=first_place,
    guards=(keeps_what_is_read, keeps_other_names),
    rewrite=pulled_up,
)

MATCHING_ABOVE_RIGHT = Rule(
    name="matching-above-right",
    equation="join(L, op(R, S)) = op(join(L, R), S)",
    shape=Shape(Join, ANY, Shape(Matching)),
    match=second_place,
    guards=(keeps_what_is_read, keeps_other_names),
    rewrite=pulled_up,
)
