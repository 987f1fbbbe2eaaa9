"""The running levers that a new query can share, and how they change so that it does."""

from __future__ import annotations

from dataclasses import dataclass, field

from midstream.operators.engine.running.base import Base
from midstream.operators.engine.running.bounds import around, kind, shown_bounds, twins
from midstream.operators.engine.running.queries import RunningQuery
from midstream.plans.algebra.operators import Adjustable
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import lever_of, levers_of, logical_node


@dataclass(frozen=True, slots=True)
class UnitedLevers:
    """Levers that show the same bounds from now on, so that equal ones are one node."""

    coming: dict[Node, Adjustable] = field(default_factory=dict)
    """By lever of a new plan, the operator that it gets."""
    running: dict[Node, Adjustable] = field(default_factory=dict)
    """By running lever, the operator that it gets."""
    queries: dict[RunningQuery, None] = field(default_factory=dict)
    """The queries that have these running levers."""


def united_with(base: Base, plan: Plan) -> UnitedLevers:
    """The levers of a new plan that are equal to running ones but for their bounds, and those.

    Cost     O(plan), and the queries that have such a lever.
    """
    united, own = UnitedLevers(), twins(plan)
    for lever in levers_of(plan):
        others, of = _alike(base, lever), kind(lever)
        if of in own or lever in others:
            continue
        for other in sorted(others, key=lambda other: not _holds(other, lever)):
            shown = around(map(shown_bounds, (lever, other)))
            users = base.users_of_lever(other)
            if shown is None or any(of in user.twins for user in users):
                continue
            operator = lever_of(other).with_bounds(shown)
            united.coming[lever] = operator
            if shown != shown_bounds(other) and Node(operator, other.inputs) not in others:
                united.running[other] = operator
                united.queries.update(users)
            break
    return united


def united_with_running(base: Base, lever: Node) -> UnitedLevers:
    """A running lever, and another that is equal but for its bounds; nothing where there is none to unite."""
    united, users, of = UnitedLevers(), base.users_of_lever(lever), kind(lever)
    for other in _alike(base, lever):
        theirs = base.users_of_lever(other)
        is_twin = any(of in user.twins for user in (*users, *theirs))
        shown = around(map(shown_bounds, (lever, other)))
        runs = [_run(node) for each in (lever, other) for node in base.carriers(each)]
        if other == lever or is_twin or shown is None or len(set(runs)) < len(runs):
            continue
        for each in (lever, other):
            united.running[each] = lever_of(each).with_bounds(shown)
        united.queries.update(users | theirs)
        break
    return united


def _alike(base: Base, lever: Node) -> dict[Node, None]:
    """The running levers, as logical nodes, that are equal but for bounds."""
    return dict.fromkeys(map(logical_node, base.alike(lever)))


def _holds(wider: Node, lever: Node) -> bool:
    return around(map(shown_bounds, (wider, lever))) == shown_bounds(wider)


def _run(node: Node) -> tuple[str, int, tuple[Node, ...]]:
    """The facts in which two running nodes of equal levers must differ."""
    assert isinstance(node.operator, Physical)
    return node.operator.implementation, node.operator.copy, node.inputs
