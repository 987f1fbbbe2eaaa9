"""Push a filter below a union.

    filter(p, union(A, .., Z))  =  union(filter(p, A), .., filter(p, Z))

Why      A row of a union is a row of one of its inputs, unchanged.
Gain     The union merges fewer elements; in each input the filter can move on.
Source   thesis, (10.5)
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.filters.filtered import filtered
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Filter, Union
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import conjuncts


def match(node: Node) -> Iterable[Filter]:
    """The filter."""
    assert isinstance(node.operator, Filter)
    return [node.operator]


def rewrite(node: Node, matched: Filter) -> Node:
    """The union of the filtered inputs."""
    union = node.inputs[0]
    return Node(
        union.operator, tuple(filtered(conjuncts(matched.condition), child) for child in union.inputs)
    )


FILTER_BELOW_UNION = Rule(
    name="filter-below-union",
    equation="filter(p, union(L, R)) = union(filter(p, L), filter(p, R))",
    shape=Shape(Filter, Shape(Union)),
    match=match,
    rewrite=rewrite,
)
