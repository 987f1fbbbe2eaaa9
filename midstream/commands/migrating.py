"""Running a query that changes its plan when application time reaches an instant.

The query begins with its plan as it was written; inputs, relations and outputs are those of `midstream run`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from midstream.arrivals import Event
from midstream.commands.feeding import arrivals, meeting
from midstream.commands.refused import Refused
from midstream.commands.running import (
    Output,
    Wishes,
    check_files,
    expected,
    load_relations,
    new_engine,
    open_inputs,
    output_of,
    require_known,
    ties_placed,
)
from midstream.commands.times import Times, cut_off
from midstream.driving import Command, Migrate, Trial
from midstream.engine import Engine
from midstream.io import BadRows
from midstream.io.new_file import NewFile
from midstream.io.output import TextOutput
from midstream.io.progress import Progress
from midstream.migration.report import MigrationReport, report
from midstream.migration.strategies import find_strategy
from midstream.migration.trace import write_jsonl
from midstream.migration.transition import Transition
from midstream.operators.engine.collector import streaming_gc
from midstream.optimizer.search.budget import QUICK_STEPS
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.equivalence.comparison import equivalent
from midstream.plans.sql.catalog import Catalog, Query
from midstream.plans.values.errors import MidstreamError, MigrationRefused
from midstream.plans.values.streams import BEGINNING, Element, Time, is_ordered
from midstream.plans.values.verdicts import SHOWN_DIFFERENCES, Equivalence


@dataclass(frozen=True)
class MigrationWish:
    """When a query is to change its plan, and how.

    at             the instant of application time, in chronons
    to             the new plan; None for what the optimizer chooses by what was measured until then
    strategy       one of migration's STRATEGIES
    unproved       what to do where it is unknown whether both plans mean the same: refuse or accept
    is_verified    whether to run the query without migration beside it, over the same elements, and compare
    trace          a file for the migration's trace, as JSON Lines
    """

    at: int
    to: Plan | None = None
    strategy: str = "genmig"
    unproved: str = "refuse"
    is_verified: bool = False
    trace: Path | None = None


@dataclass(frozen=True)
class MigrationSummary:
    """What became of a query and its migration.

    results_before    how many of the results came before the migration began
    reason            why the migration goes as it does, where its strategy was not the caller's choice
    equivalence       the comparison with the query without migration, where it was asked for and the input
                      came to its end
    is_ordered        whether the results came in order of start; None where `equivalence` is
    is_interrupted    whether someone ended the run after the migration had begun
    unfinished        where the results are, and the trace, if they are not complete or proved wrong
    notes             what the user should know besides
    """

    query: str
    wish: MigrationWish
    old: Plan
    new: Plan
    migration: MigrationReport
    elements: int
    results: int
    results_before: int
    rejected: int
    times: Times
    reason: str = ""
    equivalence: Equivalence | None = None
    is_ordered: bool | None = None
    is_interrupted: bool = False
    unfinished: tuple[str, ...] = ()
    notes: Sequence[str] = ()

    @property
    def is_verified(self) -> bool | None:
        """Whether the results are in order and mean what they do without migration; None if nothing tells.

        Fragments without another half prove that the plans differ in meaning, also where nothing is compared.
        """
        if self.migration.unmatched:
            return False
        return None if self.equivalence is None else bool(self.equivalence) and bool(self.is_ordered)

    @property
    def is_changed(self) -> bool:
        """Whether the plans differ at all: the optimizer may find that the running one is the cheapest."""
        return logical_plan(self.old) != logical_plan(self.new)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON; the fields of the migration's report are among the others.

        Durations are in chronons, and `time_unit` says what these are.
        """
        instants = {
            key: time if time is None or self.times() is None else self.times.instant(time)
            for key, time in {
                "at": self.wish.at,
                "split_time": self.migration.split_time,
                "started": self.migration.started,
                "ended": self.migration.ended,
            }.items()
        }
        found = () if self.equivalence is None else self.equivalence.differences
        return {
            "query": self.query,
            "strategy": self.wish.strategy,
            "reason": self.reason,
            "changed": self.is_changed,
            "elements": self.elements,
            "results": self.results,
            "results_before": self.results_before,
            "rejected": self.rejected,
            **self.migration.as_dict(),
            **instants,
            "time_unit": self.times.unit.name,
            "verified": self.is_verified,
            "in_order": self.is_ordered,
            "differences": [one.text(self.times.instant) for one in found[:SHOWN_DIFFERENCES]],
            "interrupted": self.is_interrupted,
            "unfinished": list(self.unfinished),
            "notes": list(self.notes),
            "plans": {"old": str(self.old), "new": str(self.new)},
        }

    def __str__(self) -> str:
        m = self.migration
        rejected = f", {self.rejected:,} rows rejected" if self.rejected else ""
        same = "" if self.is_changed else "; the plan is the same: none was found to cost less"
        return "\n".join(
            [
                f"{'interrupted after ' if self.is_interrupted else ''}"
                f"{self.elements:,} elements, {self.results:,} results of {self.query}{rejected}",
                f"migrated at {self.times.instant(self.wish.at)} by {self.wish.strategy}: {m.phase}{same}",
                f"  equivalence   {m.equivalence}",
                *_paragraph("reason", _short(self.reason) if self.reason else []),
                *_paragraph("new plan", str(self.new).splitlines() if self.is_changed else []),
                f"  split time    {'–' if m.split_time is None else self.times.instant(m.split_time)}",
                f"  duration      {self._duration()} in application time",
                f"  results       {self.results_before:,} before; during it {m.results_old:,} old, "
                f"{m.results_new:,} new, {m.results_fused:,} fused, {m.unmatched:,} unmatched",
                f"  peak state    {m.peak_state_old:,} in the old plan, {m.peak_state_new:,} in the new one, "
                f"{m.peak_held:,} held between them",
                f"  verified      {self._verdict()}",
                *(f"  unfinished    {note}" for note in self.unfinished),
            ]
        )

    def _duration(self) -> str:
        chronons = self.migration.duration
        if chronons is None:
            return "–"
        return str(chronons) if self.times() is None else self.times.duration(chronons)

    def _verdict(self) -> str:
        match self.is_verified:
            case None:
                return "not compared"
            case True:
                return "yes: the results are in order and mean the same as without migration"
        reasons = (
            [self.equivalence.text(self.times.instant)]
            if self.equivalence is not None and not self.equivalence
            else []
        )
        if self.is_ordered is False:
            reasons.append("the results are not in order")
        if self.migration.unmatched:
            reasons.append("the plans do not mean the same: fragments of results found no other half")
        return "NO: " + "; ".join(reasons)


def _paragraph(title: str, lines: Sequence[str]) -> list[str]:
    """Lines of a summary under one title."""
    return [f"  {title if not i else '':14}{line}" for i, line in enumerate(lines)]


def _short(reason: str) -> list[str]:
    """Why a strategy was chosen, without the reasons against the others.

    >>> _short("smallest predicted overhead in elements: genmig 9; fast 12; swap refused: no; use it")
    ['smallest predicted overhead in elements: genmig 9; fast 12', 'refused: swap (--json tells why)']
    """
    chosen, *others = re.split(r"; (?=\S+ refused: )", reason)
    refused = ", ".join(other.split(" ")[0] for other in others)
    return [chosen, *([f"refused: {refused} (--json tells why)"] if refused else [])]


def migrate_query(
    catalog: Catalog,
    query: Query,
    wishes: Wishes,
    wish: MigrationWish,
    progress: Progress = lambda done, total: None,
) -> MigrationSummary:
    """Run a query until its sources have ended, and change its plan at the wished instant.

    It is reached when every stream has come so far or has ended. Recorded streams meet there: what starts
    from it on arrives after the migration has begun. Results are written as soon as they are ready, to a file
    that bears its name only once all is well. A refused migration leaves nothing of it.

    State    As `run_queries`, and that of the migration; all results, twice, where they are verified.
    Raises   MigrationRefused, before anything is read where the plans tell it already; MidstreamError where
             the instant is not reached; what `run_queries` raises.
    """
    require_known(catalog, wishes.sources)
    check_files(catalog, wishes, [wishes.output], [("--trace", wish.trace)])
    with ExitStack() as stack:
        relations = load_relations(catalog, (query.plan, wish.to or query.plan), wishes)
        # A migration of an engine that has seen nothing is refused for all that is wrong with the plans.
        dry = Engine(query.plan, relations=relations)
        if is_logged := find_strategy(wish.strategy).needs_log:
            dry.keep_log()
        target = wish.to or query.plan
        proof = equivalent(query.plan, target)
        dry.migrate(target, wish.strategy, proof=proof, unproved=wish.unproved)
        bad_rows = stack.enter_context(BadRows(wishes.dead_letters))
        inputs = open_inputs(stack, catalog, [query.plan], wishes, bad_rows)
        trace = None if wish.trace is None else stack.enter_context(_Trace(wish.trace))
        times = Times(catalog.unit, wishes.times, inputs.values())
        output = stack.enter_context(output_of(wishes, query, wishes.output, False, times))
        refused = Refused(inputs, bad_rows, wishes.slack or 0, times)
        engine = new_engine(wishes, inputs, relations, refused.bury)
        run = _Run(engine, wish, None if wish.to is None else proof, trace, times)
        engine.add(query.plan, output.take, name=query.name)
        if is_logged:
            engine.keep_log()
        if wish.is_verified:
            run.verify_by(new_engine(wishes, inputs, relations, lambda found: None), query)
        since = wish.at + (wishes.slack or 0)
        is_held = not any(one.is_live for one in inputs.values())
        events = meeting(arrivals(inputs), inputs, wish.at, since, is_held=is_held)
        driven = refused.driven(run.trials, events)
        with streaming_gc(), ties_placed([query]):
            run.feed(driven, output, lambda taken: progress(taken, expected(inputs.values(), taken)))
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
        self.file = self._files.enter_context(NewFile(path, told=self._told))
        self._output = self._files.enter_context(closing(TextOutput(self.file.place, self.file.name)))

    def take(self, entry: dict[str, Any]) -> None:
        """Write an entry, which can be read at once."""
        write_jsonl([entry], self._output)
        self._output.flush()
        self._count += 1

    def _told(self) -> str:
        return f"{self._count:,} entries of the trace" if self._count else ""

    def __enter__(self) -> _Trace:
        return self

    def __exit__(self, *error: Any) -> None:
        self._files.__exit__(*error)


class _Run:
    """A query that moves at a mark; where it is to be verified, beside it the same query that stays."""

    def __init__(
        self,
        engine: Engine,
        wish: MigrationWish,
        proof: Equivalence | None,
        trace: _Trace | None,
        times: Times,
    ) -> None:
        self.trials = [Trial(engine, self._decide)]
        self._trace = trace
        self._wish = wish
        self._proof = proof
        """That the plan to move to, where it is known beforehand, means the same."""
        self._times = times
        self._latest: Time = BEGINNING
        self._elements = 0
        self._is_interrupted = False
        self._notes: list[str] = []
        self._results: tuple[list[Element], list[Element]] = ([], [])

    def verify_by(self, beside: Engine, query: Query) -> None:
        """Give all elements to another engine too, which runs the query without migration."""
        beside.add(query.plan, name=query.name)
        self.trials.append(Trial(beside))
        for trial, results in zip(self.trials, self._results, strict=True):
            trial.engine.subscribe(results.extend)

    def feed(self, events: Iterable[Event], output: Output, progress: Callable[[int], object]) -> None:
        """Take events that the trials are driven over, to their end. An interruption ends it too, once the
        migration has begun.

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
                    break  # not before: the summary is of the migration
                progress(self._elements)
        except KeyboardInterrupt as interruption:
            if self._migration is None:
                told = output.told() or f"no results of {output.name}"
                interruption.add_note(f"so far {self._elements:,} elements, {told}")
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
            at = self._wish.at
            raise MidstreamError(f"time {self._times.instant(at)} was not reached: {last}", at=at)
        if not self._is_interrupted:
            for trial in self.trials:
                trial.engine.close()

    def summary(self, query: Query, results: int, rejected: int) -> MigrationSummary:
        """What became of it."""
        assert self._migration is not None
        (move,) = self.trials[0].moves
        is_compared = len(self.trials) > 1 and not self._is_interrupted
        migrated, stayed = self._results
        return MigrationSummary(
            query=query.name,
            wish=self._wish,
            old=query.plan,
            new=move.plan,
            migration=report(self._migration),
            elements=self._elements,
            results=results,
            results_before=move.results,
            rejected=rejected,
            reason=self._migration.reason,
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
        if event[0] != "mark":
            return
        plan = self._wish.to
        if plan is None:
            choice = self.trials[0].engine.optimize(budget=QUICK_STEPS).finish()
            plan, self._proof = choice.plan, choice.proof
            if choice.out_of_reach is not None:
                self._notes.append(str(choice.out_of_reach))
        yield Migrate(plan, self._begin)

    def _begin(self, engine: Engine, plan: Plan) -> Transition:
        migration = engine.migrate(plan, self._wish.strategy, proof=self._proof, unproved=self._wish.unproved)
        if self._trace is not None:
            migration.listen(self._trace.take)
        return migration
