"""Which running operators a new query can share, and which it cannot: those of whose results it would miss
too much."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace

from midstream.operators.engine.base import Base
from midstream.operators.engine.planner import form, physical_node
from midstream.plans.algebra.operators import Source, TimeWindow
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import (
    is_bounded,
    is_chronon_stream,
    logical_node,
    reads_stream,
)
from midstream.plans.values.observations import Observation
from midstream.plans.values.streams import BEGINNING, Element


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


def shareable(physical: Plan) -> Iterator[Node]:
    """The logical nodes of a running plan that run as the planner would let them run for any query, on
    streams: a new query that has them shares their operators."""
    sources = {node for node in physical.nodes if isinstance(node.operator, Source)}
    for node in physical.nodes:
        meant = logical_node(node)
        if form(node) == "intervals" and is_bounded(node, sources) and physical_node(meant) == node:
            yield meant


def below_windows(seen: Mapping[Node, Observation]) -> dict[Node, Observation]:
    """What follows of streams from what was seen of the windows right above them, so that other windows over
    them can be priced."""
    found: dict[Node, Observation] = {}
    for node, window in seen.items():
        if (stream := shown_by(node)) is not None:
            recent = tuple(as_they_came(window.recent))
            latest = recent[-1][1] if recent else BEGINNING
            found[stream] = replace(window, max_end=latest, recent=recent)
    return found


def shown_by(window: Node) -> Node | None:
    """The source each element of which a logical window shows as it came, but for its end."""
    if not isinstance(window.operator, TimeWindow) or window.operator.slide != 1:
        return None
    (stream,) = window.inputs
    return stream if isinstance(stream.operator, Source) and is_chronon_stream(stream) else None


def as_they_came(shown: Iterable[Element]) -> Iterator[Element]:
    """The chronons that a window shows."""
    return ((start, start + 1, row) for start, _, row in shown)


def unseen_sources(physical: Plan, windows: Iterable[Node]) -> list[Node]:
    """The sources of a running plan of which its windows do not tell."""
    told = {*windows, *map(shown_by, map(logical_node, windows))}
    return [node for node in physical.nodes if isinstance(node.operator, Source) and node not in told]
