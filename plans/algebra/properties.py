"""What can be told of a plan without running it: properties that rules, the builder and migrations ask for.

Each follows from what the operators say of themselves, from the inputs up.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import lru_cache

from midstream.plans.algebra.operators import Arrangement, Logical, Source
from midstream.plans.algebra.operators.columns import Columns, classes
from midstream.plans.algebra.physical import Boxed, Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.expressions import Expression
from midstream.plans.values.streams import BEGINNING, Time


def logical(node: Node) -> Logical:
    """The logical operator of a node, whether its plan is logical or physical."""
    return node.operator.logical if isinstance(node.operator, Physical) else node.operator


def logical_plan(plan: Plan) -> Plan:
    """The plan without choices of implementations, arrangements and Boxes: what it computes, not how it
    runs."""

    def without_choices(node: Node) -> Node:
        operator = logical(node)
        if isinstance(operator, Boxed):
            return logical_plan(Plan(operator.means)).root
        return node.inputs[0] if isinstance(operator, Arrangement) else Node(operator, node.inputs)

    return plan.map(without_choices)


@lru_cache(maxsize=4096)
def logical_node(node: Node) -> Node:
    """The logical node that a physical one carries out."""
    return logical_plan(Plan(node)).root


def expressions(node: Node) -> tuple[Expression, ...]:
    """The expressions of a node's operator, over the columns of its inputs one behind the other."""
    return logical(node).expressions


@lru_cache(maxsize=4096)
def is_chronon_stream(node: Node) -> bool:
    """Whether every element of a subplan's output is valid for one chronon (thesis, Table 12.1)."""
    return logical(node).gives_chronons([is_chronon_stream(child) for child in node.inputs])


@lru_cache(maxsize=4096)
def has_ordered_ends(node: Node) -> bool:
    """Whether the output's end timestamps never decrease (thesis, Table 12.1), so that state expires first
    in, first out."""
    ordered = [has_ordered_ends(child) for child in node.inputs]
    return is_chronon_stream(node) or logical(node).orders_ends(ordered)


@lru_cache(maxsize=4096)
def has_arrival_order(node: Node) -> bool:
    """Whether the order of a subplan's output is that in which the rows of one stream arrived, so that it can
    break ties."""
    return logical(node).keeps_arrivals([has_arrival_order(child) for child in node.inputs])


def input_nodes(plan: Plan, also: Set[Node] = frozenset()) -> tuple[Node, ...]:
    """Where the snapshot-reducible top of a plan begins: the first operators, seen from the outputs, that are
    not snapshot-reducible, or that such operators further up read as well.

    These are the windows nearest to the outputs, or sources without a window above them. A migration
    exchanges what lies above them and leaves them and all below alone (thesis, 10.4.1 and 29.6). `also` names
    nodes that are to be left alone too. In order of first use from the sources.

    >>> from midstream.plans.algebra.builder import stream
    >>> rows = stream("s", x="integer").window(9).distinct()
    >>> [str(node.operator) for node in input_nodes(rows.union(rows.istream()).plan())]
    ['distinct', 'istream']
    """
    reached = _first_met(plan, also)
    below = {
        node for start in reached for child in start.inputs for node in child.walk() if reads_stream(node)
    }
    if below <= also:
        return tuple(node for node in plan.nodes if node in reached)
    return input_nodes(plan, also | below)


def _first_met(plan: Plan, also: Set[Node]) -> set[Node]:
    """The first nodes, seen from the outputs, that are not snapshot-reducible or are named."""
    reached: set[Node] = set()
    stack = list(plan.outputs.values())
    seen: set[Node] = set()
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if logical(node).is_snapshot_reducible and node not in also:
            stack.extend(node.inputs)
        else:
            reached.add(node)
    return reached


def reads_stream(node: Node) -> bool:
    """What reads relations alone has given all it has, to whoever asks, before the streams begin."""
    return any(isinstance(logical(below), Source) for below in node.walk())


def is_bounded(node: Node, inputs: Set[Node]) -> bool:
    """Whether whatever a subplan gives, from some inputs up, is valid only where some element of an input is;
    rows of a relation alone are not."""
    operator = logical(node)
    if node in inputs or not operator.is_snapshot_reducible:
        return True
    if isinstance(operator, Boxed):
        return is_bounded(operator.means, inputs)
    below = (is_bounded(child, inputs) for child in node.inputs)
    match operator.valid_with:
        case "every input":
            return any(below)
        case "first input":
            return next(below)
        case "some input":
            return bool(node.inputs) and all(below)


def latest_end(node: Node, ends: Mapping[Node, Time]) -> Time:
    """Until when whatever a subplan gives is valid at most, given that of some nodes below it, relations
    among them.

    >>> from midstream.plans.algebra.builder import relation, stream
    >>> bids, offers = stream("bids", item="integer"), relation("offers", temporal=True, item="integer")
    >>> ends = {bids.node: 9, offers.node: 60}
    >>> latest_end(bids.union(offers).node, ends), latest_end(bids.intersection(offers).node, ends)
    (60, 9)
    """
    if node in ends:
        return ends[node]
    below = [latest_end(child, ends) for child in node.inputs]
    match logical(node).valid_with:
        case "every input":
            return min(below)
        case "first input":
            return below[0]
        case "some input":
            return max(below, default=BEGINNING)


def above(plan: Plan, inputs: tuple[Node, ...]) -> tuple[Node, ...]:
    """The nodes of a plan that are above its inputs, inputs before consumers."""
    stack = list(plan.outputs.values())
    reached = set(inputs)
    while stack:
        node = stack.pop()
        if node not in reached:
            reached.add(node)
            stack.extend(node.inputs)
    return tuple(node for node in plan.nodes if node in reached and node not in inputs)


@lru_cache(maxsize=4096)
def equal_columns(node: Node) -> tuple[frozenset[str], ...]:
    """The classes of a subplan's columns that are equal in every row of its output, because conditions in it
    say so.

    >>> from midstream.plans.algebra.builder import stream
    >>> pair = stream("a", x="integer").join(stream("b", y="integer", z="integer"), on=[("x", "y")])
    >>> [sorted(names) for names in equal_columns(pair.node)]
    [['x', 'y']]
    """
    below = [equal_columns(child) for child in node.inputs]
    return classes(logical(node).equal_columns(below), node.schema.names)


@lru_cache(maxsize=4096)
def keys(node: Node) -> tuple[frozenset[str], ...]:
    """Sets of columns that no two rows of a subplan's output agree on while both are valid, the shortest
    first; unknown values agree with each other, as in groups. None includes another.

    The key without columns says that there is at most one row at any instant. That nothing is told does not
    mean that nothing holds.

    Cost: O(MOST_KEYS² × columns) per node, once.

    >>> from midstream.plans.expressions.aggregates import count
    >>> from midstream.plans.algebra.builder import stream
    >>> bids = stream("bids", item="integer", bidder="integer").window(60)
    >>> [sorted(key) for key in keys(bids.group_by("item").aggregate(n=count()).node)]
    [['item']]
    >>> keys(bids.node), keys(bids.aggregate(n=count()).node)
    ((), (frozenset(),))
    """
    inputs = [Columns(child.schema, equal_columns(child), keys(child)) for child in node.inputs]
    return tuple(logical(node).output_keys(inputs))
