"""Split times: the instant at which the new plan takes over."""

from __future__ import annotations

from collections.abc import Iterable

from midstream.migration.machine import under_way
from midstream.migration.preconditions import require_finite
from midstream.operators.base.box import Box, max_end
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import BEGINNING, FOREVER, Time, chronon_end, just_before


def split_time(max_ends: Iterable[Time]) -> Time:
    """The first instant at which no element so far is valid, and which no timestamp can equal.

    `max_ends` are the largest end timestamps seen per input, and the ends of anything else that the old plan
    must answer for. The result lies inside the chronon that starts at the largest of them. It is BEGINNING if
    no element was seen: then the new plan can take over at once.

    Raises   MigrationRefused where something is valid for ever.
    Source   thesis, 29.6; Remark 29.3 for the finer instant

    >>> split_time([1030, 1012])
    1030.5
    """
    latest = max(max_ends, default=BEGINNING)
    if latest == FOREVER:
        raise MigrationRefused(
            "an element that is valid for ever has entered the running plan, which therefore has no last "
            "instant; put a finite window on the input"
        )
    if latest == BEGINNING:
        return latest
    assert isinstance(latest, int), latest
    return just_before(latest + 1)


def last_instant(box: Box, max_ends: Iterable[Time]) -> Time:
    """An upper bound, as early as possible, of the instants for which a running plan alone must answer.

    It comes from the plan's state: where a plan drops elements, or has already given out all their results,
    that is earlier than the inputs' largest end. Where the state has no end timestamps, as for signed
    operators and groups under construction, the inputs' ends bound it, because no result of a
    snapshot-reducible plan is valid where no element of its inputs is.

    It is right only if, for later instants, the plan answers as one that has not begun: `state()` must leave
    out nothing that matters to later results.

    Cost     O(size), once.
    Source   thesis, 29.4.2
    """
    return min(max(max_ends, default=BEGINNING), chronon_end(max_end(box)))


def behind_inputs(old: Box, max_ends: Iterable[Time]) -> Time:
    """A split time behind all elements that the old plan was given (thesis, 29.6)."""
    return split_time([*max_ends, *horizons(old)])


def behind_state(old: Box, max_ends: Iterable[Time]) -> Time:
    """A split time behind all instants for which the old plan must still answer (thesis, 29.4.2)."""
    last = last_instant(old, max_ends)
    require_finite(old, last)
    return split_time([last, *horizons(old)])


def horizons(old: Box) -> list[Time]:
    """The instants until which migrations that are under way need the old plan."""
    return [migration.horizon() for migration in under_way(old)]
