"""Which running operators a new query cannot share: those of whose results it would miss too much."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace

from midstream.operators.engine.base import Base
from midstream.operators.engine.planner import form
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import is_bounded, reads_stream


def read_late(physical: Plan, base: Base) -> list[Node]:
    """The running nodes of which a query, if it were added now, would miss what they have given already,
    streams taken together with relations."""
    running = base.running
    new = {child for node in physical.nodes if node not in running for child in node.inputs}
    read = new | set(physical.outputs.values())
    return [node for node in read if node in running and reads_stream(node) and base.made(node)]


def with_own_operators(
    physical: Plan, late: list[Node], sources: Set[Node], copies: Iterator[int], *, are_bounded: bool
) -> Plan:
    """The plan with operators of its own, the next of the numbered `copies`, where it would miss more than
    what came before: negatives whose positives did, or, if all that it gives is bounded by streams, rows of
    relations.

    `late` are the running nodes that have given something already.
    """
    misses_signs = any(form(node) == "signs" for node in late)
    misses_rows = are_bounded and not all(is_bounded(node, sources) for node in late)
    if not misses_signs and not misses_rows:
        return physical
    copy = next(copies)

    def begins(node: Node) -> bool:
        """Whether signs begin here, or rows of relations are put to what comes from streams."""
        if form(node) == "signs" and all(form(child) != "signs" for child in node.inputs):
            return misses_signs
        if not misses_rows or not reads_stream(node) or is_bounded(node, sources):
            return False
        return all(is_bounded(child, sources) for child in node.inputs if reads_stream(child))

    def owned(node: Node) -> Node:
        if not isinstance(node.operator, Physical) or not begins(node):
            return node
        return Node(replace(node.operator, copy=copy), node.inputs)

    return physical.map(owned)
