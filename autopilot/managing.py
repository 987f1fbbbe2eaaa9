"""The resource manager of an engine keeps queries within a budget while streams flow (thesis, 23)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
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
from midstream.optimizer.allocation.allocator import Allocator
from midstream.optimizer.allocation.curves import Use
from midstream.optimizer.allocation.forecast import BudgetForecast, forecast, with_settings
from midstream.optimizer.cost.units import UnitCosts
from midstream.optimizer.statistics import Statistics, StreamStatistics
from midstream.plans.algebra.builder import AnyPlan, plan_of
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import lever_of, logical, logical_node
from midstream.plans.values.errors import ArgumentError, BudgetExceeded, PlanError, StatisticsError
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
"""The relative change of an estimate up to which a stream counts as steady."""

REMEMBERED = 100
"""The number of largest windows for which settings are on record."""

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
    ) -> None:
        """`deciding` is the share of the queries' time that looks may take; None for no bound.

        The `deciders` of an engine have equal parts of it.

        `every` is the time from look to look, by default a part of the largest window; `remember` the time
        for which settings are on record, by default `REMEMBERED` such windows. `statistics` are of streams
        that have yet to come; `clock` gives seconds of processing.

        Raises   ArgumentError where no query has a time window, and `every` is not given.
        """
        self._host, self._adjust, self._held = host, adjust, held
        self.terms, self._every, self._deciding, self._units = terms, every, deciding, units
        self._remember, self._forgotten = remember, 0
        self._journal: Journal[BudgetRecord] = Journal("budget")
        self._sources = SourceStatistics(statistics)
        self._allocator: Allocator[str] = Allocator(self._sources.statistics(), units)
        self._since: dict[RunningQuery, Time] = {}
        """By query, the instant from which on all of its state has come with its present settings."""
        self._expected: dict[tuple[str, ...], float] = {}
        """By queries that share levers, the elements that were expected at the last look."""
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
        self._rate = 0.0
        """Elements of all streams in a chronon, as expected at the last look."""
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
            needed = answer.needed.times(1 / (1 - terms.reserve))
            raise BudgetExceeded(
                f"query {name} does not fit: with the least settings all queries together need a budget of "
                f"{terms.limit(needed)}, and it is {terms.limit(terms.limits)}, with a reserve of "
                f"{terms.reserve:.0%}",
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
        if self._is_stale:
            self._refresh()
        self._sources.take(stream, batch, progress)

    def look(self, now: int) -> None:
        """Estimate, compare with the budget, and adjust."""
        assert self._looks is not None
        self._pace.efforts.looks += 1
        self._refresh(self._sources.learn(now, self._learned) if self._learns else ())
        self._learned = now if self._learns else self._learned
        self._correct(now)
        self._looked, self._has_others = now, False
        use, target = self._allocator.use(), self.terms.target
        if not self.terms.most.hold(use) or (
            target.excess(use) < 1 - self.terms.threshold and not self._allocator.is_best
        ):
            allocation = self._allocator.allocate(target, self.terms.rule, self.terms.weights)
            event: BudgetEvent = "adjust" if allocation.fits else "short"
            if settings := self._open(allocation.settings):
                self._change(now, event, settings, use)
            else:
                self._tell(now, "stay" if allocation.fits else "short", use)
        else:
            self._tell(now, "stay", use)
        streams = self._allocator.statistics.streams
        self._rate = math.fsum(streams[node].rate for node in self._sources.nodes)
        self._forget(now)
        rate = self._allocator.use().processor
        self._pace.pay(now, self._allocator.estimated, self._sources.efforts, rate)

    def _forget(self, now: int) -> None:
        """Let the record of settings not grow for ever (thesis, 21.4.3)."""
        assert self._looks is not None
        remember = self._remember or REMEMBERED * self._looks.window
        if now - self._forgotten >= remember / LOOKS:
            self._forgotten = now
            self._host.forget_settings(now - remember)

    def _put_off(self, now: int) -> int:
        """The number of instants by which a look is put off, as it is not paid for.

        It is a window at the most, and no longer than since the first instant. When more elements come than
        were expected, it is not put off. Nor is it when queries have come or gone, but such a look does not
        learn from the streams, so that only these queries are estimated.
        """
        assert self._looks is not None
        if self._first is None:
            self._first = now
        learned = self._first if self._learned is None else self._learned
        longest = min(self._looks.window, max(self._looks.step, learned - self._first))
        self._learns = now >= learned + longest or self._has_burst(now) or self._pace.is_paid(now)
        return 0 if self._learns or self._has_others else 1

    def _has_burst(self, now: int) -> bool:
        """True if more elements have come since the last look than chance explains."""
        if self._looked is None or self._watch is None:
            return False
        return is_burst(self._watch.came(now), self._rate * (now - self._looked))

    def _correct(self, now: int) -> None:
        """Correct the estimates by what queries hold, and by the time that they took."""
        assert self._looks is not None
        running, full = self._host.queries, now + self._looks.window
        self._since = {one: max(self._since.get(one, full), one.complete_from) for one in running.values()}
        held, states, expected = self._held(), {}, {}
        elements, memory, processor = 0, 0.0, 0.0
        for queries, use in self._allocator.uncorrected().items():
            nodes = {node for query in queries for node in map(logical_node, running[query].plan.nodes)}
            mine = sum(held.get(node, 0) for node in nodes)
            elements, processor = elements + mine, processor + use.processor
            if not use.elements:
                continue
            memory += mine * use.memory / use.elements
            expected[queries] = use.elements
            if abs(use.elements / self._expected.get(queries, use.elements) - 1) > STEADY:
                # The streams have changed: what is held came at other rates.
                self._since |= {running[query]: full for query in queries}
            settled = all(self._since[running[query]] <= now for query in queries)
            if settled and max(mine, use.elements) >= FEW:
                states[queries] = min(MOST, max(1 / MOST, mine / use.elements))
        self._expected = expected
        passed = 0 if self._looked is None else now - self._looked
        self._allocator.correct(states, self._speed.measure(processor * passed))
        self._measured = Measured(elements, memory)

    def _open(self, settings: Mapping[Node, Any]) -> Mapping[Node, Any]:
        """The settings of levers to which elements may come, as some of their streams have not ended."""
        return {
            lever: one
            for lever, one in settings.items()
            if not self._host.has_ended(source.stream for source in Plan(lever).sources)
        }

    def _change(self, now: int | None, event: BudgetEvent, settings: Mapping[Node, Any], before: Use) -> None:
        """Adjust levers, all at one instant, but for granules that become finer."""
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
            for name in adjustment.queries:
                query = self._host.query(name)
                self._since[query] = max(self._since.get(query, adjustment.at), adjustment.complete_at)
        if refused:
            self._tell(0 if now is None else now, "refused", before, reason="; ".join(refused))
        if done:
            self._expected = {}
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
        new = (query.plan for query in self._running if query not in before)
        sizes = (largest_window(plan, at_best=True) or 0 for plan in new)
        self._window = max(self._window, *sizes, 0)
        streams, looks = self._host.streams, _looks(self._window, self._every)
        if (streams, looks) != (self._watched, self._looks):
            if self._watch is not None:
                self._host.unwatch(self._watch)
            self._watched, self._looks, self._watch = streams, looks, None
            if looks is not None and streams:
                self._pace.follow(looks)
                put_off = None if self._deciding is None else self._put_off
                self._watch = self._host.watch(self, looks.step, streams, idle=looks.idle, put_off=put_off)

    def _refresh(self, changed: Iterable[Node] = ()) -> None:
        """Take the present plans of all queries, and what is required of streams; some have changed."""
        self._is_stale = False
        plans = self._host.plans_in_force()
        self._plans = {name: plan for name, plan in plans.items() if not name.endswith(TO_COME)}
        self._allocator.set_plans(self._plans)
        if self._looks is not None:
            # With the best settings, plans are the same after adjustments.
            self._sources.set_plans(self._allocator.best_plans.values(), self._looks)
        statistics = self._sources.statistics()
        new = {node for node in statistics.streams if not self._allocator.statistics.knows(node)}
        if stale := new.union(changed):
            self._allocator.set_statistics(statistics, stale)


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
            self._work += self._rate * (now - self._at)
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
