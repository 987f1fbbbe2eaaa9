"""A planned migration of a query, and the summary of its outcome."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from midstream.commands.times import Times
from midstream.migration.report import MigrationReport
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.values.verdicts import SHOWN_DIFFERENCES, Equivalence


@dataclass(frozen=True)
class PlannedMigration:
    """The instant, target and strategy of a planned migration.

    at             the instant of application time, in chronons
    to             the new plan; None lets the optimizer choose by the statistics until then
    strategy       one of migration's STRATEGIES
    unproved       refuse or accept a plan whose equivalence is unknown
    is_verified    True runs the query also without migration, over the same elements, and compares the
                   results
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
    """The outcome of a query and its migration.

    results_before    the number of results before the migration began
    equivalence       the comparison with the query without migration, if it was asked for and the input ended
    is_ordered        True if the results came in order of start; None where `equivalence` is
    is_interrupted    True if someone ended the run after the migration had begun
    unfinished        the places of the results and the trace, if they are incomplete or proved wrong
    notes             further notes for the user
    """

    query: str
    planned: PlannedMigration
    old: Plan
    new: Plan
    migration: MigrationReport
    elements: int
    results: int
    results_before: int
    rejected: int
    times: Times
    equivalence: Equivalence | None = None
    is_ordered: bool | None = None
    is_interrupted: bool = False
    unfinished: tuple[str, ...] = ()
    notes: Sequence[str] = ()

    @property
    def is_verified(self) -> bool | None:
        """True if the results are in order and equivalent to those without migration; None if it is unknown.

        Fragments without another half prove that the plans differ in meaning, also without a comparison.
        """
        if self.migration.unmatched:
            return False
        return None if self.equivalence is None else bool(self.equivalence) and bool(self.is_ordered)

    @property
    def is_changed(self) -> bool:
        """True if the plans differ; the optimizer may find that the running plan is the cheapest."""
        return logical_plan(self.old) != logical_plan(self.new)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON, with the fields of the migration's report.

        Durations are in chronons, and `time_unit` is the unit of a chronon.
        """
        instants = {
            key: time if time is None or self.times() is None else self.times.instant(time)
            for key, time in {
                "at": self.planned.at,
                "split_time": self.migration.split_time,
                "started": self.migration.started,
                "ended": self.migration.ended,
            }.items()
        }
        found = () if self.equivalence is None else self.equivalence.differences
        return {
            "query": self.query,
            "strategy": self.planned.strategy,
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
        m, planned = self.migration, self.planned
        rejected = f", {self.rejected:,} rows rejected" if self.rejected else ""
        same = "" if self.is_changed else "; the new plan is the one that ran"
        return "\n".join(
            [
                f"{'interrupted after ' if self.is_interrupted else ''}"
                f"{self.elements:,} elements, {self.results:,} results of {self.query}{rejected}",
                f"migrated at {self.times.instant(planned.at)} by {planned.strategy}: {m.phase}{same}",
                f"  equivalence   {m.equivalence}",
                *_paragraph("reason", _short(m.reason) if m.reason else []),
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
    """The reason for a strategy, without the reasons against the others.

    >>> _short("smallest predicted overhead in elements: genmig 9; fast 12; swap refused: no; use it")
    ['smallest predicted overhead in elements: genmig 9; fast 12', 'refused: swap (--json tells why)']
    """
    chosen, *others = re.split(r"; (?=\S+ refused: )", reason)
    refused = ", ".join(other.split(" ")[0] for other in others)
    return [chosen, *([f"refused: {refused} (--json tells why)"] if refused else [])]
