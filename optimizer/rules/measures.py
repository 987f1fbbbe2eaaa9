"""What simplifying rules make smaller."""

from __future__ import annotations

from midstream.plans.algebra.operators import Filter
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import logical
from midstream.plans.expressions.expressions import conjuncts


def operators(node: Node) -> tuple[int, ...]:
    """How many operators a subplan has, each once."""
    return (sum(1 for _ in node.walk()),)


def filtering(node: Node) -> tuple[int, ...]:
    """How high conditions stand, and how many filters there are.

    The height of a condition is the number of operators below it, but for filters, which change places
    freely; an operator counts once for every way to it.
    """
    below: dict[Node, int] = {}
    heights = filters = 0
    for each in node.walk():
        below[each] = sum(below[child] for child in each.inputs)
        if isinstance(each.operator, Filter):
            filters += 1
            heights += len(conjuncts(each.operator.condition)) * below[each]
        else:
            below[each] += 1
    return (heights, filters)


def inputs(node: Node) -> tuple[int, ...]:
    """How many inputs the operators of a subplan have together."""
    return (sum(len(each.inputs) for each in node.walk()),)


def states(node: Node) -> tuple[int, ...]:
    """How many operators of a subplan keep state, and how many there are."""
    nodes = list(node.walk())
    return (sum(not logical(each).is_stateless for each in nodes), len(nodes))
