"""Choose another implementation than the planner would.

    op(S)  =  implementation of op(S)

Why      Implementations of an operator give the same at every instant.
Gain     Which is cheapest depends on rates, lengths and selectivities: with few rows to look at, nested loops
         cost less than hashing; what runs through both sides of a join pays for both.
Source   thesis, 12.3; the facts of implementations in `plans/`

The first implementation that nothing stands in the way of is what the planner takes, so that it need not be
written. Those that take or give signed streams stay out: what converts one form into the other is the
planner's.
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
