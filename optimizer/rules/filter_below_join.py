"""Push the parts of a filter below the join input that they read.

    filter(p and q, join(L, R))  =  filter(q, join(filter(p, L), R))        if p reads only L; likewise for R

Why      A pair keeps the left half's values, so p says the same of the pair and of the half.
Gain     Fewer elements enter the join's state.
Guard    With p over R the rewrite asks L for columns that it does not have.
Source   thesis, section 10.3.1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from midstream.optimizer.rules.rule import Rule
from midstream.plans.algebra.operators import Filter, Join
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Expression, conjunction, conjuncts

Parts = frozenset[Expression]


def match(node: Node) -> Iterable[Parts]:
    """A filter over a join: for each side, the parts of its condition that read something of it and nothing
    else."""
    if not (isinstance(node.operator, Filter) and isinstance(node.inputs[0].operator, Join)):
        return
    parts = [part for part in conjuncts(node.operator.condition) if part.columns()]
    for side in node.inputs[0].inputs:
        if matched := frozenset(part for part in parts if part.columns() <= set(side.schema.names)):
            yield matched


def reads_only(side: int) -> Callable[[Node, Parts], bool]:
    """Whether parts of a filter read only one side of the join below it."""

    def guard(node: Node, matched: Parts) -> bool:
        names = set(node.inputs[0].inputs[side].schema.names)
        return all(part.columns() <= names for part in matched)

    return guard


def rewrite_below(side: int) -> Callable[[Node, Parts], Node]:
    """Move parts of a filter to one side of the join."""

    def rewrite(node: Node, matched: Parts) -> Node:
        assert isinstance(node.operator, Filter)
        join = node.inputs[0]
        sides = list(join.inputs)
        sides[side] = filtered(matched, sides[side])
        rest = set(conjuncts(node.operator.condition)) - matched
        return filtered(rest, Node(join.operator, tuple(sides)))

    return rewrite


def filtered(parts: Iterable[Expression], node: Node) -> Node:
    """A node behind a filter; merged with one that is there already; the node itself for no condition."""
    parts = list(parts)
    if not parts:
        return node
    if isinstance(node.operator, Filter):
        return Node(Filter(conjunction([*parts, node.operator.condition])), node.inputs)
    return Node(Filter(conjunction(parts)), (node,))


FILTER_BELOW_LEFT = Rule(
    name="filter-below-left",
    equation="filter(p, join(L, R)) = join(filter(p, L), R)",
    match=match,
    guard=reads_only(0),
    rewrite=rewrite_below(0),
)

FILTER_BELOW_RIGHT = Rule(
    name="filter-below-right",
    equation="filter(p, join(L, R)) = join(L, filter(p, R))",
    match=match,
    guard=reads_only(1),
    rewrite=rewrite_below(1),
)
