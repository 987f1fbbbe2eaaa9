"""Measures: the quantities that simplifying rules reduce.

An operator counts once for every path to it, except where its number is what counts. Otherwise a change of
one use of a shared operator would increase the measure.
"""

from __future__ import annotations

from collections.abc import Callable

from midstream.plans.algebra.operators import Filter, Join, Project
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import logical
from midstream.plans.expressions.expressions import FALSE, Col, Expression, Not, conjuncts, walk


def operators(node: Node) -> tuple[int, ...]:
    """Number of operators of a subplan, each counted once."""
    return (sum(1 for _ in node.walk()),)


def inputs(node: Node) -> tuple[int, ...]:
    """Total number of inputs of the operators of a subplan, each counted once."""
    return (sum(len(each.inputs) for each in node.walk()),)


def paths(node: Node) -> tuple[int, ...]:
    """Number of paths that lead down to operators."""
    return (_summed(node, lambda each: False, lambda each, below: 1),)


def states(node: Node) -> tuple[int, ...]:
    """Number of operators with state in a subplan, and number of all operators, each counted once."""
    nodes = list(node.walk())
    return (sum(not logical(each).is_stateless for each in nodes), len(nodes))


def filtering(node: Node) -> tuple[int, ...]:
    """Height of the conditions of filters, and number of filters.

    The height of a condition is the number of operators below it, without filters, which change places
    freely.
    """

    def of(each: Node, below: int) -> int:
        return len(conjuncts(each.operator.condition)) * below if isinstance(each.operator, Filter) else 0

    heights = _summed(node, lambda each: not isinstance(each.operator, Filter), of)
    filters = _summed(node, lambda each: False, lambda each, _: isinstance(each.operator, Filter))
    return (heights, filters)


def projecting(node: Node) -> tuple[int, ...]:
    """Number of operators above projections, without projections."""
    return (_summed(node, _is_projection, lambda each, below: 0 if _is_projection(each) else below),)


def above_projections(node: Node) -> tuple[int, ...]:
    """Number of conditions above projections, counted once for each projection.

    A column counts as many as the conditions that it stands for; the expressions that compute it do not
    matter.
    """

    def of(each: Node, below: int) -> int:
        if not isinstance(each.operator, Filter):
            return 0
        return below * sum(_meant(part, each.inputs[0]) for part in conjuncts(each.operator.condition))

    return (_summed(node, _is_projection, of),)


def _meant(part: Expression, node: Node) -> int:
    """Number of conditions that a part of one stands for."""
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
    """Number of operators below projections, without projections."""
    return (
        _summed(
            node,
            lambda each: not _is_projection(each),
            lambda each, below: below if _is_projection(each) else 0,
        ),
    )


def combining(node: Node) -> tuple[int, ...]:
    """Number of operators with more than one input."""
    return (per_path(node, lambda each: len(each.inputs) > 1),)


def conditions(node: Node) -> tuple[int, ...]:
    """Length of the conditions of filters; FALSE is the shortest."""

    def of(each: Node) -> int:
        if not isinstance(each.operator, Filter) or each.operator.condition == FALSE:
            return 0
        return sum(1 for _ in walk(each.operator.condition))

    return (per_path(node, of),)


def negated(node: Node) -> tuple[int, ...]:
    """Length of the parts of filters' conditions that are negated."""

    def of(each: Node) -> int:
        parts = walk(each.operator.condition) if isinstance(each.operator, Filter) else ()
        return sum(sum(1 for _ in walk(part.condition)) for part in parts if isinstance(part, Not))

    return (per_path(node, of),)


def carrying(node: Node) -> tuple[int, ...]:
    """Number of input and output columns of operators, without filters and projections."""

    def of(each: Node) -> int:
        if isinstance(each.operator, Filter | Project):
            return 0
        return len(each.schema) + sum(len(child.schema) for child in each.inputs)

    return (per_path(node, of),)


def per_path(node: Node, of: Callable[[Node], int]) -> int:
    """Sum of a quantity over operators, once for every path to them."""
    return _summed(node, lambda each: False, lambda each, below: of(each))


def _summed(node: Node, counts: Callable[[Node], bool], of: Callable[[Node, int], int]) -> int:
    """Sum of a quantity over operators, given the number of those below that `counts` selects."""
    below: dict[Node, int] = {}
    total: dict[Node, int] = {}
    for each in node.walk():
        number = sum(below[child] for child in each.inputs)
        total[each] = sum(total[child] for child in each.inputs) + of(each, number)
        below[each] = number + counts(each)
    return total[node]


def _is_projection(node: Node) -> bool:
    return isinstance(node.operator, Project)
