"""What simplifying rules make smaller.

An operator counts once for every way to it, but where its number is what counts: else what is shared would
become more when one of its uses is changed.
"""

from __future__ import annotations

from collections.abc import Callable

from midstream.plans.algebra.operators import Filter, Join, Project
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import logical
from midstream.plans.expressions.expressions import FALSE, Col, Expression, Not, conjuncts, walk


def operators(node: Node) -> tuple[int, ...]:
    """How many operators a subplan has, each once."""
    return (sum(1 for _ in node.walk()),)


def inputs(node: Node) -> tuple[int, ...]:
    """How many inputs the operators of a subplan have together, each once."""
    return (sum(len(each.inputs) for each in node.walk()),)


def ways(node: Node) -> tuple[int, ...]:
    """How many ways lead down to operators."""
    return (_summed(node, lambda each: False, lambda each, below: 1),)


def states(node: Node) -> tuple[int, ...]:
    """How many operators of a subplan keep state, and how many there are, each once."""
    nodes = list(node.walk())
    return (sum(not logical(each).is_stateless for each in nodes), len(nodes))


def filtering(node: Node) -> tuple[int, ...]:
    """How high conditions stand, and how many filters there are.

    The height of a condition is the number of operators below it, but for filters, which change places
    freely.
    """

    def of(each: Node, below: int) -> int:
        return len(conjuncts(each.operator.condition)) * below if isinstance(each.operator, Filter) else 0

    heights = _summed(node, lambda each: not isinstance(each.operator, Filter), of)
    filters = _summed(node, lambda each: False, lambda each, _: isinstance(each.operator, Filter))
    return (heights, filters)


def projecting(node: Node) -> tuple[int, ...]:
    """How many operators stand above projections, other than these."""
    return (_summed(node, _is_projection, lambda each, below: 0 if _is_projection(each) else below),)


def above_projections(node: Node) -> tuple[int, ...]:
    """How many conditions stand above projections, each once for each of these.

    A column counts as many as the conditions that it stands for: what they are computed from does not matter.
    """

    def of(each: Node, below: int) -> int:
        if not isinstance(each.operator, Filter):
            return 0
        return below * sum(_meant(part, each.inputs[0]) for part in conjuncts(each.operator.condition))

    return (_summed(node, _is_projection, of),)


def _meant(part: Expression, node: Node) -> int:
    """How many conditions a part of one stands for."""
    parts = conjuncts(part)
    if len(parts) > 1:
        return sum(_meant(one, node) for one in parts)
    while isinstance(part, Col):
        names = {child: child.schema.names for child in node.inputs}
        if isinstance(node.operator, Project):
            part, (node,) = dict(node.operator.columns)[part.name], node.inputs
            return _meant(part, node)
        below = next((child for child, known in names.items() if part.name in known), None)
        if below is None or not isinstance(node.operator, Filter | Join):
            break
        node = below
    return 1


def projected(node: Node) -> tuple[int, ...]:
    """How many operators stand below projections, other than these."""
    return (
        _summed(
            node,
            lambda each: not _is_projection(each),
            lambda each, below: below if _is_projection(each) else 0,
        ),
    )


def combining(node: Node) -> tuple[int, ...]:
    """How many operators have more than one input."""
    return (per_way(node, lambda each: len(each.inputs) > 1),)


def conditions(node: Node) -> tuple[int, ...]:
    """How long the conditions of filters are, FALSE being the shortest."""

    def of(each: Node) -> int:
        if not isinstance(each.operator, Filter) or each.operator.condition == FALSE:
            return 0
        return sum(1 for _ in walk(each.operator.condition))

    return (per_way(node, of),)


def negated(node: Node) -> tuple[int, ...]:
    """How long the parts of filters' conditions are that stand behind a negation."""

    def of(each: Node) -> int:
        parts = walk(each.operator.condition) if isinstance(each.operator, Filter) else ()
        return sum(sum(1 for _ in walk(part.condition)) for part in parts if isinstance(part, Not))

    return (per_way(node, of),)


def carrying(node: Node) -> tuple[int, ...]:
    """How many columns operators take and give, other than those that do with each row the same."""

    def of(each: Node) -> int:
        if isinstance(each.operator, Filter | Project):
            return 0
        return len(each.schema) + sum(len(child.schema) for child in each.inputs)

    return (per_way(node, of),)


def per_way(node: Node, of: Callable[[Node], int]) -> int:
    """The sum of what is said of each operator."""
    return _summed(node, lambda each: False, lambda each, below: of(each))


def _summed(node: Node, counts: Callable[[Node], bool], of: Callable[[Node, int], int]) -> int:
    """The sum of what is said of each operator and of how many of those that count are below it."""
    below: dict[Node, int] = {}
    total: dict[Node, int] = {}
    for each in node.walk():
        number = sum(below[child] for child in each.inputs)
        total[each] = sum(total[child] for child in each.inputs) + of(each, number)
        below[each] = number + counts(each)
    return total[node]


def _is_projection(node: Node) -> bool:
    return isinstance(node.operator, Project)
