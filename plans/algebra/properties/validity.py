"""The order of a subplan's elements, and the length of their validity."""

from __future__ import annotations

from collections.abc import Mapping, Set

from midstream.plans.algebra.operators import Leaf
from midstream.plans.algebra.physical import Boxed
from midstream.plans.algebra.plan import Node, fact_of_node
from midstream.plans.algebra.properties.nodes import logical
from midstream.plans.values.streams import BEGINNING, Time


@fact_of_node
def is_chronon_stream(node: Node) -> bool:
    """True if every element of a subplan's output is valid for one chronon (thesis, Table 12.1)."""
    return logical(node).gives_chronons([is_chronon_stream(child) for child in node.inputs])


@fact_of_node
def has_ordered_ends(node: Node) -> bool:
    """True if end timestamps never decrease, so that state expires first in, first out (Table 12.1)."""
    ordered = [has_ordered_ends(child) for child in node.inputs]
    return is_chronon_stream(node) or logical(node).orders_ends(ordered)


@fact_of_node
def has_arrival_order(node: Node) -> bool:
    """True if a subplan keeps the order in which rows of one stream arrived, so that it can break ties."""
    return logical(node).keeps_arrivals([has_arrival_order(child) for child in node.inputs])


def is_bounded(node: Node, inputs: Set[Node]) -> bool:
    """True if every result of a subplan is valid only while some element of the inputs is valid.

    The inputs are nodes below it. Rows that come from a relation alone make this False.
    """
    operator = logical(node)
    if node in inputs or not operator.is_snapshot_reducible:
        return True
    if isinstance(operator, Boxed):
        return is_bounded(operator.means, inputs)
    below = (is_bounded(child, inputs) for child in node.inputs)
    match operator.valid_with:
        case "every input":
            return any(below)
        case "first input":
            return next(below)
        case "some input":
            return bool(node.inputs) and all(below)


def latest_end(node: Node, ends: Mapping[Node, Time]) -> Time:
    """The latest end of a subplan's results, given the latest ends of nodes below it, relations included.

    >>> from midstream.plans.algebra.builder import relation, stream
    >>> bids, offers = stream("bids", item="integer"), relation("offers", temporal=True, item="integer")
    >>> ends = {bids.node: 9, offers.node: 60}
    >>> latest_end(bids.union(offers).node, ends), latest_end(bids.intersection(offers).node, ends)
    (60, 9)
    """
    if node in ends:
        return ends[node]
    below = [latest_end(child, ends) for child in node.inputs]
    match logical(node).valid_with:
        case "every input":
            return min(below)
        case "first input":
            return below[0]
        case "some input":
            return max(below, default=BEGINNING)


@fact_of_node
def longest_validity(node: Node) -> Time:
    """The most chronons for which an element of a subplan's output is valid; FOREVER if there is no bound.

    It bounds the time that a migration waits: an element that starts before an instant has expired so many
    chronons later.

    >>> from midstream.plans.algebra.builder import stream
    >>> bids, asks = stream("bids", item="integer").window(60), stream("asks", id="integer").window(5)
    >>> [longest_validity(query.node) for query in (bids, bids.join(asks), bids.window(None))]
    [60, 5, inf]
    """
    return logical(node).longest_validity([longest_validity(child) for child in node.inputs])


def timestamped(node: Node) -> Leaf | None:
    """The stream that a node is, if its rows come with timestamps; None for another node."""
    operator = node.operator
    return operator if isinstance(operator, Leaf) and is_chronon_stream(node) else None


@fact_of_node
def is_start_preserving(node: Node) -> bool:
    """True if each result of a subplan starts where the latest of the elements behind it starts.

    These elements are those of the windows and sources below; all operators in between preserve starts
    (erratum 13).

    >>> from midstream.plans.algebra.builder import stream
    >>> bids = stream("bids", item="integer").window(60)
    >>> is_start_preserving(bids.select("item").node), is_start_preserving(bids.distinct().node)
    (True, False)
    """
    operator = logical(node)
    if not operator.is_snapshot_reducible:
        return operator.is_start_preserving
    return operator.is_start_preserving and all(map(is_start_preserving, node.inputs))
