"""By which columns the rows of one side of a join find those of the other."""

from __future__ import annotations

from typing import NamedTuple

from midstream.optimizer.rules.readings import condition_of
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import TRUE, Expression, conjuncts, join_keys


class Partners(NamedTuple):
    """The columns of both sides that a condition equates, pair by pair, and what else it asks."""

    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    rest: tuple[Expression, ...]


def partners(node: Node, side: int = 0) -> Partners:
    """Those of a join, semi-join or anti-join, as one side sees them."""
    one, other = node.inputs[side], node.inputs[1 - side]
    pairs, rest = join_keys(condition_of(node), one.schema, other.schema)
    pairs = sorted(set(pairs))
    ours, theirs = tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
    return Partners(ours, theirs, tuple(part for part in conjuncts(rest) if part != TRUE))
