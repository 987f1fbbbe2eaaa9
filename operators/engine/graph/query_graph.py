"""The query graph: queries come and go while elements flow, and share equal operators (thesis, 13.2).

The plan of each query can be exchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from itertools import chain, count
from types import MappingProxyType
from typing import cast

from midstream.operators.base.box import settled
from midstream.operators.base.operator import Operator
from midstream.operators.base.walk import Take
from midstream.operators.compile.inlets import Inlet
from midstream.operators.compile.switch import is_compiled
from midstream.operators.engine.input.entrance import Entrances
from midstream.operators.engine.input.relations import Relations, check_relations
from midstream.operators.engine.measuring.counting import Counters, Counting, held
from midstream.operators.engine.measuring.ends import Ends
from midstream.operators.engine.measuring.metadata import Gauges, Metadata
from midstream.operators.engine.measuring.meters import RECENT, Meters
from midstream.operators.engine.running.base import Base
from midstream.operators.engine.running.bounds import shown_bounds
from midstream.operators.engine.running.guest import Guest, Guests, Incoming, box_of
from midstream.operators.engine.running.log import Log
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.operators.engine.running.planner import form, physical_plan
from midstream.operators.engine.running.queries import RunningQuery, carried_out, lowest, missed_until
from midstream.operators.engine.running.renaming import Renaming
from midstream.operators.engine.running.sharing import (
    below_windows,
    read_late,
    shareable,
    unseen_sources,
    with_own_operators,
)
from midstream.operators.engine.running.uniting import UnitedLevers, united_with
from midstream.plans.algebra.builder import AnyPlan, plan_of
from midstream.plans.algebra.operators import Relation, Source
from midstream.plans.algebra.physical import Boxed
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import companions, is_bounded, levers_of, logical_plan
from midstream.plans.values.arguments import listed_by_name, require_callable, require_name
from midstream.plans.values.errors import PlanError, StatisticsError, UnknownStreamError
from midstream.plans.values.observations import Observation
from midstream.plans.values.schema import suggest
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time

QUERY = "query"
"""The name of a query that was given none."""


class QueryGraph:
    """The operators of all queries, connected: equal subplans are one.

    They run in the base. While a part of a query's plan is being exchanged, a Box runs in its place as a
    guest; the operators above and below it go on. When a query comes, goes or changes, the operators that it
    needs are connected anew, and operators that go on keep their state.

    Cost     A query that comes, goes or changes costs as much as its plan, however many others run.
    """

    def __init__(
        self, entrances: Entrances, relations: Relations | None = None, *, compile: bool | None = None
    ) -> None:
        self.queries: dict[str, RunningQuery] = {}
        """The queries that run, by name."""
        self.listeners: list[Callable[[], object]] = []
        """Functions that are called when queries have come, gone, or taken the place of others."""
        self.inlets: dict[str, Inlet | None] = {}
        """By stream, the compiled path of a single element, once it was needed; None where there is none."""
        self._companions: dict[tuple[str, int], frozenset[str]] = {}
        """By stream and step, what `companions` has found since queries and their plans have changed."""
        self.entrances = entrances
        self.relations: dict[str, list[Element]] = listed_by_name("relations", relations or {})
        self._checked: set[Relation] = set()
        """The relations whose rows have been checked."""
        self.is_compiled = is_compiled(compile)
        """True if the paths of elements are compiled."""
        self.base = Base(
            self.relations,
            entrances,
            lambda stream: self.inlets.pop(stream, None),
            is_compiled=self.is_compiled,
        )
        self.guests = Guests()
        self.remember_settings: Time | None = None
        """The chronons for which the settings of results stay on record; None for the default."""
        self._query_numbers = count()
        self.copies = count(1)
        """The numbers of future operators that run beside equal ones."""
        self.meters = Meters(self.base)
        self.ends = Ends(self.queries, self.base.running, self.meters, self.relations)
        self._gauges = Gauges(self.base)
        self._counting = Counting(self.base.running, self.base.paths, entrances)

    def add(self, plan: AnyPlan, sink: Take | None = None, name: str = QUERY) -> RunningQuery:
        """Run one more query from now on; it shares equal operators with those that run."""
        plan = plan_of("add", plan)
        require_name("add: name", name, "the name of the query")
        if sink is not None:
            require_callable("sink", sink, "a function that takes a batch of results, such as results.extend")
        if name in self.queries:
            raise PlanError(f"there is a query {name} already; give another name")
        if not plan.sources:
            raise PlanError(f"query {name} reads no stream, expected at least one")
        self.entrances.enter(plan.sources, name)
        self.check_relations(plan)
        self.entrances.refer(plan, self.relations)
        united = united_with(self.base, plan)
        self.show(united)
        coming = Renaming(united.coming, {})
        query = self._new(name, coming.plan(plan))
        query.settings.declare({coming.node(lever): shown_bounds(lever) for lever in levers_of(plan)})
        self.base.run(query, query.physical)
        # Compiled paths contain the declarations and the time units of streams.
        for stream in (*self.entrances.references.streams, *(source.stream for source in plan.sources)):
            self.inlets.pop(stream, None)
        self.queries[name] = query
        try:
            self._meter(query)
        except Exception:
            self._drop(query)
            raise
        self._counting.update(query.tally, query.plan, query.physical)
        if sink is not None:
            self.subscribe(sink, query=name)
        self._tell()
        return query

    def _new(self, name: str, plan: Plan) -> RunningQuery:
        """A query that is about to run: its shared operators, its first results, and its missed elements."""
        ends, roots = self.entrances.max_end, plan.outputs.values()
        complete_from = max(missed_until(root, ends) for root in roots)
        sources = {node for node in plan.nodes if isinstance(node.operator, Source)}
        are_bounded = all(is_bounded(root, sources) for root in roots)
        physical = self._physical(plan, sources, are_bounded=are_bounded)
        first: dict[str, Batch] = {}
        if not are_bounded:
            if self._has_begun(plan) or read_late(physical, self.base):
                complete_from = FOREVER  # rows of relations came out before the streams began
            else:
                alone = PlanBox(physical, relations=self.relations)
                first = dict(zip(alone.outputs, alone.initial, strict=True))
        if complete_from != FOREVER:
            # Elements of a window that was larger before may last longer than its plan says.
            ends_so_far = [
                self.meters[window].max_end for window in lowest(physical) if window in self.meters
            ]
            complete_from = max(complete_from, *ends_so_far, BEGINNING)
        query = RunningQuery(name, plan, physical, next(self._query_numbers), complete_from, first=first)
        query.tally.add_results(sum(map(len, first.values())))
        return query

    def remove(self, name: str = QUERY) -> None:
        """Stop a query, and drop the operators that no other query uses."""
        query = self.query(name)
        self._counting.remove(query.tally)
        self._gauges.drop(query)
        self._drop(query)
        for migration in tuple(query.under_way):
            migration.step()
        self._tell()

    def _drop(self, query: RunningQuery) -> None:
        del self.queries[query.name]
        self.meters.release(query)
        self.base.drop(query, query.physical)
        self.guests.unblock(query.physical, self.base)

    def take_name(self, query: RunningQuery, instead_of: RunningQuery) -> None:
        """Remove a query, and let another one have its name and its place among the others."""
        own, name = query.name, instead_of.name
        place = list(self.queries).index(name) if name in self.queries else len(self.queries)
        if name in self.queries:
            self.remove(name)
        del self.queries[own]
        query.name = name
        others = list(self.queries.items())
        self.queries.clear()
        self.queries.update([*others[:place], (name, query), *others[place:]])
        self.ends.remember(query)
        self._tell()

    def _tell(self) -> None:
        self._companions.clear()
        for listener in tuple(self.listeners):
            listener()

    def query(self, name: str | None = None) -> RunningQuery:
        """A query by name; the first one without a name."""
        if name is None and self.queries:
            return next(iter(self.queries.values()))
        if not isinstance(name, str) or name not in self.queries:
            known = ", ".join(self.queries) or "none"
            asked = "no query" if name is None else f"no query {name}{suggest(name, self.queries)}"
            raise UnknownStreamError(f"there is {asked}; known: {known}")
        return self.queries[name]

    def companions(self, stream: str, step: int) -> frozenset[str]:
        """The streams that must come to a multiple of `step` before later elements of one bring a result."""
        asked = stream, step
        if asked not in self._companions:
            queries = self.base.users(self.base.paths[stream].source.node)
            roots = (root for query in queries for root in query.physical.outputs.values())
            found = [of for root in roots if stream in (of := companions(root, stream, step))]
            self._companions[asked] = found[0].intersection(*found) if found else frozenset()
        return self._companions[asked]

    def shared(self, query: RunningQuery) -> Container[Node]:
        """The nodes that run for other queries, too.

        Cost     O(1) to ask for one
        """
        return _Shared(self.base, query)

    def subscribe(self, sink: Take, output: str | None = None, query: str | None = None) -> None:
        """Pass every further batch of results of a query's output to a function.

        Before anything has arrived, rows of relations that are results by themselves are passed at once.
        """
        require_callable("sink", sink, "a function that takes a batch of results, such as results.extend")
        chosen = self.query(query)
        output = chosen.output(output)
        chosen.sinks[output].append(sink)
        if chosen.first.get(output) and not self._has_begun(chosen.plan):
            sink(chosen.first[output])
        self.base.subscribed(chosen.physical.outputs[output])

    def keep_log(self, query: str | None = None) -> Time:
        """From now on keep the valid elements of a query's windows, and its valid results.

        Returns the instant from which the log is complete: when all earlier elements have expired.
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
            complete_from = max(map(self.ends.largest, windows))
            for output, sinks in chosen.sinks.items():
                chosen.logs[output] = Log(complete_from)
                sinks.append(chosen.logs[output].see)
                self.base.subscribed(chosen.physical.outputs[output])
            self._meter(chosen)
        logs = [*chosen.logs.values(), *filter(None, map(self.log, windows))]
        return max(log.complete_from for log in logs)

    # Connections

    def rewire(
        self,
        moved: Mapping[Node, Node],
        plans: Mapping[str, tuple[Plan, Plan]],
        more: Mapping[Node, Operator] = MappingProxyType({}),
    ) -> None:
        """Put running operators under other nodes, add more operators, and give queries plans that have them.

        `plans` are pairs of a logical and a physical plan. If other operators give the results from now on,
        the results so far have been counted.
        """
        self._companions.clear()
        changing = [self.queries[name] for name in plans]
        running = self.base.running
        adopted: dict[Node, Operator] = {}
        for query in changing:
            for node in query.physical.nodes:
                if node in running:
                    adopted[moved.get(node, node)] = running[node]
        adopted |= more
        self.meters.move(moved)
        self._gauges.move(moved)
        for query in changing:
            before = query.physical
            plan, physical = plans[query.name]
            query.settings.follow(query.plan, plan)
            query.plan = plan
            query.physical = self.base.with_running(physical)
            self.base.run(query, query.physical, before, adopted)
            self._meter(query)
            self.guests.seat(query.physical, running)
            self._counting.update(query.tally, query.plan, query.physical)
            self.guests.unblock(before, self.base)
            self.guests.listen(query.physical, running)
        self._gauges.place()

    def show(self, united: UnitedLevers) -> None:
        """Let running levers show other bounds, so that equal ones are one node."""
        if united.running:
            self.rename(united.queries, Renaming(united.running, {}))

    def rename(self, queries: Iterable[RunningQuery], renaming: Renaming) -> None:
        """Put running operators, and all above them, under other nodes; nothing else changes.

        They are used by these queries.
        """
        # What a Box is to become may be what another query runs.
        running = dict.fromkeys(node for query in queries for node in query.physical.nodes)
        for query in queries:
            plan, query.physical = renaming.plan(query.plan), renaming.plan(query.physical)
            query.settings.rename(query.plan, renaming.moved)
            query.plan = plan
            query.targets = {asked: renaming.plan(plan) for asked, plan in query.targets.items()}
            self._counting.rename(query.tally, renaming.node)
        moved = {node: renaming.moved[node] for node in running}
        self._companions.clear()
        self.base.rename(moved)
        self.guests.rename(moved)
        self.meters.rename(moved)
        self._gauges.move(moved)
        for query in queries:
            self.guests.listen(query.physical, self.base.running)

    def _meter(self, query: RunningQuery) -> None:
        """Meter the windows and sources that a query has now; a metered source stays metered."""
        windows = lowest(query.physical)
        sources = unseen_sources(query.physical, windows)
        sources += [node for node in self.meters.of(query) if node in query.physical.nodes]
        ends = {
            node: self.entrances.max_end(node.operator)
            for node in sources
            if isinstance(node.operator, Source) and node not in windows
        }
        self.meters.use(query, windows, ends, self.ends.largest)

    def adopt_plans(self) -> None:
        """Let the operators of Boxes that have become plans run with all others.

        Then the migrations that wait for that take their turns.
        """
        seen: dict[RunningQuery, None] = {}
        while self.guests.ready:
            guest = self.guests.ready.pop(0)
            query = self.query_of(guest)
            if query is not None:
                seen[query] = None
                self._adopt(guest, query)
        for query in seen:
            while query.waiting and not query.is_exchanged:
                query.waiting.popleft().step()

    def query_of(self, guest: Node) -> RunningQuery | None:
        """The query that has a guest; None if the guest has gone."""
        return next(iter(self.base.users(guest)), None)

    def _adopt(self, guest: Node, query: RunningQuery) -> None:
        """Let the operators of a Box that has become a plan run with all others, if no equal ones run.

        Otherwise they stay in the Box until those are gone, or the query changes.
        """
        running = self.base.running
        box = settled(cast(Guest, running[guest]).hosted.box)
        if not isinstance(box, PlanBox):
            return
        number = box_of(guest)
        seats = [node for node in query.physical.nodes if box_of(node) == number]
        coming = Incoming(seats, box, query.physical)
        if clashes := coming.clashes(running):
            query.stuck.add(cast(Boxed, guest.operator).number)
            self.guests.block(guest, clashes)
            self._counting.update(query.tally, query.plan, query.physical)
            return
        query.tally.count_results()
        becomes = logical_plan(coming.physical)
        plan = query.plan if becomes == logical_plan(query.plan) else becomes
        self.rewire(coming.moved, {query.name: (plan, coming.physical)}, coming.operators)

    def check_relations(self, plan: Plan) -> None:
        """Check the relations that a plan reads and no query has read so far."""
        wanted = [operator for operator in plan.relations if operator not in self._checked]
        check_relations(wanted, self.relations)
        self._checked.update(wanted)

    def _physical(self, plan: Plan, sources: Set[Node], *, are_bounded: bool) -> Plan:
        """The physical plan of a new query, with running nodes as far as it may share them."""
        physical = self.base.with_running(physical_plan(plan))
        late = read_late(physical, self.base)
        owned = with_own_operators(physical, late, sources, self.copies, are_bounded=are_bounded)
        return self.base.with_running(owned)

    def _has_begun(self, plan: Plan) -> bool:
        """True if any stream that a plan reads has a progress."""
        return any(self.entrances[source.stream].progress != BEGINNING for source in plan.sources)

    # Facts

    def has_ended(self, streams: Iterable[str] | None = None) -> bool:
        """True if streams have ended, by default all, so that none of their elements comes any more."""
        names = self.base.paths if streams is None else streams
        return all(self.entrances[name].progress == FOREVER for name in names)

    def log(self, node: Node) -> Log | None:
        """The log of a window, if one is kept."""
        return self.meters[node].log if node in self.meters else None

    def counters(self, query: str | None = None) -> Counters:
        """The counts of a query since it runs; without a name, of all since the graph was made."""
        if query is not None:
            return self._counting.counters(self.query(query).tally)
        return self._counting.counters_of_all(running.tally for running in self.queries.values())

    def held(self, query: str | None = None, *, in_bytes: bool = False) -> Counter[Node]:
        """By logical node, the elements or bytes in the operators of a query, or of all queries."""
        running = self.base.running
        nodes = running if query is None else self.query(query).physical.nodes
        return held(running, nodes, in_bytes=in_bytes)

    def size(self) -> int:
        """The number of elements in operators, in entrances, and in logs."""
        return self.base.size() + self.entrances.size(self.base.paths) + sum(map(len, self._logs()))

    def state(self) -> Iterator[Element]:
        """The elements in operators, in entrances, and in logs."""
        return chain(self.base.state(), self.entrances.state(self.base.paths), *self._logs())

    def _logs(self) -> list[Log]:
        inputs = [meter.log for meter in self.meters.values() if meter.log is not None]
        return inputs + [log for query in self.queries.values() for log in query.logs.values()]

    def observe(self, query: str | None = None) -> dict[Node, Observation]:
        """The observations of a query's windows, sources and relations, by their logical nodes."""
        chosen = self.query(query)
        windows = carried_out(chosen.physical)
        for node in windows.values():
            if form(node) != "intervals":
                raise StatisticsError(
                    f"{node.operator} gives positive and negative elements, of which there are no statistics"
                )
        relations = self.observe_relations(chosen.plan)
        sources = {n: n for n in self.meters.of(chosen) if isinstance(n.operator, Source)}
        metered = {
            node: Observation(
                self.base.made(physical),
                self.base.progress_of(physical),
                self.meters[physical].max_end,
                tuple(self.meters[physical].recent),
            )
            for node, physical in {**windows, **sources}.items()
        }
        return relations | below_windows(metered) | metered

    def observe_relations(self, plan: Plan) -> dict[Node, Observation]:
        """The observations of a plan's relations, whose rows are all known from the beginning.

        Raises   UnknownStreamError where the rows of one are missing.
        """
        self.check_relations(plan)
        return {
            node: Observation(len(rows), FOREVER, rows[-1][1] if rows else BEGINNING, tuple(rows[:RECENT]))
            for node in plan.nodes
            if isinstance(node.operator, Relation)
            for rows in (self.relations[node.operator.relation],)
        }

    def observe_all(self) -> dict[Node, Observation]:
        """The observations of the windows and sources of all queries that have statistics."""
        seen: dict[Node, Observation] = {}
        for name, query in self.queries.items():
            if all(form(node) == "intervals" for node in lowest(query.physical)):
                observed = self.observe(name)
                own = query.own_terms
                seen |= observed | {own.node(node): each for node, each in observed.items()}
        return seen

    def shareable(self) -> dict[str, Plan]:
        """By the name of each query, the nodes that a further query can share."""
        nodes = {
            name: [*map(query.own_terms.node, shareable(query.physical))]
            for name, query in self.queries.items()
        }
        return {
            name: Plan({str(i): node for i, node in enumerate(shared)})
            for name, shared in nodes.items()
            if shared
        }

    @contextmanager
    def watch(self, query: str | None = None) -> Iterator[Callable[[], list[Metadata]]]:
        """Measure the operators of a query during a block, which gets a function that reads."""
        chosen = self.query(query)
        self._gauges.watch(chosen)
        try:
            yield lambda: self._gauges.read(chosen)
        finally:
            self._gauges.leave(chosen)


class _Shared(Container[Node]):
    """The nodes that run for other queries than one."""

    def __init__(self, base: Base, query: RunningQuery) -> None:
        self._base = base
        self._query = query

    def __contains__(self, node: object) -> bool:
        users = self._base.users(node) if isinstance(node, Node) else {}
        return len(users) > (self._query in users)
