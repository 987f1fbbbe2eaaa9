"""The engine: streams go in by name, results of queries come out to sinks, and plans change meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any, overload

from midstream.autopilot.advice import Advisor
from midstream.autopilot.looks import Looks
from midstream.autopilot.parts import PilotParts
from midstream.autopilot.piloting import parts_for, settings_of
from midstream.autopilot.settings import Settings
from midstream.autopilot.watching import EngineAutopilot
from midstream.migration.auto import Prediction
from midstream.migration.migrate import obstacle, prepare
from midstream.migration.strategies import find_strategy
from midstream.migration.strategy import Strategy
from midstream.migration.transition import UNPROVED, MigrationRequest, Transition
from midstream.operators.base.walk import Take
from midstream.operators.engine.adjustment import change_granule, resize
from midstream.operators.engine.counting import Counters
from midstream.operators.engine.entrance import Entrances
from midstream.operators.engine.feed import Feed
from midstream.operators.engine.host import Host
from midstream.operators.engine.input_manager import DeadLetter
from midstream.operators.engine.metadata import Metadata
from midstream.operators.engine.queries import RunningQuery
from midstream.operators.engine.query_graph import QUERY, QueryGraph
from midstream.operators.engine.relations import Relations
from midstream.operators.engine.replacement import Replacement, replace
from midstream.operators.engine.watching import IDLE, Watcher
from midstream.optimizer import PROCESSING, Budget, Choice, Objective, Search, Statistics
from midstream.optimizer.rules import RULES, Rule, Stage
from midstream.optimizer.search.budget import STEPS
from midstream.optimizer.search.common_parts import labelled
from midstream.optimizer.search.optimizing import search_for
from midstream.optimizer.search.proving import prove
from midstream.optimizer.search.together import SearchTogether, apart, part_of
from midstream.optimizer.verification import check_proof
from midstream.plans.algebra.builder import Stream, node_of, plan_of
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.arguments import listed, require, wrong
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.observations import Observation
from midstream.plans.values.streams import Element, Time
from midstream.plans.values.verdicts import Equivalence
from midstream.queries import Query


class Engine:
    """Runs queries over streams; each can be moved to another plan in mid-stream.

    Elements are checked where they enter: order, validity and schema. Then they run through the graph of all
    queries.

    `slack` and `delay` declare disorder and latency, stream by stream (see InputManager). Where a plan is
    given they must be of its streams; an engine without one takes those of plans to come. `dead_letters` is
    handed what cannot be taken, in lists, instead of an error. `relations` holds the elements of each
    relation that a query may be joined to. Where `compile`, the ways of elements are compiled, which is
    faster; else they are walked, which a debugger can follow. None is for what the environment says by
    MIDSTREAM_COMPILE, 0 or 1; where it says nothing they are compiled.

    Output   Every sink gets the results of its output in order of start, in non-empty batches.
    Raises   UnknownStreamError, StreamOrderError, LateElementError, IntervalError, SchemaError, EndedError;
             then nothing of the batch was taken.

    >>> import midstream as ms
    >>> bids = ms.stream("bids", item="integer", price="float").window(60)
    >>> dear = ms.col("price") > 10
    >>> results = []
    >>> engine = ms.Engine(bids.union(bids).filter(dear).plan(), results.extend)
    >>> engine.push("bids", ms.chronons([(0, (7, 12.5)), (5, (7, 9.0))]))
    >>> migration = engine.migrate(bids.filter(dear).union(bids.filter(dear)).plan())
    >>> engine.push("bids", ms.chronons([(30, (8, 20.0)), (99, (9, 30.0))]))
    >>> ms.report(migration).split_time, migration.phase.value
    (66, 'done')
    >>> engine.close()
    >>> results == [(0, 60, (7, 12.5))] * 2 + [(30, 90, (8, 20.0))] * 2 + [(99, 159, (9, 30.0))] * 2
    True
    """

    def __init__(
        self,
        plan: Plan | Stream | None = None,
        sink: Take | None = None,
        *,
        relations: Relations | None = None,
        slack: Mapping[str, Time] | None = None,
        delay: Mapping[str, int] | None = None,
        dead_letters: Callable[[list[DeadLetter]], object] | None = None,
        compile: bool | None = None,
    ) -> None:
        self._graph = QueryGraph(Entrances(slack, delay, dead_letters), relations, compile=compile)
        self._feed = Feed(self._graph)
        self._host = Host(self._graph, self._feed)
        self._autopilots: list[EngineAutopilot] = []
        self._proofs: dict[frozenset[Plan], Equivalence] = {}
        """Of plans between which autopilots have moved."""
        if plan is not None:
            self.add(plan, sink)
            self._graph.entrances.require_known(self.streams)

    # Feeding

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of the streams that it reads."""
        return self._feed.streams

    def push(self, stream: str, elements: Iterable[Element]) -> None:
        """Take a batch of elements `(start, end, payload)` of a stream."""
        self._feed.push(stream, elements)

    def advance(self, stream: str, time: int) -> None:
        """A heartbeat: no later element of the stream starts before `time`. One that tells nothing new is
        ignored."""
        self._feed.advance(stream, time)

    def tick(self, now: int) -> None:
        """It is `now` in application time: streams with a declared delay advance, though they are silent."""
        self._feed.tick(now)

    def end(self, stream: str) -> None:
        """Nothing more will come on the stream. Ending twice is allowed."""
        self._feed.end(stream)

    def close(self) -> None:
        """End all streams; all results are out afterwards."""
        self._feed.close()

    def progress(self, stream: str | None = None) -> Time:
        """No later element of the stream starts before this; without a name, the least of all streams."""
        return self._feed.progress(stream)

    # Queries

    @property
    def queries(self) -> dict[str, Query]:
        """The queries that run, by name, in the order in which they were added."""
        return {name: Query(self._graph, running) for name, running in self._graph.queries.items()}

    @property
    def plan(self) -> Plan:
        """The plan of the first query: the one that runs, or to which a migration under way is moving."""
        return self.query().plan

    def query(self, name: str | None = None) -> Query:
        """A query by name; the first one without."""
        return Query(self._graph, self._graph.query(name))

    def add(self, plan: Plan | Stream, sink: Take | None = None, name: str = QUERY) -> Query:
        """Run one more query from now on; it shares what it has in common with those that run.

        It sees what comes after; `complete_from` of the returned query tells from which instant on nothing
        that came before is missing.

        Raises   PlanError where there is a query of that name, where the plan reads no stream, or declares
                 one otherwise than a running query does.
        """
        return Query(self._graph, self._graph.add(plan, sink, name))

    def remove(self, name: str = QUERY) -> None:
        """Stop a query. The state that no other query uses is dropped, and results under construction too."""
        self._graph.remove(name)
        self._feed.step()

    def subscribe(self, sink: Take, output: str | None = None, query: str | None = None) -> None:
        """Hand every further batch of results of a query's output to a function; of the first query and its
        first output by default. Before anything has arrived, rows of relations that are results by themselves
        are handed over at once."""
        self._graph.subscribe(sink, output, query)

    def replace(self, plan: Plan | Stream, query: str | None = None, *, at: int | None = None) -> Replacement:
        """Let a query, by default the first, mean something else from application time `at` on.

        A migration keeps what a query means; this changes it. Before `at` results are those of the old plan,
        from it on those of the new one, under the same name and to the same sinks. Without `at` it happens as
        soon as it can: when what the old plan has given is no longer valid, and the new plan has seen all
        that its results depend on.

        Raises   PlanError where the outputs have other names, or `at` is too early; then nothing has changed.

        >>> import midstream as ms
        >>> bids = ms.stream("bids", item="integer").window(10)
        >>> results = []
        >>> engine = ms.Engine(bids.filter(ms.col("item") > 3), results.extend)
        >>> engine.push("bids", ms.chronons([(0, (4,)), (1, (9,))]))
        >>> engine.replace(bids.filter(ms.col("item") > 5)).at
        11
        >>> engine.push("bids", ms.chronons([(5, (4,)), (8, (9,)), (20, (4,)), (21, (7,))]))
        >>> engine.close()
        >>> results
        [(0, 10, (4,)), (1, 11, (9,)), (5, 11, (4,)), (8, 11, (9,)), (11, 18, (9,)), (21, 31, (7,))]
        """
        return replace(self._graph, self._feed, plan, query, at=at)

    def resize(self, window: Node | Stream, size: int | None, at: int) -> list[str]:
        """From application time `at` on, give a time window another size, in all queries that have it, whose
        names are returned. What starts before `at` keeps its validity.

        Raises   PlanError where no query has the window, the size is out of its bounds, `at` has been
                 reached, or one of the queries is being migrated; then nothing has changed.
        """
        return resize(self._graph, node_of("resize", window), size, at)

    def change_granule(self, conversion: Node | Stream, granule: int, at: int) -> list[str]:
        """From application time `at` on, give a granularity conversion another granule, in all queries that
        have it; as `resize`."""
        return change_granule(self._graph, node_of("change_granule", conversion), granule, at)

    def keep_log(self, query: str | None = None) -> Time:
        """From now on keep what is still valid of a query's windows, and of its results: a migration that
        moves states begins with it.

        Gives the instant from which on the log is complete: when all that came before has expired.

        Cost     O(log n) per element and result, and their memory, until the query is removed.
        Raises   PlanError where a window gives positive and negative elements.
        """
        return self._graph.keep_log(query)

    # Migration

    def migrate(
        self,
        plan: Plan | Stream | Choice,
        strategy: str | Strategy = "genmig",
        query: str | None = None,
        *,
        when_busy: str = "chain",
        replace_all: bool = False,
        proof: Equivalence | None = None,
        unproved: str = "refuse",
        wait: bool = False,
    ) -> Transition:
        """Move a query, by default the first, to another plan that means the same, without losing, doubling
        or delaying a result.

        That both plans mean the same must be known. A choice of the optimizer carries its proof, and of most
        other plans it is proved at once. Else a search for a counter-example begins: the transition is
        `checking` while elements flow, and goes on or is `refused` when the search ends; `wait=True` makes it
        end before this returns. Plans that differ are refused, with an input that shows it. Where nothing is
        found the answer is unknown: then `unproved="accept"` tells that you vouch for it. `proof` is what
        `equivalent(running plan, plan)` returned, if you asked before. The certificate of a proof is checked
        step by step; of a proof without one, or with a wrong one, the answer is unknown.

        Elements may go on arriving; the migration ends by itself. `strategy` is one of your own, or the name
        of one of `STRATEGIES`:

            swap                      at once, where only stateless operators and windows among them differ
            genmig                    any two plans, until the last element so far has expired
            genmig-end-timestamp      the same, until what the running plan keeps has expired
            genmig-reference-point    as genmig, without a fuse; filters, maps, unions and joins only
            moving-states             any two plans, at once, if a log was kept (see `keep_log`); without
                                      one, what joins keep of their inputs must tell as much
            parallel-track            to compare with: joins only, longer, and results come late
            auto                      the one with the smallest predicted overhead; `reason` tells why

        Only operators that differ are replaced, or with `replace_all` everything above the windows. While
        another migration of the query is under way, `when_busy` tells whether to begin beside it ("chain"),
        to wait for its end ("queue"), or to raise ("refuse"). See docs/migration.md.

        Raises   MigrationRefused, with the operator and the reason; then the running plan goes on as before.
        """
        for name, flag in (("replace_all", replace_all), ("wait", wait)):
            require(f"migrate: {name}", flag, bool, "True or False")
        if isinstance(plan, Choice):
            if proof is None and plan.original == self.query(query).plan:
                proof = plan.proof
            plan = plan.plan
        if isinstance(proof, Equivalence):
            proof = check_proof(proof)
        plan, running, how = plan_of("migrate", plan), self._graph.query(query), find_strategy(strategy)
        request = MigrationRequest(plan, how, running, when_busy, replace_all, unproved)
        transition = Transition(self._host, request, prove)
        transition.start(proof, wait=wait)
        self._feed.step()
        return transition

    def predict_migration(
        self,
        plan: Plan | Stream,
        strategy: str | Strategy = "auto",
        query: str | None = None,
        *,
        replace_all: bool = False,
    ) -> Prediction:
        """Predict the duration and the cost of a migration that would begin now.

        It is of a query, by default the first; nothing changes. Whether the plans mean the same is not asked.

        Raises   MigrationRefused, with the operator and the reason, where it could not begin.

        >>> import midstream as ms
        >>> bids = ms.stream("bids", item="integer").window(60).distinct()
        >>> engine = ms.Engine(bids.filter(ms.col("item") > 3))
        >>> engine.push("bids", ms.chronons([(t, (t,)) for t in range(10)]))
        >>> early = ms.stream("bids", item="integer").window(60).filter(ms.col("item") > 3).distinct()
        >>> engine.predict_migration(early, "genmig")
        Prediction(strategy='genmig', duration=61, state=71, work=122)
        """
        require("predict_migration: replace_all", replace_all, bool, "True or False")
        plan = plan_of("predict_migration", plan)
        return prepare(self._host, plan, find_strategy(strategy), query, replace_all=replace_all).predict()

    @overload
    def optimize(
        self,
        query: str | Plan | Stream | None = None,
        *,
        objective: Objective = PROCESSING,
        rules: Sequence[Rule | Stage] = RULES,
    ) -> Choice: ...
    @overload
    def optimize(
        self,
        query: str | Plan | Stream | None = None,
        *,
        budget: Budget | int,
        objective: Objective = PROCESSING,
        rules: Sequence[Rule | Stage] = RULES,
    ) -> Search: ...
    def optimize(
        self,
        query: str | Plan | Stream | None = None,
        *,
        budget: Budget | int | None = None,
        objective: Objective = PROCESSING,
        rules: Sequence[Rule | Stage] = RULES,
    ) -> Choice | Search:
        """The cheapest plan that means the same as a query's running one, by what was measured so far; what
        costs less the `objective` tells, and the `rules` which plans are looked at.

        It is one that some strategy can migrate to (see `migrate`, where "auto" takes the best of them).
        Where a better one is out of reach, `choice.out_of_reach` is that plan, and why.

        Of a plan that does not run yet, the one that adds least to the queries that run: what it shares with
        them costs nothing. `choice.common` tells what that is; `add(choice.plan)` runs it.

        With a `budget`, a number of steps or `Milliseconds`, elements need not wait: a search goes on for
        about half a millisecond at each push, heartbeat and end of a stream, and tells when it `is_done`. Its
        `choice` is the best plan so far; `finish()` does at once what is left.

        Raises   UnknownStreamError where there is no such query; StatisticsError where nothing was measured
                 of what the plan reads.

        >>> import midstream as ms
        >>> a, b = (ms.stream(name, **{name: "integer"}).window(60) for name in "ab")
        >>> engine = ms.Engine(a.join(b, on=[("a", "b")]).filter(ms.col("a") > 7))
        >>> engine.push("a", ms.chronons([(t, (t,)) for t in range(9)]))
        >>> engine.push("b", ms.chronons([(t, (t,)) for t in range(9)]))
        >>> search = engine.optimize(budget=1000)
        >>> while not search.is_done:
        ...     engine.advance("a", engine.progress("a") + 1)
        >>> search.choice.rules
        ('filter-below-left',)
        """
        limit = STEPS if budget is None else budget
        options: dict[str, Any] = {"budget": limit, "objective": objective, "rules": rules}
        if isinstance(query, Plan | Stream):
            search = search_for(query, self._known(), beside=self._graph.shareable(), **options)
        else:
            running = self.query(query)
            in_the_way = partial(self.obstacle, query=running.name)
            search = search_for(running.plan, self.statistics(running.name), obstacle=in_the_way, **options)
        if budget is None:
            return search.finish()
        self._host.work_in_steps(search)
        return search

    def obstacle(self, plan: Plan | Stream, query: str | None = None) -> str | None:
        """Why no strategy can move a query, by default the first, to another plan that means the same, as
        things are now; None where one can. Whether it means the same is not asked."""
        return obstacle(self._host, plan_of("obstacle", plan), query)

    def optimize_all(self, *, budget: Budget | int = STEPS) -> dict[str, Choice]:
        """The plans of all queries, by name, that cost least together: what several share is paid once.

        The `common` parts of a choice are those that it shares with others, `added` is what it takes besides.
        `replace(choice.plan, name)` lets a query share with the others; a query that is migrated runs what it
        newly shares in operators of its own. Each is a plan that some strategy can migrate to.

        Raises   StatisticsError where of a query nothing can be measured.
        """
        labels, outputs = labelled({name: running.plan for name, running in self.queries.items()})

        def in_the_way(together: Plan) -> str | None:
            reasons = ((name, self.obstacle(part_of(together, of), name)) for name, of in labels.items())
            return next((f"{name}: {reason}" for name, reason in reasons if reason is not None), None)

        search = SearchTogether(Plan(outputs), self._known(), budget=budget, obstacle=in_the_way)
        return apart(search.finish(), labels)

    # Autopilot

    def autopilot(
        self,
        advisor: Advisor[Plan, Statistics] | None = None,
        *,
        objective: Objective = PROCESSING,
        settings: str | Path | Settings = "balanced",
        queries: Sequence[str] | None = None,
        every: int | None = None,
        strategy: str = "auto",
        unproved: str = "refuse",
    ) -> EngineAutopilot:
        """Let the engine decide by itself when to move which query to another plan.

        Statistics are learned while streams flow. A window after the first element, and from there on a few
        times a window, at instants of application time, the `advisor` is asked what other plans would cost;
        by default the optimizer, and less is what the `objective` says. A query migrates, by the `strategy`,
        where what that saves is more than what it costs; `settings` are careful, balanced or eager, or of
        your own. All queries are watched, also those that come, or the `queries` that you name. `every` is
        the time from look to look, in chronons. `unproved` is as for `migrate`.

        What comes back tells its `decisions`, tells those who `listen`, and can `stop`. Nothing of it depends
        on batch boundaries, or on how fast the machine is. See docs/autopilot.md.

        Raises   UnknownStreamError where there is no such query; ArgumentError where one has no time window,
                 and `every` is not given, or another autopilot watches it.

        >>> import midstream as ms
        >>> a, b = (ms.stream(name, **{name: "integer"}).window(60) for name in "ab")
        >>> engine = ms.Engine(a.join(b, on=[("a", "b")]).filter(ms.col("a") > 7))
        >>> pilot = engine.autopilot(every=30)
        >>> for t in range(0, 120, 10):
        ...     for name in "ab":
        ...         engine.push(name, [(t + i, t + i + 1, (i,)) for i in range(10)])
        >>> move = next(record for record in pilot.decisions if record.event == "move")
        >>> move.at, move.strategy, str(engine.plan.root.operator)
        (60, 'moving-states', 'join a = b')
        """
        if advisor is not None and not callable(getattr(advisor, "advise", None)):
            raise wrong("autopilot: advisor", advisor, "one with a method `advise`, or None")
        require("autopilot: objective", objective, Objective, "an objective, such as PROCESSING")
        if unproved not in UNPROVED:
            raise wrong("autopilot: unproved", unproved, " or ".join(UNPROVED))
        if every is not None:
            require("autopilot: every", every, int, "a number of chronons from 1")
            if every < 1:
                raise wrong("autopilot: every", every, "a number of chronons from 1")
        chosen, _ = settings_of(settings), find_strategy(strategy)
        names = (
            None
            if queries is None
            else [self.query(name).name for name in listed("autopilot: queries", queries, "a list of names")]
        )
        for other in self._autopilots:
            for name in self.queries if names is None else names:
                if not other.is_stopped and other.wants(name):
                    raise ArgumentError(f"another autopilot watches {name}: stop that one first")

        def parts(query: RunningQuery, looks: Looks) -> PilotParts:
            return parts_for(self._host, query, looks, advisor=advisor, objective=objective, settings=chosen)

        autopilot = EngineAutopilot(
            self._host,
            parts,
            partial(self._migrate, unproved),
            names,
            looks=chosen.looks,
            every=every,
            strategy=strategy,
        )
        self._autopilots = [one for one in self._autopilots if not one.is_stopped] + [autopilot]
        return autopilot

    def _migrate(self, unproved: str, plan: Plan, strategy: str, query: str) -> Transition:
        """Begin a migration that an autopilot decides. What has been proved once is known."""
        pair = frozenset((self.query(query).plan, plan))
        proof = self._proofs.get(pair)
        migration = self.migrate(plan, strategy, query, proof=proof, unproved=unproved, wait=True)
        if migration.equivalence is not None:
            self._proofs[pair] = migration.equivalence
        return migration

    # Measuring

    def counters(self, query: str | None = None) -> Counters:
        """The counts of a query since it was added; without one, those of all queries since there is the
        engine, where each operator counts once. Migrations, and queries that come and go, set nothing back.

        Cost     O(operators of the query), of all.
        Raises   UnknownStreamError where there is no such query.

        >>> import midstream as ms
        >>> a, b, c = (ms.stream(name, **{name: "integer"}).window(60) for name in "abc")
        >>> pairs = a.join(b, on=[("a", "b")])
        >>> engine = ms.Engine(pairs.join(c, on=[("b", "c")]))
        >>> for name in "abc":
        ...     engine.push(name, ms.chronons([(t, (t % 3,)) for t in range(9)]))
        >>> counters = engine.counters("query")
        >>> counters.elements, counters.intermediate, counters.emitted[pairs.node], counters.results
        (27, 27, 27, 81)
        """
        return self._graph.counters(query)

    def held(self, query: str | None = None, *, in_bytes: bool = False) -> Counter[Node]:
        """By logical node, how many elements the operators of a query keep, or those of all queries; with
        `in_bytes`, about how many bytes these elements take. Old plans and new ones are there as long as both
        run; what waits between them belongs to the node that they answer for.

        Cost     O(operators); in bytes O(kept elements).
        Raises   UnknownStreamError where there is no such query.

        >>> import midstream as ms
        >>> engine = ms.Engine(ms.stream("bids", item="integer").window(60).distinct())
        >>> engine.push("bids", ms.chronons([(t, (t % 3,)) for t in range(9)]))
        >>> {str(node.operator): number for node, number in engine.held().items()}
        {'window 60': 0, 'distinct': 9}
        """
        require("held: in_bytes", in_bytes, bool, "True or False")
        return self._graph.held(query, in_bytes=in_bytes)

    def size(self) -> int:
        """How many elements are kept: by operators, where streams enter, and in logs."""
        return self._graph.size()

    def state(self) -> Iterator[Element]:
        """The elements that are kept."""
        return self._graph.state()

    def max_ends(self, query: str | None = None) -> dict[Node, Time]:
        """By logical node, the largest end timestamp that a window of a query, by default the first, or what
        the query shares with others, can have given; BEGINNING where nothing came. Split times are not
        earlier."""
        return self._host.max_ends(query)

    def observe(self, query: str | None = None) -> dict[Node, Observation]:
        """What was seen of each of a query's sources, and of its windows; and what its relations hold; by
        their logical nodes. Cost: O(kept elements)."""
        return self._graph.observe(query)

    def statistics(self, query: str | None = None) -> Statistics:
        """What was measured so far of a query's inputs, for the cost model."""
        return Statistics.from_observations(self.observe(query))

    def _known(self) -> Statistics:
        """What was measured of the inputs of all queries."""
        return Statistics.from_observations(self._graph.observe_all())

    def watch_streams(
        self, watcher: Watcher, step: int = 1, streams: Iterable[str] | None = None, *, idle: int = IDLE
    ) -> Callable[[], None]:
        """Let a watcher see what comes on streams, by default all that are read now, and look at multiples of
        `step` in application time. Those more than `idle` steps behind the last element are left out. What it
        sees does not depend on batch boundaries (see `Watcher`). Returns a function that ends it.

        Raises   UnknownStreamError where no query reads a stream.
        """
        if not (callable(getattr(watcher, "take", None)) and callable(getattr(watcher, "look", None))):
            raise wrong("watch_streams", watcher, "a watcher, with methods `take` and `look`")
        if streams is not None:
            streams = listed("watch_streams: streams", streams, "a list of names")
            for stream in streams:
                self._feed.progress(stream)
        return partial(self._feed.unwatch, self._feed.watch(watcher, step, streams, idle))

    def watch(self, query: str | None = None) -> AbstractContextManager[Callable[[], list[Metadata]]]:
        """Measure the operators of a query for the time of a block, inputs before consumers; the block gets a
        function that reads what was measured so far.

        Operators that nobody watches are not measured, and are not slower for being watchable. Those that run
        in a box of their own, during a migration, cannot be measured.

        >>> import midstream as ms
        >>> engine = ms.Engine(ms.stream("bids", item="integer").window(60).distinct().plan())
        >>> with engine.watch() as read:
        ...     engine.push("bids", [(t, t + 1, (t % 2,)) for t in range(10)])
        ...     [(str(m.node.operator), m.received, m.selectivity, m.d, m.l) for m in read()]
        [('time-window 60', 10, 1.0, 1.0, 60.0), ('distinct', 10, 0.2, 1.0, 60.0)]
        """
        return self._graph.watch(query)
