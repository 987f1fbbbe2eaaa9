"""From a logical plan to a physical one: which implementation runs each operator.

The choice is data: a table from logical operators to implementations, each with a precondition. The first
whose precondition holds is taken; a physical plan may name any other that holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from midstream.operators.aggregate import Aggregate
from midstream.operators.distinct import Distinct
from midstream.operators.join import HashJoin, NestedLoopsJoin, pairing
from midstream.operators.operator import Operator
from midstream.operators.stateless import Filter, Map, TimeWindow
from midstream.operators.union import Union
from midstream.plans import logical
from midstream.plans.errors import PlanError
from midstream.plans.physical import Physical
from midstream.plans.plan import Node, Plan
from midstream.plans.properties import is_chronon_stream, join_keys
from midstream.plans.properties import logical as logical_operator


@dataclass(frozen=True, slots=True)
class Implementation:
    """A way to run a logical operator: `obstacle` tells why not, or None where it can; `make` builds the
    running operator."""

    name: str
    obstacle: Callable[[Node], str | None]
    make: Callable[[Node], Operator]


def physical_plan(plan: Plan) -> Plan:
    """Choose an implementation for every operator that has none yet; sources stay as they are.

    Raises PlanError where none fits, with the reason.
    """
    return plan.map(_choose)


def running_operator(node: Node) -> Operator:
    """A new running operator, with empty state, for a node of a physical plan."""
    assert isinstance(node.operator, Physical)
    return _find(node, node.operator.implementation).make(node)


def _choose(node: Node) -> Node:
    if isinstance(node.operator, logical.Source):
        return node
    if isinstance(node.operator, Physical):
        chosen = _find(node, node.operator.implementation)
        if obstacle := chosen.obstacle(node):
            raise PlanError(f"{node.operator}: {obstacle}", operator=str(node.operator))
        return node
    obstacles = []
    for candidate in IMPLEMENTATIONS[type(node.operator)]:
        obstacle = candidate.obstacle(node)
        if obstacle is None:
            return Node(Physical(candidate.name, node.operator), node.inputs)
        obstacles.append(obstacle)
    raise PlanError(f"{node.operator}: {'; '.join(obstacles)}", operator=str(node.operator))


def _find(node: Node, name: str) -> Implementation:
    operator = logical_operator(node)
    candidates = IMPLEMENTATIONS.get(type(operator), ())
    for candidate in candidates:
        if candidate.name == name:
            return candidate
    known = "one of " + ", ".join(candidate.name for candidate in candidates) if candidates else "none"
    raise PlanError(f"found implementation {name!r} for {operator}, expected {known}")


def _always(node: Node) -> None:
    return None


def _over_chronons(node: Node) -> str | None:
    if is_chronon_stream(node.inputs[0]):
        return None
    return (
        f"its input, {node.inputs[0].operator}, is not a chronon stream, "
        "and a window over intervals has another meaning"
    )


def _has_keys(node: Node) -> str | None:
    keys, _ = join_keys(_join(node).condition, node.inputs[0].schema, node.inputs[1].schema)
    return None if keys else "no column of the left side is to be equal to one of the right side"


def _join(node: Node) -> logical.Join:
    operator = logical_operator(node)
    assert isinstance(operator, logical.Join)
    return operator


def _hash_join(node: Node) -> Operator:
    left, right = (child.schema for child in node.inputs)
    operator = _join(node)
    keys, rest = join_keys(operator.condition, left, right)
    return HashJoin(
        left=[left.index(mine) for mine, _ in keys],
        right=[right.index(theirs) for _, theirs in keys],
        pairing=pairing(rest, operator.columns, left, right),
    )


def _nested_loops_join(node: Node) -> Operator:
    left, right = (child.schema for child in node.inputs)
    return NestedLoopsJoin(pairing(_join(node).condition, _join(node).columns, left, right))


def _filter(node: Node) -> Operator:
    operator = logical_operator(node)
    assert isinstance(operator, logical.Filter)
    return Filter(operator.condition, node.inputs[0].schema)


def _map(node: Node) -> Operator:
    operator = logical_operator(node)
    assert isinstance(operator, logical.Project)
    return Map([expression for _, expression in operator.columns], node.inputs[0].schema)


def _window(node: Node) -> Operator:
    operator = logical_operator(node)
    assert isinstance(operator, logical.TimeWindow)
    return TimeWindow(operator.size)


def _aggregate(node: Node) -> Operator:
    operator = logical_operator(node)
    assert isinstance(operator, logical.Aggregate)
    return Aggregate(operator.keys, [call for _, call in operator.calls], node.inputs[0].schema)


IMPLEMENTATIONS: Mapping[type[logical.Logical], tuple[Implementation, ...]] = {
    logical.Filter: (Implementation("filter", _always, _filter),),
    logical.Project: (Implementation("map", _always, _map),),
    logical.TimeWindow: (Implementation("time-window", _over_chronons, _window),),
    logical.Union: (Implementation("union", _always, lambda node: Union(len(node.inputs))),),
    logical.Join: (
        Implementation("hash-join", _has_keys, _hash_join),
        Implementation("nested-loops-join", _always, _nested_loops_join),
    ),
    logical.Distinct: (Implementation("distinct", _always, lambda node: Distinct()),),
    logical.Aggregate: (Implementation("aggregate", _always, _aggregate),),
}
