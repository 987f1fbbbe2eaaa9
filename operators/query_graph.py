"""The query graph: queries come and go while elements flow, and share what they have in common; the plan of
each can be exchanged (thesis, 13.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import count
from types import MappingProxyType
from typing import cast

from midstream.operators.entrance import Entrances
from midstream.operators.guest import Guest, Host
from midstream.operators.inlets import Inlet, compile_inlet
from midstream.operators.log import Log
from midstream.operators.metadata import Gauge, Metadata
from midstream.operators.meter import RECENT, Meter
from midstream.operators.operator import Operator
from midstream.operators.plan_box import PlanBox
from midstream.operators.planner import form, physical_plan
from midstream.operators.queries import Query, Sink, carried_out, missed_until
from midstream.operators.relations import Relations, check_relations
from midstream.operators.signs.converters import IntervalsToSigns
from midstream.plans.errors import PlanError, StatisticsError, UnknownStreamError
from midstream.plans.logical import Relation, Source
from midstream.plans.observations import Observation
from midstream.plans.physical import Boxed, Physical
from midstream.plans.plan import Node, Plan
from midstream.plans.properties import has_ordered_ends, is_bounded, latest_end, reads_stream
from midstream.plans.schema import suggest
from midstream.plans.streams import BEGINNING, FOREVER, Batch, Element, Time

QUERY = "query"
"""The name of a query that was not given one."""

PIECE = 256
"""Larger batches run in pieces of so many elements: what one operator gives is still in the caches of the
processor when the next one takes it."""


class QueryGraph:
    """The operators of all queries, connected: equal subplans are one.

    They run in one Box, the base. While a part of a query's plan is being exchanged, a Box runs in its place
    among the operators, as a guest; those above it and below it go on. When queries come or go, or guests,
    the base is connected anew, and operators that go on take their state along.
    """

    def __init__(self, entrances: Entrances, relations: Relations | None = None) -> None:
        self.queries: dict[str, Query] = {}
        """The queries that run, by name."""
        self._entrances = entrances
        self._relations: dict[str, list[Element]] = {n: list(e) for n, e in (relations or {}).items()}
        self._base: PlanBox | None = None
        self._ports: dict[str, int] = {}
        """By stream, the input of the base."""
        self._direct: list[tuple[int, list[Sink]]] = []
        """The sinks of each output of the base."""
        self._guests: list[Node] = []
        """The nodes for which a Box answers that may come to be a plan, inputs before consumers."""
        self._hosts: list[Host] = []
        """Those of the guests' Boxes."""
        self._numbers = count(1)
        """Of Boxes to come."""
        self._copies = count(1)
        """Of operators to come that run beside equal ones."""
        self._meters: dict[Node, Meter] = {}
        self._watched: list[str] = []
        """The queries that are watched, each as often as it is."""
        self._gauges: dict[Node, Gauge] = {}
        self._views: dict[str, PlanBox] = {}
        self.inlets: dict[str, Inlet] = {}
        """By stream, the short way of what arrives, where there is one."""

    def add(self, plan: Plan, sink: Sink | None = None, name: str = QUERY) -> Query:
        """Run one more query from now on; it shares what it has in common with those that run.

        It sees what comes after; `complete_from` of the returned query tells from which instant on nothing
        that came before is missing. Raises PlanError where there is a query of that name, where the plan
        reads no stream, or declares one otherwise than a running query does.
        """
        if name in self.queries:
            raise PlanError(f"there is a query {name} already; give another name")
        if not plan.sources:
            raise PlanError(f"query {name} reads no stream, expected at least one")
        self._entrances.enter(plan.sources, name)
        self._check_relations(plan)
        ends, roots = self._entrances.max_end, plan.outputs.values()
        complete_from = max(missed_until(root, ends) for root in roots)
        sources = {node for node in plan.nodes if isinstance(node.operator, Source)}
        are_bounded = all(is_bounded(root, sources) for root in roots)
        physical = self._apart(physical_plan(plan), sources, are_bounded=are_bounded)
        first: dict[str, Batch] = {}
        if not are_bounded:
            if self._has_begun(plan) or self._read_late(physical):
                complete_from = FOREVER  # rows of relations alone have been given before the streams began
            else:
                alone = PlanBox(physical, relations=self._relations)
                first = dict(zip(alone.outputs, alone.initial, strict=True))
        query = self.queries[name] = Query(name, plan, physical, complete_from, first=first)
        query.results = sum(map(len, first.values()))
        query.made = 0 if self._base is None else _made(self._base, query)
        if complete_from != FOREVER:
            # What a window gave when it was larger may outlast what the plan tells of it.
            known = [
                self._meters[w].max_end for w in carried_out(query.physical).values() if w in self._meters
            ]
            query.complete_from = max(complete_from, *known, BEGINNING)
        try:
            self._rebuild()
        except Exception:
            del self.queries[name]
            raise
        if sink is not None:
            self.subscribe(sink, query=name)
        return query

    def remove(self, name: str = QUERY) -> None:
        """Stop a query. What only it needed is forgotten, and results that it had under construction too."""
        self.query(name)
        self._watched = [watched for watched in self._watched if watched != name]
        del self.queries[name]
        self._rebuild()

    def query(self, name: str | None = None) -> Query:
        """A query by name; the first one without."""
        if name is None and self.queries:
            return next(iter(self.queries.values()))
        if name is None or name not in self.queries:
            known = ", ".join(self.queries) or "none"
            asked = "no query" if name is None else f"no query {name}{suggest(name, self.queries)}"
            raise UnknownStreamError(f"there is {asked}; known: {known}")
        return self.queries[name]

    def subscribe(self, sink: Sink, output: str | None = None, query: str | None = None) -> None:
        """Hand every further batch of results of a query's output to a function; of the first query and its
        first output by default. Before anything has arrived, rows of relations that are results by themselves
        are handed over at once."""
        chosen = self.query(query)
        names = tuple(chosen.plan.outputs)
        if output is not None and output not in names:
            raise UnknownStreamError(
                f"there is no output {output}{suggest(output, names)}; known: {', '.join(names)}"
            )
        output = names[0] if output is None else output
        chosen.sinks[output].append(sink)
        if chosen.first.get(output) and not self._has_begun(chosen.plan):
            sink(chosen.first[output])
        self._open_inlets()

    def keep_log(self, query: str | None = None) -> Time:
        """From now on keep what is still valid of a query's windows, and of its results: a migration that
        moves states begins with it.

        Gives the instant from which on the log is complete: when all that came before has expired.

        Cost     O(log n) per element and result, and their memory, until the query is removed.
        Raises   PlanError where a window gives positive and negative elements.
        """
        chosen = self.query(query)
        windows = carried_out(chosen.physical).values()
        for node in windows:
            if form(node) != "intervals":
                raise PlanError(
                    f"{node.operator} gives positive and negative elements, of which there is no log; choose "
                    "windows of intervals"
                )
        if not chosen.is_logged:
            complete_from = max(map(self.max_end, windows))
            for output, sinks in chosen.sinks.items():
                chosen.logs[output] = Log(complete_from)
                sinks.append(chosen.logs[output].see)
            self._rebuild()
        logs = [*chosen.logs.values(), *filter(None, map(self.log, windows))]
        return max(log.complete_from for log in logs)

    def settle(self) -> None:
        """Once a guest's Box has become a plan, do what is to be done then."""

    def process(self, port: int, batch: Batch, progress: Time) -> None:
        """Elements of a stream, possibly none, and the progress behind them."""
        if len(batch) <= PIECE:
            self._process(port, batch, progress)
            return
        stream = self.base().inputs[port]
        for at in range(0, len(batch), PIECE):
            piece = batch[at : at + PIECE]
            if stream in self._ports:  # a sink may have changed the queries
                is_last = at + PIECE >= len(batch)
                self._process(self._ports[stream], piece, progress if is_last else piece[-1][0])

    def _process(self, port: int, batch: Batch, progress: Time) -> None:
        base = self._base
        if base is None or (not batch and progress <= base.reached[port]):
            return
        results = base.events[port](batch, progress)
        for output, sinks in self._direct:
            if found := results[output]:
                for sink in sinks:
                    sink(found)
        if self._hosts:
            self._settle()

    def max_end(self, node: Node) -> Time:
        """The largest end timestamp that a running node can have given."""
        lasting = max(query.lasting for query in self.queries.values())
        if form(node) == "signs":
            # A meter takes signs for ends.
            operator = self.base().operators().get(node)
            if isinstance(operator, IntervalsToSigns):
                return max(lasting, operator.last_end)
            return FOREVER if self.base().made(node) else lasting
        if node in self._meters:
            return max(lasting, self._meters[node].max_end)
        # What is made of windows lasts no longer than they do; where one is not metered, than all that are.
        windows = carried_out(Plan(node)).values()
        if all(below in self._meters for below in windows):
            ends = {below: self.max_end(below) for below in windows}
        else:
            ends = dict.fromkeys(windows, max(map(self.max_end, self._meters), default=BEGINNING))
        for leaf in node.walk():
            if isinstance(leaf.operator, Relation):
                ends[leaf] = self._last_ends[leaf.operator.relation]
        return max(lasting, latest_end(node, ends))

    @cached_property
    def _last_ends(self) -> dict[str, Time]:
        """By relation, until when a row of it is valid."""
        return {
            name: max((end for _, end, _ in rows), default=BEGINNING)
            for name, rows in self._relations.items()
        }

    def log(self, node: Node) -> Log | None:
        """The log of a window, where one is kept."""
        return self._meters[node].log if node in self._meters else None

    def _logged(self) -> int:
        """How many elements all logs keep."""
        inputs = [meter.log for meter in self._meters.values() if meter.log is not None]
        outputs = [log for query in self.queries.values() for log in query.logs.values()]
        return sum(map(len, [*inputs, *outputs]))

    # What is known

    def base(self) -> PlanBox:
        """The box in which the operators of all queries run, to be looked at."""
        if self._base is None:
            raise UnknownStreamError("no query runs")
        return self._base

    def observe(self, query: str | None = None) -> dict[Node, Observation]:
        """What was seen of each of a query's windows, or sources without a window, by their logical nodes;
        and what its relations hold. Cost: O(kept elements)."""
        base = self.base()
        chosen = self.query(query)
        windows = carried_out(chosen.physical)
        for node in windows.values():
            if form(node) != "intervals":
                raise StatisticsError(
                    f"{node.operator} gives positive and negative elements, of which there are no statistics"
                )
        relations = {
            node: Observation(len(rows), FOREVER, rows[-1][1] if rows else BEGINNING, tuple(rows[:RECENT]))
            for node in chosen.plan.nodes
            if isinstance(node.operator, Relation)
            for rows in (self._relations[node.operator.relation],)
        }
        return relations | {
            node: Observation(
                base.made(physical),
                base.progress_of(physical),
                self._meters[physical].max_end,
                tuple(self._meters[physical].recent),
            )
            for node, physical in windows.items()
        }

    @contextmanager
    def watch(self, query: str | None = None) -> Iterator[Callable[[], list[Metadata]]]:
        """Measure the operators of a query for the time of a block, inputs before consumers; the block gets a
        function that reads what was measured so far.

        Operators that nobody watches are not measured, and are not slower for being watchable. Those that run
        in a box of their own, during a migration, cannot be measured.

        >>> from midstream.operators.engine import Engine
        >>> from midstream.plans.builder import stream
        >>> engine = Engine(stream("bids", item="integer").window(60).distinct().plan())
        >>> with engine.watch() as read:
        ...     engine.push("bids", [(t, t + 1, (t % 2,)) for t in range(10)])
        ...     [(str(m.node.operator), m.received, m.selectivity, m.d, m.l) for m in read()]
        [('time-window 60', 10, 1.0, 1.0, 60.0), ('distinct', 10, 0.2, 1.0, 60.0)]
        """
        name = self.query(query).name
        self._watched.append(name)
        self._rebuild()

        def read() -> list[Metadata]:
            nodes = self.query(name).physical.nodes
            return [self._gauges[node].read() for node in nodes if node in self._gauges]

        try:
            yield read
        finally:
            if name in self._watched:
                self._watched.remove(name)
                self._rebuild()

    def count_results(self) -> None:
        """Bring the counts of results up to date."""
        if self._base is not None:
            for query in self.queries.values():
                made = _made(self._base, query)
                query.results += made - query.made
                query.made = made

    # How it is connected

    def rename(
        self,
        moved: Mapping[Node, Node],
        plans: Mapping[str, tuple[Plan, Plan]],
        more: Mapping[Node, Operator] = MappingProxyType({}),
    ) -> None:
        """Put running operators under other nodes, and give queries the plans (logical, physical) that have
        them, and some more operators."""
        self.count_results()
        running = {moved.get(node, node): operator for node, operator in self.base().operators().items()}
        for node, meter in self._meters.items():
            if moved.get(node, node) != node:
                meter.expect_any_order()
        self._meters = {moved.get(node, node): meter for node, meter in self._meters.items()}
        self._gauges = {moved.get(node, node): gauge for node, gauge in self._gauges.items()}
        for name, (plan, physical) in plans.items():
            self.queries[name].plan, self.queries[name].physical = plan, physical
        self._connect({**running, **more})

    def _read_late(self, physical: Plan) -> list[Node]:
        """The running nodes of which a query, if it were added now, would miss what they have given already,
        streams taken together with relations."""
        base = self._base
        if base is None:
            return []
        running = base.operators()
        new = {child for node in physical.nodes if node not in running for child in node.inputs}
        read = new | set(physical.outputs.values())
        return [node for node in running if node in read and reads_stream(node) and base.made(node)]

    def _apart(self, physical: Plan, sources: Set[Node], *, are_bounded: bool) -> Plan:
        """The plan with operators of its own where it would miss more than what came before: negatives whose
        positives did, or, if all that it gives is bounded by streams, rows of relations."""
        late = self._read_late(physical)
        misses_signs = any(form(node) == "signs" for node in late)
        misses_rows = are_bounded and not all(is_bounded(node, sources) for node in late)
        if not misses_signs and not misses_rows:
            return physical
        copy = next(self._copies)

        def begins(node: Node) -> bool:
            """Whether signs begin here, or rows of relations are put to what comes from streams."""
            if form(node) == "signs" and all(form(child) != "signs" for child in node.inputs):
                return misses_signs
            if not misses_rows or not reads_stream(node) or is_bounded(node, sources):
                return False
            return all(is_bounded(child, sources) for child in node.inputs if reads_stream(child))

        def apart(node: Node) -> Node:
            if not isinstance(node.operator, Physical) or not begins(node):
                return node
            return Node(replace(node.operator, copy=copy), node.inputs)

        return physical.map(apart)

    def _has_begun(self, plan: Plan) -> bool:
        """Whether anything is known yet of what a plan reads."""
        return any(self._entrances[source.stream].progress != BEGINNING for source in plan.sources)

    def _rebuild(self) -> None:
        """Connect the operators of all queries anew; they go on with their state."""
        self.count_results()
        self._connect({} if self._base is None else self._base.operators())

    def _connect(self, running: Mapping[Node, Operator]) -> None:
        outputs: dict[str, Node] = {}
        meters: dict[Node, Meter] = {}
        direct: list[tuple[int, list[Sink]]] = []
        for query in self.queries.values():
            for node in carried_out(query.physical).values():
                meters[node] = self._meters.get(node) or Meter(has_ordered_ends(node))
            for output, root in query.physical.outputs.items():
                direct.append((len(outputs), query.sinks[output]))
                outputs[f"{query.name}: {output}"] = root
        self._keep_logs(meters)
        gauges: dict[Node, Gauge] = {}
        base = self._new_base(Plan(outputs), running, meters, gauges) if outputs else None
        self._base, self._meters, self._direct, self._gauges = base, meters, direct, gauges
        nodes = () if base is None else base.plan.nodes
        self._guests = [node for node in nodes if isinstance(node.operator, Boxed)]
        self._find_hosts()
        self._ports = {} if base is None else {name: port for port, name in enumerate(base.inputs)}
        self._views.clear()
        for query in self.queries.values():
            query.made = 0 if base is None else _made(base, query)
        self._open_inlets()

    def _find_hosts(self) -> None:
        operators = {} if self._base is None else self._base.circuit.operators
        self._hosts = list(dict.fromkeys(cast(Guest, operators[node]).host for node in self._guests))

    def _settle(self) -> None:
        for host in self._hosts:
            if host.is_plan:
                return self.settle()
        return None

    def _keep_logs(self, meters: Mapping[Node, Meter]) -> None:
        """Let those windows have a log of which somebody asked for one."""
        asked = (query.physical for query in self.queries.values() if query.is_logged)
        logged = {node for physical in asked for node in carried_out(physical).values()}
        for node, meter in meters.items():
            if node not in logged or form(node) != "intervals":
                meter.log = None
            elif meter.log is None:
                meter.log = Log(self.max_end(node))

    def _open_inlets(self) -> None:
        """Give the streams that can have one a short way for single elements."""
        self.inlets = {}
        if self._base is not None:
            for name, port in self._ports.items():
                entrance = self._entrances[name]
                if entrance.manager.is_plain and not entrance.source.intervals:
                    self.inlets[name] = compile_inlet(
                        self._base.circuit,
                        port,
                        entrance,
                        self._direct,
                        self.process,
                        self._hosts,
                        self._settle,
                    )

    def _new_base(
        self,
        plan: Plan,
        running: Mapping[Node, Operator],
        meters: Mapping[Node, Meter],
        gauges: dict[Node, Gauge],
    ) -> PlanBox:
        old = self._base
        watched = {node for name in self._watched for node in self.queries[name].physical.nodes}

        def gauge(node: Node, operator: Operator) -> Gauge | None:
            if node not in watched:
                return None
            return gauges.setdefault(node, self._gauges.get(node) or Gauge(node, operator))

        sources = [node for node in plan.nodes if isinstance(node.operator, Source)]
        return PlanBox(
            plan,
            sources,
            relations=self._relations,
            running=running,
            reached=[self._entrances[source.stream].progress for source in plan.sources],
            received=[0 if old is None else old.made(node) for node in sources],
            taps=meters,
            gauge=gauge,
        )

    def _check_relations(self, plan: Plan) -> None:
        """Check the relations that a plan reads and no query did so far."""
        known = {operator for query in self.queries.values() for operator in query.plan.relations}
        check_relations([o for o in plan.relations if o not in known], self._relations)


def _made(box: PlanBox, query: Query) -> int:
    """How many elements the operators at a query's outputs have given."""
    return sum(map(box.made, query.physical.outputs.values()))
