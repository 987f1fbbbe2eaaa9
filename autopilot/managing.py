"""The resource manager of an engine keeps queries within a budget while streams flow (thesis, 23)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from operator import is_not
from types import MappingProxyType
from typing import Any, Protocol

from midstream.autopilot.budget import Budget, Efforts
from midstream.autopilot.budget_records import BudgetEvent, BudgetRecord, Change, Measured
from midstream.autopilot.budget_terms import BudgetTerms
from midstream.autopilot.change_parts import change_parts
from midstream.autopilot.journal import Journal
from midstream.autopilot.looks import Looks, largest_window
from midstream.autopilot.source_statistics import SourceStatistics, is_burst
from midstream.operators.engine.graph.adjustment import Adjustment
from midstream.operators.engine.graph.host import Host
from midstream.operators.engine.graph.replacement import TO_COME
from midstream.operators.engine.measuring.watching import Watch
from midstream.operators.engine.running.queries import RunningQuery
from midstream.optimizer.allocation.allocator import Allocation, Allocator
from midstream.optimizer.allocation.curves import Use
from midstream.optimizer.allocation.forecast import BudgetForecast, forecast, with_settings
from midstream.optimizer.cost.units import UnitCosts
from midstream.optimizer.statistics import Statistics, StreamStatistics
from midstream.plans.algebra.builder import AnyPlan, plan_of
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import lever_of, logical, logical_node
from midstream.plans.values.errors import ArgumentError, BudgetExceeded, Note, PlanError, StatisticsError
from midstream.plans.values.near_names import NearNames
from midstream.plans.values.streams import BEGINNING, Batch, Time

FEW = 64
"""Elements in the state below which a measurement tells too little."""

MOST = 4.0
"""The largest factor by which estimates of state are corrected."""

MOST_TIME = 16.0
"""The largest factor by which estimates of time are corrected."""

LEAST_TIME = 1000.0
"""Microseconds below which measured time tells too little."""

STEADY = 0.1
"""The relative change of a rate up to which a stream counts as steady."""

FORGOTTEN = 0.05
"""The part of the difference by which the highest correction follows a lower one at a look."""

NEAR = 0.25
"""The relative change of a rate up to which a correction holds that was measured before."""

LOOKS = 8
"""The number of looks in the largest window."""

ESTIMATE = 0.4
"""The cost of an operator at one setting, as a part of what pricing it takes."""


class Adjust(Protocol):
    """Gives levers other settings at the first possible instant, not before another; see `Engine.adjust`."""

    def __call__(self, *, settings: Mapping[Node, Any], not_before: Time) -> Adjustment:
        """Adjust; raises PlanError, and then nothing has changed."""
        ...


class ResourceManager(NearNames):
    """Adjusts the levers of all queries so that they keep within a budget.

    A few times a window, at instants of application time, it learns from the streams, estimates what the
    queries take with their present settings once all elements have come with these, and compares that with
    the budget less its reserve. If it is more, or a good deal less, it allocates anew, and adjusts. A change
    takes effect as windows pass (thesis, 23.2), so that a burst may exceed the budget for a window at most.

    The model's estimates are corrected by the elements that queries are seen to hold, when these have run
    with their settings for long enough; and those of processing by measured time, if there is a `clock`.

    Cost     A look estimates the operators whose streams have changed. Looks take no more than a share of the
             queries' processing, but one a window comes in any case.
    """

    def __init__(
        self,
        host: Host,
        adjust: Adjust,
        held: Callable[[], Mapping[Node, int]],
        terms: BudgetTerms,
        *,
        every: int | None = None,
        deciding: float | None = 0.05,
        remember: int | None = None,
        statistics: Mapping[Node, StreamStatistics] = MappingProxyType({}),
        units: UnitCosts | None = None,
        clock: Callable[[], float] | None = None,
        deciders: Callable[[], int] = lambda: 1,
        earlier: ResourceManager | None = None,
    ) -> None:
        """`deciding` is the share of the queries' time that looks may take; None for no bound.

        The `deciders` of an engine have equal parts of it. An `earlier` manager, which is stopped, hands on
        what it has learned of streams and queries.

        `every` is the time from look to look, by default a part of the largest window; `remember` the time
        for which settings are on record, by default as without a budget. `statistics` are of streams that
        have yet to come; `clock` gives seconds of processing.

        Raises   ArgumentError where no query has a time window, and `every` is not given.
        """
        self._host, self._adjust, self._held = host, adjust, held
        self.terms, self._every, self._deciding, self._units = terms, every, deciding, units
        if remember is not None:
            host.remember_settings(remember)
        self._journal: Journal[BudgetRecord] = Journal("budget", host.fail)
        self._sources = SourceStatistics()
        self._allocator: Allocator[str] = Allocator(self._sources.statistics(), units)
        if earlier is not None and earlier._units == units:
            self._sources, self._allocator = earlier._sources, earlier._allocator
        self._sources.expect(statistics)
        self._since: dict[RunningQuery, Time] = {}
        """By query, the instant from which on all of its state has come with its present settings."""
        self._shares: dict[tuple[str, ...], _Share] = {}
        """By queries that share levers, what is known of their part of the memory."""
        self._settled: Time = BEGINNING
        """The instant from which on nothing is valid that came with better settings than now."""
        self._has_more = False
        """True if some settings are to become better once there is a place for what grows by them."""
        self._changed_at = 0
        """The last look at which queries had come or gone, or rates had changed."""
        self._rates: dict[Node, float] = {}
        """The rates of streams at that look."""
        self._looks: Looks | None = None
        self._watched: tuple[str, ...] = ()
        self._watch: Watch | None = None
        self._looked: int | None = None
        """The instant of the last look."""
        self._first: int | None = None
        """The first instant of all."""
        self._learned: int | None = None
        """The instant of the last look that learned from the streams."""
        self._learns = True
        """True if the next look learns from the streams."""
        self._is_stale = True
        """True if queries have come or gone since their plans were taken."""
        self._has_others = True
        """True if queries have come or gone since the last look."""
        self._pace = _Pace(deciding, units, deciders)
        self._speed = _Speed(clock)
        self._measured = Measured()
        self._came: dict[str, int] = {}
        """By stream, the elements from the last look to the last instant at which one was due."""
        self._due: int | None = None
        """That instant, or that of the look."""
        self._lately: dict[str, tuple[int, int]] = {}
        """By stream, the chronons between the last two such instants, and the elements of that time."""
        self.is_stopped = False
        """True after `stop`."""
        self._running: dict[RunningQuery, None] = {}
        self._plans: dict[str, Plan] = {}
        """The plans of the queries at the last look, or since queries have come or gone."""
        self._window = 0
        """The size of the largest window so far, with the best settings."""
        self._follow()
        if self._running and self._looks is None:
            raise ArgumentError(
                "budget: no query has a time window, by which the time from look to look is chosen; give "
                "every=, in chronons"
            )
        host.listen(self._follow)

    @property
    def decisions(self) -> list[BudgetRecord]:
        """The records, oldest first; the last ones if there are very many."""
        return self._journal.records

    @property
    def statistics(self) -> Statistics:
        """The statistics of the streams by which everything is estimated at present."""
        return self._allocator.statistics

    def listen(self, listener: Callable[[BudgetRecord], object]) -> None:
        """Pass every further record to a function as it is made."""
        self._journal.listen(listener)

    def stop(self) -> None:
        """Stop looking; all settings stay as they are."""
        if not self.is_stopped:
            self.is_stopped = True
            self._host.unlisten(self._follow)
            if self._watch is not None:
                self._host.unwatch(self._watch)

    # Queries to come

    def forecast(self, plan: AnyPlan, name: str = "forecast") -> BudgetForecast:
        """The forecast for all queries together with one more, within the budget less its reserve.

        Raises   StatisticsError where nothing is known of a stream of the plan.
        """
        plan = plan_of("forecast", plan)
        self._sources.state(self._host.observe_relations(plan))
        for node in plan.nodes:
            if not node.inputs and not self._sources.knows(node):
                raise StatisticsError(
                    f"budget: nothing is known yet of {logical(node)}; push elements first, or say what to "
                    "expect: engine.budget(…, statistics=…)"
                )
        if self._is_stale:
            self._refresh()
        terms = self.terms
        try:
            self._allocator.set_plans({**self._plans, name: plan})
            self._publish()
            return forecast(self._allocator, terms.target, terms.rule, terms.weights, terms.chronon)
        finally:
            self._allocator.set_plans(self._plans)

    def admit(self, plan: Plan, name: str) -> tuple[Plan, Mapping[Node, Any]]:
        """The plan with settings with which it fits, and the settings that other queries must have then.

        Raises   BudgetExceeded where there are none; StatisticsError where nothing is known of a stream.
        """
        answer = self.forecast(plan, name)
        terms = self.terms
        if not answer.fits:
            needed = answer.needed.times(1 / (1 - terms.reserve)).rounded_up(terms.chronon)
            raise BudgetExceeded(
                f"query {name} does not fit: with the least settings all queries together need a budget of "
                f"{terms.limit(needed)}, and it is {terms.limit(terms.limits)}, with a reserve of "
                f"{terms.reserve:.0%}"
                + ("; one processor is too few" if terms.chronon < needed.processor < math.inf else ""),
                forecast=answer,
            )
        mine = {lever: one for lever, one in answer.settings.items() if lever in plan.nodes}
        others = {node for other in self._plans.values() for node in other.nodes}
        rest = {lever: one for lever, one in answer.settings.items() if lever in others}
        return with_settings(plan, mine), rest

    def settle(self, settings: Mapping[Node, Any]) -> None:
        """Adjust other queries, now that an admitted one runs."""
        self._refresh()
        if settings := self._open(settings):
            self._change(None, "adjust", settings, self._allocator.use())

    # Looks

    def take(self, stream: str, batch: Batch, progress: Time) -> None:
        """Gather the elements of a stream between two looks."""
        with self._recording(int(batch[0][0])):
            if self._is_stale:
                self._refresh()
            self._sources.take(stream, batch, progress)

    def look(self, now: int) -> None:
        """Estimate, compare with the budget, and adjust; where that raises, the next look tries again."""
        with self._recording(now):
            self._look(now)

    @contextmanager
    def _recording(self, now: int) -> Iterator[None]:
        """Make a record and a warning of what raises, as it concerns no query."""
        try:
            yield
        except Exception as failure:
            self._is_stale = True
            why = f"{type(failure).__name__}: {failure}"
            nothing = Use()
            self._journal.tell(
                BudgetRecord(now, "failed", self.terms, nothing, nothing, self._measured, 1.0, reason=why)
            )
            self._host.tell(f"budget: a look raised {why}; the next one tries again", Note)

    def _look(self, now: int) -> None:
        assert self._looks is not None
        self._come_to(now)
        self._pace.efforts.looks += 1
        self._refresh()  # what is learned is what the present queries require
        if self._learns:
            self._publish(self._sources.learn(now, self._lately))
        self._learned = now if self._learns else self._learned
        self._correct(now)
        self._note_changes(now)
        self._looked, self._has_others = now, False
        use, target = self._allocator.use(), self.terms.target
        is_over = not self.terms.most.hold(use)
        has_room = target.excess(use) < 1 - self.terms.threshold and not self._allocator.is_best
        if is_over or has_room or self._has_more:
            terms = self.terms
            is_loyal = now >= self._changed_at + self._looks.window
            allocation = self._allocator.allocate(target, terms.rule, terms.weights, is_loyal=is_loyal)
            event: BudgetEvent = "adjust" if allocation.fits else "short"
            settings = self._open(allocation.settings)
            lower = {lever: one for lever, one in settings.items() if lever not in allocation.better}
            self._has_more = len(lower) < len(settings) and not self._has_place(allocation)
            if settings := lower if self._has_more else settings:
                self._change(now, event, settings, use, is_worse=bool(lower))
            else:
                self._tell(now, "stay" if allocation.fits else "short", use)
        else:
            self._tell(now, "stay", use)
        self._due, self._came = now, {}
        rate = self._allocator.use().processor
        self._pace.pay(now, self._allocator.estimated, self._sources.efforts, rate)

    def _has_place(self, allocation: Allocation[str]) -> bool:
        """True if what grows by better settings has a place beside all that is held now.

        What came with earlier, larger settings is held for a while.
        """
        before = self._allocator.uses()
        grown = (use.memory - before[queries].memory for queries, use in allocation.uses.items())
        more = math.fsum(one for one in grown if one > 0)
        return self._measured.memory + more <= self.terms.limits.memory

    def _note_changes(self, now: int) -> None:
        """Take note of queries that have come or gone, and of streams with other rates."""
        rates = {node: self._allocator.statistics.stream(node).rate for node in self._sources.nodes.values()}
        is_same = rates.keys() == self._rates.keys() and _are_near(rates, self._rates, NEAR)
        if self._has_others or not is_same:
            self._changed_at, self._rates = now, rates

    def _come_to(self, now: int) -> None:
        """Begin anew where looks go back in time, as a stream has come that is behind the others."""
        if self._looked is not None and now < self._looked:
            self._looked = self._first = self._learned = self._due = None
            self._came, self._lately = {}, {}

    def _put_off(self, now: int) -> int:
        """The number of instants by which a look is put off, as it is not paid for.

        It is a window at the most, and no longer than since the first instant. When more elements come than
        were expected, or more is held than the budget, it is not put off. Nor is it when queries have come or
        gone, but such a look does not learn from the streams, so that only these queries are estimated.
        """
        assert self._looks is not None
        self._come_to(now)
        if self._first is None:
            self._first = now
        learned = self._first if self._learned is None else self._learned
        longest = min(self._looks.window, max(self._looks.step, learned - self._first))
        has_burst = self._has_burst(now)
        self._learns = (
            has_burst
            or now >= learned + longest
            or self._pace.is_paid(now)
            # What came with better settings is held for a while: no look could mend that.
            or (now >= self._settled and self.terms.limits.memory < math.inf and self._is_over(self._held()))
        )
        return 0 if self._learns or self._has_others else 1

    def _has_burst(self, now: int) -> bool:
        """True if more of a stream has come since the last look, or lately, than chance explains."""
        if self._looked is None or self._due is None or self._watch is None:
            self._due = now
            return False
        came, statistics = self._watch.came(now), self._allocator.statistics
        self._lately = {
            stream: (now - self._due, n - self._came.get(stream, 0)) for stream, n in came.items()
        }
        self._due, self._came = now, came
        rates = {stream: statistics.stream(node).rate for stream, node in self._sources.nodes.items()}
        return any(
            is_burst(count, passed * rates.get(stream, 0.0))
            for periods in (self._lately, {stream: (now - self._looked, n) for stream, n in came.items()})
            for stream, (passed, count) in periods.items()
        )

    def _correct(self, now: int) -> None:
        """Correct the estimates by what queries hold, and by the time that they took."""
        assert self._looks is not None
        running, full = self._host.queries, now + self._looks.window
        self._since = {one: max(self._since.get(one, full), one.complete_from) for one in running.values()}
        held, states, before = self._held(), {}, self._shares
        is_over, known = self._is_over(held), self._allocator.states()
        self._shares, processor = {}, 0.0
        for queries, use in self._allocator.uncorrected().items():
            plans = [running[query].plan for query in queries]
            sources = (node for plan in plans for node in map(logical_node, plan.nodes) if not node.inputs)
            rates = {node: self._allocator.statistics.stream(node).rate for node in sources}
            share = before.get(queries) or _Share(rates, full)
            self._shares[queries] = share
            processor += use.processor
            share.of_element = use.memory / use.elements if use.elements else 0.0
            if not _are_near(rates, share.rates, STEADY):
                share.rates, share.since = rates, full  # what is held came at other rates
            mine = share.elements(held, plans)
            is_complete = all(self._since[running[query]] <= now for query in queries)
            is_more = mine > known[queries] * use.elements
            if max(mine, use.elements) < FEW or not use.elements:
                pass
            elif is_complete and (share.since <= now or (is_more and is_over)):
                factor = min(MOST, max(1 / MOST, mine / use.elements))
                if share.since <= now:
                    # With larger settings it was more: these would be too large again.
                    share.highest = max(factor, share.highest + FORGOTTEN * (factor - share.highest))
                states[queries] = max(factor, share.highest)
                share.corrected_at = rates
            elif not _are_near(rates, share.corrected_at, NEAR):
                states[queries], share.highest, share.corrected_at = 1.0, 0.0, rates
        passed = 0 if self._looked is None else now - self._looked
        self._allocator.correct(states, self._speed.measure(processor * passed))
        self._measured = self._measure(held)

    def _measure(self, held: Mapping[Node, int]) -> Measured:
        """The elements that queries hold, and their bytes as the model has them."""
        running = self._host.queries
        shares = [
            (
                share.elements(held, [running[name].plan for name in names if name in running]),
                share.of_element,
            )
            for names, share in self._shares.items()
        ]
        return Measured(sum(n for n, _ in shares), math.fsum(n * size for n, size in shares))

    def _is_over(self, held: Mapping[Node, int]) -> bool:
        """True if queries hold more than the budget."""
        return self._measure(held).memory > self.terms.limits.memory

    def _open(self, settings: Mapping[Node, Any]) -> Mapping[Node, Any]:
        """The settings of levers to which elements may come, as some of their streams have not ended."""
        return {
            lever: one
            for lever, one in settings.items()
            if not self._host.has_ended(source.stream for source in Plan(lever).sources)
        }

    def _change(
        self,
        now: int | None,
        event: BudgetEvent,
        settings: Mapping[Node, Any],
        before: Use,
        *,
        is_worse: bool = True,
    ) -> None:
        """Adjust levers, all at one instant, but for granules that become finer; some to worse settings."""
        not_before = BEGINNING if now is None else now
        done: list[Adjustment] = []
        changes: list[Change] = []
        refused: dict[str, None] = {}
        for part in change_parts(settings):
            try:
                done.append(self._adjust(settings=part, not_before=not_before))
            except PlanError as error:
                refused[str(error)] = None
                continue
            changes += (Change(_name(lever), lever_of(lever).setting, one) for lever, one in part.items())
        for adjustment in done:
            if is_worse:
                self._settled = max(self._settled, adjustment.complete_at)
            for name in adjustment.queries:
                query = self._host.query(name)
                self._since[query] = max(self._since.get(query, adjustment.at), adjustment.complete_at)
        if refused:
            self._tell(0 if now is None else now, "refused", before, reason="; ".join(refused))
        if done:
            self._refresh()
            at = min(adjustment.at for adjustment in done) if now is None else now
            complete_at = max(adjustment.complete_at for adjustment in done)
            self._tell(at, event, before, changes=tuple(changes), complete_at=complete_at)

    def _tell(self, at: int, event: BudgetEvent, before: Use, **more: Any) -> None:
        precision = self._allocator.precision().values()
        average = math.fsum(precision) / len(precision) if precision else 1.0
        after = before if event == "stay" else self._allocator.use()
        self._journal.tell(
            BudgetRecord(at, event, self.terms, before, after, self._measured, average, **more)
        )

    # Queries

    def _follow(self) -> None:
        """Take note that queries have come or gone."""
        self._is_stale = self._has_others = True
        before, self._running = self._running, dict.fromkeys(self._host.queries.values())
        for query in self._running:
            if query not in before:
                self._sources.state(self._host.observe_relations(query.plan))
                self._window = max(self._window, largest_window(query.plan, at_best=True) or 0)
        streams, looks = self._host.streams, _looks(self._window, self._every)
        if (streams, looks) != (self._watched, self._looks):
            if self._watch is not None:
                self._watch.pass_on()  # whether its mark was full must not matter
                self._host.unwatch(self._watch)
            self._watched, self._looks, self._watch = streams, looks, None
            self._due, self._came, self._lately = None, {}, {}
            if looks is not None and streams:
                self._pace.follow(looks)
                put_off = None if self._deciding is None else self._put_off
                for stream in streams:
                    self._sources.skip(stream, self._host.reached(stream))
                self._watch = self._host.watch(
                    self, looks.step, streams, idle=looks.idle, put_off=put_off, gathers=True
                )

    def _refresh(self) -> None:
        """Take the present plans of all queries, and what is required of streams."""
        self._is_stale = False
        plans = self._host.plans_in_force()
        self._plans = {name: plan for name, plan in plans.items() if not name.endswith(TO_COME)}
        self._allocator.set_plans(self._plans)
        if self._looks is not None:
            # With the best settings, plans are the same after adjustments.
            self._sources.set_plans(self._allocator.best_plans.values(), self._looks)
        self._publish()

    def _publish(self, changed: Iterable[Node] = ()) -> None:
        """Estimate by the statistics of the streams as they are now, of which some have changed."""
        statistics = self._sources.statistics()
        new = {node for node in statistics.streams if not self._allocator.statistics.knows(node)}
        if stale := new.union(changed):
            self._allocator.set_statistics(statistics, stale)


class _Share:
    """Queries that share levers: what they hold, at which rates, and the correction of their estimate."""

    def __init__(self, rates: Mapping[Node, float], since: Time) -> None:
        self.rates = self.corrected_at = rates
        """The rates of their streams, which have been near these; those for which the correction holds."""
        self.highest = 0.0
        """The highest correction near these rates; lower ones make it lower by and by."""
        self.since = since
        """The instant from which on all that they hold has come at such rates."""
        self._plans: Sequence[Plan] = ()
        self._nodes: frozenset[Node] = frozenset()
        """The operators of these plans."""
        self.of_element = 0.0
        """The bytes of an element on the average, as estimated."""

    def elements(self, held: Mapping[Node, int], plans: Sequence[Plan]) -> int:
        """The number of elements that they hold with their present plans, in O(operators)."""
        if len(plans) != len(self._plans) or any(map(is_not, plans, self._plans)):
            self._plans = plans
            self._nodes = frozenset(map(logical_node, chain(*(plan.nodes for plan in plans))))
        return sum(held.get(node, 0) for node in self._nodes)


def _are_near(rates: Mapping[Node, float], others: Mapping[Node, float], share: float) -> bool:
    return all(
        abs(rate - others.get(node, rate)) <= share * max(rate, others.get(node, rate))
        for node, rate in rates.items()
    )


class _Pace:
    """Tells when the next look is paid for by the work of the queries, as their estimates have it."""

    def __init__(self, share: float | None, units: UnitCosts | None, deciders: Callable[[], int]) -> None:
        self._share, self._units, self._deciders = share, units, deciders
        self._budget: Budget | None = None
        self.efforts = Efforts()
        self._work = self._rate = 0.0
        """Microseconds of work so far, and those of a chronon from now on."""
        self._at: int | None = None

    def follow(self, looks: Looks) -> None:
        """Follow other looks from now on."""
        if self._share is not None:
            self._budget = Budget(
                self._share, looks.step, looks.window, expected=0.0, check=0.0, deciders=self._deciders
            )

    def is_paid(self, now: int) -> bool:
        """True if the work so far has paid for a look."""
        assert self._budget is not None
        return self._budget.is_paid(self._worked(now))

    def pay(self, now: int, estimated: int, learning: Efforts, rate: float) -> None:
        """Take note of a look, the operators estimated so far, and the work of a chronon from now on."""
        self.efforts.priced = round(ESTIMATE * estimated)
        if self._budget is not None:
            cost = self.efforts.cost(self._units) + learning.cost(self._units)
            self._budget.pay(now, cost, self._worked(now))
        self._rate = rate

    def _worked(self, now: int) -> float:
        if self._at is not None:
            self._work += self._rate * max(0, now - self._at)
        self._at = now
        return self._work


class _Speed:
    """The measured time of the queries, as a multiple of the estimated one; always 1 without a clock."""

    def __init__(self, clock: Callable[[], float] | None) -> None:
        self._clock = clock
        self._seconds: float | None = None
        self._factor = 1.0

    def measure(self, expected: float) -> float:
        """Measure since the last time, when so many microseconds were expected."""
        if self._clock is None:
            return self._factor
        before, self._seconds = self._seconds, self._clock()
        if before is not None and expected >= LEAST_TIME:
            seen = 1e6 * (self._seconds - before) / expected
            self._factor = min(MOST_TIME, max(1 / MOST_TIME, math.sqrt(self._factor * max(seen, 1e-9))))
        return self._factor


def _looks(window: int, every: int | None) -> Looks | None:
    """The looks for a largest window; None without one."""
    if every is not None:
        return Looks(window or LOOKS * every, every)
    return Looks(window, max(1, window // LOOKS)) if window else None


def _name(lever: Node) -> str:
    """A lever, and the source below it."""
    return f"{lever_of(lever).name} of {next(node for node in lever.walk() if not node.inputs).operator}"
