"""Choose another implementation than the planner's default.

    op(S)  =  implementation of op(S)

Why      All implementations of an operator have the same snapshots.
Gain     The cheapest one depends on rates, lengths and selectivities: with few rows to compare, nested loops
         cost less than hashing; a join with lists on both sides scans both.
Source   thesis, 12.3; the facts of implementations in `plans/`

The planner takes the first implementation without an obstacle, so it need not be written into the plan.
Implementations over signed streams are left out: the planner inserts the converters between forms.
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.implementations import (
    IMPLEMENTATIONS,
    Implementation,
    expected_implementation,
)
from midstream.plans.algebra.operators import AntiJoin, Join, SemiJoin
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import logical


def match(node: Node) -> Iterable[Implementation]:
    """The other implementations that can run the operator."""
    usual = expected_implementation(node)
    for one in IMPLEMENTATIONS[type(logical(node))]:
        if one is not usual and one.takes == one.gives == "intervals" and one.obstacle(node) is None:
            yield one


def rewrite(node: Node, implementation: Implementation) -> Node:
    """The operator with its implementation."""
    return Node(Physical(implementation.name, logical(node)), node.inputs)


IMPLEMENTATION = Rule(
    name="implementation",
    equation="op(S) = implementation of op(S)",
    shape=Shape((Join, SemiJoin, AntiJoin)),
    match=match,
    rewrite=rewrite,
    keeps_links=True,
)
