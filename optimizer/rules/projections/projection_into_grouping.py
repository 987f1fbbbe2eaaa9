"""Let a grouping compute the expressions that it aggregates.

    aggregate(a by K, project(f, S))  =  project(names, aggregate(a ∘ f by f(K), S))        if f gives columns
        of S for K

Why      A group has the same rows, and the same values of each are aggregated.
Gain     One operator less for every row; groupings of derived streams meet the operators of these.
Source   thesis, section 10.3.1
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from midstream.optimizer.rules.readings import as_matched, operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.optimizer.rules.substitution import all_substituted, definitions
from midstream.plans.algebra.operators import Aggregate, Project
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Col


def match(node: Node) -> Iterable[Node]:
    """The grouping over the input of the projection.

    It is possible if the keys are plain columns there, nothing is computed twice, and the schema stays the
    same.
    """
    grouping = operator_of(node, Aggregate)
    below = definitions(node.inputs[0])
    keys = tuple(each.name for name in grouping.keys if isinstance(each := below[name], Col))
    names = {*keys, *(name for name, _ in grouping.calls)}
    if len(keys) < len(grouping.keys) or len(names) < len(keys) + len(grouping.calls):
        return
    arguments = [call.argument for _, call in grouping.calls if call.argument is not None]
    computed = all_substituted([*map(Col, grouping.keys), *arguments], below)
    if computed is None:
        return
    remaining = iter(computed[len(grouping.keys) :])
    calls = tuple(
        (name, call if call.argument is None else replace(call, argument=next(remaining)))
        for name, call in grouping.calls
    )
    over = Node(Aggregate(keys, calls), node.inputs[0].inputs)
    shown = zip(node.schema.names, over.schema.names, strict=True)
    result = Node(Project(tuple((name, Col(own)) for name, own in shown)), (over,))
    if result.schema == node.schema:
        yield result


PROJECTION_INTO_GROUPING = Rule(
    name="projection-into-grouping",
    equation="aggregate(a by K, project(f, S)) = project(names, aggregate(a ∘ f by f(K), S))",
    shape=Shape(Aggregate, Shape(Project)),
    match=match,
    rewrite=as_matched,
)
