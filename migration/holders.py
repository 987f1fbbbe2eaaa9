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
from midstream.plans.algebra.operators import Source
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import logical, reads_stream
from midstream.plans.equivalence.prover import Meanings


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


def is_same_over_inputs(change: Change) -> bool:
    """Whether it is proved that both plans mean the same whatever their inputs are, so that what these have
    in common does not matter."""
    meanings = Meanings()
    known = {
        node: Node(Source(f"input {number}", node.schema, intervals=True))
        for number, node in enumerate(change.inputs)
    }
    return all(meanings.are_same(_over(known, old), _over(known, new)) for old, new in change.pairs)


def _held(operator: Operator) -> int:
    """How many elements an operator keeps; of a Box, whichever of its outputs it is."""
    return operator.hosted.box.size() if isinstance(operator, Guest) else operator.size()


def _over(known: Mapping[Node, Node], root: Node) -> Node:
    """A subplan, logically, over other inputs."""
    changed = dict(known)

    def change(node: Node) -> Node:
        if node not in changed:
            changed[node] = Node(logical(node), tuple(map(change, node.inputs)))
        return changed[node]

    return change(root)
