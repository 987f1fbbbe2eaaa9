"""Obstacles: reasons why an implementation cannot run an operator, with one wording for all users."""

from __future__ import annotations

from midstream.plans.algebra.operators import CountWindow, PartitionedWindow, Relation, Sample
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import (
    has_arrival_order,
    is_bounded,
    logical,
    reads_stream,
    timestamped,
)


def is_relation(node: Node) -> bool:
    """True if a subplan reads relations alone, so that its rows do not arrive one after the other.

    >>> from midstream.plans.algebra.builder import relation, stream
    >>> items = relation("items", item="integer")
    >>> is_relation(items.select("item").node)
    True
    >>> is_relation(items.join(stream("bids", bid="integer"), on=[("item", "bid")]).node)
    False
    """
    return not reads_stream(node)


def gives_constants(node: Node) -> bool:
    """True if rows of a constant relation alone, without an element of any other leaf, lead to results.

    >>> from midstream.plans.algebra.builder import relation, stream
    >>> items, bids = relation("items", item="integer"), stream("bids", item="integer")
    >>> gives_constants(bids.union(items).node), gives_constants(bids.intersection(items).node)
    (True, False)
    """
    others = {leaf for leaf in node.walk() if not leaf.inputs and not _is_constant(leaf)}
    return not is_bounded(node, others)


def relation_below(node: Node) -> str | None:
    """The obstacle of an operator over time."""
    child = node.inputs[0]
    if is_relation(child):
        what = "reads relations alone"
    elif gives_constants(child):
        what = "has results from a constant relation alone"
    else:
        return None
    return (
        f"its input, {logical(child)}, {what}, whose rows do not arrive over time; expected a "
        "stream below windows and other operators over time"
    )


def no_order_below(node: Node) -> str | None:
    """The obstacle of a window that counts rows."""
    operator, child = logical(node), node.inputs[0]
    assert isinstance(operator, CountWindow | PartitionedWindow)
    if operator.ties == "arrival" and not has_arrival_order(child):
        return relation_below(node) or (
            f"its input, {logical(child)}, does not keep the order in which rows arrive, so that it "
            'cannot break ties; expected filters and projections of one stream, or ties="error"'
        )
    return relation_below(node)


def no_stream_below(node: Node) -> str | None:
    """The obstacle of a sample."""
    operator, child = logical(node), node.inputs[0]
    assert isinstance(operator, Sample)
    below = timestamped(child)
    if below is not None and below.label == operator.stream:
        return None
    return (
        f"its input, {logical(child)}, is no stream of timestamps named {operator.stream}; expected that "
        "stream directly below, as a row is drawn by its time and all its columns"
    )


def _is_constant(node: Node) -> bool:
    operator = logical(node)
    return isinstance(operator, Relation) and operator.is_constant
