"""Group the inputs of a union first.

    aggregate(by K, f(x), union(L, R))
        =  aggregate(by K, g(y), union(aggregate(by K, f(x) as y, L), aggregate(by K, f(x) as y, R)))

Why      A group of the union consists of one group of each input, so g computes f of the whole from f of the
         parts.
Gain     Fewer rows above; the results of the parts can be shared.
Guard    Means and rounded sums of the whole do not follow from those of parts; nor do numbers of distinct
         values.
Source   ours, by (8.3) and (8.15)
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.groupings.partial import TwoSteps, is_decomposable, two_steps
from midstream.optimizer.rules.readings import operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Aggregate, Union
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import is_key


def match(node: Node) -> Iterable[TwoSteps]:
    """The two steps, if some input may have groups of several rows."""
    grouping, union = operator_of(node, Aggregate), node.inputs[0]
    if grouping.calls and not all(is_key(child, grouping.keys) for child in union.inputs):
        yield two_steps(grouping.calls, grouping.keys)


def are_decomposable(node: Node, steps: TwoSteps) -> bool:
    """True if the aggregates of the whole follow exactly from those of parts."""
    calls = operator_of(node, Aggregate).calls
    return all(is_decomposable(call, node.inputs[0].schema) for _, call in calls)


def rewrite(node: Node, steps: TwoSteps) -> Node:
    """The second grouping over the groupings of the inputs."""
    grouping, union = operator_of(node, Aggregate), node.inputs[0]
    first = Aggregate(grouping.keys, steps.first)
    return steps.grouped(
        grouping.keys, union.with_inputs(tuple(Node(first, (child,)) for child in union.inputs))
    )


GROUPING_BELOW_UNION = Rule(
    name="grouping-below-union",
    equation="aggregate(by K, f(x), union(L, R)) = "
    "aggregate(by K, g(y), union(aggregate(by K, f(x) as y, L), aggregate(by K, f(x) as y, R)))",
    shape=Shape(Aggregate, Shape(Union)),
    match=match,
    guards=(are_decomposable,),
    rewrite=rewrite,
)
