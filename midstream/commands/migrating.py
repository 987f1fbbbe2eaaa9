"""Run a query, and migrate it when application time reaches an instant.

The query begins with its plan as written. Inputs, relations and outputs are those of `midstream run`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from midstream.arrivals import Event
from midstream.commands.feeding import meeting
from midstream.commands.migration_summary import MigrationSummary, PlannedMigration
from midstream.commands.refused import Refused
from midstream.commands.running import (
    Output,
    RunSettings,
    check_files,
    load_relations,
    new_engine,
    open_inputs,
    output_of,
    require_known,
    state_of,
    ties_placed,
)
from midstream.commands.times import Times, cut_off
from midstream.console.state_line import Show, State
from midstream.driving import Command, Migrate, Trial
from midstream.engine import Engine
from midstream.io import BadRows
from midstream.io import Source as Input
from midstream.io.new_file import NewFile
from midstream.io.output import TextOutput
from midstream.migration.report import report
from midstream.migration.strategies import find_strategy
from midstream.migration.trace import write_jsonl
from midstream.migration.transition import Transition
from midstream.operators.engine.garbage_collection import streaming_gc
from midstream.optimizer.search import QUICK_STEPS
from midstream.plans.equivalence.comparison import equivalent
from midstream.plans.sql.catalog import Catalog, Query
from midstream.plans.values.errors import MidstreamError, MigrationRefused
from midstream.plans.values.streams import BEGINNING, Element, Time, is_ordered
from midstream.plans.values.verdicts import Equivalence
from midstream.runner import arrivals


def migrate_query(
    catalog: Catalog,
    query: Query,
    settings: RunSettings,
    planned: PlannedMigration,
    show: Show = lambda state: None,
) -> MigrationSummary:
    """Run a query until its sources have ended, and migrate it at an instant.

    The instant is reached when every stream has reached it or has ended. Recorded streams meet there:
    elements that start from it on arrive after the migration has begun. Results are written as soon as they
    are ready, to a file that gets its name if the run succeeds. A refused migration leaves no file.

    State    As `run_queries`, and that of the migration; all results, twice, if they are verified.
    Raises   MigrationRefused, before anything is read if the plans alone show it; MidstreamError if the
             instant is not reached; the errors of `run_queries`.
    """
    require_known(catalog, settings.sources)
    check_files(catalog, settings, [settings.output], [("--trace", planned.trace)])
    with ExitStack() as stack:
        relations = load_relations(catalog, (query.plan, planned.to or query.plan), settings)
        # An engine without elements refuses a migration if the plans alone do not permit it.
        dry = Engine(query.plan, relations=relations)
        if is_logged := find_strategy(planned.strategy).needs_log:
            dry.keep_log()
        target = planned.to or query.plan
        proof = equivalent(query.plan, target)
        dry.migrate(target, planned.strategy, proof=proof, unproved=planned.unproved, note=False)
        bad_rows = stack.enter_context(BadRows(settings.dead_letters))
        inputs = open_inputs(stack, catalog, [query.plan], settings, bad_rows)
        trace = None if planned.trace is None else stack.enter_context(_Trace(planned.trace))
        times = Times(catalog.unit, settings.times, inputs.values())
        output = stack.enter_context(output_of(settings, query, settings.output, False, times))
        refused = Refused(inputs, bad_rows, settings.slack or 0, times)
        engine = new_engine(settings, inputs, relations, refused.bury)
        run = _Run(engine, planned, None if planned.to is None else proof, trace, times)
        engine.add(query.plan, output.take, name=query.name)
        if is_logged:
            engine.keep_log()
        if planned.is_verified:
            run.verify_by(new_engine(settings, inputs, relations, lambda found: None), query)
        since = planned.at + (settings.slack or 0)
        is_held = not any(one.is_live for one in inputs.values())
        events = meeting(arrivals(inputs), inputs, planned.at, since, is_held=is_held)
        driven = refused.driven(run.trials, events)
        with streaming_gc(), ties_placed([query]):
            run.feed(driven, output, lambda: show(partial(run.state, [output], inputs.values())))
        summary = run.summary(query, output.count, bad_rows.count)
        if summary.is_interrupted or summary.is_verified is False:
            output.file.hold_back()
        if summary.is_interrupted and trace is not None:
            trace.file.hold_back()
    unfinished = [output.file.note, "" if trace is None else trace.file.note]
    notes = (*summary.notes, *cut_off(inputs, catalog.unit))
    return replace(summary, unfinished=tuple(filter(None, unfinished)), notes=notes)


class _Trace:
    """A file for the trace of a migration, as JSON Lines."""

    def __init__(self, path: Path) -> None:
        self._count = 0
        self._files = ExitStack()
        self.file = self._files.enter_context(NewFile(path, describe=self._description))
        self._output = self._files.enter_context(closing(TextOutput(self.file.place, self.file.name)))

    def take(self, entry: dict[str, Any]) -> None:
        """Write an entry, which readers see at once."""
        write_jsonl([entry], self._output)
        self._output.flush()
        self._count += 1

    def _description(self) -> str:
        return f"{self._count:,} entries of the trace" if self._count else ""

    def __enter__(self) -> _Trace:
        return self

    def __exit__(self, *error: Any) -> None:
        self._files.__exit__(*error)


class _Run:
    """A query that migrates at a mark, with an unmigrated copy beside it for verification."""

    def __init__(
        self,
        engine: Engine,
        planned: PlannedMigration,
        proof: Equivalence | None,
        trace: _Trace | None,
        times: Times,
    ) -> None:
        self.trials = [Trial(engine, self._decide)]
        self._trace = trace
        self._planned = planned
        self._proof = proof
        """The proof that the new plan is equivalent, if the plan is known beforehand."""
        self._times = times
        self._latest: Time = BEGINNING
        self._elements = 0
        self._is_interrupted = False
        self._notes: list[str] = []
        self._results: tuple[list[Element], list[Element]] = ([], [])

    def verify_by(self, beside: Engine, query: Query) -> None:
        """Run the query without migration in another engine, which gets the same elements."""
        beside.add(query.plan, name=query.name)
        self.trials.append(Trial(beside))
        for trial, results in zip(self.trials, self._results, strict=True):
            trial.engine.subscribe(results.extend)

    def feed(self, events: Iterable[Event], output: Output, tell: Callable[[], object]) -> None:
        """Consume driven events to their end, or to an interruption once the migration has begun.

        Raises   MidstreamError where the instant is not reached.
        """
        try:
            for kind, _, batch in events:
                if kind == "push":
                    self._elements += len(batch)
                    self._latest = max(self._latest, batch[-1][0])
                output.sink.flush()
                is_wanted = output.sink.is_wanted or len(self.trials) > 1
                if not is_wanted and self._migration is not None:
                    break  # not before the migration, because the summary describes it
                tell()
        except KeyboardInterrupt as interruption:
            if self._migration is None:
                written = output.description() or f"no results of {output.name}"
                interruption.add_note(f"so far {self._elements:,} elements, {written}")
                raise
            self._is_interrupted = True
        except MigrationRefused:
            output.file.discard()
            raise
        if self._migration is None:
            output.file.discard()
            last = (
                "no element came"
                if self._latest == BEGINNING
                else f"the last element starts at {self._times.instant(self._latest)}"
            )
            at = self._planned.at
            raise MidstreamError(f"time {self._times.instant(at)} was not reached: {last}", at=at)
        if not self._is_interrupted:
            for trial in self.trials:
                trial.engine.close()

    def state(self, outputs: Iterable[Output], inputs: Iterable[Input]) -> State:
        """The progress of the run."""
        return state_of(outputs, inputs, self._times, self._elements, self._latest)

    def summary(self, query: Query, results: int, rejected: int) -> MigrationSummary:
        """A summary of the run and its migration."""
        (move,) = self.trials[0].moves
        is_compared = len(self.trials) > 1 and not self._is_interrupted
        migrated, stayed = self._results
        return MigrationSummary(
            query=query.name,
            planned=self._planned,
            old=query.plan,
            new=move.migration.request.plan,
            migration=report(move.migration),
            elements=self._elements,
            results=results,
            results_before=move.results,
            rejected=rejected,
            times=self._times,
            equivalence=equivalent(migrated, stayed) if is_compared else None,
            is_ordered=is_ordered(migrated) if is_compared else None,
            is_interrupted=self._is_interrupted,
            notes=tuple(self._notes),
        )

    @property
    def _migration(self) -> Transition | None:
        """The migration, once it has begun."""
        return next((move.migration for move in self.trials[0].moves), None)

    def _decide(self, event: Event) -> Iterator[Command]:
        if event[0] == "mark":
            yield Migrate(self._begin)

    def _begin(self, engine: Engine) -> Transition:
        planned, plan, proof = self._planned, self._planned.to, self._proof
        if plan is None:
            choice = engine.optimize(budget=QUICK_STEPS).finish()
            plan, proof = choice.plan, choice.proof
            if choice.out_of_reach is not None:
                self._notes.append(str(choice.out_of_reach))
        # The summary tells of its end.
        migration = engine.migrate(plan, planned.strategy, proof=proof, unproved=planned.unproved, note=False)
        if self._trace is not None:
            migration.listen(self._trace.take)
        return migration
