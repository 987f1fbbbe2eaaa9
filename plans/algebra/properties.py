"""What can be told of a plan without running it: properties that rules, the builder and migrations ask
for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from functools import lru_cache

import networkx as nx

from midstream.plans.algebra.operators import (
    Aggregate,
    AntiJoin,
    Arrangement,
    Coalesce,
    CountWindow,
    Difference,
    Distinct,
    Dstream,
    Filter,
    Granularity,
    Intersection,
    Istream,
    Join,
    Logical,
    MaxUnion,
    PartitionedWindow,
    Project,
    Relation,
    SemiJoin,
    Source,
    Split,
    StrictDifference,
    TimeWindow,
)
from midstream.plans.algebra.physical import Boxed, Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.expressions import Col, Expression, column_equality, conjunction, conjuncts
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import BEGINNING, Time


def logical(node: Node) -> Logical:
    """The logical operator of a node, whether its plan is logical or physical."""
    return node.operator.logical if isinstance(node.operator, Physical) else node.operator


def logical_plan(plan: Plan) -> Plan:
    """The plan without choices of implementations, arrangements and Boxes: what it computes, not how it
    runs."""

    def meant(node: Node) -> Node:
        operator = logical(node)
        if isinstance(operator, Boxed):
            return logical_plan(Plan(operator.means)).root
        return node.inputs[0] if isinstance(operator, Arrangement) else Node(operator, node.inputs)

    return plan.map(meant)


@lru_cache(maxsize=4096)
def meant(node: Node) -> Node:
    """The logical node that a physical one carries out."""
    return logical_plan(Plan(node)).root


def expressions(node: Node) -> tuple[Expression, ...]:
    """The expressions of a node's operator, over the columns of its inputs one behind the other."""
    match logical(node):
        case Filter(condition) | Join(condition) | SemiJoin(condition) | AntiJoin(condition):
            return (condition,)
        case Project(columns):
            return tuple(expression for _, expression in columns)
        case Aggregate(_, calls):
            return tuple(call.argument for _, call in calls if call.argument is not None)
    return ()


@lru_cache(maxsize=4096)
def is_chronon_stream(node: Node) -> bool:
    """Whether every element of a subplan's output is valid for one chronon (thesis, Table 12.1)."""
    inputs = [is_chronon_stream(child) for child in node.inputs]
    match logical(node):
        case Source(intervals=intervals):
            return not intervals
        case Relation() | CountWindow() | PartitionedWindow() | Boxed():
            return False
        case TimeWindow(size, slide):
            return size == slide == 1
        case Granularity(granule):
            return granule == 1 and inputs[0]
        case Istream() | Dstream():
            return True
        case Split(length):
            return length == 1 or inputs[0]
        case Coalesce(longest):
            return longest == 1 and inputs[0]
        case Join():
            return any(inputs)
        case Difference() | StrictDifference() | Intersection() | SemiJoin() | AntiJoin():
            return inputs[0]
        case _:
            return all(inputs)


def has_ordered_ends(node: Node) -> bool:
    """Whether the output's end timestamps never decrease (thesis, Table 12.1), so that state expires first
    in, first out."""
    match logical(node):
        case TimeWindow() | CountWindow():
            return True
        case Filter() | Project() | Granularity():
            return has_ordered_ends(node.inputs[0])
        case Aggregate(keys=()):
            return True
        case _:
            # A split keeps the order of ends, other than Table 12.1 has it, only if it makes chronons: of
            # [0, 4) and [2, 5), pieces of 3 chronons end at 3, 5 and 4.
            return is_chronon_stream(node)


def has_arrival_order(node: Node) -> bool:
    """Whether the order of a subplan's output is that in which the rows of one stream arrived, so that it can
    break ties."""
    match logical(node):
        case Source(intervals=intervals):
            return not intervals
        case Filter() | Project():
            return has_arrival_order(node.inputs[0])
        case _:
            return False


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
    found = _first_met(plan, also)
    below = {node for start in found for child in start.inputs for node in child.walk() if reads_stream(node)}
    if below <= also:
        return tuple(node for node in plan.nodes if node in found)
    return input_nodes(plan, also | below)


def _first_met(plan: Plan, also: Set[Node]) -> set[Node]:
    """The first nodes, seen from the outputs, that are not snapshot-reducible or are named."""
    found: set[Node] = set()
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
            found.add(node)
    return found


def reads_stream(node: Node) -> bool:
    """What reads relations alone has given all it has, to whoever asks, before the streams begin."""
    return any(isinstance(logical(below), Source) for below in node.walk())


def is_bounded(node: Node, inputs: Set[Node]) -> bool:
    """Whether whatever a subplan gives, from some inputs up, is valid only where some element of an input is;
    rows of a relation alone are not."""
    if node in inputs:
        return True
    operator = logical(node)
    match operator:
        case Relation():
            return False
        case Boxed(means=means):
            return is_bounded(means, inputs)
        case Join() | Intersection():
            return any(is_bounded(child, inputs) for child in node.inputs)
        case Difference() | StrictDifference() | SemiJoin() | AntiJoin():
            return is_bounded(node.inputs[0], inputs)
        case _:
            return not operator.is_snapshot_reducible or all(
                is_bounded(child, inputs) for child in node.inputs
            )


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
    match logical(node):
        case Join() | Intersection():
            return min(below)
        case Difference() | StrictDifference() | SemiJoin() | AntiJoin():
            return below[0]
        case _:
            return max(below, default=BEGINNING)


def above(plan: Plan, inputs: tuple[Node, ...]) -> tuple[Node, ...]:
    """The nodes of a plan that are above its inputs, inputs before consumers."""
    stack = list(plan.outputs.values())
    found = set(inputs)
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack.extend(node.inputs)
    return tuple(node for node in plan.nodes if node in found and node not in inputs)


def join_keys(condition: Expression, left: Schema, right: Schema) -> tuple[list[tuple[str, str]], Expression]:
    """Split a join condition into pairs of equal columns (left, right) and the rest."""
    keys: list[tuple[str, str]] = []
    rest: list[Expression] = []
    for part in conjuncts(condition):
        columns = column_equality(part)
        if columns and columns[0] in left and columns[1] in right:
            keys.append(columns)
        elif columns and columns[1] in left and columns[0] in right:
            keys.append((columns[1], columns[0]))
        else:
            rest.append(part)
    return keys, conjunction(rest)


@lru_cache(maxsize=4096)
def equal_columns(node: Node) -> tuple[frozenset[str], ...]:
    """The classes of a subplan's columns that are equal in every row of its output, because conditions in it
    say so.

    >>> from midstream.plans.algebra.builder import stream
    >>> pair = stream("a", x="integer").join(stream("b", y="integer", z="integer"), on=[("x", "y")])
    >>> [sorted(names) for names in equal_columns(pair.node)]
    [['x', 'y']]
    """
    union = nx.utils.UnionFind(node.schema.names)

    def equate(names: list[str]) -> None:
        if len(names) > 1:
            union.union(*names)

    operator = logical(node)
    match operator:
        case Filter(condition) | Join(condition, _) | SemiJoin(condition):
            for part in conjuncts(condition):
                if columns := column_equality(part):
                    union.union(*columns)
            for child in node.inputs:
                for names in equal_columns(child):
                    union.union(*names)
        case Distinct() | Difference() | StrictDifference() | Intersection() | AntiJoin() | Arrangement():
            return equal_columns(node.inputs[0])
        case Aggregate(keys):
            for names in equal_columns(node.inputs[0]):
                equate([key for key in keys if key in names])
        case Project(columns):
            for names in equal_columns(node.inputs[0]):
                equate([name for name, e in columns if isinstance(e, Col) and e.name in names])
    visible = set(node.schema.names)
    classes = (frozenset(names) & visible for names in union.to_sets())
    return tuple(sorted((names for names in classes if len(names) > 1), key=min))


MOST_KEYS = 8
"""How many keys of a subplan are told at most: joins of joins multiply them, and the shortest are of most
use."""


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
    inputs = [keys(child) for child in node.inputs]
    match logical(node):
        case Aggregate(columns):
            groups = frozenset(columns)
            return _shortest([groups, *(key for key in inputs[0] if key <= groups)])
        case Distinct():
            return inputs[0] or (frozenset(node.schema.names),)
        case Project(columns):
            read = {e.name: name for name, e in columns if isinstance(e, Col)}
            return _carried(inputs[0], read, equal_columns(node.inputs[0]))
        case Join() as join:
            return _keys_of_pairs(join, node, *inputs)
        case Intersection():
            return _shortest([*inputs[0], *inputs[1]])
        case MaxUnion():
            # Different rows of the two sides may agree on a key; but where no side has a row twice, neither
            # has the output.
            return (frozenset(node.schema.names),) if all(inputs) else ()
        case TimeWindow(size):
            # A later row with the same key may come while the earlier one is still valid. A window of one
            # chronon shows one instant of its input at a time.
            return inputs[0] if size == 1 else ()
        case CountWindow(rows):
            return (frozenset(),) if rows == 1 else ()
        case PartitionedWindow(columns, rows):
            return (frozenset(columns),) if rows == 1 else ()
        case Filter() | Difference() | StrictDifference() | SemiJoin() | AntiJoin() | Arrangement():
            return inputs[0]
        case Granularity() | Istream() | Dstream():
            # Rows that are valid together here were valid together at one instant of the input.
            return inputs[0]
        case _:
            return ()


def _keys_of_pairs(
    join: Join, node: Node, left: tuple[frozenset[str], ...], right: tuple[frozenset[str], ...]
) -> tuple[frozenset[str], ...]:
    """A key of either side tells the row there. What the condition equates with columns of that row is told
    too, so that of the other side's key only the rest is needed."""
    one, other = (child.schema for child in node.inputs)
    equal, _ = join_keys(join.condition, one, other)
    ours, theirs = frozenset(a for a, _ in equal), frozenset(b for _, b in equal)
    pairs = Node(Join(join.condition, one.names + other.names), node.inputs)
    found = [key for l in left for r in right for key in (l | (r - theirs), (l - ours) | r)]  # noqa: E741
    return _carried(_shortest(found), {name: name for name in join.columns}, equal_columns(pairs))


def _carried(
    found: Iterable[frozenset[str]], names: Mapping[str, str], equal: tuple[frozenset[str], ...]
) -> tuple[frozenset[str], ...]:
    """Keys under the names that columns have further up, in `names`. A column that is dropped is replaced by
    an equal one; a key of which a column is lost is lost."""
    stands = dict(names)
    for alike in equal:
        shown = sorted(names[name] for name in alike if name in names)
        stands |= {name: shown[0] for name in alike if shown and name not in names}
    return _shortest(frozenset(stands[name] for name in key) for key in found if key <= stands.keys())


def _shortest(found: Iterable[frozenset[str]]) -> tuple[frozenset[str], ...]:
    """Those that include no other, in a fixed order, and no more than are of use."""
    chosen: list[frozenset[str]] = []
    for key in sorted(set(found), key=lambda key: (len(key), sorted(key))):
        if not any(other <= key for other in chosen):
            chosen.append(key)
    return tuple(chosen[:MOST_KEYS])
