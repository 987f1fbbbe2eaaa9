"""The running operators that a new query can share, and those whose earlier results it would miss."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace

from midstream.operators.engine.running.base import Base
from midstream.operators.engine.running.planner import form, physical_node
from midstream.plans.algebra.operators import Source, TimeWindow
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import (
    is_bounded,
    logical_node,
    reads_stream,
    timestamped,
)
from midstream.plans.values.observations import Observation
from midstream.plans.values.streams import BEGINNING, Element


def read_late(physical: Plan, base: Base) -> list[Node]:
    """The running nodes whose earlier results a query would miss if it were added now.

    Nodes that read relations alone do not count.
    """
    running = base.running
    new = {child for node in physical.nodes if node not in running for child in node.inputs}
    read = new | set(physical.outputs.values())
    return [node for node in read if node in running and reads_stream(node) and base.made(node)]


def with_own_operators(
    physical: Plan, late: list[Node], sources: Set[Node], copies: Iterator[int], *, are_bounded: bool
) -> Plan:
    """The plan with operators of its own, where shared ones would leave out more than earlier results.

    These are negatives whose positives came before; and rows of relations, if all results of the plan are
    bounded by streams. `late` are the running nodes that have given something already. The new operators get
    the next of the numbered `copies`.
    """
    misses_signs = any(form(node) == "signs" for node in late)
    misses_rows = are_bounded and not all(is_bounded(node, sources) for node in late)
    if not misses_signs and not misses_rows:
        return physical
    copy = next(copies)

    def begins(node: Node) -> bool:
        """True where signs begin, or where rows of relations meet elements of streams."""
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
    """The logical nodes of a running plan that a new query can share.

    They run as the planner would run them for any query, on streams.
    """
    sources = {node for node in physical.nodes if isinstance(node.operator, Source)}
    for node in physical.nodes:
        meaning = logical_node(node)
        if form(node) == "intervals" and is_bounded(node, sources) and physical_node(meaning) == node:
            yield meaning


def below_windows(seen: Mapping[Node, Observation]) -> dict[Node, Observation]:
    """The observations of streams that follow from those of the windows right above them.

    With these, other windows over the streams can be priced.
    """
    below: dict[Node, Observation] = {}
    for node, window in seen.items():
        if (stream := shown_by(node)) is not None:
            recent = tuple(as_they_came(window.recent))
            latest = recent[-1][1] if recent else BEGINNING
            below[stream] = replace(window, max_end=latest, recent=recent)
    return below


def shown_by(window: Node) -> Node | None:
    """The source whose elements a logical window shows unchanged but for their ends; None if none."""
    if not isinstance(window.operator, TimeWindow) or window.operator.slide != 1:
        return None
    (stream,) = window.inputs
    return None if timestamped(stream) is None else stream


def as_they_came(shown: Iterable[Element]) -> Iterator[Element]:
    """The chronons of the elements that a window shows."""
    return ((start, start + 1, row) for start, _, row in shown)


def unseen_sources(physical: Plan, windows: Iterable[Node]) -> list[Node]:
    """The sources of a running plan whose elements its windows do not show."""
    shown = {*windows, *map(shown_by, map(logical_node, windows))}
    return [node for node in physical.nodes if isinstance(node.operator, Source) and node not in shown]
