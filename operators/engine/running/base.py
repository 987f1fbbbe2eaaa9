"""The base: the connected operators of all queries, with equal subplans as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from types import MappingProxyType

from midstream.operators.base.failures import Failures
from midstream.operators.base.operator import Operator
from midstream.operators.base.walk import ProcessEvent, Stop, Tap
from midstream.operators.engine.input.entrance import Entrance
from midstream.operators.engine.input.relations import Relations
from midstream.operators.engine.running.beginning import begin
from midstream.operators.engine.running.planner import running_operator
from midstream.operators.engine.running.queries import RunningQuery
from midstream.operators.engine.running.stream_path import StreamPath
from midstream.plans.algebra.operators import Leaf, Relation, Source
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import is_lever, logical_node, unbounded
from midstream.plans.values.streams import FOREVER, Element, Time

SHARED = 2
"""The number of readers from which one more does not change the compiled code of a stop."""


class Base:
    """Runs nodes for queries, each node once, as long as a query has it.

    Nodes are found in a dictionary. A running node is one object that the plans of all queries share, so
    finding a node needs no comparison of the nodes below it.

    Cost     O(nodes of the plan) for a query that comes, goes or changes, however many run.
    """

    def __init__(
        self,
        relations: Relations,
        entrances: Mapping[str, Entrance],
        changed: Callable[[str], object],
        *,
        is_compiled: bool,
    ) -> None:
        """`changed` is called with each stream whose path has changed."""
        self.paths: dict[str, StreamPath] = {}
        """The paths by stream."""
        self.failures = Failures()
        """The errors of the event under way."""
        self._relations = relations
        self._entrances = entrances
        self._changed = changed
        self._is_compiled = is_compiled
        self._stops: dict[Node, Stop] = {}
        """The stops of running nodes, inputs before consumers."""
        self._operators: dict[Node, Operator] = {}
        """The operators of these nodes."""
        self._carriers: defaultdict[Node, dict[Stop, None]] = defaultdict(dict)
        """By lever without its bounds, the stops that carry it out."""
        self._numbers = count()

    # Queries come and go

    def with_running(self, plan: Plan) -> Plan:
        """The plan with running nodes in place of equal ones."""
        return plan.map(lambda node: node if (stop := self._stops.get(node)) is None else stop.node)

    def run(
        self,
        query: RunningQuery,
        plan: Plan,
        before: Plan | None = None,
        adopted: Mapping[Node, Operator] = MappingProxyType({}),
    ) -> None:
        """Run a physical plan for a query, in place of the plan `before`.

        The plan consists of running nodes as far as possible (see `with_running`). Operators in `adopted` go
        on under their new nodes; others begin, or run already.

        Raises   What making an operator raises; then nothing has changed.
        """
        fresh = [node for node in plan.nodes if node not in self._stops]
        operators = {node: self._operators[node] for node in plan.nodes if node in self._operators}
        operators |= {node: adopted[node] for node in plan.nodes if node in adopted}
        new = {node for node in fresh if not isinstance(node.operator, Leaf) and node not in operators}
        operators |= {node: running_operator(node) for node in fresh if node in new}
        begin(plan, operators, new, self._relations, lambda node: self._reached(node, operators))
        self._enter(fresh, operators)
        for node in plan.nodes:
            stop = self._stops[node]
            stop.users[query] = None
            if not isinstance(node.operator, Leaf) and stop.operator is not operators[node]:
                stop.operator = self._operators[node] = operators[node]
                self._change(stop)
        for place, (name, root) in enumerate(plan.outputs.items()):
            self._stops[root].sinks[query.number, place] = query.sinks[name]
            self._change(self._stops[root])
        if before is not None:
            self._leave(query, before, plan)

    def drop(self, query: RunningQuery, plan: Plan) -> None:
        """Stop running a query's plan."""
        self._leave(query, plan, None)

    def _reached(self, node: Node, operators: Mapping[Node, Operator]) -> Time:
        """The progress of a node that runs, or is about to."""
        if node in self._stops:
            return self.progress_of(node)
        if isinstance(node.operator, Source):
            return self._entrances[node.operator.stream].progress
        return FOREVER if isinstance(node.operator, Relation) else operators[node].progress()

    def _enter(self, fresh: Iterable[Node], operators: Mapping[Node, Operator]) -> None:
        for node in fresh:
            below = [self._stops[child] for child in node.inputs]
            if isinstance(node.operator, Source):
                streams = dict.fromkeys([node.operator.stream])
            else:
                streams = dict.fromkeys(stream for stop in below for stream in stop.streams)
            stop = Stop(node, next(self._numbers), tuple(stop.number for stop in below), tuple(streams))
            self._stops[node] = stop
            for child in below:
                child.readers[stop] = child.readers.get(stop, 0) + 1
                if len(child.readers) <= SHARED:
                    self._change(child)
            if isinstance(node.operator, Source):
                reached = self._entrances[node.operator.stream].progress
                self.paths[node.operator.stream] = StreamPath(
                    stop, reached, self.failures, is_compiled=self._is_compiled
                )
            elif not isinstance(node.operator, Leaf):
                stop.operator = self._operators[node] = operators[node]
                if is_lever(node):
                    self._carriers[unbounded(node)][stop] = None
                for stream in streams:
                    self.paths[stream].enter(stop)
                    self._changed(stream)

    def _leave(self, query: RunningQuery, plan: Plan, stays: Plan | None) -> None:
        for place, (name, root) in enumerate(plan.outputs.items()):
            if stays is None or stays.outputs[name] is not root:
                del self._stops[root].sinks[query.number, place]
                self._change(self._stops[root])
        staying = set() if stays is None else set(stays.nodes)
        for node in reversed(plan.nodes):
            if node in staying:
                continue
            stop = self._stops[node]
            del stop.users[query]
            if not stop.users:
                self._forget(stop)

    def _forget(self, stop: Stop) -> None:
        node = stop.node
        del self._stops[node]
        if isinstance(node.operator, Source):
            del self.paths[node.operator.stream]
            self._changed(node.operator.stream)
        elif self._operators.pop(node, None) is not None:
            for stream in stop.streams:
                self.paths[stream].leave(stop)
                self._changed(stream)
            if is_lever(node):
                self._leave_levers(stop)
        for child in dict.fromkeys(node.inputs):
            below = self._stops[child]
            del below.readers[stop]
            if len(below.readers) < SHARED:
                self._change(below)

    def _leave_levers(self, stop: Stop) -> None:
        carriers = self._carriers[lever := unbounded(stop.node)]
        del carriers[stop]
        if not carriers:
            del self._carriers[lever]

    def _change(self, stop: Stop) -> None:
        """Recompile the code of a stop in all paths that reach it."""
        for stream in stop.streams:
            self.paths[stream].change(stop)
            self._changed(stream)

    def rename(self, moved: Mapping[Node, Node]) -> None:
        """Put running nodes, and all above them, under other nodes; operators and their paths stay."""
        changed = {old: new for old, new in moved.items() if new is not old}
        stops = {new: self._stops.pop(old) for old, new in changed.items() if old in self._stops}
        operators = {new: self._operators.pop(old) for old, new in changed.items() if old in self._operators}
        levers = [stop for stop in stops.values() if is_lever(stop.node)]
        for stop in levers:
            self._leave_levers(stop)
        for node, stop in stops.items():
            stop.node = node
        self._stops |= stops
        self._operators |= operators
        for stop in levers:
            self._carriers[unbounded(stop.node)][stop] = None

    # Readers of results

    def tap(self, node: Node, tap: Tap | None) -> None:
        """Set the tap that sees a node's results, or None."""
        stop = self._stops.get(node)
        if stop is not None and stop.tap is not tap:
            stop.tap = tap
            self._change(stop)

    def measure(self, node: Node, measured: ProcessEvent | None) -> None:
        """Set the function that measures an operator, or None."""
        stop = self._stops[node]
        if stop.measured != measured:
            stop.measured = measured
            self._change(stop)

    def subscribed(self, node: Node) -> None:
        """Take note that the sinks of a node's results have changed."""
        for stream in self._stops[node].streams:
            self._changed(stream)

    # Facts

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes of all sources."""
        return tuple(path.source.node for path in self.paths.values())

    def carriers(self, lever: Node) -> tuple[Node, ...]:
        """The running nodes that carry out a lever, which is a logical node."""
        return tuple(node for node in self.alike(lever) if logical_node(node) == lever)

    def alike(self, lever: Node) -> tuple[Node, ...]:
        """The running nodes that carry out a lever, or one that is equal but for bounds."""
        return tuple(stop.node for stop in self._carriers.get(unbounded(lever), ()))

    def users_of_lever(self, lever: Node) -> dict[RunningQuery, None]:
        """The queries that have a lever, which is a logical node; some may run it for themselves."""
        return {query: None for node in self.carriers(lever) for query in self.users(node)}

    def stop(self, node: Node) -> Stop:
        """The stop of a running node; it stays when the node is another one."""
        return self._stops[node]

    def users(self, node: Node) -> Mapping[RunningQuery, None]:
        """The queries that use a node."""
        stop = self._stops.get(node)
        return {} if stop is None else stop.users

    @property
    def running(self) -> Mapping[Node, Operator]:
        """The running operators by their nodes, as a live view."""
        return MappingProxyType(self._operators)

    def made(self, node: Node) -> int:
        """The number of elements that a source or an operator has given."""
        if isinstance(node.operator, Source):
            path = self.paths.get(node.operator.stream)
            return 0 if path is None else path.emitted
        operator = self._operators.get(node)
        return 0 if operator is None else operator.emitted

    def progress_of(self, node: Node) -> Time:
        """A lower bound of the starts of later elements of a running node."""
        if isinstance(node.operator, Source):
            return self.paths[node.operator.stream].reached
        return FOREVER if isinstance(node.operator, Relation) else self._operators[node].progress()

    def size(self) -> int:
        """The number of elements in the state of its operators."""
        return sum(operator.size() for operator in self._operators.values())

    def state(self) -> Iterator[Element]:
        """The elements in the state of its operators."""
        for operator in self._operators.values():
            yield from operator.state()
