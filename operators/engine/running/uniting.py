"""The running levers that a new query can share, and how they change so that it does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from midstream.operators.engine.running.base import Base
from midstream.operators.engine.running.bounds import around, kind, lever_of, levers_of, shown_bounds, twins
from midstream.operators.engine.running.queries import RunningQuery
from midstream.plans.algebra.operators import Adjustable
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_node


@dataclass(frozen=True, slots=True)
class Union:
    """Levers that show the same bounds from now on, so that equal ones are one node."""

    coming: dict[Node, Adjustable] = field(default_factory=dict)
    """By lever of a new plan, the operator that it gets."""
    running: dict[Node, Adjustable] = field(default_factory=dict)
    """By running lever, the operator that it gets."""
    queries: dict[RunningQuery, None] = field(default_factory=dict)
    """The queries that have these running levers."""


def union_with(base: Base, plan: Plan) -> Union:
    """The levers of a new plan that are equal to running ones but for their bounds, and those.

    Cost     O(plan), and the queries that have such a lever.
    """
    union, own = Union(), twins(plan)
    for lever in levers_of(plan):
        others = _settled(base, lever)
        if kind(lever) in own or lever in others:
            continue
        for other in sorted(others, key=lambda other: not _holds(other, lever)):
            shown = around(shown_bounds(lever), shown_bounds(other))
            users = _users(base, other)
            if shown is None or any(kind(lever) in twins(user.plan) for user in users):
                continue
            operator = lever_of(other).with_bounds(shown)
            union.coming[lever] = operator
            if shown != shown_bounds(other) and Node(operator, other.inputs) not in others:
                union.running[other] = operator
                union.queries.update(users)
            break
    return union


def union_of(base: Base, lever: Node) -> Union:
    """A running lever, and one that is equal but for its bounds; nothing if there is none, or they differ."""
    union, users = Union(), _users(base, lever)
    for other in _settled(base, lever):
        theirs = _users(base, other)
        if any(kind(lever) in twins(user.plan) for user in (*users, *theirs)) or users.keys() & theirs.keys():
            continue
        shown = around(shown_bounds(lever), shown_bounds(other))
        runs = [_run(node) for each in (lever, other) for node in base.carriers(each)]
        if shown is None or len(set(runs)) < len(runs):
            continue
        for each in (lever, other):
            union.running[each] = lever_of(each).with_bounds(shown)
        union.queries.update(users | theirs)
        break
    return union


def _settled(base: Base, lever: Node) -> dict[Node, None]:
    """The running levers, as logical nodes, that are equal but for bounds, and that others can share."""
    carriers = base.alike(lever)
    return {logical_node(node): None for node in carriers if not _physical(node).copy}


def _users(base: Base, lever: Node) -> dict[RunningQuery, None]:
    return {query: None for node in base.carriers(lever) for query in base.users(node)}


def _holds(wider: Node, lever: Node) -> bool:
    return around(shown_bounds(wider), shown_bounds(lever)) == shown_bounds(wider)


def _run(node: Node) -> tuple[str, int, Iterable[Node]]:
    """What must differ between two running nodes of equal levers."""
    return _physical(node).implementation, _physical(node).copy, node.inputs


def _physical(node: Node) -> Physical:
    assert isinstance(node.operator, Physical)
    return node.operator
