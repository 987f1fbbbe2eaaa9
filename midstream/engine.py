"""The engine: it takes elements of named streams, gives results of queries to sinks, and migrates plans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace as replaced
from functools import partial
from operator import attrgetter
from pathlib import Path
from time import process_time
from types import MappingProxyType, NoneType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast, overload

from midstream.autopilot.advice import Advisor
from midstream.autopilot.budget_terms import BudgetTerms
from midstream.autopilot.looks import Looks
from midstream.autopilot.managing import ResourceManager
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
from midstream.operators.engine.graph.adjustment import Adjustment, adjust, forget_settings, load_settings
from midstream.operators.engine.graph.feed import Feed
from midstream.operators.engine.graph.host import Host
from midstream.operators.engine.graph.levers import Lever, levers
from midstream.operators.engine.graph.parting import Settling
from midstream.operators.engine.graph.query_graph import QUERY, QueryGraph
from midstream.operators.engine.graph.replacement import Replacement, replace
from midstream.operators.engine.input.entrance import Entrances
from midstream.operators.engine.input.input_manager import DeadLetter
from midstream.operators.engine.input.relations import Relations
from midstream.operators.engine.measuring.counting import Counters
from midstream.operators.engine.measuring.metadata import Metadata
from midstream.operators.engine.measuring.watching import IDLE, Watcher
from midstream.operators.engine.running.queries import RunningQuery
from midstream.optimizer import PROCESSING, Budget, Choice, Objective, Search, Statistics, UnitCosts
from midstream.optimizer.allocation.allocating import Rule as SharingRule
from midstream.optimizer.allocation.forecast import CHRONON
from midstream.optimizer.allocation.limits import limits_of
from midstream.optimizer.rules import RULES, Rule, Stage
from midstream.optimizer.search import STEPS, SearchTogether, apart, labelled, part_of, prove, search_for
from midstream.optimizer.verification import check_proof
from midstream.plans.algebra.builder import AnyPlan, Stream, node_of, plan_in, plan_of, require_plan_first
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.arguments import listed, require, require_name, require_number, wrong
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.near_names import NearNames
from midstream.plans.values.observations import Observation
from midstream.plans.values.streams import FOREVER, Chronons, Element, Time
from midstream.plans.values.verdicts import Equivalence
from midstream.queries import Query
from midstream.results import Results

if TYPE_CHECKING:
    from midstream.io.sources.pushed import PushedRows

T = TypeVar("T")

PROOFS = 64
"""The number of pairs of plans whose proofs are kept for autopilots that come back, the last ones."""


class Engine(NearNames):
    """Runs queries over streams; each can migrate to another plan in mid-stream.

    Elements are checked where they enter: order, validity and schema. Then they run through the graph of all
    queries.

    slack, delay    disorder and latency, stream by stream (see InputManager); if `plan` is given, they must
                    be of its streams, otherwise they may be of streams of later plans
    dead_letters    receives lists of rejected elements, instead of an error
    relations       the elements of each relation that queries join
    compile         True compiles the paths of elements, which is faster; False walks them, which a debugger
                    can follow; None takes the environment variable MIDSTREAM_COMPILE, 0 or 1, by default 1

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

    _elsewhere: ClassVar[Mapping[str, str]] = dict.fromkeys(("clone", "head", "remote", "stat"), "")

    def __init__(
        self,
        plan: AnyPlan | None = None,
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
        self._settling = Settling(self._graph, self._feed)
        self._pushed: dict[tuple[str, str | None], PushedRows] = {}
        """By stream and column of time, what turns pushed rows into elements."""
        self._autopilots: list[EngineAutopilot] = []
        self._manager: ResourceManager | None = None
        self._proofs: dict[frozenset[Plan], Equivalence] = {}
        """The proofs for plans between which autopilots have migrated."""
        if plan is not None:
            require_plan_first("Engine(plan, sink)", sink)
            self.add(plan, sink)
            self._graph.entrances.require_known(self.streams)

    # Feeding

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of the streams that the engine reads."""
        return self._feed.streams

    def push(self, stream: str, elements: Iterable[Element]) -> None:
        """Take a batch of elements `(start, end, payload)` of a stream."""
        self._feed.push(stream, elements)

    def push_rows(self, stream: str, data: object, time: str | None = None) -> None:
        """Take rows of a stream: tuples, dicts, dataclasses, an Arrow table or batch, or a DataFrame.

        `time` is the column that holds the timestamp; by default the one that SQL declares. Other columns are
        found by name, and further ones ignored. Each row is valid for the chronon of its timestamp.

        Rows are taken in batches of 1,024, also of an endless iterable; where one is refused, those of
        earlier batches have been taken.

        Raises   InputFileError, with the number of the row, for a row that does not fit; ArgumentError and
                 SchemaError for other data; what `push` raises; MissingExtra for Arrow without pyarrow.

        >>> import midstream as ms
        >>> results = ms.Results()
        >>> engine = ms.Engine(ms.stream("bids", item="integer", price="float").window(60), results)
        >>> engine.push_rows("bids", [{"at": 0, "price": 12.5, "item": 7}], time="at")
        >>> engine.push_rows("bids", [(5, 8, 9.0)], time="at")
        >>> results
        [(0, 60, (7, 12.5)), (5, 65, (8, 9.0))]
        """
        source = self._feed.source(stream)
        if time is not None:
            require_name("push_rows: time", time, "the name of a column")
        rows = self._pushed.get((stream, time))
        if rows is None or rows.source is not source:
            from midstream.io.sources.pushed import PushedRows  # programs that push elements need no reader

            rows = self._pushed[stream, time] = PushedRows(source, time)
        with self._feed.one_call():
            for batch in rows.batches(data):
                # Dates need no declared unit, but elements do.
                assumed = source.unit if source.is_assumed else None
                self.push(stream, batch if assumed is None else Chronons(iter(batch), assumed))

    def advance(self, stream: str, time: int) -> None:
        """Take a heartbeat: no later element of the stream starts before `time`.

        A heartbeat that brings no progress is ignored.
        """
        self._feed.advance(stream, time)

    def tick(self, now: int) -> None:
        """Set the application time to `now`: streams with a declared delay advance, although silent."""
        self._feed.tick(now)

    def end(self, stream: str) -> None:
        """End a stream; ending it twice is allowed."""
        self._feed.end(stream)

    def close(self) -> None:
        """End all streams; afterwards all results are out."""
        self._feed.close()

    def progress(self, stream: str | None = None) -> Time:
        """The time before which no later element of a stream starts; by default the least of all streams."""
        return self._feed.progress(stream)

    # Queries

    @property
    def queries(self) -> dict[str, Query]:
        """The running queries by name, in the order in which they were added."""
        return {name: Query(self._graph, running) for name, running in self._graph.queries.items()}

    @property
    def plan(self) -> Plan:
        """The plan of the first query; during a migration, the new plan."""
        return self.query().plan

    def query(self, name: str | None = None) -> Query:
        """A query by name; without a name, the first one."""
        return Query(self._graph, self._graph.query(name))

    def add(
        self,
        plan: AnyPlan,
        sink: Take | None = None,
        name: str = QUERY,
        *,
        within: ResourceManager | None = None,
    ) -> Query:
        """Run one more query from now on; it shares common subplans with the running queries.

        It sees only later elements. `complete_from` of the returned query is the instant from which on no
        result lacks an earlier element.

        If it must keep `within` a budget, it begins with settings that fit, and other queries are adjusted.

        Raises   PlanError where there is a query of that name, where the plan reads no stream, or declares a
                 stream differently from a running query. BudgetExceeded where it does not fit, and
                 StatisticsError where nothing is known of a stream; then nothing has changed.
        """
        self._feed.require_one_thread()
        plan = plan_of("add", plan)
        settings: Mapping[Node, Any] = {}
        if within is not None:
            require("add: within", within, ResourceManager, "a budget, the result of engine.budget()")
            if within.is_stopped or within is not self._manager:
                raise ArgumentError("add: within: found another engine's budget, or a stopped one")
            fitting, settings = within.admit(plan, name)
        else:
            fitting = plan
        self._feed.run_all()
        query = Query(self._graph, self._graph.add(fitting, sink, name))
        if within is not None:
            within.settle(settings)
        if isinstance(sink, Results):
            sink.describe(query.plan)
        plan.tell_notes()
        return query

    def remove(self, name: str = QUERY) -> None:
        """Stop a query, and drop its results under construction and the state that no other query uses."""
        self._feed.require_one_thread()
        self._graph.remove(name)
        self._feed.step()

    def subscribe(self, sink: Take, output: str | None = None, query: str | None = None) -> None:
        """Call a function with every further batch of results of an output.

        By default it is the first output of the first query. Before anything has arrived, rows of relations
        that are results by themselves are passed at once.
        """
        if isinstance(sink, Results):
            sink.describe(self._graph.query(query).plan, output)
        self._graph.subscribe(sink, output, query)

    def replace(self, plan: AnyPlan, query: str | None = None, *, at: int | None = None) -> Replacement:
        """Let a query, by default the first, mean something else from application time `at` on.

        A migration keeps the meaning of a query; this changes it. Results before `at` are those of the old
        plan, results from `at` on those of the new plan, under the same name and to the same sinks. By
        default `at` is the earliest possible instant: the results of the old plan have expired there, and the
        new plan has seen all that its results depend on.

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
        self._feed.require_one_thread()
        plan = plan_of("replace", plan)
        replacement = replace(self._graph, self._feed, plan, query, at=at)
        plan.tell_notes()
        return replacement

    def adjust(
        self, settings: Mapping[Node | Stream, float], *, at: int | None = None, queries: Iterable[str] = ()
    ) -> Adjustment:
        """Give windows, granules and samples other settings from application time `at` on, in all queries.

        By default `at` is the first instant of which no element has passed. If `queries` are named, it
        changes these alone; they part from others that have the same windows. So do queries whose bounds
        allow a setting from those whose bounds do not: these keep their settings, and the result has a note
        for each.

        The keys are nodes of the running plans, or of `levers`, declared with bounds: time windows, whose
        setting is the size in chronons, count windows, whose setting is the number of rows, granularity
        conversions, whose setting is the granule, and samples, whose setting is the share. All change at
        once, also while a query is being migrated. Elements that start before `at` keep the setting with
        which they came. The plans show the new settings from now on.

        Returns the queries concerned, and the instant at which the change is complete.

        Raises   PlanError where no query has the node, a setting is out of the bounds of the node or of a
                 named query or does not fit others, an operator holds elements for queries that would part,
                 or `at` has been reached; then nothing has changed.

        >>> import midstream as ms
        >>> s = ms.stream("s", x="integer")
        >>> engine = ms.Engine(s.window(60, bounds=(10, 120)).distinct(), print)
        >>> engine.push("s", [(0, 1, (7,))])
        [(0, 60, (7,))]
        >>> engine.adjust({s.window(60, bounds=(10, 120)): 20}, at=100)
        Adjustment(queries=('query',), at=100, complete_at=160)
        >>> engine.push("s", [(100, 101, (8,))])
        [(100, 120, (8,))]
        """
        self._feed.require_one_thread()
        require("adjust", settings, Mapping, "settings by windows and granularity conversions: {window: 20}")
        levers = {node_of("adjust", lever): setting for lever, setting in settings.items()}
        names = listed("adjust: queries", queries, "names of queries: ['query']")
        only = sorted({self._graph.query(name) for name in names}, key=attrgetter("number"))
        return adjust(self._graph, self._settling, levers, at, only)

    def load_settings(self, text: str | bytes, query: str | None = None) -> None:
        """Go on with the settings of levers that a query had elsewhere, as `Query.dump_settings` wrote them.

        The query has been added with its last plan, and no element has come to its levers. Changes that were
        announced come at their instants.

        Raises   ArtefactError for another text; PlanError where the plan has other levers, or elements have
                 come.
        """
        self._feed.require_one_thread()
        load_settings(self._graph, self._settling, self._graph.query(query), text)

    def levers(self) -> list[Lever]:
        """The levers of all queries, each with its bounds, its setting, and the queries to which it applies.

        Queries share windows, granularity conversions and samples that are equal but for their bounds. Then
        the bounds are the intersection of those that these queries declare.

        Cost     O(levers and their queries)

        >>> import midstream as ms
        >>> s = ms.stream("s", x="integer")
        >>> engine = ms.Engine(s.window(60, bounds=(10, 120)))
        >>> query = engine.add(s.window(60, bounds=(50, 200)), name="long")
        >>> [(lever.kind, lever.setting, lever.bounds, lever.queries) for lever in engine.levers()]
        [('size', 60, (50, 120), ('query', 'long'))]
        >>> engine.adjust({engine.levers()[0].node: 100}, at=1000).queries
        ('query', 'long')
        """
        return levers(self._graph)

    def remember_settings(self, chronons: Time) -> None:
        """Keep the settings of results on record for so many chronons from now on; `math.inf` keeps all.

        Settings that only concern results that ended earlier are forgotten at the next adjustment. Without
        this, they are kept for a hundred windows, the largest that the query has had. Where rows are counted,
        it is not known when they expire; then the last 1,000 settings are kept. A replay that asks for older
        ones needs `remember_settings(math.inf)` before its run, or what `Query.dump_settings` has written.

        >>> import midstream as ms
        >>> window = ms.stream("s", x="integer").window(60, bounds=(10, 120))
        >>> engine = ms.Engine(window)
        >>> engine.remember_settings(500)
        >>> for t in (1000, 2000, 3000):
        ...     engine.advance("s", t)
        ...     _ = engine.adjust({engine.levers()[0].node: 20 + t // 1000}, at=t)
        >>> list(engine.query().settings().values())
        [((2000, 22), (3000, 23))]
        """
        if chronons != FOREVER:
            require_chronons("remember_settings: chronons", cast(int, chronons))
        self._host.remember_settings(chronons)

    def forget_settings(self, before: int, query: str | None = None) -> None:
        """Forget the settings with which only results were computed that end at an instant or earlier.

        `Query.settings` then tells those of results from `before` on. It concerns a query, or all queries,
        whose results have come so far.

        Cost     O(levers and their changes)
        Raises   PlanError where results that start earlier may still come.
        """
        self._feed.require_one_thread()
        require("forget_settings: before", before, int, "an instant in chronons")
        chosen = self._graph.queries.values() if query is None else [self._graph.query(query)]
        forget_settings(self._graph, chosen, before)

    def resize(self, window: Node | Stream, size: int, at: int) -> Adjustment:
        """Give one window another size: `adjust({window: size}, at=at)`."""
        return self.adjust({node_of("resize", window): size}, at=at)

    def change_granule(self, conversion: Node | Stream, granule: int, at: int) -> Adjustment:
        """Give one granularity conversion another granule: `adjust({conversion: granule}, at=at)`."""
        return self.adjust({node_of("change_granule", conversion): granule}, at=at)

    def keep_log(self, query: str | None = None) -> Time:
        """Log the valid elements of a query's windows, and of its results, for migrations that move states.

        Returns the instant from which on the log is complete: all earlier elements have expired there.

        Cost     O(log n) per element and result, and their memory, until the query is removed.
        Raises   PlanError where a window gives positive and negative elements.
        """
        self._feed.require_one_thread()
        return self._graph.keep_log(query)

    # Migration

    def migrate(
        self,
        plan: AnyPlan,
        strategy: str | Strategy = "genmig",
        query: str | None = None,
        *,
        when_busy: str = "chain",
        replace_all: bool = False,
        proof: Equivalence | None = None,
        unproved: str = "refuse",
        wait: bool = False,
        note: bool = True,
    ) -> Transition:
        """Migrate a query, by default the first, to an equivalent plan, and lose, double or delay no result.

        The equivalence of both plans must be known. A choice of the optimizer carries its proof, and for most
        other plans it is proved at once. Otherwise a search for a counter-example begins: the transition is
        `checking` while elements flow, and goes on or is `refused` when the search ends. A MigrationNote then
        tells of a refusal, and of an abort that you did not ask for, unless `note=False`. With `wait=True`
        the search ends before this returns. Plans that differ are refused, with an input that shows it. If
        the search finds nothing, the answer is unknown, and `unproved="accept"` migrates on your
        responsibility. `proof` is the result of `equivalent(running plan, plan)`, if you have it. The
        certificate of a proof is checked step by step; without a correct certificate the answer is unknown.

        Elements may go on arriving; the migration ends by itself. `strategy` is a strategy of your own, or
        the name of one of `STRATEGIES`:

            swap                      at once, where only stateless operators and windows among them differ
            genmig                    any two plans, until the last element so far has expired
            genmig-end-timestamp      any two plans, until the state of the running plan has expired
            genmig-reference-point    like genmig, without a fuse; filters, maps, unions and joins only
            moving-states             any two plans, at once, if a log was kept (see `keep_log`); without a
                                      log, the state of joins must suffice
            parallel-track            for comparison: joins only, longer, and results come late
            auto                      the strategy with the smallest predicted overhead; `reason` explains it

        Only operators that differ are replaced, or with `replace_all` everything above the windows. While
        another migration of the query is under way, `when_busy` decides: begin beside it ("chain"), wait for
        its end ("queue"), or raise ("refuse"). See docs/migration.md.

        Raises   MigrationRefused, with the operator and the reason; then the running plan goes on as before.
        """
        self._feed.require_one_thread()
        require_plan_first("migrate(plan, strategy)", strategy)
        for name, flag in (("replace_all", replace_all), ("wait", wait), ("note", note)):
            require(f"migrate: {name}", flag, bool, "True or False")
        if isinstance(plan, Choice):
            if proof is None and plan.original == self.query(query).plan:
                proof = plan.proof
            plan = plan.plan
        if isinstance(proof, Equivalence):
            proof = check_proof(proof)
        plan, running, how = plan_of("migrate", plan), self._graph.query(query), find_strategy(strategy)
        if (target := running.as_it_runs(plan)) != plan:
            proof = None  # it is about other bounds
        request = MigrationRequest(target, how, running, when_busy, replace_all, unproved)
        transition = Transition(self._host, request, prove, tells=note)
        transition.start(proof, wait=wait)
        self._feed.step()
        return transition

    def predict_migration(
        self,
        plan: AnyPlan,
        strategy: str | Strategy = "auto",
        query: str | None = None,
        *,
        replace_all: bool = False,
    ) -> Prediction:
        """Predict the duration and the cost of a migration that would begin now.

        It concerns a query, by default the first; nothing changes. The equivalence of the plans is not
        checked.

        Raises   MigrationRefused, with the operator and the reason, if it could not begin.

        >>> import midstream as ms
        >>> bids = ms.stream("bids", item="integer").window(60).distinct()
        >>> engine = ms.Engine(bids.filter(ms.col("item") > 3))
        >>> engine.push("bids", ms.chronons([(t, (t,)) for t in range(10)]))
        >>> early = ms.stream("bids", item="integer").window(60).filter(ms.col("item") > 3).distinct()
        >>> engine.predict_migration(early, "genmig")
        Prediction(strategy='genmig', duration=61, state=71, work=122)
        """
        require("predict_migration: replace_all", replace_all, bool, "True or False")
        plan = self._graph.query(query).as_it_runs(plan_of("predict_migration", plan))
        return prepare(self._host, plan, find_strategy(strategy), query, replace_all=replace_all).predict()

    @overload
    def optimize(
        self,
        query: str | AnyPlan | None = None,
        *,
        objective: Objective = PROCESSING,
        rules: Sequence[Rule | Stage] = RULES,
    ) -> Choice: ...
    @overload
    def optimize(
        self,
        query: str | AnyPlan | None = None,
        *,
        budget: Budget | int,
        objective: Objective = PROCESSING,
        rules: Sequence[Rule | Stage] = RULES,
    ) -> Search: ...
    def optimize(
        self,
        query: str | AnyPlan | None = None,
        *,
        budget: Budget | int | None = None,
        objective: Objective = PROCESSING,
        rules: Sequence[Rule | Stage] = RULES,
    ) -> Choice | Search:
        """Find the cheapest plan that is equivalent to a query's running plan, by the measurements so far.

        The `objective` defines the cost, and the `rules` the plans that are considered. Some strategy can
        migrate to the plan (see `migrate`, where "auto" takes the best strategy). If a better plan is out of
        reach, `choice.out_of_reach` is that plan, with the reason.

        For a plan that does not run yet, the choice adds least to the running queries: subplans that it
        shares with them cost nothing. `choice.common` lists them; `add(choice.plan)` runs the choice.

        With a `budget`, a number of steps or `Milliseconds`, elements need not wait: the search runs for
        about half a millisecond at each push, heartbeat and end of a stream, until it `is_done`. Its `choice`
        is the best plan so far; `finish()` completes it at once.

        Raises   UnknownStreamError where there is no such query; StatisticsError where an input of the plan
                 was not measured.

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
        if isinstance(query, Query):
            query = query.name
        if (plan := plan_in(query)) is not None:
            plan.tell_notes()
            search = search_for(plan, self._known(), beside=self._graph.shareable(), **options)
        else:
            running = self.query(cast("str | None", query))
            in_the_way = partial(self.obstacle, query=running.name)
            search = search_for(running.plan, self.statistics(running.name), obstacle=in_the_way, **options)
        if budget is None:
            return search.finish()
        self._host.work_in_steps(search)
        return search

    def obstacle(self, plan: AnyPlan, query: str | None = None) -> str | None:
        """The reason that no strategy can migrate a query to a plan at present; None if one can.

        It concerns the first query by default. The equivalence of the plans is not checked.
        """
        return obstacle(self._host, self._graph.query(query).as_it_runs(plan_of("obstacle", plan)), query)

    def optimize_all(self, *, budget: Budget | int = STEPS) -> dict[str, Choice]:
        """The plans of all queries, by name, that cost least together; a shared subplan is paid once.

        The `common` parts of a choice are those that it shares with others, `added` is its cost besides. Only
        `replace(choice.plan, name)` makes a query share them; a query that migrates runs them in operators of
        its own. Some strategy can migrate to each plan.

        Raises   StatisticsError where the inputs of a query cannot be measured.
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
        """Let the engine decide when to migrate which query to another plan.

        Statistics are learned while streams flow. The first look is a window after the first element, and
        later looks come a few times per window, at instants of application time. At a look, the `advisor`, by
        default the optimizer, estimates the costs of other plans under the `objective`. A query migrates, by
        the `strategy`, if this saves more than it costs; `settings` are careful, balanced, eager, or your
        own. All queries are watched, also later ones, or only the named `queries`. `every` is the time
        between looks, in chronons. `unproved` is as for `migrate`.

        The returned autopilot has `decisions`, calls those who `listen`, and can `stop`. Decisions do not
        depend on batch boundaries, or on the speed of the machine. See docs/autopilot.md.

        Raises   UnknownStreamError where there is no such query; ArgumentError where a query has no time
                 window and `every` is not given, or another autopilot watches it.

        >>> import midstream as ms
        >>> a, b = (ms.stream(name, **{name: "integer"}).window(60) for name in "ab")
        >>> engine = ms.Engine(a.join(b, on=[("a", "b")]).filter(ms.col("a") > 7))
        >>> pilot = engine.autopilot(every=30, settings=ms.Settings(budget=None))
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
        require_chronons("autopilot: every", every)
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
            deciders=self._deciders,
        )
        self._autopilots = [one for one in self._autopilots if not one.is_stopped] + [autopilot]
        return autopilot

    def budget(
        self,
        *,
        memory: float | str | None = None,
        processor: float | str | None = None,
        chronon: float = CHRONON,
        rule: SharingRule = "precision",
        weights: Mapping[str, float] = MappingProxyType({}),
        reserve: float = 0.1,
        threshold: float = 0.1,
        every: int | None = None,
        deciding: float | None = 0.05,
        remember: int | None = None,
        statistics: Statistics | None = None,
        units: UnitCosts | None = None,
    ) -> ResourceManager:
        """Keep all queries within a budget, also those that come later, by adjusting their levers.

        memory        bytes of elements in the state, as a number or as text: "100 MB"
        processor     the share of one processor: 0.3 or "30%"
        chronon       the microseconds of a chronon, by which processing is compared with time
        rule          how queries share what there is: by "precision", or by one "fraction" of all bounds
        weights       by query, the weight of its precision; 1 unless given
        reserve       the share of the budget that stays free, for bursts and for queries to come
        threshold     the part of the rest that may stay unused before settings grow again
        every         the chronons from look to look; by default an eighth of the largest window
        deciding      the share of the queries' time that looks may take; None for no bound
        remember      the chronons for which settings stay on record; by default, as `remember_settings` says
        statistics    of streams, until their first elements have come

        Memory is that of elements by the cost model, corrected by the number of elements that queries hold.
        Processing is by unit costs, corrected by the time of this process; so with a limit of it, settings
        depend on the machine. A budget that follows a stopped one knows what that has learned. See
        docs/budget.md.

        Raises   ArgumentError where nothing is limited, or the engine has a budget; or where no query has a
                 time window, and `every` is not given.

        >>> import midstream as ms
        >>> s = ms.stream("s", x="integer")
        >>> engine = ms.Engine(s.window(8_000, bounds=(500, 8_000)).distinct())
        >>> budget = engine.budget(memory="100 kB", every=1_000)
        >>> for t in range(0, 20_000, 10):
        ...     engine.push("s", [(t, t + 1, (t,))])
        >>> [record.event for record in budget.decisions][:3]
        ['adjust', 'stay', 'stay']
        >>> engine.plan.root.inputs[0].operator.size
        4587
        """
        if self._manager is not None and not self._manager.is_stopped:
            raise ArgumentError("budget: the engine has a budget; stop that one first")
        require_chronons("budget: every", every)
        require_chronons("budget: remember", remember)
        terms = BudgetTerms(
            limits_of("budget", memory, processor, chronon), rule, weights, reserve, threshold, chronon
        )
        require("budget: statistics", statistics, (Statistics, NoneType), "statistics of streams, or None")
        known = {} if statistics is None else statistics.streams
        if deciding is not None:
            require_number("budget: deciding", deciding, "a share, or None", above=0)
        self._manager = ResourceManager(
            self._host,
            partial(adjust, self._graph, self._settling, at=None),
            self.held,
            terms,
            every=every,
            deciding=deciding,
            remember=remember,
            statistics=known,
            units=units,
            clock=None if processor is None else process_time,
            deciders=self._deciders,
            earlier=self._manager,
        )
        return self._manager

    def _deciders(self) -> int:
        """The kinds of looks that decide for queries: an autopilot, and a budget; at least 1."""
        flies = any(not one.is_stopped for one in self._autopilots)
        manages = self._manager is not None and not self._manager.is_stopped
        return max(1, flies + manages)

    def _migrate(self, unproved: str, plan: Plan, strategy: str, query: str) -> Transition:
        """Begin a migration that an autopilot has decided; proofs are kept for later migrations."""
        pair = frozenset((self._graph.query(query).plan, plan))
        proof = self._proofs.get(pair)
        migration = self.migrate(plan, strategy, query, proof=proof, unproved=unproved, wait=True, note=False)
        if migration.equivalence is not None:
            self._proofs[pair] = migration.equivalence
            if len(self._proofs) > PROOFS:
                del self._proofs[next(iter(self._proofs))]
        return migration

    # Measuring

    def counters(self, query: str | None = None) -> Counters:
        """The counts of a query since it was added, or of all queries since the engine was made.

        For all queries, each operator counts once. Migrations, and queries that come and go, do not reset
        them.

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
        counters = self._graph.counters(query)
        return counters if query is None else replaced(counters, emitted=self._own(query, counters.emitted))

    def held(self, query: str | None = None, *, in_bytes: bool = False) -> Counter[Node]:
        """Count the stored elements by logical node, for the operators of a query or of all queries.

        With `in_bytes`, the numbers are the approximate bytes of these elements. During a migration, the
        nodes of both plans are there; elements that wait between them count for the node that both compute.

        Cost     O(operators); in bytes O(stored elements).
        Raises   UnknownStreamError where there is no such query.

        >>> import midstream as ms
        >>> engine = ms.Engine(ms.stream("bids", item="integer").window(60).distinct())
        >>> engine.push("bids", ms.chronons([(t, (t % 3,)) for t in range(9)]))
        >>> {str(node.operator): number for node, number in engine.held().items()}
        {'window 60': 0, 'distinct': 9}
        """
        require("held: in_bytes", in_bytes, bool, "True or False")
        held = self._graph.held(query, in_bytes=in_bytes)
        return held if query is None else Counter(self._own(query, held))

    def size(self) -> int:
        """The number of stored elements: in operators, at the entrances of streams, and in logs."""
        return self._graph.size()

    def state(self) -> Iterator[Element]:
        """The stored elements."""
        return self._graph.state()

    def max_ends(self, query: str | None = None) -> dict[Node, Time]:
        """By logical node, the largest end timestamp that the inputs of a query may have produced.

        The inputs are the windows of the query, by default the first, and the subplans that it shares with
        others. BEGINNING stands for inputs without elements. Split times are not earlier.
        """
        return self._own(query, self._host.max_ends(query))

    def observe(self, query: str | None = None) -> dict[Node, Observation]:
        """Observations of a query's sources and windows, and the contents of its relations, by logical node.

        Cost     O(stored elements).
        """
        return self._own(query, self._graph.observe(query))

    def _own(self, query: str | None, facts: Mapping[Node, T]) -> dict[Node, T]:
        """Facts about nodes that run for a query, by the nodes of its plan."""
        own = self._graph.query(query).own_terms
        return {own.node(node): fact for node, fact in facts.items()}

    def statistics(self, query: str | None = None) -> Statistics:
        """Statistics of a query's inputs so far, for the cost model."""
        return Statistics.from_observations(self.observe(query))

    def _known(self) -> Statistics:
        """Statistics of the inputs of all queries."""
        return Statistics.from_observations(self._graph.observe_all())

    def watch_streams(
        self, watcher: Watcher, step: int = 1, streams: Iterable[str] | None = None, *, idle: int = IDLE
    ) -> Callable[[], None]:
        """Let a watcher see the elements of streams, and look at multiples of `step` in application time.

        By default it sees all streams that are read now. Looks more than `idle` steps behind the last element
        are left out. The watcher's view does not depend on batch boundaries (see `Watcher`). Returns a
        function that ends it.

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
        """Measure the operators of a query during a block, inputs before consumers.

        The block gets a function that returns the measurements so far. Operators are measured only while they
        are watched, and cost nothing otherwise. Operators in a box of their own, during a migration, cannot
        be measured.

        >>> import midstream as ms
        >>> engine = ms.Engine(ms.stream("bids", item="integer").window(60).distinct().plan())
        >>> with engine.watch() as read:
        ...     engine.push("bids", [(t, t + 1, (t % 2,)) for t in range(10)])
        ...     [(str(m.node.operator), m.received, m.selectivity, m.d, m.l) for m in read()]
        [('time-window 60', 10, 1.0, 1.0, 60.0), ('distinct', 10, 0.2, 1.0, 60.0)]
        """
        return self._graph.watch(query)


def require_chronons(where: str, every: int | None) -> None:
    """Raise ArgumentError unless a time is a number of chronons from 1, or None."""
    if every is not None:
        require(where, every, int, "a number of chronons from 1")
        if every < 1:
            raise wrong(where, every, "a number of chronons from 1")
