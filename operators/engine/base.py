"""The base: the operators of all queries, connected; equal subplans are one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from types import MappingProxyType

from midstream.operators.base.operator import Operator
from midstream.operators.compile.routes import Chain
from midstream.operators.engine.beginning import begin
from midstream.operators.engine.entrance import Entrance
from midstream.operators.engine.metadata import Gauge
from midstream.operators.engine.meter import Meter
from midstream.operators.engine.planner import running_operator
from midstream.operators.engine.queries import Query, Sink
from midstream.operators.engine.relations import Relations
from midstream.operators.engine.ways import Running, Section, Way
from midstream.plans.algebra.operators import Relation, Source
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.streams import FOREVER, Element, Time


class Base:
    """Runs nodes for queries, each node once, as long as a query has it.

    Nodes are found by a dictionary. What runs is one object, which the plans of all queries share, so that to
    find a node costs no comparison of what is below it.

    Cost     O(nodes of the plan) for a query that comes, goes or changes, however many run; besides, an
             operator that gets its first reader from another query, or loses its last, is connected anew
             with those that came with it.
    """

    def __init__(
        self, relations: Relations, entrances: Mapping[str, Entrance], changed: Callable[[str], object]
    ) -> None:
        """`changed` is told the streams whose way is another one."""
        self.ways: dict[str, Way] = {}
        """By stream."""
        self._relations = relations
        self._entrances = entrances
        self._changed = changed
        self._running: dict[Node, Running] = {}
        """Inputs before consumers."""
        self._numbers = count()
        self._loose: dict[Section, None] = {}
        """The sections that are to be connected."""

    # Queries come and go

    def known(self, plan: Plan) -> Plan:
        """The plan made of the nodes that run, as far as it has them."""
        known: dict[Node, Node] = {}
        for node in plan.nodes:
            over = node.with_inputs(tuple(known[child] for child in node.inputs))
            one = self._running.get(over)
            known[node] = over if one is None else one.node
        return Plan({name: known[root] for name, root in plan.outputs.items()})

    def run(
        self,
        query: Query,
        plan: Plan,
        before: Plan | None = None,
        adopted: Mapping[Node, Operator] = MappingProxyType({}),
    ) -> None:
        """Run a known physical plan for a query, in place of the one that it had `before`; `connect` is to
        follow. Operators go on under the nodes where they are `adopted`; others begin, or run already.

        Raises   What making an operator raises; then nothing has changed.
        """
        fresh = [node for node in plan.nodes if node not in self._running]
        operators = {
            node: one.operator
            for node in plan.nodes
            if (one := self._running.get(node)) is not None and one.operator is not None
        }
        operators |= {node: adopted[node] for node in plan.nodes if node in adopted}
        new = {node for node in fresh if not _is_leaf(node) and node not in operators}
        operators |= {node: running_operator(node) for node in fresh if node in new}
        begin(plan, operators, new, self._relations, lambda node: self._reached(node, operators))
        self._enter(fresh, operators)
        for node in plan.nodes:
            one = self._running[node]
            one.users[query.name] = None
            if not _is_leaf(node) and one.operator is not operators[node]:
                one.operator = operators[node]
                self._loosen(one)
        for place, (name, root) in enumerate(plan.outputs.items()):
            self._open(self._running[root], (query.number, place), query.sinks[name])
        if before is not None:
            self._leave(query, before, plan)

    def drop(self, query: Query, plan: Plan) -> None:
        """A query goes; `connect` is to follow."""
        self._leave(query, plan, None)

    def connect(self) -> None:
        """Connect what has changed.

        Raises   What compiling a chain raises.
        """
        while self._loose:
            section = next(iter(self._loose))
            for chain in section.chains.values():
                if chain.links[0] in self._running:
                    self._settle(chain)
            for chain in section.connect():
                if _is_source(chain.source):
                    chain.counted = self.made(chain.source)
            streams = dict.fromkeys(s for one in section.running.values() for s in one.streams)
            for stream in section.streams.keys() - streams.keys():
                if stream in self.ways:
                    self.ways[stream].leave(section)
                    self._changed(stream)
            for stream in streams:
                self.ways[stream].join(section)
                self._changed(stream)
            section.streams = streams
            del self._loose[section]

    def _reached(self, node: Node, operators: Mapping[Node, Operator]) -> Time:
        """How far a node is that runs, or is about to."""
        if node in self._running:
            return self.progress_of(node)
        if isinstance(node.operator, Source):
            return self._entrances[node.operator.stream].progress
        return FOREVER if isinstance(node.operator, Relation) else operators[node].progress()

    def _enter(self, fresh: Iterable[Node], operators: Mapping[Node, Operator]) -> None:
        section = Section()
        for node in fresh:
            below = [self._running[child] for child in node.inputs]
            stream = node.operator.stream if isinstance(node.operator, Source) else None
            streams = dict.fromkeys(s for one in below for s in one.streams) if stream is None else (stream,)
            one = self._running[node] = Running(node, next(self._numbers), tuple(streams))
            if stream is not None:
                self.ways[stream] = Way(one, self._running, self._entrances[stream].progress)
            if not _is_leaf(node):
                one.operator, one.section = operators[node], section
                section.running[node] = one
            for child in below:
                if node not in child.readers and child.section is not section:
                    self._reach_abroad(child, 1)
                child.readers[node] = child.readers.get(node, 0) + 1
        if section.running:
            self._loose[section] = None

    def _leave(self, query: Query, plan: Plan, stays: Plan | None) -> None:
        for place, (name, root) in enumerate(plan.outputs.items()):
            if stays is None or stays.outputs[name] is not root:
                self._close(self._running[root], (query.number, place))
        staying = set() if stays is None else set(stays.nodes)
        for node in reversed(plan.nodes):
            if node in staying:
                continue
            one = self._running[node]
            del one.users[query.name]
            if not one.users:
                self._forget(one)

    def _forget(self, one: Running) -> None:
        del self._running[one.node]
        self._loosen(one)
        if one.section is not None:
            del one.section.running[one.node]
        elif _is_source(one.node):
            (stream,) = one.streams
            del self.ways[stream]
            self._changed(stream)
        for child in dict.fromkeys(one.node.inputs):
            below = self._running[child]
            del below.readers[one.node]
            if below.section is not one.section:
                self._reach_abroad(below, -1)

    def _reach_abroad(self, one: Running, more: int) -> None:
        """A node has more readers in other sections, or less; what it is compiled to depends on whether it
        has any."""
        before, one.abroad = one.abroad, one.abroad + more
        if not before or not one.abroad:
            self._loosen(one)

    def _open(self, one: Running, place: tuple[int, int], sinks: list[Sink]) -> None:
        if not one.outlets:
            self._loosen(one)
        one.outlets[place] = sinks
        self.subscribed(one.node)

    def _close(self, one: Running, place: tuple[int, int]) -> None:
        del one.outlets[place]
        if not one.outlets:
            self._loosen(one)
        self.subscribed(one.node)

    def _loosen(self, one: Running) -> None:
        if one.section is not None:
            self._loose[one.section] = None

    # Who wants to see what nodes give

    def tap(self, node: Node, tap: Meter | None) -> None:
        """Let a meter see what a node gives, or nobody; `connect` is to follow."""
        one = self._running.get(node)
        if one is not None and one.tap is not tap:
            one.tap = tap
            self._loosen(one)
            self.subscribed(node)

    def gauge(self, node: Node, gauge: Gauge | None) -> None:
        """Let a gauge measure an operator, or nobody; `connect` is to follow."""
        one = self._running[node]
        if one.gauge is not gauge:
            one.gauge = gauge
            self._loosen(one)

    def subscribed(self, node: Node) -> None:
        """What a node gives goes to other sinks."""
        for stream in self._running[node].streams:
            self._changed(stream)

    # What is known

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The sources."""
        return tuple(way.source.node for way in self.ways.values())

    @property
    def plan(self) -> Plan:
        """The plans of all queries as one. Cost: O(all nodes)."""
        return Plan({str(one.number): one.node for one in self._running.values() if one.outlets})

    def users(self, node: Node) -> Mapping[str, None]:
        """The names of the queries that have a node."""
        one = self._running.get(node)
        return {} if one is None else one.users

    @property
    def running(self) -> Mapping[Node, Operator]:
        """The running operators by their nodes, as they are whenever one is looked at. Cost: O(1) a look."""
        return _Operators(self._running, self._settle)

    def operators(self) -> Mapping[Node, Operator]:
        """The running operators by their nodes, as they are now. Cost: O(all nodes)."""
        return dict(self.running)

    def made(self, node: Node) -> int:
        """How many elements a source or an operator has given."""
        if _is_source(node):
            way = self._way(node)
            return 0 if way is None else way.received
        operator = self.running.get(node)
        return 0 if operator is None else operator.emitted

    def progress_of(self, node: Node) -> Time:
        """No later element of a node that runs starts before this."""
        one = self._running[node]
        while one.section is not None and (chain := one.section.chain_of.get(one.node)) is not None:
            one = self._running[chain.source]
        if one.operator is not None:
            return one.operator.progress()
        way = self._way(one.node)
        return FOREVER if way is None else way.reached

    def size(self) -> int:
        """How many elements its operators keep."""
        return sum(one.operator.size() for one in self._running.values() if one.operator is not None)

    def state(self) -> Iterator[Element]:
        """The elements that its operators keep."""
        for operator in self.running.values():
            yield from operator.state()

    def _way(self, node: Node) -> Way | None:
        return self.ways.get(node.operator.stream) if isinstance(node.operator, Source) else None

    def _settle(self, chain: Chain) -> None:
        received = self.made(chain.source) if _is_source(chain.source) else None
        chain.settle(self.progress_of(chain.source), received)


class _Operators(Mapping[Node, Operator]):
    """Operators by their nodes; what was counted for a whole chain is told to each when it is looked at."""

    def __init__(self, running: Mapping[Node, Running], settle: Callable[[Chain], object]) -> None:
        self._running = running
        self._settle = settle

    def __getitem__(self, node: Node) -> Operator:
        one = self._running[node]
        if one.operator is None or one.section is None:
            raise KeyError(node)
        chain = one.section.chain_of.get(node)
        if chain is not None:
            self._settle(chain)
        return one.operator

    def __contains__(self, node: object) -> bool:
        return node in self._running and not _is_leaf(node)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Node]:
        return (node for node in self._running if not _is_leaf(node))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _is_leaf(node: Node) -> bool:
    return isinstance(node.operator, Source | Relation)


def _is_source(node: Node) -> bool:
    return isinstance(node.operator, Source)
