"""The engine: streams go in by name, results come out to sinks; queries come and go, share what they have in
common, and the plan of each can be exchanged while it runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from operator import itemgetter

from midstream.operators.box import Box, settled
from midstream.operators.entrance import Entrance
from midstream.operators.input_manager import DeadLetters
from midstream.operators.operator import Operator
from midstream.operators.plan_box import PlanBox
from midstream.operators.planner import physical_plan
from midstream.operators.queries import Query, Sink, carried_out, meant, missed_until
from midstream.operators.relations import Relations, check_relations
from midstream.plans.errors import IntervalError, PlanError, UnknownStreamError
from midstream.plans.logical import Source
from midstream.plans.observations import Observation
from midstream.plans.plan import Node, Plan
from midstream.plans.properties import above, has_ordered_ends, input_nodes, logical_plan
from midstream.plans.schema import suggest
from midstream.plans.streams import BEGINNING, Batch, Element, Time

RECENT = 4096
"""How many of an input's last elements are kept for statistics."""

QUERY = "query"
"""The name of a query that was not given one."""


class _Meter:
    """What is known of one input of an exchangeable part, besides how many elements it gave."""

    __slots__ = ("has_ordered_ends", "max_end", "recent")

    def __init__(self, has_ordered_ends: bool) -> None:
        self.has_ordered_ends = has_ordered_ends
        self.max_end: Time = BEGINNING
        self.recent: deque[Element] = deque(maxlen=RECENT)

    def see(self, batch: Batch) -> None:
        """Take note of a batch. Cost: O(1) per element, in C loops."""
        self.recent.extend(batch)
        self.max_end = max(self.max_end, *map(itemgetter(1), batch))


class Engine:
    """Runs queries over streams.

    The operators of all queries form one graph, in which equal subplans are one (thesis, 13.2). Where a plan
    is being exchanged, its part above the windows, or above what it shares with other queries, runs in a Box
    of its own until that is done. Elements are checked where they enter: order, validity and schema.

    `slack` and `delay` declare disorder and latency, stream by stream (see InputManager). `dead_letters` is
    handed what cannot be taken, in lists, instead of an error. `relations` holds the elements of each
    relation that a query may be joined to.

    Output   Every sink gets the results of its output in order of start, in non-empty batches.
    Raises   UnknownStreamError, StreamOrderError, LateElementError, IntervalError, SchemaError, EndedError;
             then nothing of the batch was taken.

    >>> from midstream.plans.builder import stream
    >>> from midstream.plans.streams import chronons
    >>> results = []
    >>> engine = Engine(stream("bids", item="integer").window(60).distinct().plan(), results.extend)
    >>> engine.push("bids", chronons([(10, (7,)), (30, (7,)), (45, (8,))]))
    >>> engine.close()
    >>> results
    [(10, 70, (7,)), (45, 105, (8,)), (70, 90, (7,))]
    """

    def __init__(
        self,
        plan: Plan | None = None,
        sink: Sink | None = None,
        *,
        relations: Relations | None = None,
        slack: Mapping[str, Time] | None = None,
        delay: Mapping[str, int] | None = None,
        dead_letters: Sink | None = None,
    ) -> None:
        self.queries: dict[str, Query] = {}
        """The queries that run, by name."""
        self._letters = None if dead_letters is None else DeadLetters(dead_letters)
        self._slack = dict(slack or {})
        self._delay = dict(delay or {})
        self._relations: dict[str, list[Element]] = {n: list(e) for n, e in (relations or {}).items()}
        self._entrances: dict[str, Entrance] = {}
        self._sources: dict[str, int] = {}
        self._meters: dict[Node, _Meter] = {}
        self._base: PlanBox | None = None
        self._views: dict[str, PlanBox] = {}
        self._direct: list[tuple[int, list[Sink]]] = []
        """The sinks of each output of the base."""
        self._parts: list[tuple[Query, list[int]]] = []
        """The queries with a box of their own, and which outputs of the base it reads."""
        if plan is not None:
            self.add(plan, sink)

    # Queries

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
        for source in plan.sources:
            self._enter(source, name)
        self._checked(plan)
        ends = {source.stream: self._end_of(source) for source in plan.sources}
        complete_from = max(missed_until(root, lambda s: ends[s.stream]) for root in plan.outputs.values())
        query = self.queries[name] = Query(name, plan, physical_plan(plan), complete_from)
        try:
            self._rebuild({})
        except Exception:
            del self.queries[name]
            raise
        if sink is not None:
            self.subscribe(sink, query=name)
        return query

    def remove(self, name: str = QUERY) -> None:
        """Stop a query. What only it needed is forgotten; results that it had under construction too."""
        self.query(name)
        del self.queries[name]
        self._rebuild({})

    def subscribe(self, sink: Sink, output: str | None = None, query: str | None = None) -> None:
        """Hand every further batch of results of a query's output to a function; of the first query and its
        first output by default."""
        chosen = self.query(query)
        names = tuple(chosen.plan.outputs)
        if output is not None and output not in names:
            raise UnknownStreamError(
                f"there is no output {output}{suggest(output, names)}; known: {', '.join(names)}"
            )
        chosen.sinks[names[0] if output is None else output].append(sink)

    # Streams

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of the streams that it reads."""
        return tuple(self._sources)

    def push(self, stream: str, elements: Iterable[Element]) -> None:
        """Take a batch of elements `(start, end, payload)` of a stream."""
        entrance = self._entrances[stream] if stream in self._sources else self._refuse(stream)
        batch, progress = entrance.push(elements)
        self._happen(self._sources[stream], batch, progress)

    def advance(self, stream: str, time: int) -> None:
        """A heartbeat: no later element of the stream starts before `time`. One that tells nothing new is
        ignored."""
        entrance = self._entrance(stream)
        if type(time) is not int:
            raise IntervalError(
                f"stream {stream}: found heartbeat {time!r}, expected an integer", stream=stream
            )
        self._happen(self._sources[stream], *entrance.manager.advance(time))

    def tick(self, now: int) -> None:
        """It is `now` in application time: streams with a declared delay that are silent advance."""
        for stream in tuple(self._sources):
            if stream in self._delay:
                self._happen(self._sources[stream], *self._entrances[stream].manager.tick(now))

    def end(self, stream: str) -> None:
        """Nothing more will come on the stream. Ending twice is allowed."""
        entrance = self._entrance(stream)
        self._happen(self._sources[stream], *entrance.manager.end())

    def close(self) -> None:
        """End all streams; all results are out afterwards."""
        for stream in tuple(self._sources):
            self.end(stream)

    def progress(self, stream: str | None = None) -> Time:
        """No later element of the stream starts before this; without a name, the least of all streams."""
        if stream is None:
            return min(self._entrances[name].progress for name in self._sources)
        return self._entrance(stream).progress

    # What is known

    @property
    def plan(self) -> Plan:
        """The plan of the first query: the one that runs, or to which a migration under way is moving."""
        return self.query(None).plan

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Where the exchangeable part of the first query begins, as logical nodes."""
        return input_nodes(logical_plan(self.plan))

    @property
    def box(self) -> Box:
        """The exchangeable part of the first query, to be looked at."""
        return self.part(None)

    def part(self, query: str | None = None) -> Box:
        """The exchangeable part of a query, as a Box."""
        chosen = self.query(query)
        return self._view(chosen) if chosen.box is None else chosen.box

    def observe(self, query: str | None = None) -> dict[Node, Observation]:
        """What was seen of each of a query's windows, or sources without a window, by their logical nodes.
        Cost: O(kept elements)."""
        base = self._require_base()
        windows = carried_out(self.query(query).physical)
        return {
            node: Observation(
                base.made(physical),
                base.progress_of(physical),
                self._max_end(physical),
                tuple(self._meters[physical].recent),
            )
            for node, physical in windows.items()
        }

    def input_progress(self, query: str | None = None) -> list[Time]:
        """The progress of each input of a query's exchangeable part."""
        base = self._require_base()
        return [base.progress_of(node) for node in self.forks(query).values()]

    def input_max_ends(self, query: str | None = None) -> list[Time]:
        """The largest end timestamp seen on each input of a query's exchangeable part."""
        return [self._max_end(node) for node in self.forks(query).values()]

    def counters(self, query: str | None = None) -> dict[str, int]:
        """`elements` in, `results` out, the counters of the query's part, and dead letters by reason."""
        chosen = self.query(query)
        self._bank()
        letters = {} if self._letters is None else self._letters.counters()
        return {
            "elements": sum(self._taken(name) for name in self._sources),
            "results": chosen.results,
            **self.part(query).counters(),
            **{f"dead letters: {reason}": number for reason, number in sorted(letters.items())},
        }

    def size(self) -> int:
        """How many elements are kept: by operators, and where streams enter."""
        boxes = [self._require_base(), *(q.box for q in self.queries.values() if q.box is not None)]
        return sum(box.size() for box in boxes) + sum(e.manager.size() for e in self._entrances.values())

    # Migration

    def forks(self, query: str | None = None) -> dict[Node, Node]:
        """The inputs of a query's exchangeable part: its windows, and what it shares with other queries. By
        the logical node the physical one that runs."""
        chosen = self.query(query)
        if chosen.box is not None:
            return chosen.forks
        others = [other for other in self.queries.values() if other is not chosen]
        shared = {node for other in others if other.box is None for node in other.physical.nodes}
        return carried_out(chosen.physical, shared)

    def new_part(self, plan: Plan, query: str | None = None) -> PlanBox:
        """The exchangeable part of a plan to which a query may move, with empty state, on the query's
        inputs."""
        forks = self.forks(query)
        grafted = plan.map(lambda node: forks.get(meant(node), node))
        return PlanBox(grafted, tuple(forks.values()), relations=self._checked(plan))

    def exchange(self, box: Box, plan: Plan, ready: list[Batch], query: str | None = None) -> None:
        """Put another box in the place of a query's exchangeable part; `ready` is what became ready by doing
        so. The caller answers for its being right."""
        chosen = self.query(query)
        self._bank()
        chosen.forks = self.forks(query)
        chosen.box = box
        chosen.plan = plan
        self._rebuild({})
        self._emit(chosen, ready)
        self._settle(chosen)

    # The graph

    def _rebuild(self, more: Mapping[Node, Operator]) -> None:
        """Connect the operators of all queries anew, and some more that run; all go on with their state."""
        self._bank()
        old = self._base
        running = {} if old is None else {**old.operators(), **more}
        outputs: dict[str, Node] = {}
        meters: dict[Node, _Meter] = {}
        direct: list[tuple[int, list[Sink]]] = []
        parts: list[tuple[Query, list[int]]] = []
        for query in self.queries.values():
            for node in carried_out(query.physical).values():
                meters[node] = self._meters.get(node) or _Meter(has_ordered_ends(node))
            if query.box is None:
                for output, root in query.physical.outputs.items():
                    direct.append((len(outputs), query.sinks[output]))
                    outputs[f"{query.name}: {output}"] = root
            else:
                parts.append((query, [len(outputs) + i for i in range(len(query.forks))]))
                outputs |= {f"{query.name}: {i}": node for i, node in enumerate(query.forks.values())}
        base = self._connect(Plan(outputs), running, meters) if outputs else None
        self._base, self._meters, self._direct, self._parts = base, meters, direct, parts
        self._sources = {} if base is None else {name: port for port, name in enumerate(base.inputs)}
        self._views.clear()
        self._bank()

    def _connect(
        self, plan: Plan, running: Mapping[Node, Operator], meters: Mapping[Node, _Meter]
    ) -> PlanBox:
        old = self._base
        sources = [node for node in plan.nodes if isinstance(node.operator, Source)]
        reached = [self._entrances[source.stream].progress for source in plan.sources]
        return PlanBox(
            plan,
            sources,
            relations=self._relations,
            running=running,
            reached=reached,
            received=[0 if old is None else old.made(node) for node in sources],
            taps={n: m.recent.extend if m.has_ordered_ends else m.see for n, m in meters.items()},
        )

    def _bank(self) -> None:
        """Count the results that the base has given since it was last connected."""
        for query in self.queries.values():
            if query.box is None and self._base is not None:
                made = sum(map(self._base.made, query.physical.outputs.values()))
                query.results += made - query.made
                query.made = made

    def _happen(self, port: int, batch: Batch, progress: Time) -> None:
        """An event at a source."""
        base = self._base
        assert base is not None
        if not batch and progress <= base.reached[port]:
            return
        results = base.events[port](batch, progress)
        for output, sinks in self._direct:
            if found := results[output]:
                for sink in sinks:
                    sink(found)
        if self._parts:
            self._feed(results)

    def _feed(self, results: list[Batch]) -> None:
        """Pass on what the base gave to the parts that run in boxes of their own."""
        base = self._require_base()
        for query, ports in self._parts:
            box = query.box
            assert box is not None
            for i, number in enumerate(ports):
                if results[number]:
                    self._emit(query, box.push(i, results[number]))
                self._emit(query, box.advance(i, base.progress(number)))
                box = query.box = settled(box)
        for query, _ in tuple(self._parts):
            self._settle(query)

    def _settle(self, query: Query) -> None:
        """Once a migration is over, let the operators of its new plan run with all others."""
        assert query.box is not None
        query.box = settled(query.box)
        base = self._require_base()
        if isinstance(query.box, PlanBox) and not set(query.box.operators()) & set(base.operators()):
            part, query.box = query.box, None
            query.physical = part.plan
            query.made = sum(part.made(root) for root in part.plan.outputs.values())
            self._rebuild(part.operators())

    def _emit(self, query: Query, results: list[Batch]) -> None:
        for output, batch in zip(query.plan.outputs, results, strict=True):
            if batch:
                query.results += len(batch)
                for sink in query.sinks[output]:
                    sink(batch)

    def _view(self, query: Query) -> PlanBox:
        base = self._require_base()
        running = base.operators()
        inputs = tuple(self.forks(query.name).values())
        view = self._views.get(query.name)
        if view is None:
            upper = above(query.physical, inputs)
            view = self._views[query.name] = PlanBox(
                query.physical,
                inputs,
                relations=self._relations,
                running={node: running[node] for node in upper if node in running},
            )
        view.is_at([base.progress_of(node) for node in inputs], [base.made(node) for node in inputs])
        return view

    def _max_end(self, node: Node) -> Time:
        if node not in self._meters:  # what is made of windows lasts no longer than they do
            return max(self._max_end(below) for below in carried_out(Plan(node)).values())
        meter = self._meters[node]
        if meter.has_ordered_ends:
            return meter.recent[-1][1] if meter.recent else BEGINNING
        return meter.max_end

    # Names

    def _enter(self, source: Source, query: str) -> None:
        """Make sure that there is an entrance for a stream, declared as this query has it."""
        known = self._entrances.get(source.stream)
        if known is None:
            slack, delay = self._slack.get(source.stream), self._delay.get(source.stream)
            self._entrances[source.stream] = Entrance(source, slack, delay, self._letters)
        elif known.source != source:
            raise PlanError(
                f"query {query}: found stream {source.stream} {source.columns}"
                f"{' of intervals' if source.intervals else ''}, expected it as it is known: "
                f"{known.source.columns}{' of intervals' if known.source.intervals else ''}",
                stream=source.stream,
            )

    def _checked(self, plan: Plan) -> Mapping[str, list[Element]]:
        """All relations, after a check of those that a plan reads and no query did so far."""
        known = {operator for query in self.queries.values() for operator in query.plan.relations}
        check_relations([o for o in plan.relations if o not in known], self._relations)
        return self._relations

    def _end_of(self, source: Source) -> Time:
        return self._entrances[source.stream].max_end

    def _taken(self, stream: str) -> int:
        base = self._require_base()
        return base.made(base.nodes[self._sources[stream]]) + self._entrances[stream].manager.size()

    def _entrance(self, stream: str) -> Entrance:
        return self._entrances[stream] if stream in self._sources else self._refuse(stream)

    def _refuse(self, stream: str) -> Entrance:
        known = tuple(self._sources)
        reads = f"it reads {', '.join(known)}" if known else "it reads none"
        raise UnknownStreamError(
            f"the query reads no stream {stream}{suggest(stream, known)}; {reads}", stream=stream
        )

    def query(self, name: str | None = None) -> Query:
        """A query by name; the first one without."""
        if name is None and self.queries:
            return next(iter(self.queries.values()))
        if name is None or name not in self.queries:
            known = ", ".join(self.queries) or "none"
            raise UnknownStreamError(
                f"there is no query {name or ''}{suggest(name or '', self.queries)}; known: {known}"
            )
        return self.queries[name]

    def _require_base(self) -> PlanBox:
        if self._base is None:
            raise UnknownStreamError("no query runs")
        return self._base


def interleave(
    streams: Mapping[str, Iterable[Element]], batch_size: int = 1000
) -> Iterable[tuple[str, list[Element]]]:
    """Complete streams as one sequence of batches in order of time: `(stream, batch)`.

    A batch holds consecutive elements of one stream out of `batch_size` consecutive ones of all, so that
    streams stay in step.

    >>> list(interleave({"a": [(1, 2, "x"), (5, 6, "y")], "b": [(3, 4, "z")]}, batch_size=2))
    [('a', [(1, 2, 'x')]), ('b', [(3, 4, 'z')]), ('a', [(5, 6, 'y')])]
    """
    numbered = [_numbered(i, name, elements) for i, (name, elements) in enumerate(streams.items())]
    chunk: dict[str, list[Element]] = {}
    size = 0
    for _, _, name, element in merge(*numbered, key=itemgetter(0, 1)):
        chunk.setdefault(name, []).append(element)
        size += 1
        if size == batch_size:
            yield from chunk.items()
            chunk, size = {}, 0
    yield from chunk.items()


def _numbered(i: int, name: str, elements: Iterable[Element]) -> Iterator[tuple[Time, int, str, Element]]:
    return ((element[0], i, name, element) for element in elements)


def run(plan: Plan, streams: Mapping[str, Iterable[Element]], batch_size: int = 1000) -> list[Element]:
    """Run a plan over complete streams and return the results of its first output.

    >>> from midstream.plans.builder import stream
    >>> run(stream("s", x="integer").window(3).plan(), {"s": [(1, 2, (7,))]})
    [(1, 4, (7,))]
    """
    results: list[Element] = []
    engine = Engine(plan, results.extend)
    for name, batch in interleave(streams, batch_size):
        engine.push(name, batch)
    engine.close()
    return results
