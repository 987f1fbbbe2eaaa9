"""What the operator of a node is, whether its plan is logical or physical."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from midstream.plans.algebra.operators import Arrangement, Logical, OverTime, Source
from midstream.plans.algebra.physical import Boxed, Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.expressions import Expression


def logical(node: Node) -> Logical:
    """The logical operator of a node, whether its plan is logical or physical."""
    return node.operator.logical if isinstance(node.operator, Physical) else node.operator


def logical_nodes(nodes: Iterable[Node]) -> dict[Node, Node]:
    """By each of a plan's nodes, inputs before consumers, the logical node that it carries out."""
    found: dict[Node, Node] = {}
    for node in nodes:
        operator, inputs = logical(node), tuple(found[child] for child in node.inputs)
        if isinstance(operator, Boxed):
            found[node] = logical_node(operator.means)
        elif isinstance(operator, Arrangement):
            found[node] = inputs[0]
        else:
            # A node that has made no choice stays the one it is: what is the same is found at once.
            found[node] = node.with_inputs(inputs) if operator is node.operator else Node(operator, inputs)
    return found


def logical_plan(plan: Plan) -> Plan:
    """The plan without choices of implementations, arrangements and Boxes: what it computes, not how it
    runs."""
    found = logical_nodes(plan.nodes)
    return Plan({name: found[root] for name, root in plan.outputs.items()})


@lru_cache(maxsize=4096)
def logical_node(node: Node) -> Node:
    """The logical node that a physical one carries out."""
    return logical_plan(Plan(node)).root


def counted_node(node: Node, means: Mapping[Node, Node] | None = None) -> Node:
    """The logical node by which is counted what the operator of a physical one does; of an arrangement, one
    above the node that it arranges. `means` has the logical nodes, where these are known."""
    operator = logical(node)
    if isinstance(operator, Arrangement):
        return Node(operator, tuple(means[child] if means else logical_node(child) for child in node.inputs))
    return means[node] if means else logical_node(node)


def makes_results(node: Node) -> bool:
    """True of an operator that makes results, as a join does. Others pass on what is below them: single
    elements, what they arrange in another way, or what they show over time."""
    operator = logical(node)
    return not (operator.is_stateless or isinstance(operator, Arrangement | OverTime))


def makers(nodes: Collection[Node]) -> frozenset[Node]:
    """Of a plan's nodes, or those above its inputs, the ones that its results come from: what they give goes
    through stateless ones and arrangements alone, which make no others. What any other operator reads is an
    intermediate result, even if it is given out as well.
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
    """Of a plan's nodes, or those above its inputs, the ones whose results are intermediate results: the
    plan's own results do not come from them.

    >>> from midstream.plans.algebra.builder import stream
    >>> a, b, c = (stream(name, **{name: "integer"}).window(9) for name in "abc")
    >>> plan = a.join(b, on=[("a", "b")]).join(c, on=[("b", "c")]).select("a").plan()
    >>> [str(node.operator) for node in intermediate(plan.nodes)]
    ['join a = b']
    """
    return frozenset(filter(makes_results, nodes)) - makers(nodes)


def expressions(node: Node) -> tuple[Expression, ...]:
    """The expressions of a node's operator, over the columns of its inputs one behind the other."""
    return logical(node).expressions


def reads_stream(node: Node) -> bool:
    """What reads relations alone has given all it has, to whoever asks, before the streams begin."""
    return any(isinstance(logical(below), Source) for below in node.walk())
