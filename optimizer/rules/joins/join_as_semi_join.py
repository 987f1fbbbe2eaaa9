"""Write a join with left columns only as a semi-join, or a semi-join as a join.

    join(c, L, R)  =  semi-join(c, L, R)        if the output has columns of L alone, and those of R that c
        equates with some of L are a key of R

    semi-join(c, L, R)  =  join(c, L, distinct(project(K, R)))        if c equates all columns K that it reads
        of R with some of L

Why      A row of L occurs once for each match, and there is at most one match.
Gain     As a semi-join: no pairs are made. As a join: it can change places with other joins.
Guard    If several rows of R match, the join returns the row of L several times (erratum 5). If c requires
         more of R than equality, the distinct rows would need more columns, and several could match again.
Source   thesis, (8.11) with erratum 5
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.duplicates import distinct
from midstream.optimizer.rules.joins.partners import partners
from midstream.optimizer.rules.narrowed import chosen
from midstream.optimizer.rules.readings import operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Join, SemiJoin
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import is_key


def match_join(node: Node) -> Iterable[Join]:
    """The join, if no column of the right side is in the output."""
    join = operator_of(node, Join)
    if set(join.columns) <= set(node.inputs[0].schema.names):
        yield join


def has_one_match(node: Node, matched: Join) -> bool:
    """True if a row of the left side cannot have two matches, which would duplicate it."""
    return is_key(node.inputs[1], partners(node).theirs)


def rewrite_join(node: Node, matched: Join) -> Node:
    """The columns of the semi-join."""
    return chosen(matched.columns, Node(SemiJoin(matched.condition), node.inputs))


def match_semi_join(node: Node) -> Iterable[SemiJoin]:
    """The semi-join, if it equates columns."""
    if partners(node).theirs:
        yield operator_of(node, SemiJoin)


def asks_for_equality(node: Node, matched: SemiJoin) -> bool:
    """True if the condition equates every column that it reads of the right side with one of the left."""
    right = set(node.inputs[1].schema.names)
    return matched.condition.columns() & right <= set(partners(node).theirs)


def rewrite_semi_join(node: Node, matched: SemiJoin) -> Node:
    """The join with the distinct values of the compared columns."""
    left, right = node.inputs
    read = set(partners(node).theirs)
    values = chosen((name for name in right.schema.names if name in read), right)
    if not is_key(values, read):
        values = distinct(values)
    return Node(Join(matched.condition, left.schema.names), (left, values))


JOIN_AS_SEMI_JOIN = Rule(
    name="join-as-semi-join",
    equation="join(c, L, R) = semi-join(c, L, R)",
    shape=Shape(Join),
    match=match_join,
    guards=(has_one_match,),
    rewrite=rewrite_join,
)

SEMI_JOIN_AS_JOIN = Rule(
    name="semi-join-as-join",
    equation="semi-join(c, L, R) = join(c, L, distinct(project(K, R)))",
    shape=Shape(SemiJoin),
    match=match_semi_join,
    guards=(asks_for_equality,),
    rewrite=rewrite_semi_join,
)
