"""Migrations of the real engine on slices of recorded streams.

Each run tells how long the migration took, what it held, and whether the output was that of the plan that
stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median

from midstream.optimizer.cost.calibration import Profile
from midstream.optimizer.cost.units import units_in_use
from midstream.plans.values.errors import ArgumentError, StatisticsError
from midstream.scenarios.recordings.recording import Recording
from midstream.scenarios.stages.simulate.costs import profile_from
from midstream.scenarios.stages.simulate.grid import RunGrid, Slice, slices
from midstream.scenarios.stages.simulate.jobs import run_on_executors
from midstream.scenarios.stages.simulate.running import FAILED, MOVED, REFUSED, UNFINISHED, SliceRun
from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.inputs import plan_inputs


@dataclass(frozen=True)
class Total:
    """All runs to one plan by one strategy.

    duration     the median of those that were over within their slice, and the longest
    held         peak state as a multiple of that of the runs that stay, of all runs together
    gap          the longest time without a result during a migration, and without one
    cpu          seconds of processing as a multiple of that of the runs that stay: of these machines
    """

    to: str
    strategy: str
    moved: int
    unfinished: int
    refused: int
    failed: int
    wrong: int
    duration: float | None
    longest: int | None
    held: float | None
    gap: int | None
    gap_stayed: int | None
    cpu: float | None


@dataclass(frozen=True)
class Simulated:
    """The results of migrations on slices.

    slices     the chosen ones, and `empty` how many of them have no elements
    profile    cost variables by the times of operators; None where they took no time
    """

    slices: tuple[Slice, ...]
    empty: int
    runs: tuple[SliceRun, ...]
    profile: Profile | None

    @property
    def wrong(self) -> tuple[SliceRun, ...]:
        """Runs whose output is not that of the plan that stays."""
        return tuple(run for run in self.runs if not run.is_right)

    @property
    def totals(self) -> tuple[Total, ...]:
        """By plan and strategy, in the order of the runs."""
        by_kind: dict[tuple[str, str], list[SliceRun]] = {}
        for run in self.runs:
            by_kind.setdefault((run.to, run.strategy), []).append(run)
        return tuple(_total(to, strategy, runs) for (to, strategy), runs in by_kind.items())


def simulate(recording: Recording, study: Study, grid: RunGrid, length: int, number: int) -> Simulated:
    """Run a grid of migrations on slices of recorded streams.

    Cost     A shuffle of the slices' elements for each seed. One slice is in the memory of one worker.
    Raises   PlanError where the plan does not fit the recorded streams; ArgumentError for slices that are no
             longer than the windows; MidstreamError where a slice does not fit into a worker.
    """
    window = max(one.length for one in plan_inputs(grid.plan, study.streams))
    if length <= window:
        raise ArgumentError(
            f"slices: found a length of {study.clock.show_duration(length)}, expected more than the longest "
            f"window, {study.clock.show_duration(window)}: a migration may take as long"
        )
    totals = [recording.totals[name] for name in grid.schemas]
    firsts = [one.first for one in totals if one.first is not None]
    lasts = [one.last for one in totals if one.last is not None]
    if not firsts:
        return Simulated((), 0, (), None)
    chosen = slices(min(firsts), max(lasts), length, number)
    grid.require(len(chosen))
    found = run_on_executors(recording, study, chosen, grid)
    try:
        profile = profile_from(found.timed, units_in_use())
    except StatisticsError:
        profile = None
    full = {run.slice for run in found.runs}
    return Simulated(chosen, len(chosen) - len(full), found.runs, profile)


def _total(to: str, strategy: str, runs: Sequence[SliceRun]) -> Total:
    went = [run for run in runs if run.outcome in (MOVED, UNFINISHED)]
    durations = [run.duration for run in runs if run.duration is not None]
    return Total(
        to=to,
        strategy=strategy,
        moved=sum(run.outcome == MOVED for run in runs),
        unfinished=sum(run.outcome == UNFINISHED for run in runs),
        refused=sum(run.outcome == REFUSED for run in runs),
        failed=sum(run.outcome == FAILED for run in runs),
        wrong=sum(not run.is_right for run in runs),
        duration=median(durations) if durations else None,
        longest=max(durations, default=None),
        held=_ratio([run.peak_state for run in went], [run.peak_state_stayed for run in went]),
        gap=max((run.gap for run in went if run.gap is not None), default=None),
        gap_stayed=max((run.gap_stayed for run in went if run.gap_stayed is not None), default=None),
        cpu=_ratio([run.cpu for run in went], [run.cpu_stayed for run in went]),
    )


def _ratio(of: Sequence[float], by: Sequence[float]) -> float | None:
    whole = sum(map(Fraction, by))
    return float(sum(map(Fraction, of)) / whole) if whole else None
