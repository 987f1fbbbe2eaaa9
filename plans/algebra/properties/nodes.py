"""Nodes of logical and physical plans: their logical operators, and the results that they make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from midstream.plans.algebra.operators import Arrangement, Logical, OverTime, Source
from midstream.plans.algebra.physical import Boxed, Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.expressions import Expression


def logical(node: Node) -> Logical:
    """The logical operator of a node of a logical or physical plan."""
    return node.operator.logical if isinstance(node.operator, Physical) else node.operator


def logical_nodes(nodes: Iterable[Node]) -> dict[Node, Node]:
    """Map a plan's nodes, given inputs before consumers, to the logical nodes that they implement."""
    found: dict[Node, Node] = {}
    for node in nodes:
        operator, inputs = logical(node), tuple(found[child] for child in node.inputs)
        if isinstance(operator, Boxed):
            found[node] = logical_node(operator.means)
        elif isinstance(operator, Arrangement):
            found[node] = inputs[0]
        else:
            # A logical node stays the same object, so that later comparisons end at identity.
            found[node] = node.with_inputs(inputs) if operator is node.operator else Node(operator, inputs)
    return found


def logical_plan(plan: Plan) -> Plan:
    """The plan without choices of implementations, arrangements and Boxes."""
    found = logical_nodes(plan.nodes)
    return Plan({name: found[root] for name, root in plan.outputs.items()})


@lru_cache(maxsize=4096)
def logical_node(node: Node) -> Node:
    """The logical node that a physical node implements."""
    return logical_plan(Plan(node)).root


def counted_node(node: Node, means: Mapping[Node, Node] | None = None) -> Node:
    """The logical node under which the work of a physical node is counted.

    For an arrangement it is that arrangement above the logical node of its input. `means` maps nodes to
    logical nodes, if these are known.
    """
    operator = logical(node)
    if isinstance(operator, Arrangement):
        return Node(operator, tuple(means[child] if means else logical_node(child) for child in node.inputs))
    return means[node] if means else logical_node(node)


def makes_results(node: Node) -> bool:
    """True if an operator makes results, as a join does.

    Other operators pass on elements: stateless operators, arrangements, and operators over time.
    """
    operator = logical(node)
    return not (operator.is_stateless or isinstance(operator, Arrangement | OverTime))


def makers(nodes: Collection[Node]) -> frozenset[Node]:
    """The nodes from which the results of a plan come, among its nodes or those above its inputs.

    Only stateless operators and arrangements, which make no results, stand between these nodes and the
    outputs. A node that any other operator reads makes an intermediate result, even if it is an output as
    well.
    """
    inside = {*nodes}
    readers = Counter(child for node in inside for child in inside.intersection(node.inputs))
    found, passing = set[Node](), [node for node in inside if node not in readers]
    while passing:
        node = passing.pop()
        if logical(node).is_stateless or isinstance(logical(node), Arrangement):
            below = inside.intersection(node.inputs)
            readers.subtract(below)
            passing += (child for child in below if not readers[child])
        else:
            found.add(node)
    return frozenset(found)


def intermediate(nodes: Collection[Node]) -> frozenset[Node]:
    """The nodes that make intermediate results, among a plan's nodes or those above its inputs.

    The results of the plan do not come from these nodes directly.

    >>> from midstream.plans.algebra.builder import stream
    >>> a, b, c = (stream(name, **{name: "integer"}).window(9) for name in "abc")
    >>> plan = a.join(b, on=[("a", "b")]).join(c, on=[("b", "c")]).select("a").plan()
    >>> [str(node.operator) for node in intermediate(plan.nodes)]
    ['join a = b']
    """
    return frozenset(filter(makes_results, nodes)) - makers(nodes)


def expressions(node: Node) -> tuple[Expression, ...]:
    """The expressions of a node's operator, over the columns of all its inputs, concatenated."""
    return logical(node).expressions


def reads_stream(node: Node) -> bool:
    """True if a subplan reads a stream, not relations alone.

    A subplan over relations alone has delivered all its rows to every consumer before the streams begin.
    """
    return any(isinstance(logical(below), Source) for below in node.walk())
