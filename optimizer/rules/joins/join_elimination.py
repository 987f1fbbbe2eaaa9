"""Leave out a join in which every row has exactly one match.

    join(c, L, R)  =  filter(c's columns of L are known, L)        if c equates columns of L with a key of R,
        in which all their values are, and the output has no other columns of R; likewise for L

Why      Each row of L with known values has exactly one match; and the output columns of the match are in L
         too.
Gain     One join less, and everything below its other side.
Guard    A key: without it, a row of L with two matches would occur twice. An inclusion: without it, a row
         of L without a match would be lost. The key alone suffices for a semi-join.
Source   ours; keys and inclusions are declared or follow (thesis, 10.3.1 has neither)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from midstream.optimizer.rules.faithful import EXACT
from midstream.optimizer.rules.filters.filtered import filtered
from midstream.optimizer.rules.joins.partners import partners
from midstream.optimizer.rules.measures import combining
from midstream.optimizer.rules.readings import operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Join, Project
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import is_included, is_key
from midstream.plans.expressions.expressions import Col, IsNull, Not

Matched = tuple[int, Node]
"""The number of the side that stays, and the plan that replaces the join."""


def match_on(side: int) -> Callable[[Node], Iterable[Matched]]:
    """Match joins whose given side has all output columns."""

    def match(node: Node) -> Iterable[Matched]:
        """The side and its replacement plan, if it can give the output columns with the same types."""
        join, stays = operator_of(node, Join), node.inputs[side]
        ours, theirs, rest = partners(node, side)
        same = {
            b: Col(a)
            for a, b in zip(ours, theirs, strict=True)
            if stays.schema[a].type is node.inputs[1 - side].schema[b].type in EXACT
        }
        own = {name: Col(name) for name in stays.schema.names}
        values = {**same, **own}
        if not set(join.columns) <= values.keys() or any(part.columns() - own.keys() for part in rest):
            return
        known = [Not(IsNull(Col(name))) for name in dict.fromkeys(ours) if stays.schema[name].nullable]
        columns = tuple((name, values[name]) for name in join.columns)
        result = Node(Project(columns), (filtered([*rest, *known], stays),))
        if result.schema == node.schema:
            yield side, result

    return match


def has_one_match(node: Node, matched: Matched) -> bool:
    """True if a row of the side that stays cannot have two matches, which would duplicate it."""
    side, _ = matched
    return is_key(node.inputs[1 - side], partners(node, side).theirs)


def has_a_match(node: Node, matched: Matched) -> bool:
    """True if every row of the side that stays has a match, without which it would be dropped."""
    side, _ = matched
    ours, theirs, _ = partners(node, side)
    return is_included(node.inputs[side], ours, node.inputs[1 - side], theirs)


def rewrite(node: Node, matched: Matched) -> Node:
    """The side that stays, behind filter and projection."""
    _, result = matched
    return result


LEFT_JOIN_ELIMINATION = Rule(
    name="left-join-elimination",
    equation="join(c, L, R) = filter(c's columns of L are known, L)",
    shape=Shape(Join),
    match=match_on(0),
    guards=(has_one_match, has_a_match),
    rewrite=rewrite,
    measure=combining,
)

RIGHT_JOIN_ELIMINATION = Rule(
    name="right-join-elimination",
    equation="join(c, L, R) = filter(c's columns of R are known, R)",
    shape=Shape(Join),
    match=match_on(1),
    guards=(has_one_match, has_a_match),
    rewrite=rewrite,
    measure=combining,
)
