"""Run a plan over a slice of recorded streams, with and without migrations, and compare the outputs.

Nothing here knows Spark: executors call it slice by slice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from itertools import chain
from time import process_time
from typing import Any

from midstream.arrivals import Event, time_of
from midstream.driving import Command, Migrate, Trial, drive, without_garbage_collector
from midstream.engine import Engine
from midstream.migration.report import report
from midstream.migration.transition import Transition
from midstream.optimizer.cost.calibration import Timed
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.snapshots import normal_form
from midstream.plans.values.streams import Element, is_ordered
from midstream.profiling import timings
from midstream.scenarios.stages.simulate.grid import Chunk, Row, RunGrid, Slice, Target, chunks, with_silence
from midstream.scenarios.trials.simulator.run_record import longest_pause
from midstream.scenarios.trials.simulator.variants import Variant, known_equivalence

MOVED, UNFINISHED, REFUSED, FAILED = "moved", "unfinished", "refused", "failed"
"""The outcomes of a migration.

MOVED        it ended within the slice
UNFINISHED   it ended only with the slice
REFUSED      the strategy does not take the plans
FAILED       the engine raised an error, which counts as another output
"""

MOST_TOLD = 300
"""The number of characters of an error that are reported."""


@dataclass(frozen=True)
class SliceRun:
    """A run that migrates, beside the one that stays, with times in chronons and states in elements.

    at          when the migration began
    is_right    whether the output is that of the plan that stays, snapshot by snapshot, and in order
    duration    from then until it was over; None unless it was in the slice
    gap         the longest time without a result while it was under way, and `gap_stayed` without it
    cpu         seconds of processing, which depend on the machine, as does `cpu_stayed`
    """

    slice: int
    seed: int
    at: int
    to: str
    strategy: str
    outcome: str
    reason: str
    is_right: bool
    digest: str
    elements: int
    results: int
    duration: int | None
    peak_state: int
    peak_state_stayed: int
    gap: int | None
    gap_stayed: int | None
    cpu: float
    cpu_stayed: float


@dataclass
class MeasuredRun:
    """The results of a run, and its measurements.

    giving    the instants at which results came out
    """

    results: list[Element] = field(default_factory=list)
    giving: list[int] = field(default_factory=list)
    peak: int = 0
    cpu: float = 0.0
    migration: Transition | None = None
    refusal: str = ""
    failure: str = ""


def run_slice(part: Slice, rows: Sequence[Row], seed: int, grid: RunGrid) -> Iterator[SliceRun]:
    """All runs of a grid on one slice under one seed, over rows sorted by start."""
    instants = grid.instants(part, seed)
    input_chunks = chunks(rows, instants, seed, grid.span)
    input_chunks = list(with_silence(input_chunks, instants, grid.span, part.end))
    for at in instants:
        stayed = run_plan(grid.plan, input_chunks, at)
        digest = digest_of(stayed.results)
        for target in grid.targets:
            for strategy in grid.strategies:
                moved = _attempt(grid, input_chunks, at, target, strategy)
                yield _run(part, seed, at, target, strategy, len(rows), stayed, digest, moved)


def run_plan(
    plan: Plan, input_chunks: Sequence[Chunk], at: int, target: Target | None = None, strategy: str = ""
) -> MeasuredRun:
    """Run a plan over all chunks; with a target, move to it at an instant.

    A refusal ends the run.
    """
    found, known, is_due = MeasuredRun(), 0, True
    if target is not None:
        known_equivalence(plan, target.plan)

    def decide(event: Event) -> Iterator[Command]:
        nonlocal is_due
        if is_due and time_of(event) >= at:
            is_due = False
            for stream in engine.streams:
                engine.advance(stream, at)
            if target is not None:
                yield Migrate(partial(Variant.of(strategy).begin, plan=target.plan))

    with without_garbage_collector():
        engine = Engine(plan, found.results.extend)
        trial = Trial(engine, decide, process_time)
        ends: list[Event] = [("end", stream, None) for stream in engine.streams]
        try:
            for kind, _, time in drive(trial, chain(_events(input_chunks, engine), ends)):
                if kind == "mark":
                    found.peak = max(found.peak, engine.size())
                    if len(found.results) > known:
                        found.giving.append(time)
                    known = len(found.results)
        except MigrationRefused as refusal:
            return MeasuredRun(refusal=str(refusal).partition("\n")[0])
    found.cpu, found.migration = trial.seconds, trial.moves[0].migration if trial.moves else None
    return found


def _attempt(
    grid: RunGrid, input_chunks: Sequence[Chunk], at: int, target: Target, strategy: str
) -> MeasuredRun:
    with _faulty(grid.mutant):
        try:
            return run_plan(grid.plan, input_chunks, at, target, strategy)
        except Exception as error:
            return MeasuredRun(failure=f"{type(error).__name__}: {error}"[:MOST_TOLD])


def _events(input_chunks: Iterable[Chunk], engine: Engine) -> Iterator[Event]:
    """Events of chunks: all streams advance to the chunk's start, its batches follow, and a mark ends it."""
    for chunk in input_chunks:
        yield from (("advance", stream, chunk.first) for stream in engine.streams)
        yield from (("push", stream, batch) for stream, batch in chunk.batches)
        yield "mark", "", chunk.last


def _faulty(mutant: str | None) -> AbstractContextManager[Any]:
    if mutant is None:
        return nullcontext()
    from midstream.testing.mutants import MUTANTS

    return MUTANTS[mutant].patched()


def digest_of(results: Sequence[Element]) -> str:
    """A digest of a stream's snapshots, equal for streams that mean the same.

    >>> digest_of([(1, 5, (7,)), (5, 9, (7,))]) == digest_of([(1, 9, (7,))])
    True
    """
    lines = sorted(repr(one) for one in normal_form(results).items())
    return sha256("\n".join(lines).encode()).hexdigest()[:16]


def _run(
    part: Slice,
    seed: int,
    at: int,
    target: Target,
    strategy: str,
    elements: int,
    stayed: MeasuredRun,
    digest: str,
    moved: MeasuredRun,
) -> SliceRun:
    if moved.failure:
        outcome, ended, digest_found = FAILED, None, ""
    elif moved.migration is None:
        outcome, ended, digest_found = REFUSED, None, digest
        moved = replace(stayed, refusal=moved.refusal)
    else:
        last = report(moved.migration).ended
        # What all streams' ends bring about is not in the slice.
        ended = last if last is not None and last < part.end else None
        outcome, digest_found = UNFINISHED if ended is None else MOVED, digest_of(moved.results)
    span = [(at, ended)]
    return SliceRun(
        slice=part.start,
        seed=seed,
        at=at,
        to=target.name,
        strategy=strategy,
        outcome=outcome,
        reason=moved.refusal or moved.failure,
        is_right=digest_found == digest and is_ordered(moved.results),
        digest=digest_found,
        elements=elements,
        results=len(moved.results),
        duration=None if ended is None else max(0, ended - at),
        peak_state=moved.peak,
        peak_state_stayed=stayed.peak,
        gap=longest_pause(moved.giving, span),
        gap_stayed=longest_pause(stayed.giving, span),
        cpu=moved.cpu,
        cpu_stayed=stayed.cpu,
    )


def timed(plan: Plan, input_chunks: Sequence[Chunk]) -> list[Timed]:
    """The times that a plan's operators took on a slice, with their steps by the cost model."""
    with without_garbage_collector():
        engine = Engine(plan)
        with engine.watch() as read:
            for _ in drive(Trial(engine), _events(input_chunks, engine)):
                pass
            return timings(read(), engine.statistics())
