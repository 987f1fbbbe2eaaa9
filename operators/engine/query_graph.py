"""The query graph: queries come and go while elements flow, and share what they have in common; the plan of
each can be exchanged (thesis, 13.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from heapq import heappop, heappush
from itertools import count
from types import MappingProxyType

from midstream.operators.base.operator import Operator
from midstream.operators.compile.inlets import Inlet, compile_inlet
from midstream.operators.compile.switch import is_compiled
from midstream.operators.engine.base import Base
from midstream.operators.engine.entrance import Entrances
from midstream.operators.engine.guest import Guest
from midstream.operators.engine.log import Log
from midstream.operators.engine.metadata import Gauge, Metadata
from midstream.operators.engine.meter import RECENT
from midstream.operators.engine.meters import Meters
from midstream.operators.engine.plan_box import PlanBox
from midstream.operators.engine.planner import form, physical_plan
from midstream.operators.engine.queries import Query, Sink, carried_out, lowest, missed_until
from midstream.operators.engine.relations import Relations, check_relations
from midstream.operators.engine.ways import Way
from midstream.operators.signs.converters import IntervalsToSigns
from midstream.plans.algebra.builder import Stream, plan_of
from midstream.plans.algebra.operators import Relation, Source
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import is_bounded, latest_end, reads_stream
from midstream.plans.values.arguments import listed_by_name, require_callable, require_name
from midstream.plans.values.errors import PlanError, StatisticsError, UnknownStreamError
from midstream.plans.values.observations import Observation
from midstream.plans.values.schema import suggest
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time

QUERY = "query"
"""The name of a query that was not given one."""

PIECE = 256
"""Larger batches run in pieces of so many elements: what one operator gives is still in the caches of the
processor when the next one takes it."""


class QueryGraph:
    """The operators of all queries, connected: equal subplans are one.

    They run in the base. While a part of a query's plan is being exchanged, a Box runs in its place among the
    operators, as a guest; those above it and below it go on. When a query comes, goes or changes, what it
    needs is connected anew, and operators that go on take their state along.

    Cost     A query that comes, goes or changes costs what its plan costs, however many others run.
    """

    def __init__(
        self, entrances: Entrances, relations: Relations | None = None, *, compile: bool | None = None
    ) -> None:
        self.queries: dict[str, Query] = {}
        """The queries that run, by name."""
        self.inlets: dict[str, Inlet | None] = {}
        """By stream, since it was needed, the compiled way of a single element; None where there is none."""
        self._entrances = entrances
        self._relations: dict[str, list[Element]] = listed_by_name("relations", relations or {})
        self._checked: set[Relation] = set()
        """The relations whose rows have been checked."""
        self._is_compiled = is_compiled(compile)
        self._base = Base(
            self._relations,
            entrances,
            lambda stream: self.inlets.pop(stream, None),
            is_compiled=self._is_compiled,
        )
        self._come_to_be_plans: list[Node] = []
        """Guests whose Box has become a plan, which is to be seen to."""
        self._blocked: dict[Node, list[Node]] = {}
        """By a node that runs, guests whose Box has become a plan that has it as well."""
        self._query_numbers = count()
        self._numbers = count(1)
        """Of Boxes to come."""
        self._copies = count(1)
        """Of operators to come that run beside equal ones."""
        self._meters = Meters(self._base)
        self._lasting: list[tuple[Time, str]] = []
        """A heap of how long, negated, what came through windows that are gone may be valid, by query."""
        self._watched: list[str] = []
        """The queries that are watched, each as often as it is."""
        self._gauges: dict[Node, Gauge] = {}
        self._views: dict[str, PlanBox] = {}

    def add(self, plan: Plan | Stream, sink: Sink | None = None, name: str = QUERY) -> Query:
        """Run one more query from now on; it shares what it has in common with those that run.

        It sees what comes after; `complete_from` of the returned query tells from which instant on nothing
        that came before is missing. Raises PlanError where there is a query of that name, where the plan
        reads no stream, or declares one otherwise than a running query does.
        """
        plan = plan_of("add", plan)
        require_name("add: name", name, "the name of the query")
        if sink is not None:
            require_callable("sink", sink, "a function that takes a batch of results, such as results.extend")
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
        physical = self._base.known(
            self._apart(self._base.known(physical_plan(plan)), sources, are_bounded=are_bounded)
        )
        first: dict[str, Batch] = {}
        if not are_bounded:
            if self._has_begun(plan) or self._read_late(physical):
                complete_from = FOREVER  # rows of relations alone have been given before the streams began
            else:
                alone = PlanBox(physical, relations=self._relations)
                first = dict(zip(alone.outputs, alone.initial, strict=True))
        windows = lowest(physical)
        if complete_from != FOREVER:
            # What a window gave when it was larger may outlast what the plan tells of it.
            known = [self._meters[window].max_end for window in windows if window in self._meters]
            complete_from = max(complete_from, *known, BEGINNING)
        query = Query(name, plan, physical, next(self._query_numbers), complete_from, first=first)
        query.results = sum(map(len, first.values()))
        self._base.run(query, physical)
        self.queries[name] = query
        try:
            self._meters.use(query, windows, self.max_end)
        except Exception:
            self._drop(query)
            raise
        query.made = self._made(query)
        if sink is not None:
            self.subscribe(sink, query=name)
        return query

    def remove(self, name: str = QUERY) -> None:
        """Stop a query. What only it needed is forgotten, and results that it had under construction too."""
        query = self.query(name)
        name = query.name
        if name in self._watched:
            self._watched = [watched for watched in self._watched if watched != name]
            self._place_gauges()
        self._drop(query)

    def _drop(self, query: Query) -> None:
        del self.queries[query.name]
        self._meters.release(query)
        self._base.drop(query, query.physical)
        self._unblock(query.physical)
        self._views.pop(query.name, None)

    def take_name(self, query: Query, instead_of: Query) -> None:
        """Remove a query, and let another one have its name and its place among the others."""
        own, name = query.name, instead_of.name
        place = list(self.queries).index(name) if name in self.queries else len(self.queries)
        if name in self.queries:
            self.remove(name)
        self._watched = [name if one == own else one for one in self._watched]
        del self.queries[own]
        self._views.pop(own, None)
        query.name = name
        rest = list(self.queries.items())
        self.queries.clear()
        self.queries.update([*rest[:place], (name, query), *rest[place:]])
        if query.lasting != BEGINNING:
            heappush(self._lasting, (-query.lasting, name))

    def query(self, name: str | None = None) -> Query:
        """A query by name; the first one without."""
        if name is None and self.queries:
            return next(iter(self.queries.values()))
        if not isinstance(name, str) or name not in self.queries:
            known = ", ".join(self.queries) or "none"
            asked = "no query" if name is None else f"no query {name}{suggest(name, self.queries)}"
            raise UnknownStreamError(f"there is {asked}; known: {known}")
        return self.queries[name]

    def subscribe(self, sink: Sink, output: str | None = None, query: str | None = None) -> None:
        """Hand every further batch of results of a query's output to a function; of the first query and its
        first output by default. Before anything has arrived, rows of relations that are results by themselves
        are handed over at once."""
        require_callable("sink", sink, "a function that takes a batch of results, such as results.extend")
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
        self._base.subscribed(chosen.physical.outputs[output])

    def keep_log(self, query: str | None = None) -> Time:
        """From now on keep what is still valid of a query's windows, and of its results: a migration that
        moves states begins with it.

        Gives the instant from which on the log is complete: when all that came before has expired.

        Cost     O(log n) per element and result, and their memory, until the query is removed.
        Raises   PlanError where a window gives positive and negative elements.
        """
        chosen = self.query(query)
        windows = lowest(chosen.physical)
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
                self._base.subscribed(chosen.physical.outputs[output])
            self._meters.use(chosen, windows, self.max_end)
        logs = [*chosen.logs.values(), *filter(None, map(self.log, windows))]
        return max(log.complete_from for log in logs)

    def adopt_plans(self) -> None:
        """Once a guest's Box has become a plan, do what is to be done then."""

    def process(self, way: Way, batch: Batch, progress: Time) -> None:
        """Elements of a stream, possibly none, and the progress behind them."""
        if len(batch) > PIECE:
            self._process_pieces(way.stream, batch, progress)
            return
        if not batch and progress <= way.reached:
            return
        way.process(batch, progress)
        if self._come_to_be_plans:
            self.adopt_plans()

    def _process_pieces(self, stream: str, batch: Batch, progress: Time) -> None:
        for at in range(0, len(batch), PIECE):
            piece = batch[at : at + PIECE]
            is_last = at + PIECE >= len(batch)
            if stream in self._base.ways:  # a sink may have changed the queries
                self.process(self._base.ways[stream], piece, progress if is_last else piece[-1][0])

    def take(self, stream: str, elements: Iterable[Element]) -> None:
        """Elements arrived on a stream that is read: they are checked, and take its way."""
        if stream not in self.inlets:
            self._open_inlet(stream)
        inlet = self.inlets[stream]
        if inlet is not None:
            inlet(elements)
        else:
            self._walk(stream, elements)

    def _walk(self, stream: str, elements: Iterable[Element]) -> None:
        self.process(self._base.ways[stream], *self._entrances[stream].push(elements))

    def _open_inlet(self, stream: str) -> None:
        way, entrance = self._base.ways[stream], self._entrances[stream]
        self.inlets[stream] = None
        if self._is_compiled and entrance.manager.is_plain and not entrance.source.intervals:
            self.inlets[stream] = compile_inlet(
                way, entrance, partial(self._walk, stream), self.adopt_plans, self._come_to_be_plans
            )

    def max_end(self, node: Node) -> Time:
        """The largest end timestamp that a running node can have given."""
        lasting = self._last()
        if form(node) == "signs":
            # A meter takes signs for ends.
            operator = self.base().running.get(node)
            if isinstance(operator, IntervalsToSigns):
                return max(lasting, operator.last_end)
            return FOREVER if self.base().made(node) else lasting
        if node in self._meters:
            return max(lasting, self._meters[node].max_end)
        # What is made of windows lasts no longer than they do; where one is not metered, than all that are.
        windows = lowest(Plan(node))
        if all(below in self._meters for below in windows):
            ends = {below: self.max_end(below) for below in windows}
        else:
            ends = dict.fromkeys(windows, max(map(self.max_end, self._meters), default=BEGINNING))
        for leaf in node.walk():
            if isinstance(leaf.operator, Relation):
                ends[leaf] = self._last_ends[leaf.operator.relation]
        return max(lasting, latest_end(node, ends))

    def _last(self) -> Time:
        """Until when what came through windows that are gone may be valid."""
        heap = self._lasting
        while heap and (heap[0][1] not in self.queries or self.queries[heap[0][1]].lasting != -heap[0][0]):
            heappop(heap)
        return -heap[0][0] if heap else BEGINNING

    def _outlast(self, query: Query, windows: Iterable[Node]) -> None:
        """Windows of a query go; what they gave does not go at once."""
        lasting = max(map(self.max_end, windows), default=BEGINNING)
        if lasting > query.lasting:
            query.lasting = lasting
            heappush(self._lasting, (-lasting, query.name))

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

    def base(self) -> Base:
        """The operators of all queries, to be looked at."""
        if not self.queries:
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

        >>> from midstream.operators.engine.engine import Engine
        >>> from midstream.plans.algebra.builder import stream
        >>> engine = Engine(stream("bids", item="integer").window(60).distinct().plan())
        >>> with engine.watch() as read:
        ...     engine.push("bids", [(t, t + 1, (t % 2,)) for t in range(10)])
        ...     [(str(m.node.operator), m.received, m.selectivity, m.d, m.l) for m in read()]
        [('time-window 60', 10, 1.0, 1.0, 60.0), ('distinct', 10, 0.2, 1.0, 60.0)]
        """
        name = self.query(query).name
        self._watched.append(name)
        self._place_gauges()

        def read() -> list[Metadata]:
            nodes = self.query(name).physical.nodes
            return [self._gauges[node].read() for node in nodes if node in self._gauges]

        try:
            yield read
        finally:
            if name in self._watched:
                self._watched.remove(name)
                self._place_gauges()

    def _place_gauges(self) -> None:
        """Measure the operators of the queries that are watched, and no others."""
        operators = self._base.running
        watched = {node for name in self._watched for node in self.queries[name].physical.nodes}
        gauges = {
            node: self._gauges.get(node) or Gauge(node, operators[node])
            for node in watched
            if node in operators
        }
        for node in self._gauges.keys() - gauges.keys():
            if node in operators:
                self._base.gauge(node, None)
        for node, gauge in gauges.items():
            self._base.gauge(node, gauge)
        self._gauges = gauges

    def count_results(self, query: str | None = None) -> None:
        """Bring the count of a query's results up to date."""
        chosen = self.query(query)
        made = self._made(chosen)
        chosen.results += made - chosen.made
        chosen.made = made

    def _made(self, query: Query) -> int:
        """How many elements the operators at a query's outputs have given."""
        return sum(map(self._base.made, query.physical.outputs.values()))

    # How it is connected

    def rename(
        self,
        moved: Mapping[Node, Node],
        plans: Mapping[str, tuple[Plan, Plan]],
        more: Mapping[Node, Operator] = MappingProxyType({}),
    ) -> None:
        """Put running operators under other nodes, and give queries the plans (logical, physical) that have
        them, and some more operators."""
        changing = [self.queries[name] for name in plans]
        running = self._base.running
        adopted: dict[Node, Operator] = {}
        for query in changing:
            self.count_results(query.name)
            for node in query.physical.nodes:
                if node in running:
                    adopted[moved.get(node, node)] = running[node]
        adopted |= more
        self._meters.move(moved)
        self._gauges = {moved.get(node, node): gauge for node, gauge in self._gauges.items()}
        for query in changing:
            before = query.physical
            query.plan, physical = plans[query.name]
            query.physical = self._base.known(physical)
            self._base.run(query, query.physical, before, adopted)
            self._meters.use(query, lowest(query.physical), self.max_end)
            self._unblock(before)
            self._views.pop(query.name, None)
            for node in query.physical.nodes:
                operator = running.get(node)
                if isinstance(operator, Guest):
                    operator.hosted.listen(partial(self._come_to_be_plans.append, node))
        if self._watched:
            self._place_gauges()
        for query in changing:
            query.made = self._made(query)

    def _read_late(self, physical: Plan) -> list[Node]:
        """The running nodes of which a query, if it were added now, would miss what they have given already,
        streams taken together with relations."""
        running = self._base.running
        new = {child for node in physical.nodes if node not in running for child in node.inputs}
        read = new | set(physical.outputs.values())
        return [node for node in read if node in running and reads_stream(node) and self._base.made(node)]

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

    def _unblock(self, plan: Plan) -> None:
        """See again to what waits for nodes of a plan to go, as far as they have gone."""
        for node in plan.nodes:
            if node in self._blocked and not self._base.users(node):
                self._come_to_be_plans += self._blocked.pop(node)

    def _check_relations(self, plan: Plan) -> None:
        """Check the relations that a plan reads and no query did so far."""
        wanted = [operator for operator in plan.relations if operator not in self._checked]
        check_relations(wanted, self._relations)
        self._checked.update(wanted)
