"""What operators that go on hold, and whether a change reads around them.

    A ──► union ──► old, new        all that either plan gets of A is what the union gives
    A ──► union ──► new             what the union holds of A, the old plan has had already:
    A ─────────────► old            the union is read around

A union, a split, a coalesce, a queue or an output in order gives an element later than it takes it. As long
as both plans get it from there alone, it is one of those to come. Otherwise it has come on one way and is
still to come on the other, and no instant between two events parts the elements that came before from the
others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from midstream.migration.changes import Change
from midstream.operators.base.operator import Operator
from midstream.operators.engine.guest import Guest
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import reads_stream


def read_around(change: Change, operators: Mapping[Node, Operator]) -> Iterator[Node]:
    """The running nodes below a change that hold something, and whose inputs it also gets on a way on which
    they are not.

    Cost     O(nodes × nodes that hold something).
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
    """How many elements an operator keeps; of a Box, whichever of its outputs it is."""
    return operator.hosted.box.size() if isinstance(operator, Guest) else operator.size()
