"""What stands in the way of running an operator, said alike by all who meet it."""

from __future__ import annotations

from midstream.plans.logical import Source
from midstream.plans.plan import Node
from midstream.plans.properties import logical


def is_relation(node: Node) -> bool:
    """Whether a subplan reads relations alone, so that its rows do not come one after the other in time.

    >>> from midstream.plans.builder import relation, stream
    >>> items = relation("items", item="integer")
    >>> is_relation(items.select("item").node)
    True
    >>> is_relation(items.join(stream("bids", bid="integer"), on=[("item", "bid")]).node)
    False
    """
    return not any(isinstance(logical(below), Source) for below in node.walk())


def relation_below(node: Node) -> str | None:
    """The obstacle of an operator that follows its input through time."""
    child = node.inputs[0]
    if not is_relation(child):
        return None
    return (
        f"its input, {logical(child)}, reads relations alone, which have no time to begin with; expected a "
        "stream below windows and whatever else follows its input through time"
    )
