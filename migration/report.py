"""What a migration did, as plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from midstream.migration.machine import Migration
from midstream.plans.streams import BEGINNING, Time, chronon_end


@dataclass(frozen=True, slots=True)
class MigrationReport:
    """Times are application time, in chronons; state is counted in elements.

    Results valid before `split_time` are the old plan's, from it on the new plan's. `duration` is from the
    least progress of the inputs at the start to the split time (thesis, 29.3); both are None for a migration
    before the first element. `unmatched` counts fragments that found no other half: any at all proves that
    the plans do not mean the same.
    """

    phase: str
    split_time: int | None
    duration: int | None
    peak_state_old: int
    peak_state_new: int
    peak_held: int
    results_old: int
    results_new: int
    results_fused: int
    unmatched: int

    def as_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return asdict(self)


def report(migration: Migration) -> MigrationReport:
    """The report of a migration, under way or done."""
    origins = migration.origins()
    split = _finite(chronon_end(migration.split))
    started = _finite(chronon_end(migration.started))
    return MigrationReport(
        phase=migration.phase.value,
        split_time=split,
        duration=max(0, split - started) if split is not None and started is not None else None,
        peak_state_old=migration.peak_old,
        peak_state_new=migration.peak_new,
        peak_held=migration.peak_held,
        results_old=origins.old,
        results_new=origins.new,
        results_fused=origins.fused,
        unmatched=origins.unmatched,
    )


def _finite(time: Time) -> int | None:
    return time if isinstance(time, int) and time != BEGINNING else None
