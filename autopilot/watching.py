"""The autopilot of an engine: it watches queries, asks an advisor, decides, and migrates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

from midstream.autopilot.accounts import prices_of
from midstream.autopilot.advice import Advice
from midstream.autopilot.autopilot import Later
from midstream.autopilot.budget import Budget, Efforts, expected_cost
from midstream.autopilot.decision import Decision
from midstream.autopilot.gathering import Gathering
from midstream.autopilot.journal import KEPT, Journal
from midstream.autopilot.looks import Looks, looks_of
from midstream.autopilot.parts import PilotParts
from midstream.autopilot.query_pilot import QueryPilot
from midstream.autopilot.records import Event, Record
from midstream.migration.machine import Phase
from midstream.migration.migrate import prepare_cheapest, require_possible
from midstream.migration.strategies import find_strategy
from midstream.migration.transition import OVER, Transition
from midstream.operators.engine.graph.host import Host
from midstream.operators.engine.graph.replacement import TO_COME
from midstream.operators.engine.measuring.counting import Counters
from midstream.operators.engine.running.queries import RunningQuery, lowest
from midstream.optimizer.allocation.curves import at_best
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import input_nodes, logical_plan
from midstream.plans.values.errors import ArgumentError, MidstreamError, Note
from midstream.plans.values.near_names import NearNames
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Time

WEIGHED: Mapping[str, Sequence[str]] = {
    "swap": ("swap",),
    "genmig": ("genmig-reference-point", "genmig-end-timestamp", "genmig"),
    "moving-states": ("moving-states",),
}
"""The strategies to weigh before a migration by `auto`, each with the strategies that can carry it out."""

Migrate = Callable[[Plan, str, str], Transition]
"""A function that begins a migration to a plan, by a strategy, of a query by name."""


class EngineAutopilot(NearNames):
    """Watches queries of an engine, some by name or all, also those that come later.

    A few times a window, at instants of application time, it asks the advisor of each query, and migrates if
    the decider says so. Migrations of queries that share operators above their windows come one after the
    other. A refusal becomes a record, and the plan is not tried again while the query runs the same one. If
    a look raises an exception, as an advisor may, that becomes a record and a warning, and the next look
    tries again; the query goes on.

    Nothing depends on batch boundaries or on how fast the machine is, if decider, advisor and statistics do
    not.
    """

    def __init__(
        self,
        host: Host,
        parts: Callable[[RunningQuery, Looks], PilotParts],
        migrate: Migrate,
        queries: Sequence[str] | None = None,
        *,
        looks: int = 8,
        every: int | None = None,
        strategy: str = "auto",
        deciders: Callable[[], int] = lambda: 1,
    ) -> None:
        """`parts` makes the parts for a query and its looks; `every` is the time from look to look.

        By default that is a window divided by `looks`. `deciders` is the number of those who decide for the
        engine, and share what deciding may take.

        Raises   UnknownStreamError where there is no such query; ArgumentError where one has no time window,
                 and `every` is not given.
        """
        self._host, self._parts, self._migrate = host, parts, migrate
        self._names = None if queries is None else tuple(queries)
        self._looks, self._every, self._strategy = looks, every, strategy
        self.deciders = deciders
        """The number of those who decide for the engine."""
        self._journal: Journal[Record] = Journal("autopilot", host.fail)
        self._counts: dict[str, Counter[Event]] = {}
        """By query, the number of events; of queries that have gone, of the last ones."""
        self._watched: dict[RunningQuery, WatchedQuery] = {}
        self._without_choice: dict[RunningQuery, Plan] = {}
        """The queries of whose plan there is no other, with that plan."""
        self.is_stopped = False
        """True after `stop`, when no query is watched any more."""
        for name in host.queries if queries is None else queries:
            if looks_of(host.query(name).plan, looks, every) is None:
                raise ArgumentError(
                    f"autopilot: query {name} has no time window, by which the time from look to look is "
                    "chosen; give every=, in chronons"
                )
        host.listen(self._look_after)
        self._look_after()

    @property
    def decisions(self) -> list[Record]:
        """The records, oldest first; the last ones if there are very many."""
        return self._journal.records

    @property
    def queries(self) -> list[str]:
        """The names of the watched queries, with those of whose plan there is no other."""
        return [query.name for query in (*self._watched, *self._without_choice)]

    def migration(self, query: str) -> Transition | None:
        """The migration of a query that it began last, until a record reports the end."""
        watched = (pilot for running, pilot in self._watched.items() if running.name == query)
        return next((pilot.migration for pilot in watched), None)

    def listen(self, listener: Callable[[Record], object]) -> None:
        """Pass every further record to a function as it is made."""
        self._journal.listen(listener)

    def stop(self) -> None:
        """Stop watching; a migration under way goes on, and ends by itself.

        A last record tells of each query at which there was no look.
        """
        if not self.is_stopped:
            self.is_stopped = True
            self._host.unlisten(self._look_after)
            for query in tuple(self._watched):
                watched = self._watched.pop(query)
                watched.leave()
                if watched.migration is not None:
                    watched.migration.speak()  # no record will tell of its end
                if not watched.efforts.looks:
                    reason = "too few elements have come for a first look at other plans"
                    self.tell(watched.record(None, "stay", reason))
            self._without_choice.clear()

    @property
    def summary(self) -> dict[str, dict[str, int]]:
        """By query, the number of events of each kind, and its cost `spent` in intermediate results."""
        counts: dict[str, dict[str, int]] = {}
        for name, events in self._counts.items():
            counts[name] = {event: number for event, number in events.items()}
        for query, watched in self._watched.items():
            counts.setdefault(query.name, {})["spent"] = watched.results
        return counts

    def __str__(self) -> str:
        lines = [
            f"{name}: {', '.join(f'{number} {event}' for event, number in counts.items())}"
            for name, counts in self.summary.items()
        ]
        return "\n".join(lines)

    def tell(self, record: Record) -> None:
        """Keep a record, and pass it to the listeners."""
        self._counts.setdefault(record.query, Counter())[record.event] += 1
        if len(self._counts) > KEPT + len(self._watched) + len(self._without_choice):
            running = set(self.queries)
            del self._counts[next(name for name in self._counts if name not in running)]
        self._journal.tell(record)

    def in_the_way(self, query: RunningQuery) -> str | None:
        """The name of another query that is being migrated and shares operators above its windows."""
        mine = _upper(query)
        others = (one for one in self._host.queries.values() if one is not query and one.is_exchanged)
        return next((one.name for one in others if not mine.isdisjoint(_upper(one))), None)

    def migrate(self, query: RunningQuery, plan: Plan, weighed: str | None) -> tuple[Transition, str]:
        """Begin a migration by the strategy asked for; returns its name, too.

        `auto` takes the strategy that was weighed, if it is possible: another one may cost more than the move
        saves.

        Raises   MigrationRefused.
        """
        names: Sequence[str] = (self._strategy,)
        if self._strategy == "auto":
            candidates = WEIGHED.get(weighed or "", ())
            names = [name for name in candidates if _is_possible(self._host, plan, name, query.name)] or names
        name = names[0]
        if len(names) > 1 or name == "auto":
            strategies = map(find_strategy, names)
            name = prepare_cheapest(self._host, plan, strategies, query.name).strategy.name
        return self._migrate(plan, name, query.name), name

    def strategies(self, query: RunningQuery, plan: Plan) -> tuple[str, ...]:
        """The weighed strategies that can move a query to a plan now."""
        weighed = WEIGHED if self._strategy == "auto" else (self._strategy,)
        return tuple(name for name in weighed if _is_possible(self._host, plan, name, query.name))

    def _look_after(self) -> None:
        """Watch queries that have come, and leave those that have gone."""
        running = self._host.queries
        wanted = [query for name, query in running.items() if self.wants(name)]
        for query in [query for query in self._watched if running.get(query.name) is not query]:
            watched = self._watched.pop(query)
            watched.leave()
            self.tell(watched.record(None, "left", "the query has been removed or replaced"))
        for query in [query for query in self._without_choice if running.get(query.name) is not query]:
            plan, left = self._without_choice.pop(query), "the query has been removed or replaced"
            self.tell(Record(query.name, None, "left", left, plan))
        for query in wanted:
            if query not in self._watched and self._without_choice.get(query) != query.plan:
                self._begin(query)

    def wants(self, name: str) -> bool:
        """True if a query must be watched; a replacement counts only once it has taken its place."""
        return not name.endswith(TO_COME) if self._names is None else name in self._names

    def _begin(self, query: RunningQuery) -> None:
        looks = looks_of(query.plan, self._looks, self._every)
        if looks is None:  # it has come later: the others are watched
            return
        parts = self._parts(query, looks)
        if parts.has_choice(query.plan):
            self._watched[query] = WatchedQuery(self, self._host, query, parts, looks)
        else:
            self._without_choice[query] = query.plan
            reason = "no rule leads to another plan"
            self.tell(Record(query.name, None, "stay", reason, query.plan))

    def restart(self, query: RunningQuery) -> None:
        """Forget all statistics of a query whose meaning has changed, for example by another window size."""
        self._watched.pop(query).leave()
        self._begin(query)


class WatchedQuery(QueryPilot[Plan, int]):
    """The autopilot of a query of an engine: a watcher of its streams."""

    def __init__(
        self, autopilot: EngineAutopilot, host: Host, query: RunningQuery, parts: PilotParts, looks: Looks
    ) -> None:
        self._autopilot, self._host, self._query, self._window = autopilot, host, query, looks.window
        self.decider = parts.decider
        self._parts = parts
        columns = parts.learning.columns
        self._gatherings = {
            source.stream: Gathering(source, looks.step, columns.get(source.stream, ()))
            for source in query.plan.sources
        }
        self._looks = looks
        self._looked: int | None = None
        """The instant of the last look."""
        self.efforts = Efforts()
        """The steps of deciding besides those of the parts."""
        self._budget: Budget | None = None
        if parts.decider.settings.budget is not None:
            expected = expected_cost(query.plan, prices_of(parts.advisor))
            check = Efforts(checks=1).cost(prices_of(parts.advisor))
            share = parts.decider.settings.budget
            self._budget = Budget(
                share, looks.step, looks.window, expected, check, deciders=autopilot.deciders
            )
        self._knows_at: int | None = None
        """The instant from which on a look can tell anything, as the first window is over."""
        self._worked, self._elements, self._steps = 0.0, *self._counted_steps()
        """The work of the query so far in microseconds; the elements and steps that were counted by then."""
        self._alone = None if query.is_exchanged else query.plan
        """The plan that ran when work was last counted; None while both plans of a migration ran."""
        self._plan = query.plan
        """The plan that the query had at the last look."""
        self._seen = query.plan
        """The plan that the query had when its settings were compared last."""
        self._best = _at_best(query)
        """That plan, with the best settings that the query declares."""
        self._before_watched = self._counters().intermediate
        """The intermediate results of the query before it was watched."""
        self.migration: Transition | None = None
        """The migration that was begun here, until it ends."""
        self._before = 0
        """The intermediate results at the last record before a migration began."""
        self._ran: dict[Plan, None] = {}
        """The plans that ran since the cost of the query was last counted."""
        self._refused: set[tuple[Plan, Plan]] = set()
        """Pairs of plans: the migration from the first to the second was refused."""
        streams = [source.stream for source in query.plan.sources]
        put_off = None if self._budget is None else self._pause
        self._watch = host.watch(self, looks.step, streams, idle=looks.idle, put_off=put_off, gathers=True)

    @property
    def results(self) -> int:
        """Intermediate results of the query since it is watched."""
        return self._counters().intermediate - self._before_watched

    def _counters(self) -> Counters:
        return self._host.counters(self._query.name)

    def leave(self) -> None:
        """Stop watching."""
        self._host.unwatch(self._watch)

    def take(self, stream: str, batch: Batch, progress: Time) -> None:
        """Collect the elements of a stream between two looks."""
        self._gatherings[stream].take(batch, progress)

    def look(self, now: int) -> None:
        """Process a look: all streams have come to an instant.

        See which migrations have ended, ask the advisor, and decide. What raises is a record, as it concerns
        no results; the next look tries again.
        """
        try:
            is_same = self._follow(now)
            if is_same:
                self.efforts.looks += 1
                super().look(now)
        except Exception as failure:
            is_same = True
            self.fail(now, failure)
        if is_same and self._budget is not None:
            self._budget.pay(now, self._cost(), self._work())
        self._looked = now

    def _cost(self) -> float:
        """The cost of deciding so far, in microseconds by counted steps."""
        return self._parts.cost() + self.efforts.cost(prices_of(self._parts.advisor))

    def _counted_steps(self) -> tuple[int, int]:
        """The elements on the query's streams, and what all operators have given, sources included."""
        counters = self._counters()
        elements = sum(n for node, n in counters.emitted.items() if not node.inputs)
        return elements, sum(counters.emitted.values()) + counters.earlier

    def _work(self) -> float:
        """The work of the query so far, in microseconds by counted steps.

        Where both plans of a migration ran, only elements are counted: how many results both give depends on
        how streams alternate, and decisions must not.
        """
        elements, steps = self._counted_steps()
        alone, self._alone = self._alone, self._query.plan if self.is_free else None
        of_step, of_element = self._parts.work
        if alone is not None and alone == self._alone:
            self._worked += (steps - self._steps) * of_step
        else:
            self._worked += (elements - self._elements) * of_element
        self._elements, self._steps = elements, steps
        return self._worked

    def _pause(self, now: int) -> int:
        """The number of instants by which a look is put off, as it is not paid for, or tells nothing yet."""
        assert self._budget is not None
        step, window = self._looks.step, self._looks.window
        if self._knows_at is None:
            self._knows_at = now + window
        if now < self._knows_at:
            return ceil((self._knows_at - now) / step)
        if self.is_migrating:
            self._follow(now)
        work = self._work()
        self.efforts.checks += 1
        if self._budget.is_paid(work):
            return 0
        pause = self._budget.pause(now, work)
        return min(pause, max(1, window // step)) if self.is_migrating else pause

    @property
    def is_free(self) -> bool:
        """True where no migration of the query is under way."""
        return not self.is_migrating and not self._query.is_exchanged

    def advise(self, now: int) -> Advice[Plan] | None:
        """The advice by the elements so far, without plans to which a migration was refused."""
        cells = (self._gatherings[stream].cell(self._looked, now) for stream in sorted(self._gatherings))
        self._parts.learning.take([*filter(None, cells)])
        advice = self._parts.advise(now)
        if advice is None:
            return None
        self._ran |= {self.decider.running: None, self._query.plan: None}
        if not self.is_free or not self._refused:
            return advice
        others = (other for other in advice.others if (self._plan, other.plan) not in self._refused)
        return replace(advice, others=tuple(others))

    def spent(self, now: int) -> float | Later | None:
        """The cost of the query so far, in the unit of the advice; None without accounts."""
        if self._parts.accounts is None:
            return None
        ran, self._ran = list(self._ran), {}
        return self._parts.accounts.spent(now, ran, self._counters())

    def strategies(self, plan: Plan) -> tuple[str, ...]:
        """The weighed strategies that the engine would not refuse."""
        self.efforts.moved += len(plan.nodes)
        return self._autopilot.strategies(self._query, plan)

    def carry_out(
        self, now: int, decision: Decision[Plan], advice: Advice[Plan] | None, until_split: float
    ) -> None:
        """Begin the chosen migration, and add a record."""
        costs = {} if advice is None else {other.plan: other.rate for other in advice.others}
        costs |= {} if advice is None else {self.decider.running: advice.running}
        record = self.record(now, "stay", decision.reason, decision=decision, costs=costs)
        if decision.to is not None and self.is_free:
            record = self._move(record, decision.to, until_split)
        self._autopilot.tell(record)

    def record(self, at: int | None, event: Event, reason: str, **more: Any) -> Record:
        """A record of an event of the query."""
        is_there = self._host.queries.get(self._query.name) is self._query
        if is_there and not self.is_migrating:
            self._before = self.results
        spent = self._before if is_there else 0
        return Record(self._query.name, at, event, reason, self._query.plan, spent=spent, **more)

    def _move(self, record: Record, plan: Plan, until_split: float) -> Record:
        """Begin the chosen migration; returns the record with the outcome."""
        now, query = record.at, self._query
        assert now is not None and record.decision is not None
        busy = self._autopilot.in_the_way(query)
        if busy is not None:
            wait = f"a migration of {busy}, which shares operators, is under way"
            return replace(record, reason=wait, decision=replace(record.decision, moves=False, reason=wait))
        self.efforts.moved += len(plan.nodes)
        try:
            migration, strategy = self._autopilot.migrate(query, plan, record.decision.strategy)
        except MidstreamError as refusal:
            self._refused.add((self._plan, plan))
            return replace(record, event="refused", reason=str(refusal))
        self.begun(now, plan, strategy, until_split)
        self.migration, self._plan = migration, query.plan
        return replace(
            record,
            event="move",
            reason=migration.reason or record.reason,
            strategy=strategy,
            split=_finite(migration.split),
        )

    def _follow(self, now: int) -> bool:
        """Follow migrations to their ends, also those that were begun elsewhere.

        Returns False if the meaning of the query has changed.
        """
        query = self._query
        if query.plan is not self._seen and not self._is_same():
            return False
        if self.migration is not None:
            phase = self.migration.phase
            if phase not in OVER:
                return True
            results, reason = self.results, self.migration.reason
            event: Event = "done" if phase is Phase.DONE else "aborted"
            split = _finite(self.migration.split)
            self.migration, self._plan = None, query.plan
            self.ended(now, query.plan)
            why = reason if event == "aborted" else ""
            self._autopilot.tell(self.record(now, event, why, split=split, meanwhile=results - self._before))
        elif query.plan != self._plan:
            self._plan = query.plan
            self.begun(now, query.plan, "genmig", self.until_split(now))
        if self.is_migrating and not query.is_exchanged:
            self.ended(now, query.plan)
        return True

    def _is_same(self) -> bool:
        """Take another plan of the query; returns False, and begins anew, if it means something else.

        Where levers have other settings, what was learned of streams stays.
        """
        self._seen = plan = self._query.plan
        before, self._best = self._best, _at_best(self._query)
        if _inputs(self._best) != _inputs(before):
            self._autopilot.restart(self._query)
            return False
        if _inputs(plan) == _inputs(self._plan):
            return True
        self._parts, self._ran = self._parts.adjusted(plan if self.is_free else None), {}
        self.decider, self._refused = self._parts.decider, set()
        if self._best == before:
            self._plan = plan
        if self._alone is not None:
            self._alone = plan
        return True

    def until_split(self, now: int) -> float:
        """The number of chronons after which all elements valid now have expired.

        It is a window for elements without an end.
        """
        inputs = self._host.exchangeable_inputs(self._query.name).values()
        last = max(map(self._host.max_end, inputs), default=BEGINNING)
        if last == FOREVER:
            return float(self._window)
        return max(0.0, float(last - now)) if last != BEGINNING else 0.0

    def fail(self, now: int, failure: Exception) -> None:
        """Tell that a look raised, or that numbers cannot be weighed; the query goes on."""
        why = f"{type(failure).__name__}: {failure}"
        self._autopilot.tell(self.record(now, "failed", why, failure=failure))
        self._host.tell(
            f"autopilot: a look at query {self._query.name} raised {why}; the next one tries again", Note
        )


def _is_possible(host: Host, plan: Plan, strategy: str, query: str) -> bool:
    try:
        require_possible(host, plan, find_strategy(strategy), query)
    except MidstreamError:
        return False
    return True


def _upper(query: RunningQuery) -> set[Node]:
    """The operators above the windows of a query."""
    below = {node for start in lowest(query.physical) for node in start.walk()}
    return {node for node in query.physical.nodes if node not in below}


def _at_best(query: RunningQuery) -> Plan:
    """The plan of a query as it declares its levers, at their best; adjustments do not change it."""
    return at_best(logical_plan(query.own_terms.plan(query.plan)))


def _inputs(plan: Plan) -> set[Node]:
    return set(input_nodes(logical_plan(plan)))


def _finite(time: Time) -> float | None:
    return None if time in (BEGINNING, FOREVER) else float(time)
