"""Nodes of logical and physical plans: their logical operators, and the results that they make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from math import lcm

from midstream.plans.algebra.operators import Adjustable, Arrangement, Logical, OverTime, Source
from midstream.plans.algebra.physical import Boxed, Physical
from midstream.plans.algebra.plan import Node, Plan, fact_of_node
from midstream.plans.expressions.expressions import Expression

CARRIED_OUT = (Physical, Boxed, Arrangement)
"""The operators of physical plans, which stand for logical ones."""


def logical(node: Node) -> Logical:
    """The logical operator of a node of a logical or physical plan."""
    return node.operator.logical if isinstance(node.operator, Physical) else node.operator


def is_lever(node: Node) -> bool:
    """True if a node of a logical or physical plan has a setting that can change at run time."""
    operator = logical(node)
    return isinstance(operator, Adjustable) and operator.bounds is not None


def lever_of(node: Node) -> Adjustable:
    """The operator of a lever."""
    operator = logical(node)
    assert isinstance(operator, Adjustable)
    return operator


def levers_of(plan: Plan) -> tuple[Node, ...]:
    """The levers of a plan, as logical nodes."""
    return tuple(dict.fromkeys(logical_node(node) for node in plan.nodes if is_lever(node)))


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


def logical_node(node: Node) -> Node:
    """The logical node that a physical node implements; a logical one itself."""
    below = node
    while len(below.inputs) == 1 and not isinstance(below.operator, CARRIED_OUT):
        below = below.inputs[0]
    # Of a window over a stream this tells at once that it is logical.
    is_logical = not below.inputs and not isinstance(below.operator, CARRIED_OUT)
    return node if is_logical else _logical_node(node)


@fact_of_node
def _logical_node(node: Node) -> Node:
    return logical_nodes(node.walk())[node]


@fact_of_node
def unbounded(node: Node) -> Node:
    """The logical node without bounds: levers that differ in their bounds alone become equal.

    >>> from midstream.plans.algebra.builder import stream
    >>> s = stream("s", x="integer")
    >>> unbounded(s.window(9, bounds=(1, 20)).node) == s.window(9).node
    True
    """
    meaning = logical_node(node)
    inputs = tuple(map(unbounded, meaning.inputs))
    if is_lever(meaning):
        return Node(lever_of(meaning).with_bounds(None), inputs)
    return meaning.with_inputs(inputs)


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


def companions(root: Node, stream: str, step: int = 1) -> frozenset[str]:
    """The streams that must come to an instant before elements of `stream` from then on bring any result.

    It holds for the multiples of `step`. Results of a join start where the later element does; but a window
    of rows learns the end of a row from a later one. So they are the streams of the root that are also below
    the input, on the side of `stream`, of each operator that may give results earlier than its elements
    start. Streams are left out where an operator's output may come to a multiple before its input (see
    `OverTime.cell`).

    >>> from midstream.plans.algebra.builder import stream
    >>> a, b = (stream(name, **{name: "integer"}) for name in "ab")
    >>> plan = a.window(9).join(b.last(2), on=[("a", "b")]).plan()
    >>> sorted(companions(plan.root, "a")), sorted(companions(plan.root, "b"))
    (['a', 'b'], ['b'])
    """
    found: list[frozenset[str]] = []
    cells: dict[Node, dict[str, int]] = {}  # by node and stream below, as an operator over time has one
    top = _boxes_opened(root)
    for node in Plan(top).nodes:
        operator = logical(node)
        below: dict[str, int] = {operator.stream: 1} if isinstance(operator, Source) else {}
        for of in (cells[child] for child in node.inputs):
            below |= {name: lcm(cell, below.get(name, 1)) for name, cell in of.items()}
        if isinstance(operator, OverTime):
            below = {name: lcm(cell, operator.cell) for name, cell in below.items()}
        cells[node] = below
        is_prompt = operator.is_start_preserving and (operator.is_stateless or operator.is_snapshot_reducible)
        if not is_prompt:
            found += [frozenset(cells[child]) for child in node.inputs if stream in cells[child]]
    fixed = (name for name, cell in cells[top].items() if name == stream or (cell and not step % cell))
    return frozenset(fixed).intersection(*found)


def _boxes_opened(node: Node) -> Node:
    """The node with what Boxes mean in their places."""
    if isinstance(node.operator, Boxed):
        return _boxes_opened(node.operator.means)
    inputs = tuple(map(_boxes_opened, node.inputs))
    return node if inputs == node.inputs else Node(node.operator, inputs)


def expressions(node: Node) -> tuple[Expression, ...]:
    """The expressions of a node's operator, over the columns of all its inputs, concatenated."""
    return logical(node).expressions


def reads_stream(node: Node) -> bool:
    """True if a subplan reads a stream, not relations alone.

    A subplan over relations alone has delivered all its rows to every consumer before the streams begin.
    """
    return any(isinstance(logical(below), Source) for below in node.walk())
