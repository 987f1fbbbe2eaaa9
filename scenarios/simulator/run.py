"""One run of a scenario: an engine, what is given to it, the migrations, and what is measured."""

from __future__ import annotations

import gc
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from time import perf_counter, process_time

from midstream.engine import Engine
from midstream.migration.report import report
from midstream.migration.transition import Transition
from midstream.optimizer import Choice
from midstream.optimizer.search.budget import QUICK_STEPS
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.errors import EnumerationLimit, MigrationRefused, StatisticsError
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Time, chronon_end
from midstream.scenarios.simulator.adjusting import adjust
from midstream.scenarios.simulator.conditions import Bucket
from midstream.scenarios.simulator.engine_pilot import ByAutopilot
from midstream.scenarios.simulator.input import Input, Portion
from midstream.scenarios.simulator.predicting import predicted
from midstream.scenarios.simulator.results import Moved, Series, Totals
from midstream.scenarios.simulator.run_record import RunRecord, is_over, longest_pause
from midstream.scenarios.simulator.scenario import OPTIMIZER, Scenario, ScheduledMigration
from midstream.scenarios.simulator.steering import Steering
from midstream.scenarios.simulator.variants import Variant, known_equivalence


@dataclass(slots=True)
class Move:
    """A migration of a run, under way or over.

    seconds, cpu    what preparing and beginning it took, on the wall's clock and of the processor
    cpu_aborting    what giving it up took
    first, beyond   the first of the portions that arrived meanwhile, and the one behind the last
    note            what else is to be said
    strategy        its name
    """

    step: ScheduledMigration
    plan: Plan
    migration: Transition
    asked: int
    seconds: float
    cpu: float
    first: int
    beyond: int | None = None
    ended: int | None = None
    aborted: int | None = None
    cpu_aborting: float = 0.0
    note: str = ""
    strategy: str = ""

    def as_result(self) -> Moved:
        """What is told of it."""
        facts = report(self.migration)
        return Moved(
            to=self.step.to,
            plan=str(self.plan),
            asked=self.asked,
            condition=None if self.step.condition is None else self.step.condition.text,
            began=_finite(self.migration.started),
            split=facts.split_time,
            ended=self.ended,
            phase=facts.phase,
            aborted=self.aborted,
            reason="; ".join(filter(None, (self.migration.reason, self.note))),
            results_old=facts.results_old,
            results_new=facts.results_new,
            results_fused=facts.results_fused,
            unmatched=facts.unmatched,
            peak_old=facts.peak_state_old,
            peak_new=facts.peak_state_new,
            peak_held=facts.peak_held,
            seconds=self.seconds,
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a run.

    cpu, counts     the seconds of processing, and the number of results, by portion
    taken           how many portions had been taken, by bucket, at its end
    running         from which portion on which physical plan ran by itself; None during migrations
    giving          the instants at which results came out
    spent           intermediate results so far by which policies are judged, by portion
    """

    results: list[Element]
    moves: tuple[Move, ...]
    refused: str | None
    series: Series
    totals: Totals
    cpu: Sequence[float]
    counts: Sequence[int]
    taken: Sequence[int]
    running: Sequence[tuple[int, Plan | None]]
    giving: Sequence[int]
    spent: Sequence[int] = ()

    @property
    def spans(self) -> list[tuple[int, int | None]]:
        """When migrations were under way."""
        return [(move.asked, move.ended) for move in self.moves]


def processing(
    cpu: Sequence[float], moves: Sequence[Move], taken: Sequence[int], every: int
) -> tuple[float, ...]:
    """Seconds of processing since the beginning, by bucket, at its end: of portions, and for beginning and
    giving up migrations."""
    of_portions = [0.0, *accumulate(cpu)]
    asides = [(move.asked, move.cpu) for move in moves]
    asides += [(move.step.abort_at, move.cpu_aborting) for move in moves if move.step.abort_at is not None]
    # The last bucket takes in all that comes after the others.
    ends = [*range(every, len(taken) * every, every), FOREVER]
    return tuple(
        of_portions[portions] + sum(seconds for at, seconds in asides if at < end)
        for portions, end in zip(taken, ends, strict=True)
    )


@contextmanager
def without_garbage_collector() -> Iterator[None]:
    """As timeit does it: what the collector takes depends on what else is kept, such as the results."""
    gc.collect()
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def run(
    scenario: Scenario,
    plan: Plan,
    variant: Variant | None,
    arriving: Input,
    progress: Callable[[int], object] = lambda portions: None,
    steering: Steering | None = None,
) -> Outcome:
    """Run a plan over all that arrives; with a variant of a strategy, carry out the scenario's migrations;
    with `steering`, those that it decides.

    `progress` is told, now and then, how many portions were taken.

    Raises   What the engine raises.
    """
    with without_garbage_collector():
        one = _Run(scenario, plan, variant, arriving, steering)
        one.feed(progress)
        return one.outcome()


class _Run:
    """A run under way."""

    def __init__(
        self,
        scenario: Scenario,
        plan: Plan,
        variant: Variant | None,
        arriving: Input,
        steering: Steering | None,
    ) -> None:
        spec = scenario.spec
        read = {source.stream for source in plan.sources}
        slack: dict[str, Time] = {
            name: one.slack for name, one in spec.streams.items() if name in read and one.slack is not None
        }
        self._every = scenario.every
        self._variant = variant
        self._input = arriving
        self._results: list[Element] = []
        self._engine = Engine(plan, self._results.extend, relations=scenario.relations, slack=slack)
        self._streams = frozenset(self._engine.streams)
        self._steps = list(scenario.steps) if variant is not None else []
        self._adjustments = spec.adjustments
        self._predicted = spec.measures.predicted
        self._plans = scenario.plans
        self._moves: list[Move] = []
        self._refused: str | None = None
        self._cpu = array("d")
        self._counts = array("q")
        self._taken: list[int] = []
        self._running: list[tuple[int, Plan | None]] = [(0, self._engine.query().physical)]
        self._plan_of_bucket: list[Plan | None] = []
        # Where policies are judged, time comes to each instant on all streams at once, in every run.
        self._is_in_step = bool(scenario.policies)
        self._steering = steering
        self._priced = scenario.priced
        self._spent = array("q")
        self._instant: int | None = None
        if isinstance(steering, ByAutopilot):
            steering.attach(self._engine, self._begin_by_itself)
        self._record = RunRecord(
            self._engine, scenario.every / scenario.second, with_bytes=spec.measures.bytes
        )

    def feed(self, progress: Callable[[int], object]) -> None:
        """Give the engine everything, and let happen between portions what is due."""
        cuts = iter([*self._input.cuts, None])
        cut = next(cuts)
        for i, portion in enumerate(self._input.portions):
            while cut is not None and cut <= portion.at:
                self._pass(cut, i)
                progress(i)
                cut = next(cuts)
            seconds, results = self._come_to(portion, i) if self._is_in_step else (0.0, 0)
            self._take(portion)
            self._cpu[-1] += seconds
            self._counts[-1] += results
            if self._is_in_step:
                self._spent.append(self._spent_so_far())
            self._note_ended(portion.at, i + 1)
        while cut is not None:
            self._pass(cut, len(self._input.portions))
            cut = next(cuts)
        self._close_bucket()

    def outcome(self) -> Outcome:
        """What became of it."""
        series = self._record.series(processing(self._cpu, self._moves, self._taken, self._every))
        series = self._with_predictions(series)
        latency_mean, latency_max = self._record.latency(len(self._results))
        return Outcome(
            results=self._results,
            moves=tuple(self._moves),
            refused=self._refused,
            series=series,
            totals=Totals(
                elements=sum(series.elements),
                results=len(self._results),
                intermediate=sum(series.intermediate),
                peak_state=max(series.state),
                peak_output=max(series.results),
                longest_pause=longest_pause(self._record.giving),
                longest_pause_moving=None,
                longest_pause_stayed=None,
                latency_mean=latency_mean,
                latency_max=latency_max,
                cpu=series.cpu[-1],
                speed=speed(len(self._results), series.cpu[-1]),
            ),
            cpu=self._cpu,
            counts=self._counts,
            taken=self._taken,
            running=self._running,
            giving=self._record.giving,
            spent=self._spent,
        )

    def _with_predictions(self, series: Series) -> Series:
        if self._predicted is None:
            return series
        expected = list(predicted(self._plan_of_bucket, self._input.portions, self._every, self._predicted))
        rates = [0.0 if one is None else one.rate for one in expected]
        seconds = [0.0 if one is None else one.cost * self._every / 1e6 for one in expected]
        return replace(
            series,
            predicted_state=tuple(None if one is None else one.state for one in expected),
            predicted_results=tuple(rate * self._every for rate in rates),
            predicted_cpu=tuple(accumulate(seconds)),
        )

    def _come_to(self, portion: Portion, taken: int) -> tuple[float, int]:
        """Time comes to a new instant on all streams, before what arrives at it; then what steers is asked.
        The seconds that this took, but for beginning a migration, and how many results came out."""
        if portion.batch is None or portion.at == self._instant:
            return 0.0, 0
        is_first, self._instant = self._instant is None, portion.at
        known, began = len(self._results), process_time()
        for stream in self._engine.streams:
            self._engine.advance(stream, portion.at)
        seconds = process_time() - began
        results = len(self._results) - known
        self._record.give(portion.at, self._results[known:])
        self._note_ended(portion.at, taken)
        if self._steering is None or is_first or any(move.ended is None for move in self._moves):
            return seconds, results
        spent, began = self._spent_so_far(), process_time()
        wish = self._steering.decide(portion.at, spent)
        seconds += process_time() - began
        if wish is not None:
            step = ScheduledMigration(wish.to, portion.at, None, None)
            self._begin(step, Variant.of(wish.strategy), portion.at, taken)
        return seconds, results

    def _take(self, portion: Portion) -> None:
        known, began = len(self._results), process_time()
        if portion.stream not in self._streams:
            self._cpu.append(0.0)
            self._counts.append(0)
            return
        if portion.batch is not None:
            self._engine.push(portion.stream, portion.batch)
        elif portion.heartbeat is not None:
            self._engine.advance(portion.stream, portion.heartbeat)
        else:
            self._engine.end(portion.stream)
        seconds = process_time() - began
        self._cpu.append(seconds)
        self._counts.append(len(self._results) - known)
        self._record.take(portion, self._results[known:])

    def _pass(self, time: int, taken: int) -> None:
        """Application time comes to an instant, before anything that arrives at it."""
        bucket = self._close_bucket() if time and time % self._every == 0 else None
        for move in self._moves:
            if move.step.abort_at == time and not is_over(move.migration):
                self._abort(move, time, taken)
        adjust(self._engine, (change for change in self._adjustments if change.at == time))
        self._note_ended(time, taken)
        while self._steps and self._is_due(self._steps[0], time, bucket):
            assert self._variant is not None
            self._begin(self._steps.pop(0), self._variant, time, taken)
            bucket = None  # it says nothing of the new plan

    def _is_due(self, step: ScheduledMigration, time: int, bucket: Bucket | None) -> bool:
        if step.condition is None:
            assert step.at is not None
            return step.at <= time
        return bucket is not None and step.condition.is_met(bucket)

    def _begin(self, step: ScheduledMigration, variant: Variant, time: int, taken: int) -> None:
        known = len(self._results)
        if step.to != OPTIMIZER:
            known_equivalence(self._engine.plan, self._plans[step.to])
        cpu, wall = process_time(), perf_counter()
        try:
            target = self._cheapest() if step.to == OPTIMIZER else self._plans[step.to]
            migration = variant.begin(self._engine, target)
        except (MigrationRefused, StatisticsError, EnumerationLimit) as refusal:
            self._refused = self._refused or f"at {time}: {refusal}"
            self._steering = None  # it believes that another plan runs
            return
        move = Move(
            step,
            target.plan if isinstance(target, Choice) else target,
            migration,
            time,
            perf_counter() - wall,
            process_time() - cpu,
            taken,
            strategy=variant.name,
        )
        self._moves.append(move)
        self._record.give(time, self._results[known:])
        self._note_ended(time, taken)

    def _begin_by_itself(self, plan: Plan, strategy: str, query: str) -> Transition:
        """The engine's autopilot moves, in the midst of what arrives; what that takes counts as its
        processing."""
        migration = Variant.of(strategy).begin(self._engine, plan)
        to = next(name for name, one in self._plans.items() if one == plan)
        time, taken = self._instant or 0, len(self._cpu)
        step = ScheduledMigration(to, time, None, None)
        self._moves.append(Move(step, plan, migration, time, 0.0, 0.0, taken, strategy=strategy))
        return migration

    def _spent_so_far(self) -> int:
        """Intermediate results by which policies are judged."""
        emitted = self._engine.counters().emitted if self._priced else {}
        return sum(emitted.get(node, 0) for node in self._priced)

    def _cheapest(self) -> Choice:
        """What the optimizer finds best of all that the running plan can be moved to."""
        return self._engine.optimize(budget=QUICK_STEPS).finish()

    def _abort(self, move: Move, time: int, taken: int) -> None:
        known, cpu = len(self._results), process_time()
        try:
            move.migration.abort("the scenario asks for it")
            move.aborted = time
        except MigrationRefused as refusal:
            move.note = f"not given up at {time}: {refusal}"
        move.cpu_aborting = process_time() - cpu
        self._record.give(time, self._results[known:])
        self._note_ended(time, taken)

    def _note_ended(self, time: int, taken: int) -> None:
        """Take note of migrations that are over."""
        for move in self._moves:
            if move.ended is None and is_over(move.migration):
                move.ended, move.beyond = time, taken
        plan = self._plan()
        if plan is not self._running[-1][1]:
            self._running.append((taken, plan))

    def _plan(self) -> Plan | None:
        """The physical plan; None while it is being exchanged."""
        query = self._engine.query()
        return None if query.is_exchanged else query.physical

    def _close_bucket(self) -> Bucket:
        self._taken.append(len(self._cpu))
        self._plan_of_bucket.append(self._plan())
        under_way = [move.migration for move in self._moves if move.ended is None]
        is_moved = any(move.migration.phase.value == "done" for move in self._moves)
        return self._record.close(under_way[-1] if under_way else None, is_moved)


def speed(results: int, seconds: float) -> float | None:
    """Results per second of processing."""
    return results / seconds if seconds else None


def _finite(time: Time) -> int | None:
    whole = chronon_end(time)
    return whole if isinstance(whole, int) and whole != BEGINNING else None
