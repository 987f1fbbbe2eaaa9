"""Renaming of columns below windows in a query, so that the counts of a stream have the query's names.

    project(names, window(S))  =  window(project(names, S))

Why      A script's query names columns above its windows. Frequencies go by the names at a plan's inputs.
         It is done once, where a plan is read, so that all stages study the same one; rules keep it so.
Guard    Only columns are named, and the window has a size: it looks at times alone.
"""

from __future__ import annotations

from midstream.plans.algebra.operators import Project, TimeWindow
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical, logical_plan
from midstream.plans.expressions.expressions import Col


def studied(plan: Plan) -> Plan:
    """The plan as all stages take it: without physical operators, and with columns named below windows."""
    return renamed_below_windows(logical_plan(plan))


def renamed_below_windows(plan: Plan) -> Plan:
    """The plan with all projections that only name columns below the windows that they stand on.

    >>> from midstream.plans.algebra.builder import stream
    >>> from midstream.plans.expressions.operands import col
    >>> print(renamed_below_windows(stream("s", x="integer").window(9).select(a=col("x")).plan()))
    window 9
    └─ project x as a
       └─ source s
    >>> half = stream("s", x="integer").select(y=col("x") % 2)
    >>> print(renamed_below_windows(half.window(9).select(a=col("y")).plan()))
    window 9
    └─ project x % 2 as a
       └─ source s
    """
    return plan.map(_below)


def only_names(node: Node) -> bool:
    """True if an operator yields columns of its input, perhaps under other names."""
    operator = logical(node)
    return isinstance(operator, Project) and all(isinstance(e, Col) for _, e in operator.columns)


def _below(node: Node) -> Node:
    if not only_names(node):
        return node
    (window,) = node.inputs
    if not isinstance(window.operator, TimeWindow):
        return node
    return Node(window.operator, (_named(node, window.inputs[0]),))


def _named(names: Node, node: Node) -> Node:
    """A node with other names for its columns.

    A projection of a projection becomes one. Otherwise a rule would make plans of both, whose windows stand
    on different nodes.
    """
    operator, inner = logical(names), logical(node)
    if not isinstance(inner, Project) or not isinstance(operator, Project):
        return Node(names.operator, (node,))
    computed = dict(inner.columns)
    columns = tuple((name, computed[e.name]) for name, e in operator.columns if isinstance(e, Col))
    return Node(Project(columns), node.inputs)
