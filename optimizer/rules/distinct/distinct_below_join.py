"""Push duplicate elimination below a join, or pull it up again.

    distinct(join(L, R))  =  join(distinct(L), distinct(R))        if the join tells pairs apart

Why      A pair occurs as often as the product of its halves' multiplicities; it is there once exactly if each
         half is there once.
Gain     Below: the join pairs each half once. Above: fewer elements to look up where the join is selective.
Guard    Where the join drops a column that does not follow from the others, two different halves make one
         pair: distinct(join) gives it once, the other side twice.
         An expression that tells 0.0 from -0.0, which are equal, is asked of one of them only.
Source   thesis, (10.6), for products; Example 28.1
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.duplicates import distinct
from midstream.optimizer.rules.faithful import asks_equal_rows_alike
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Distinct, Join
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import is_duplicate_free


def match_below(node: Node) -> Iterable[Node]:
    """The join."""
    return [node.inputs[0]]


def tells_pairs_apart(node: Node, join: Node) -> bool:
    """Whether halves without duplicates make pairs without: else two pairs may be the same row."""
    return is_duplicate_free(rewrite_below(node, join))


def tells_no_equal_rows_apart(node: Node, join: Node) -> bool:
    """Whether the operator asks equal rows alike, of which one is kept."""
    return asks_equal_rows_alike(join)


def rewrite_below(node: Node, join: Node) -> Node:
    """The join of the inputs without duplicates."""
    return join.with_inputs(tuple(map(distinct, join.inputs)))


def match_above(node: Node) -> Iterable[Node]:
    """The join."""
    return [node]


def gives_no_pair_twice(node: Node, join: Node) -> bool:
    """Whether the join of what has no duplicates has none: else they are results."""
    return is_duplicate_free(join)


def rewrite_above(node: Node, join: Node) -> Node:
    """The join without its duplicates."""
    return distinct(join.with_inputs(tuple(child.inputs[0] for child in node.inputs)))


DISTINCT_BELOW_JOIN = Rule(
    name="distinct-below-join",
    equation="distinct(join(L, R)) = join(distinct(L), distinct(R))",
    shape=Shape(Distinct, Shape(Join)),
    match=match_below,
    guards=(tells_pairs_apart, tells_no_equal_rows_apart),
    rewrite=rewrite_below,
)

DISTINCT_ABOVE_JOIN = Rule(
    name="distinct-above-join",
    equation="join(distinct(L), distinct(R)) = distinct(join(L, R))",
    shape=Shape(Join, each=Shape(Distinct)),
    match=match_above,
    guards=(gives_no_pair_twice, tells_no_equal_rows_apart),
    rewrite=rewrite_above,
)
