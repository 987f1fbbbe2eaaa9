"""The levers of an engine, as a resource manager sees them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter

from midstream.operators.engine.graph.query_graph import QueryGraph
from midstream.operators.engine.running.bounds import (
    LeverBounds,
    intersection,
    shown_bounds,
)
from midstream.operators.engine.running.plan_box import label
from midstream.operators.engine.running.queries import RunningQuery, in_force
from midstream.operators.engine.running.renaming import Renaming
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import lever_of, levers_of, unbounded
from midstream.plans.values.near_names import NearNames


@dataclass(frozen=True, slots=True)
class Lever(NearNames):
    """A setting that can change at run time, with the queries to which it applies (thesis, 21.4.2)."""

    node: Node
    """The window, granularity conversion or sample, with the bounds in force; a key for `Engine.adjust`."""
    kind: str
    """The name of its setting: size, rows, granule or share."""
    setting: float
    """The setting from its last change on."""
    bounds: LeverBounds
    """The settings that all its queries allow: the intersection of the bounds that they declare."""
    queries: tuple[str, ...]
    """The names of its queries, in order of arrival."""

    def __str__(self) -> str:
        return f"{label(self.node)}, for {' and '.join(self.queries)}"


def levers(graph: QueryGraph) -> list[Lever]:
    """All running levers, in the order of the first queries that have them, inputs before consumers."""
    nodes = dict.fromkeys(lever for query in graph.queries.values() for lever in levers_of(query.plan))
    users = {node: sorted(graph.base.users_of_lever(node), key=attrgetter("number")) for node in nodes}
    return [_lever(node, queries) for node, queries in users.items() if queries]


def plans_in_force(graph: QueryGraph) -> dict[str, Plan]:
    """The plans of all queries, in which levers have the bounds in force; keys for `adjust`.

    Cost     O(plans)
    """
    plans = {name: query.plan for name, query in graph.queries.items()}
    of_plans = {name: levers_of(plan) for name, plan in plans.items()}
    levers = dict.fromkeys(lever for mine in of_plans.values() for lever in mine)
    bounds = {lever: in_force(lever, graph.base.users_of_lever(lever)) for lever in levers}
    narrowed = {
        lever: lever_of(lever).with_bounds(both)
        for lever, both in bounds.items()
        if both not in (None, shown_bounds(lever))
    }
    renaming = Renaming(narrowed, {})
    return {
        name: plan if narrowed.keys().isdisjoint(of_plans[name]) else renaming.plan(plan)
        for name, plan in plans.items()
    }


def notes(graph: QueryGraph, query: RunningQuery) -> Iterator[str]:
    """A sentence for each other lever that runs apart from one of a query's, which may be set alike."""
    others = levers(graph)
    for lever in levers_of(query.own_terms.plan(query.plan)):
        for other in others:
            if query.name not in other.queries and _is_alike(lever, other.node):
                names = ", ".join(other.queries)
                yield f"{label(lever)} runs apart from {label(other.node)} of {names}: {_why(lever, other)}"


def _lever(node: Node, users: Iterable[RunningQuery]) -> Lever:
    operator, bounds = lever_of(node), in_force(node, users)
    assert bounds is not None
    shown = Node(operator.with_bounds(bounds), node.inputs)
    return Lever(shown, operator.lever, operator.setting, bounds, tuple(query.name for query in users))


def _is_alike(one: Node, other: Node) -> bool:
    """True if two levers differ at most in bounds and setting."""
    operator, others = lever_of(one).with_bounds(None), lever_of(other).with_bounds(None)
    if type(operator) is not type(others):
        return False
    is_same = operator.with_setting(others.setting) == others
    return is_same and [*map(unbounded, one.inputs)] == [*map(unbounded, other.inputs)]


def _why(lever: Node, other: Lever) -> str:
    operator = lever_of(lever)
    bounds = operator.bounds
    assert bounds is not None
    if (both := intersection([bounds, other.bounds])) is None:
        return "their bounds have no setting in common"
    if operator.setting == other.setting:
        return "a query has several such levers, or the greatest setting of one of them is 1"
    return f"their settings differ; both allow {both[0]} to {both[1]}"
