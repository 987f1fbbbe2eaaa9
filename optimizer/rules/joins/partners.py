"""Columns by which rows of one side of a join find rows of the other."""

from __future__ import annotations

from typing import NamedTuple

from midstream.optimizer.rules.readings import condition_of
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import TRUE, Expression, conjuncts, join_keys


class Partners(NamedTuple):
    """Pairs of columns that a condition equates, and the other parts of the condition."""

    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    others: tuple[Expression, ...]


def partners(node: Node, side: int = 0) -> Partners:
    """The partners of a join, semi-join or anti-join; `side` is the side called ours."""
    one, other = node.inputs[side], node.inputs[1 - side]
    pairs, rest = join_keys(condition_of(node), one.schema, other.schema)
    pairs = sorted(set(pairs))
    ours, theirs = tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
    return Partners(ours, theirs, tuple(part for part in conjuncts(rest) if part != TRUE))
