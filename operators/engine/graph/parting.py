"""Levers meet and part: equal windows run once, until one of them gets another setting.

A lever that has been adjusted is private to its queries, as it holds elements by an earlier setting. Once
these have expired, it is as any other window: new queries can share it, and if an equal one runs already,
both meet. Operators above it keep their state, and stay private where equal ones run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import cast

from midstream.operators.base.operator import Operator
from midstream.operators.base.setting import WithSetting
from midstream.operators.base.walk import Stop
from midstream.operators.engine.graph.feed import Feed
from midstream.operators.engine.graph.query_graph import QueryGraph
from midstream.operators.engine.running.planner import running_operator
from midstream.operators.engine.running.queries import RunningQuery
from midstream.operators.engine.running.renaming import Renaming
from midstream.operators.engine.running.settings import complete_at
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.values.errors import PlanError
from midstream.plans.values.streams import FOREVER, Time


class Settling:
    """Levers that wait until their earlier elements have expired; one is looked at behind each event."""

    def __init__(self, graph: QueryGraph, feed: Feed) -> None:
        self._graph, self._feed = graph, feed
        self._waiting: deque[Stop] = deque()
        self._complete_at: dict[Stop, Time] = {}

    def add(self, stop: Stop, complete_at: Time) -> None:
        """Wait until a lever comes to an instant; FOREVER if nobody knows when it is complete."""
        if complete_at == FOREVER:
            self._complete_at.pop(stop, None)
            return
        if not self._waiting:
            self._feed.work_in_steps(self)
        if stop not in self._complete_at:
            self._waiting.append(stop)
        self._complete_at[stop] = complete_at

    def step(self) -> bool:
        """Look at one lever; returns True while there are others."""
        if self._waiting:
            stop = self._waiting.popleft()
            if stop in self._complete_at and not self._is_settled(stop):
                self._waiting.append(stop)
            else:
                self._complete_at.pop(stop, None)
        return bool(self._waiting)

    def _is_settled(self, stop: Stop) -> bool:
        """Let a lever meet equal ones if it is time; returns False to be asked again."""
        graph, node, operator = self._graph, stop.node, cast(WithSetting, stop.operator)
        if graph.base.running.get(node) is not operator:
            return True  # its queries have gone
        users = tuple(graph.base.users(node))
        if operator.reached[0] < self._complete_at[stop] or any(query.is_exchanged for query in users):
            return False
        operator.setting.begin(operator.setting.history[-1][1])
        plain = Node(replace(cast(Physical, node.operator), copy=0), node.inputs)
        if graph.base.users(plain):
            _meet(graph, node, plain, users)
        else:
            graph.rename(users, Renaming({}, {node: cast(Physical, plain.operator)}))
        return True


def _meet(graph: QueryGraph, node: Node, plain: Node, users: Iterable[RunningQuery]) -> None:
    """Let the operators above a lever read an equal one, which runs for other queries."""
    moved: dict[Node, Node] = {node: plain}
    for query in users:
        # Another stream may be so late that its elements still meet some that this lever gave out.
        graph.ends.outlast(query, [node])
        for above in query.physical.nodes:
            if above in moved:
                continue
            moved[above] = above.with_inputs(tuple(moved[child] for child in above.inputs))
            if moved[above] is not above and graph.base.users(moved[above]):
                # It keeps its own state.
                private = replace(cast(Physical, above.operator), copy=next(graph.copies))
                moved[above] = Node(private, moved[above].inputs)
    plans = {query.name: (query.plan, _placed(query.physical, moved)) for query in users}
    graph.rewire({old: new for old, new in moved.items() if old != node}, plans)


def parted(
    graph: QueryGraph, settling: Settling, levers: Iterable[Node], queries: Collection[RunningQuery]
) -> dict[Node, Node]:
    """Give some queries levers of their own, as far as these run for others too; returns their new nodes.

    Raises   PlanError where an operator holds elements for these queries and for others.
    """
    others = {node for query in queries for node in query.physical.nodes if _is_shared(graph, node, queries)}
    own = {node: next(graph.copies) for node in levers if node in others}
    moved: dict[Node, Node] = {}
    for query in queries:
        for node in query.physical.nodes:
            if node in moved:
                continue
            moved[node] = node.with_inputs(tuple(moved[child] for child in node.inputs))
            if node in own:
                private = replace(cast(Physical, node.operator), copy=own[node])
                moved[node] = Node(private, moved[node].inputs)
            if moved[node] is not node and node in others:
                _require_no_elements(graph, node, queries)
    running = graph.base.running
    clones = {
        moved[node]: _clone(operator, moved[node])
        for node in others
        if moved[node] is not node and isinstance(operator := running.get(node), WithSetting)
    }
    plans = {query.name: (query.plan, _placed(query.physical, moved)) for query in queries}
    if own:
        for query in queries:
            graph.ends.outlast(query, own.keys() & set(query.physical.nodes))
        graph.rewire({old: new for old, new in moved.items() if old not in others}, plans, clones)
        for node, clone in clones.items():
            if len(clone.setting.history) > 1:
                settling.add(graph.base.stop(node), complete_at(node, clone))
    return {node: moved[node] for node in levers}


def _is_shared(graph: QueryGraph, node: Node, queries: Collection[RunningQuery]) -> bool:
    return any(query not in queries for query in graph.base.users(node))


def _require_no_elements(graph: QueryGraph, node: Node, queries: Collection[RunningQuery]) -> None:
    operator = graph.base.running.get(node)
    if operator is None or type(operator).size is Operator.size:
        return
    others = ", ".join(query.name for query in graph.base.users(node) if query not in queries)
    raise PlanError(
        f"{logical(node)} holds elements for {others} as well, so that {others} must be adjusted too",
        operator=str(logical(node)),
    )


def _clone(running: WithSetting, node: Node) -> WithSetting:
    """A new operator for a lever, which goes on where the running one is; neither has elements."""
    clone = cast(WithSetting, running_operator(node))
    clone.setting = running.setting.copied()
    clone.reached[:] = running.reached
    return clone


def _placed(plan: Plan, moved: Mapping[Node, Node]) -> Plan:
    return Plan({name: moved[root] for name, root in plan.outputs.items()})
