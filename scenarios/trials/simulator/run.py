"""One run of a scenario: an engine, its input, its migrations, and its measurements."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from time import process_time

from midstream.arrivals import Event
from midstream.driving import Command, Migrate, Move, Trial, drive, without_garbage_collector
from midstream.engine import Engine
from midstream.migration.transition import OVER, Transition
from midstream.optimizer.search import QUICK_STEPS
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.errors import EnumerationLimit, MigrationRefused, StatisticsError
from midstream.plans.values.streams import Element, Time
from midstream.scenarios.trials.costs.forecast_errors import LevelError, growth, overall
from midstream.scenarios.trials.simulator.adjusting import adjust
from midstream.scenarios.trials.simulator.conditions import Bucket
from midstream.scenarios.trials.simulator.engine_pilot import ByAutopilot
from midstream.scenarios.trials.simulator.input import Input
from midstream.scenarios.trials.simulator.predicting import with_predictions
from midstream.scenarios.trials.simulator.results import Readjustment, Series, Totals
from midstream.scenarios.trials.simulator.run_record import (
    MigrationSpan,
    RunRecord,
    longest_pause,
    processing,
    speed,
)
from midstream.scenarios.trials.simulator.scenario import OPTIMIZER, Scenario, ScheduledMigration
from midstream.scenarios.trials.simulator.steering import Steering
from midstream.scenarios.trials.simulator.variants import Variant, known_equivalence
from midstream.scenarios.trials.simulator.within_budget import WithinBudget

CUT, COME, ASK, UNREAD = "cut", "come", "ask", "unread"
"""Names of marks.

`CUT`: something may be due. `COME`: time comes to an instant on all streams. `ASK`: the steering is asked.
`UNREAD`: a portion belongs to a stream that the plan does not read.
"""


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """Results and measurements of a run.

    cpu, counts     the seconds of processing, and the number of results, by portion
    taken           the number of portions taken by the end of each bucket
    running         by first portion, the physical plan that runs by itself; None during migrations
    giving          the instants at which results came out
    spent           by portion, the cumulative intermediate results by which policies are judged
    adjusted        the adjustments of the manager of a budget
    errors          the errors of its forecasts, by level of the plans
    """

    results: list[Element]
    moves: tuple[MigrationSpan, ...]
    refused: str | None
    series: Series
    totals: Totals
    cpu: Sequence[float]
    counts: Sequence[int]
    taken: Sequence[int]
    running: Sequence[tuple[int, Plan | None]]
    giving: Sequence[int]
    spent: Sequence[int] = ()
    adjusted: tuple[Readjustment, ...] = ()
    errors: tuple[LevelError, ...] = ()

    @property
    def spans(self) -> list[tuple[int, int | None]]:
        """The times during which migrations were under way."""
        return [(move.asked, move.ended) for move in self.moves]


def run(
    scenario: Scenario,
    plan: Plan | None,
    variant: Variant | None,
    arriving: Input,
    progress: Callable[[int], object] = lambda portions: None,
    steering: Steering | None = None,
    budget: str | None = None,
) -> RunOutcome:
    """Run a plan over all arrivals, with the scenario's migrations by `variant`, or those of `steering`.

    Without a plan, it runs all queries of the scenario within one of its budgets, and keeps no results.

    Now and then `progress` takes the number of portions that were processed.

    Raises   What the engine raises.
    """
    with without_garbage_collector():
        one = _Run(scenario, plan, variant, arriving, steering, budget)
        one.feed(progress)
        return one.outcome()


class _Run:
    """A run under way."""

    def __init__(
        self,
        scenario: Scenario,
        plan: Plan | None,
        variant: Variant | None,
        arriving: Input,
        steering: Steering | None,
        budget: str | None,
    ) -> None:
        spec = scenario.spec
        plans = [plan] if plan is not None else [query.plan for query in scenario.queries]
        read = {source.stream for one in plans for source in one.sources}
        slack: dict[str, Time] = {
            name: one.slack for name, one in spec.streams.items() if name in read and one.slack is not None
        }
        self._every = scenario.every
        self._variant = variant
        self._input = arriving
        self._results: list[Element] = []
        self._dropped = 0
        """The number of results that are no longer in the list."""
        self._within: WithinBudget | None = None
        if plan is not None:
            self._engine = Engine(plan, self._results.extend, relations=scenario.relations, slack=slack)
        else:
            assert budget is not None
            self._engine = Engine(relations=scenario.relations, slack=slack)
            self._within = WithinBudget(scenario, budget, self._engine, self._results.extend)
        self._trial = Trial(self._engine, self._decide, process_time)
        self._steps = list(scenario.steps) if variant is not None else []
        self._adjustments = spec.adjustments
        self._predicted = spec.measures.predicted
        self._plans = scenario.plans
        self._moves: list[MigrationSpan] = []
        self._refused: str | None = None
        self._since = 0.0
        """The part of the trial's seconds that belongs to processed portions, or to none."""
        self._seen = 0
        """The number of results that are recorded."""
        self._cpu = array("d")
        self._given = array("q", [0])
        """The cumulative number of results, by portion."""
        self._taken: list[int] = []
        self._running: list[tuple[int, Plan | None]] = [(0, self._plan())]
        self._plan_of_bucket: list[Plan | None] = []
        # Where policies are judged, time comes to each instant on all streams at once, in every run.
        self._is_in_step = bool(scenario.policies)
        self._steering = steering
        self._priced = scenario.priced
        self._spent = array("q")
        self._spent_before = 0
        self._instant: int | None = None
        if isinstance(steering, ByAutopilot):
            steering.attach(self._engine, self._begun_by_itself)
        self._record = RunRecord(
            self._engine, scenario.every / scenario.second, with_bytes=spec.measures.bytes
        )

    def feed(self, progress: Callable[[int], object]) -> None:
        """Drive the engine over the whole input, and record results, migrations and measurements."""
        portions = iter(self._input.portions)
        for kind, name, time in drive(self._trial, self._events()):
            if kind == "mark" and name != UNREAD:
                self._see(time)
                if name == CUT:
                    self._since = self._trial.seconds
                    progress(len(self._cpu))
                continue
            portion = next(portions)
            self._cpu.append(self._trial.seconds - self._since)
            self._since = self._trial.seconds
            self._given.append(self._dropped + len(self._results))
            if kind != "mark":
                self._record.take(portion)
            if self._is_in_step:
                self._spent.append(self._spent_so_far())
            self._see(portion.at)
        self._close_bucket()

    def outcome(self) -> RunOutcome:
        """The outcome of the run."""
        series = self._record.series(processing(self._cpu, self._moves, self._taken, self._every))
        results = self._given[-1]
        latency_mean, latency_max = self._record.latency(results)
        longest = longest_pause(self._record.giving)
        if self._predicted is not None:
            portions = self._input.portions
            series = with_predictions(series, self._plan_of_bucket, portions, self._every, self._predicted)
        adjusted: tuple[Readjustment, ...] = ()
        errors: tuple[LevelError, ...] = ()
        if self._within is not None:
            series = self._within.finish(series)
            adjusted, errors = self._within.adjusted, self._within.errors.errors()
        return RunOutcome(
            results=self._results,
            moves=tuple(self._moves),
            refused=self._refused,
            series=series,
            totals=Totals(
                elements=sum(series.elements),
                results=results,
                intermediate=sum(series.intermediate),
                peak_state=max(series.state),
                peak_output=max(series.results),
                longest_pause=longest,
                longest_pause_moving=None,
                longest_pause_stayed=None,
                latency_mean=latency_mean,
                latency_max=latency_max,
                cpu=series.cpu[-1],
                speed=speed(results, series.cpu[-1]),
                adjustments=None if self._within is None else len(adjusted),
                forecast_error=overall(errors),
                error_growth=growth(errors),
            ),
            cpu=self._cpu,
            counts=[after - before for before, after in pairwise(self._given)],
            taken=self._taken,
            running=self._running,
            giving=self._record.giving,
            spent=self._spent,
            adjusted=adjusted,
            errors=errors,
        )

    def _events(self) -> Iterator[Event]:
        """Portions, with marks where something may be decided."""
        cuts, streams = deque(self._input.cuts), frozenset(self._engine.streams)
        for portion in self._input.portions:
            while cuts and cuts[0] <= portion.at:
                yield "mark", CUT, cuts.popleft()
                streams = frozenset(self._engine.streams)  # queries may have come
            if self._is_in_step and portion.batch is not None and portion.at != self._instant:
                is_first, self._instant = self._instant is None, portion.at
                yield "mark", COME, portion.at
                if not (is_first or self._steering is None or any(one.ended is None for one in self._moves)):
                    self._spent_before = self._spent_so_far()
                    yield "mark", ASK, portion.at
            yield portion.event if portion.stream in streams else ("mark", UNREAD, portion.at)
        for cut in cuts:
            yield "mark", CUT, cut

    def _decide(self, event: Event) -> Iterable[Command]:
        kind, name, time = event
        if kind != "mark" or name == UNREAD:
            return ()
        if name == COME:
            return [partial(_come_to, time)]
        return self._due(time) if name == CUT else self._wished(time)

    def _due(self, time: int) -> Iterator[Command]:
        """The commands that are due at an instant, before anything that arrives at it."""
        bucket = self._close_bucket() if time and time % self._every == 0 else None
        for move in self._moves:
            if move.step.abort_at == time and move.migration.phase not in OVER:
                yield partial(self._abort, move, time)
        if self._within is not None:
            within = self._within
            yield lambda trial: within.add_queries(time)
        changes = [change for change in self._adjustments if change.at == time]
        if changes:
            yield lambda trial: adjust(trial.engine, changes)
        while self._steps and self._is_due(self._steps[0], time, bucket):
            assert self._variant is not None
            yield partial(self._begin, self._steps.pop(0), self._variant, time)
            bucket = None  # it says nothing of the new plan

    def _wished(self, time: int) -> Iterator[Command]:
        assert self._steering is not None
        wish = self._steering.decide(time, self._spent_before)
        if wish is not None:
            step = ScheduledMigration(wish.to, time, None, None)
            yield partial(self._begin, step, Variant.of(wish.strategy), time)

    def _is_due(self, step: ScheduledMigration, time: int, bucket: Bucket | None) -> bool:
        if step.condition is None:
            assert step.at is not None
            return step.at <= time
        return bucket is not None and step.condition.is_met(bucket)

    def _begin(self, step: ScheduledMigration, variant: Variant, time: int, trial: Trial) -> None:
        def begin(engine: Engine) -> Transition:
            if step.to != OPTIMIZER:
                return variant.begin(engine, self._plans[step.to])
            # The best plan that the optimizer finds among those that the running plan can be moved to.
            return variant.begin(engine, engine.optimize(budget=QUICK_STEPS).finish())

        began = process_time()
        if step.to != OPTIMIZER:
            known_equivalence(self._engine.plan, self._plans[step.to])
        try:
            Migrate(begin)(trial)
            self._moves.append(MigrationSpan(trial.moves[-1], step, variant.name, time, len(self._cpu)))
        except (MigrationRefused, StatisticsError, EnumerationLimit) as refusal:
            self._refused = self._refused or f"at {time}: {refusal}"
            self._steering = None  # it believes that another plan runs
        self._since += process_time() - began  # it is of no portion

    def _begun_by_itself(self, migration: Transition, strategy: str) -> None:
        """Record a migration that the engine's autopilot began while input arrived.

        The time that it took counts as processing.
        """
        to = next(name for name, one in self._plans.items() if one == migration.request.plan)
        time, move = self._instant or 0, Move(migration, len(self._results), 0.0)
        step = ScheduledMigration(to, time, None, None)
        self._moves.append(MigrationSpan(move, step, strategy, time, len(self._cpu)))

    def _spent_so_far(self) -> int:
        """Cumulative intermediate results by which policies are judged."""
        emitted = self._engine.counters().emitted if self._priced else {}
        return sum(emitted.get(node, 0) for node in self._priced)

    def _abort(self, move: MigrationSpan, time: int, trial: Trial) -> None:
        began = process_time()
        try:
            move.migration.abort("the scenario asks for it")
            move.aborted = time
        except MigrationRefused as refusal:
            move.note = f"not given up at {time}: {refusal}"
        move.cpu_aborting = process_time() - began

    def _see(self, time: int) -> None:
        """Record results that came out, and migrations that are over."""
        self._record.give(time, self._results[self._seen :])
        self._seen = len(self._results)
        for move in self._moves:
            if move.ended is None and move.migration.phase in OVER:
                move.ended, move.beyond = time, len(self._cpu)
        plan = self._plan()
        if plan is not self._running[-1][1]:
            self._running.append((len(self._cpu), plan))

    def _plan(self) -> Plan | None:
        """The running physical plan; None while it is being exchanged."""
        if self._within is not None:
            return None  # there are many
        query = self._engine.query()
        return None if query.is_exchanged else query.physical

    def _close_bucket(self) -> Bucket:
        if self._within is not None:
            self._dropped += len(self._results)
            self._results.clear()
            self._seen = 0
            self._within.close((len(self._taken) + 1) * self._every)
        self._taken.append(len(self._cpu))
        self._plan_of_bucket.append(self._plan())
        under_way = [move.migration for move in self._moves if move.ended is None]
        is_moved = any(move.migration.phase.value == "done" for move in self._moves)
        return self._record.close(under_way[-1] if under_way else None, is_moved)


def _come_to(time: int, trial: Trial) -> None:
    """Advance all streams to an instant."""
    for stream in trial.engine.streams:
        trial.engine.advance(stream, time)
