"""Operators that hold elements back, and changes that read around them.

    A ──► union ──► old, new        both plans get A through the union only
    A ──► union ──► new             the old plan has already got the elements of A that the union holds:
    A ─────────────► old            the union is read around

A union, a split, a coalesce, a queue or an output in order gives an element later than it takes it. As long
as both plans get the element through that operator only, it is still to come for both. Otherwise it has come
by one path and is still to come by the other, and no instant between two events separates the elements that
came before from the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from midstream.migration.changes import Change
from midstream.operators.base.operator import Operator
from midstream.operators.engine.running.guest import Guest
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import reads_stream


def read_around(change: Change, operators: Mapping[Node, Operator]) -> Iterator[Node]:
    """The running nodes below a change that hold elements, and whose inputs the change also reads directly.

    Cost     O(nodes × nodes that hold elements).
    """
    gone = set(change.parts[0])
    roots = {*change.old, *change.new}
    nodes = {below: None for root in roots for below in root.walk() if reads_stream(below)}
    for holder in nodes:
        if holder in operators and holder not in gone and _held(operators[holder]):
            inside = {below for below in holder.walk() if below in nodes} - {holder}
            outside = (node for node in nodes if node not in inside and node is not holder)
            if not inside.isdisjoint(roots) or any(not inside.isdisjoint(node.inputs) for node in outside):
                yield holder


def _held(operator: Operator) -> int:
    """The number of elements that an operator keeps; for any output of a Box, that of the Box."""
    return operator.hosted.box.size() if isinstance(operator, Guest) else operator.size()
