"""The intermediate results by which policies are judged."""

from __future__ import annotations

from collections.abc import Iterable

from midstream.plans.algebra.operators import Project
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import above, input_nodes, logical_plan


def priced_nodes(plans: Iterable[Plan]) -> frozenset[Node]:
    """The subplans whose results are counted as intermediate results, above windows and not in all plans.

    Projections are left out, as they pass on results that are counted already. So are the operators whose
    results are the plan's results, but for projections. An operator that all plans have costs the same in
    each of them.

    >>> from midstream.plans.algebra.builder import stream
    >>> a, b, c = (stream(name, **{name: "integer"}).window(9) for name in "abc")
    >>> a = a.filter(a["a"] > 0)
    >>> one = a.join(b, on=[("a", "b")]).join(c, on=[("b", "c")]).select("a", "b", "c").plan()
    >>> other = b.join(c, on=[("b", "c")]).join(a, on=[("b", "a")]).select("a", "b", "c").plan()
    >>> sorted(str(node.operator) for node in priced_nodes([one, other]))
    ['join a = b', 'join b = c']
    """
    of_plans = [_inner(logical_plan(plan)) for plan in plans]
    common = frozenset.intersection(*of_plans) if len(of_plans) > 1 else frozenset[Node]()
    return frozenset[Node]().union(*of_plans) - common


def _inner(plan: Plan) -> frozenset[Node]:
    last = plan.root
    while isinstance(last.operator, Project):
        last = last.inputs[0]
    nodes = above(plan, input_nodes(plan))
    return frozenset(node for node in nodes if node != last and not isinstance(node.operator, Project))
