"""What can be told of a plan without running it: properties that rules, the builder and migrations ask
for."""

from __future__ import annotations

from collections.abc import Set
from functools import lru_cache

import networkx as nx

from midstream.plans.arrangements import Arrangement, Coalesce, Split
from midstream.plans.expressions import Col, Expression, column_equality, conjunction, conjuncts
from midstream.plans.logical import (
    Aggregate,
    AntiJoin,
    Difference,
    Distinct,
    Filter,
    Intersection,
    Join,
    Logical,
    Project,
    Relation,
    SemiJoin,
    Source,
    StrictDifference,
)
from midstream.plans.physical import Physical
from midstream.plans.plan import Node, Plan
from midstream.plans.schema import Schema
from midstream.plans.windows import (
    CountWindow,
    Dstream,
    Granularity,
    Istream,
    PartitionedWindow,
    TimeWindow,
)


def logical(node: Node) -> Logical:
    """The logical operator of a node, whether its plan is logical or physical."""
    return node.operator.logical if isinstance(node.operator, Physical) else node.operator


def logical_plan(plan: Plan) -> Plan:
    """The plan without choices of implementations and arrangements: what it computes, not how it runs."""

    def meant(node: Node) -> Node:
        operator = logical(node)
        return node.inputs[0] if isinstance(operator, Arrangement) else Node(operator, node.inputs)

    return plan.map(meant)


@lru_cache(maxsize=4096)
def is_chronon_stream(node: Node) -> bool:
    """Whether every element of a subplan's output is valid for one chronon (thesis, Table 12.1)."""
    inputs = [is_chronon_stream(child) for child in node.inputs]
    match logical(node):
        case Source(intervals=intervals):
            return not intervals
        case Relation() | CountWindow() | PartitionedWindow():
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

    >>> from midstream.plans.builder import stream
    >>> rows = stream("s", x="integer").window(9).distinct()
    >>> [str(node.operator) for node in input_nodes(rows.union(rows.istream()).plan())]
    ['distinct', 'istream']
    """
    found = _first_met(plan, also)
    below = {
        node for start in found for child in start.inputs for node in child.walk() if _reads_stream(node)
    }
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


def _reads_stream(node: Node) -> bool:
    """What reads relations alone has given all it has, to whoever asks, before the streams begin."""
    return any(isinstance(logical(below), Source) for below in node.walk())


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

    >>> from midstream.plans.builder import stream
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
