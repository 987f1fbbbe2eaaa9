"""The report of a migration as plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from midstream.migration.machine import Migration, Phase
from midstream.migration.trace import finite
from midstream.migration.transition import Transition
from midstream.plans.values.arguments import require
from midstream.plans.values.near_names import NearNames
from midstream.plans.values.verdicts import Answer, Equivalence


@dataclass(frozen=True, slots=True)
class MigrationReport(NearNames):
    """The course and the results of a migration; times are chronons of application time, sizes elements.

    Results valid before `split_time` are the old plan's; those from it on are the new plan's. `duration` is
    from the least progress of the inputs at the start to the split time (thesis, 29.3). Both are None for a
    migration before the first element. `started` and `ended` are the least progress of the inputs at the
    beginning and when the migration was done or aborted; None if that is not finite, or the migration is
    under way. `reason` tells why its strategy was chosen, or why it was aborted or refused, where there is a
    reason; `counterexample` draws the input on which the plans differ. The plans' results held back never
    exceeded `held_bound` elements; this bound follows from the results of both plans alone. `unmatched`
    counts results without a counterpart in the other plan: a single one proves that the plans are not
    equivalent, but 0 proves nothing. `equivalence` tells on which ground the plans count as equivalent:
    proved, or unknown and accepted on the caller's word; None between Boxes, for which the caller vouches.
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
    held_bound: int
    started: int | None
    ended: int | None
    equivalence: str | None = None
    reason: str = ""
    counterexample: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return asdict(self)


def report(migration: Migration | Transition) -> MigrationReport:
    """The report of a migration, whatever its phase."""
    require(
        "report",
        migration,
        (Migration, Transition),
        "a migration: migration = engine.migrate(plan), then report(migration)",
    )
    parts = (migration,) if isinstance(migration, Migration) else migration.parts
    equivalence = migration.equivalence if isinstance(migration, Transition) else None
    example = None if equivalence is None else equivalence.counterexample
    origins = migration.origins()
    split, started = finite(migration.split), finite(migration.started)
    return MigrationReport(
        phase=migration.phase.value,
        split_time=split,
        duration=max(0, split - started) if split is not None and started is not None else None,
        peak_state_old=sum(part.observer.peak_old for part in parts),
        peak_state_new=sum(part.observer.peak_new for part in parts),
        peak_held=sum(part.observer.peak_held for part in parts),
        results_old=origins.old,
        results_new=origins.new,
        results_fused=origins.fused,
        unmatched=origins.unmatched,
        held_bound=sum(part.held_bound() for part in parts),
        started=started,
        ended=None if migration.ended is None else finite(migration.ended),
        equivalence=None if equivalence is None else _known_by(equivalence, migration.phase),
        reason=migration.reason,
        counterexample=None if example is None else example.drawn("old", "new"),
    )


def _known_by(equivalence: Equivalence, phase: Phase) -> str:
    is_vouched = equivalence.answer is Answer.UNKNOWN and phase is not Phase.REFUSED
    return f"{equivalence.answer.value}{', accepted' if is_vouched else ''}: {equivalence.reason}"
