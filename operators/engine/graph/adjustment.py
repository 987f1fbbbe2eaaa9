"""Levers: settings of windows and granules that change while queries run (thesis, 21.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import lcm
from typing import Any, cast

from midstream.operators.base.setting import WithSetting
from midstream.operators.engine.graph.parting import Settling, parted
from midstream.operators.engine.graph.query_graph import QueryGraph
from midstream.operators.engine.running.plan_box import label
from midstream.operators.engine.running.queries import RunningQuery
from midstream.operators.engine.running.renaming import Renaming
from midstream.operators.engine.running.settings import LeverSettings, complete_at
from midstream.plans.algebra.operators import Adjustable
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import logical, logical_node
from midstream.plans.values.errors import PlanError
from midstream.plans.values.streams import BEGINNING, FOREVER, Time


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A change of settings at an instant, and when its effect is complete (thesis, 23.2)."""

    queries: tuple[str, ...]
    """The names of the queries with one of the levers."""
    at: int
    """The first instant with the new settings."""
    complete_at: Time
    """The instant from which on nothing is valid that came with an earlier setting.

    FOREVER where rows are counted, as it depends on later rows.
    """


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

    Cost     O(plans of the queries concerned)
    Raises   PlanError; then nothing has changed.
    """
    levers = {
        form: _adjusted(form, setting)
        for lever, setting in settings.items()
        for form in _forms(graph, logical_node(lever), only)
    }
    carriers = {node: new for lever, new in levers.items() for node in _carriers(graph, lever, only)}
    if at is None:
        changes = [(_running(graph, node), new.setting) for node, new in carriers.items()]
        at = _earliest(changes, not_before)
    for node, new in carriers.items():
        _running(graph, node).require_change(new.setting, at)
    queries = [query for query in _users(graph, carriers) if not only or query in only]
    renaming = _renaming(graph, levers, carriers, queries)
    if only:
        own = parted(graph, settling, carriers, queries)
        carriers = {own[node]: new for node, new in carriers.items()}
        renaming = _renaming(graph, levers, carriers, queries)
    for query in queries:
        query.settings.adjust(query.plan, renaming.moved, at)
    graph.rename(queries, renaming)
    ends: list[Time] = [at]
    for node, new in carriers.items():
        moved = renaming.moved[node]
        operator = _running(graph, moved)
        operator.change(new.setting, at)
        ends.append(complete_at(node, operator.setting.history, at))
        settling.add(graph.base.stop(moved), ends[-1])
    return Adjustment(tuple(query.name for query in queries), at, max(ends))


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
    settings.load(text, query.plan)
    loaded = {
        node: history
        for lever, history in settings.of(query.plan).items()
        if len(history) > 1
        for node in _carriers(graph, lever, [query])
    }
    for node in loaded:
        if _running(graph, node).emitted or len(graph.base.users(node)) > 1:
            raise PlanError(
                f"{logical(node)} of {query.name} runs already, for this query or for others; load settings "
                "when the query has been added, before elements come"
            )
    query.settings = settings
    for node, ((_, first), *changes) in loaded.items():
        setting = _running(graph, node).setting
        setting.begin(first)
        for at, value in changes:
            setting.change(value, int(at))
        settling.add(graph.base.stop(node), complete_at(node, setting.history, changes[-1][0]))


def _renaming(
    graph: QueryGraph,
    levers: Mapping[Node, Adjustable],
    carriers: Mapping[Node, Adjustable],
    queries: Iterable[RunningQuery],
) -> Renaming:
    """The new nodes of all plans of some queries; the levers are private."""
    private = {
        node: replace(cast(Physical, node.operator), logical=new, copy=next(graph.copies))
        for node, new in carriers.items()
    }
    renaming = Renaming(levers, private)
    for query in queries:
        for plan in (query.plan, query.physical, *query.targets.values()):
            renaming.plan(plan)
    return renaming


def _running(graph: QueryGraph, node: Node) -> WithSetting:
    return cast(WithSetting, graph.base.running[node])


def _adjusted(lever: Node, setting: Any) -> Adjustable:
    """The operator of a lever with another setting."""
    operator = logical(lever)
    if not isinstance(operator, Adjustable):
        raise PlanError(f"found {operator}, expected a window or a granularity conversion")
    if operator.bounds is None:
        raise PlanError(
            f"{operator} is fixed, as it has no bounds; to change it, write {operator.declaration}"
        )
    return operator.with_setting(setting)


def _carriers(graph: QueryGraph, lever: Node, only: Sequence[RunningQuery]) -> list[Node]:
    """The running nodes that carry out a lever; those of some queries alone, unless there are none."""
    found = _running_as(graph, lever, only)
    if not found:
        names = " or ".join(query.name for query in only) or "no query"
        raise PlanError(f"{names} {'does not have' if only else 'has'} {label(lever)}")
    return found


def _forms(graph: QueryGraph, lever: Node, only: Sequence[RunningQuery]) -> Sequence[Node]:
    """The forms of a lever that run, such as a sample with weights; the lever itself if none does."""
    operator = logical(lever)
    forms = operator.forms if isinstance(operator, Adjustable) else ()
    nodes = [Node(form, lever.inputs) for form in forms]
    return [node for node in nodes if _running_as(graph, node, only)] or [lever]


def _running_as(graph: QueryGraph, lever: Node, only: Sequence[RunningQuery]) -> list[Node]:
    """The running nodes that carry out a lever, of some queries alone, unless there are none."""
    carriers = graph.base.carriers(lever)
    return [node for node in carriers if not only or any(query in graph.base.users(node) for query in only)]


def _users(graph: QueryGraph, nodes: Iterable[Node]) -> list[RunningQuery]:
    """The queries that use one of some nodes, in their order of arrival."""
    users = {query for node in nodes for query in graph.base.users(node)}
    return sorted(users, key=lambda query: query.number)
