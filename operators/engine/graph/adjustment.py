"""Levers: settings of windows and granules that change while queries run (thesis, 21.3)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import lcm
from typing import Any, cast

from midstream.operators.base.setting import WithSetting
from midstream.operators.engine.graph.parting import Settling, parted
from midstream.operators.engine.graph.query_graph import QueryGraph
from midstream.operators.engine.running.bounds import shown_bounds
from midstream.operators.engine.running.plan_box import label
from midstream.operators.engine.running.queries import RunningQuery, in_force
from midstream.operators.engine.running.renaming import Renaming
from midstream.operators.engine.running.settings import LeverSettings, complete_at, validity
from midstream.operators.engine.running.uniting import united_with_running
from midstream.plans.algebra.operators import Adjustable
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import lever_of, levers_of, logical, logical_node
from midstream.plans.values.errors import PlanError
from midstream.plans.values.near_names import NearNames
from midstream.plans.values.streams import BEGINNING, FOREVER, Time


@dataclass(frozen=True, slots=True)
class Adjustment(NearNames):
    """A change of settings at an instant, and when its effect is complete (thesis, 23.2)."""

    queries: tuple[str, ...]
    """The names of the queries with one of the levers."""
    at: int
    """The first instant with the new settings."""
    complete_at: Time
    """The instant from which on nothing is valid that came with an earlier setting.

    FOREVER where rows are counted, as it depends on later rows.
    """
    notes: tuple[str, ...] = field(default=(), repr=False)
    """A sentence for each query that keeps its settings, as its bounds do not allow the new ones."""


def adjust(
    graph: QueryGraph,
    settling: Settling,
    settings: Mapping[Node, Any],
    at: int | None,
    only: Sequence[RunningQuery] = (),
    *,
    not_before: Time = BEGINNING,
) -> Adjustment:
    """Give levers other settings from an instant on, as `Engine.adjust` does; by default in all queries.

    Without an instant, it is the first one that all of them allow, and `not_before` another.

    The plans of the queries concerned show the new settings from now on. As long as anything is valid that
    came with another setting, a lever is private to the queries that have it now: no other query shares it.
    Queries whose bounds do not allow a setting part from the others, and keep all settings.

    Cost     O(plans of the queries concerned), O(log settings on record)
    Raises   PlanError; then nothing has changed.
    """
    carriers: dict[Node, Any] = {}
    for lever, setting in settings.items():
        _require_allowed(lever, setting)
        for node in _carriers(graph, lever, only):
            if carriers.setdefault(node, setting) != setting:
                names = ", ".join(query.name for query in graph.base.users(node))
                raise PlanError(
                    f"found the settings {carriers[node]} and {setting} of {label(logical_node(lever))}, "
                    f"which is one lever of {names}; give it one setting, or adjust queries one by one"
                )
    queries, notes = _willing(graph, carriers, only)
    concerned = set(queries)
    carriers = {
        node: setting
        for node, setting in carriers.items()
        if not concerned.isdisjoint(graph.base.users(node))
    }
    if at is None:
        at = _earliest(((_running(graph, node), setting) for node, setting in carriers.items()), not_before)
    for node, setting in carriers.items():
        _running(graph, node).require_change(setting, at)
    levers = {logical_node(node): lever_of(node).with_setting(new) for node, new in carriers.items()}
    renaming = _renaming(graph, levers, carriers, queries)
    if only or notes:
        own = _parted(graph, settling, carriers, queries, notes)
        carriers = {own[node]: setting for node, setting in carriers.items()}
        renaming = _renaming(graph, levers, carriers, queries)
    for query in queries:
        for lever in levers_of(query.plan):
            if lever in levers:
                query.settings.change(lever, levers[lever].setting, at)
    graph.rename(queries, renaming)
    for query in queries:
        query.settings.forget_old(query.plan, _progress(graph, query), graph.remember_settings)
    ends: list[Time] = [at]
    for node, setting in carriers.items():
        moved = renaming.moved[node]
        operator = _running(graph, moved)
        operator.change(setting, at, partial(validity, node))
        operator.setting.forget_expired(operator.reached[0])
        ends.append(complete_at(node, operator))
        settling.add(graph.base.stop(moved), ends[-1])
    for stop in [graph.base.stop(renaming.moved[node]) for node in carriers]:
        graph.show(united_with_running(graph.base, logical_node(stop.node)))
    return Adjustment(tuple(query.name for query in queries), at, max(ends), notes)


def _earliest(changes: Iterable[tuple[WithSetting, Any]], not_before: Time) -> int:
    """The first instant that all changes allow; 0 before any element has come.

    Raises   PlanError where there is none, as a stream has ended.
    """
    firsts, granules = zip(*(operator.earliest(value) for operator, value in changes), strict=True)
    first, granule = max(*firsts, not_before), lcm(*granules)
    if first == FOREVER:
        raise PlanError("found a lever whose streams have ended, expected levers with elements to come")
    return 0 if first == BEGINNING else -(-int(first) // granule) * granule


def load_settings(graph: QueryGraph, settling: Settling, query: RunningQuery, text: str | bytes) -> None:
    """Go on with the settings that a query's levers had elsewhere, as `Engine.load_settings` does.

    Raises   PlanError where the plan has other levers, or a lever has seen elements or runs for others.
    """
    settings = LeverSettings()
    settings.declare({lever: query.settings.bounds(lever) for lever in levers_of(query.plan)})
    settings.load(text, query.plan)
    loaded = {
        node: history
        for lever, history in settings.of(query.plan).items()
        if len(history) > 1
        for node in graph.base.carriers(lever)
        if query in graph.base.users(node)
    }
    for node in loaded:
        if _running(graph, node).emitted or len(graph.base.users(node)) > 1:
            raise PlanError(
                f"{logical(node)} of {query.name} runs already, for this query or for others; load settings "
                "when the query has been added, before elements come"
            )
    query.settings = settings
    for node, ((_, first), *changes) in loaded.items():
        operator = _running(graph, node)
        operator.setting.begin(first)
        for at, value in changes:
            operator.setting.change(value, int(at), partial(validity, node))
        settling.add(graph.base.stop(node), complete_at(node, operator))


def forget_settings(graph: QueryGraph, queries: Iterable[RunningQuery], before: int) -> None:
    """Forget with which settings results were computed that end at an instant or earlier.

    Raises   PlanError where a query may still give a result that starts earlier; then nothing is forgotten.
    """
    chosen = tuple(queries)
    for query in chosen:
        progress = _progress(graph, query)
        if before > progress:
            raise PlanError(
                f"{query.name}: found settings to forget of results before {before}, expected {progress} or "
                "earlier: results that start from then on may come"
            )
    for query in chosen:
        query.settings.forget(query.plan, before)


def _progress(graph: QueryGraph, query: RunningQuery) -> Time:
    """A lower bound of the starts of later results of a query."""
    return min(graph.base.progress_of(root) for root in query.physical.outputs.values())


def _renaming(
    graph: QueryGraph,
    levers: Mapping[Node, Adjustable],
    carriers: Iterable[Node],
    queries: Iterable[RunningQuery],
) -> Renaming:
    """The new nodes of all plans of some queries; the levers are private."""
    private = {
        node: replace(
            cast(Physical, node.operator), logical=levers[logical_node(node)], copy=next(graph.copies)
        )
        for node in carriers
    }
    renaming = Renaming(levers, private)
    for query in queries:
        for plan in (query.plan, query.physical, *query.targets.values()):
            renaming.plan(plan)
    return renaming


def _running(graph: QueryGraph, node: Node) -> WithSetting:
    return cast(WithSetting, graph.base.running[node])


def _require_allowed(lever: Node, setting: Any) -> None:
    """Refuse a setting that the bounds of a lever do not allow, as a user has written it."""
    operator = logical(lever)
    if not isinstance(operator, Adjustable):
        raise PlanError(f"found {operator}, expected a window or a granularity conversion")
    if operator.bounds is None:
        raise PlanError(
            f"{operator} is fixed, as it has no bounds; to change it, write {operator.declaration}"
        )
    operator.with_setting(setting)


def _carriers(graph: QueryGraph, lever: Node, only: Sequence[RunningQuery]) -> list[Node]:
    """The running nodes that carry out a lever; those of some queries alone, unless there are none.

    A lever has the bounds that one of its queries declares, or those that are in force.
    """
    bounds = shown_bounds(lever)

    def is_lever(running: Node) -> bool:
        users = graph.base.users_of_lever(running)
        if any(query.settings.bounds(running) == bounds for query in users if not only or query in only):
            return True
        return bounds == in_force(running, users)

    forms = [Node(form, lever.inputs) for form in lever_of(lever).forms]
    alike = [node for form in forms for node in graph.base.alike(form)]
    levers = [*filter(is_lever, dict.fromkeys(map(logical_node, alike)))]
    nodes = [
        node
        for node in alike
        if logical_node(node) in levers and any(not only or query in only for query in graph.base.users(node))
    ]
    if not nodes:
        names = " or ".join(query.name for query in only) or "no query"
        raise PlanError(f"{names} {'does not have' if only else 'has'} {label(logical_node(lever))}")
    return nodes


def _willing(
    graph: QueryGraph, carriers: Mapping[Node, Any], only: Sequence[RunningQuery]
) -> tuple[list[RunningQuery], tuple[str, ...]]:
    """The queries whose bounds allow the new settings of their levers, and a note for each other one.

    Raises   PlanError where `only` has another one, or a lever has no other queries.
    """
    refusals: dict[RunningQuery, str] = {}
    for node, setting in carriers.items():
        for query in graph.base.users(node):
            least, greatest = query.settings.bounds(logical_node(node))
            if (not only or query in only) and not least <= setting <= greatest:
                text = label(Node(lever_of(node).with_bounds((least, greatest)), logical_node(node).inputs))
                refusals[query] = f"{query.name} keeps {text}, as its bounds do not allow {setting}"
    users = [query for query in _users(graph, carriers) if not only or query in only]
    willing = {query: None for query in users if query not in refusals}
    for lever in dict.fromkeys(map(logical_node, carriers)) if refusals else ():
        if only or not any(query in willing for query in graph.base.users_of_lever(lever)):
            raise PlanError(f"nothing has changed: {'; '.join(refusals.values())}")
    return [*willing], tuple(refusals.values())


def _parted(
    graph: QueryGraph,
    settling: Settling,
    carriers: Iterable[Node],
    queries: Collection[RunningQuery],
    notes: Iterable[str],
) -> dict[Node, Node]:
    try:
        return parted(graph, settling, carriers, queries)
    except PlanError as error:
        reasons = "".join(f"; {note}" for note in notes)
        raise PlanError(f"{error}{reasons}", **vars(error)) from None


def _users(graph: QueryGraph, nodes: Iterable[Node]) -> list[RunningQuery]:
    """The queries that use one of some nodes, in their order of arrival."""
    users = {query for node in nodes for query in graph.base.users(node)}
    return sorted(users, key=lambda query: query.number)
