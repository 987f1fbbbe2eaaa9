"""Let a granularity and a snapshot-reducible operator change places.

    granularity(g, op(A, .., Z))  =  op(granularity(g, A), .., granularity(g, Z))

Why      The operator's snapshot follows from the snapshots of its inputs at the same instant, and a
         granularity only chooses the instant.
Gain     Below: fewer changes enter the operator's state. Above: one conversion instead of many.
Guard    All inputs must be read at the same instants: with a granularity on some of them, or with different
         ones, snapshots of different instants meet.
Source   ours, by Definition 10.2 of the thesis

A granularity with bounds, whose granule can change while it runs, changes places only with an operator that
treats each row separately. A change depends on when rows start (thesis, 21.3.2), and the results of all other
operators may start elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.changing_places import below_each
from midstream.optimizer.rules.readings import operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.implementations.obstacles import gives_constants
from midstream.plans.algebra.operators import Arrangement, Granularity, SnapshotReducible
from midstream.plans.algebra.operators.base import RowByRow
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import reads_stream


def match_below(node: Node) -> Iterable[Node]:
    """The operator below, if the granularity may pass it.

    Each of its inputs must read a stream and not pass on constant rows: no granularity runs over relations.
    """
    below = node.inputs[0]
    if (
        below.inputs
        and _may_pass(operator_of(node, Granularity), below)
        and all(map(_can_wait, below.inputs))
    ):
        yield below


def match_above(node: Node) -> Iterable[Granularity]:
    """The granularity of the first input, if it may pass."""
    first = node.inputs[0].operator if node.inputs else None
    if isinstance(first, Granularity) and _may_pass(first, node):
        yield first


def is_on_all_inputs(node: Node, first: Granularity) -> bool:
    """True if every input has the same granularity."""
    return all(child.operator == first for child in node.inputs)


def rewrite_above(node: Node, first: Granularity) -> Node:
    """The granularity over the operator."""
    below = tuple(_behind(child, first) for child in node.inputs)
    return Node(first, (Node(node.operator, below),))


def _may_pass(granularity: Granularity, node: Node) -> bool:
    """True if a granularity and an operator may change places, even if the granule changes later."""
    if isinstance(node.operator, Arrangement):
        return False
    return granularity.bounds is None or isinstance(node.operator, RowByRow)


def _can_wait(node: Node) -> bool:
    return reads_stream(node) and not gives_constants(node)


def _behind(node: Node, granularity: Granularity) -> Node:
    return node.inputs[0] if isinstance(node.operator, Granularity) else node


GRANULARITY_BELOW_REDUCIBLE = Rule(
    name="granularity-below-reducible",
    equation="granularity(op(L, R)) = op(granularity(L), granularity(R))",
    shape=Shape(Granularity, Shape(SnapshotReducible)),
    match=match_below,
    rewrite=below_each,
)

GRANULARITY_ABOVE_REDUCIBLE = Rule(
    name="granularity-above-reducible",
    equation="op(granularity(L), granularity(R)) = granularity(op(L, R))",
    shape=Shape(SnapshotReducible, Shape(Granularity)),
    match=match_above,
    guards=(is_on_all_inputs,),
    rewrite=rewrite_above,
)
