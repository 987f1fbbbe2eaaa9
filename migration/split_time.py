"""When the new plan takes over."""

from __future__ import annotations

from collections.abc import Iterable

from midstream.migration.machine import under_way
from midstream.migration.preconditions import require_finite
from midstream.operators.base.box import Box, max_end
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import BEGINNING, FOREVER, Time, chronon_end, just_before


def split_time(max_ends: Iterable[Time]) -> Time:
    """The first instant that no element given to the old plan so far is valid at, and no timestamp can equal.

    `max_ends` are, per input, the largest end timestamps seen, and whatever else the old plan is bound to
    answer for. The result lies inside the chronon that starts at the largest of them. BEGINNING where nothing
    was seen: then the new plan can take over at once.

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
    """A bound, as early as can be told, of what a running plan is still going to answer for by itself.

    Its state tells: where a plan drops elements, or has given out what is to come of them, that is less than
    the inputs' largest end. Where the state does not tell an end, as that of signed operators and of groups
    under construction, the inputs' ends bound it, because no result of a snapshot-reducible plan is valid
    where no element of its inputs is.

    Right only if the plan answers for later instants as one that has not begun: `state()` must leave out
    nothing that matters to later results.

    Cost     O(size), once.
    Source   thesis, 29.4.2
    """
    return min(max(max_ends, default=BEGINNING), chronon_end(max_end(box)))


def behind_inputs(old: Box, max_ends: Iterable[Time]) -> Time:
    """Behind all that the old plan has been given (thesis, 29.6)."""
    return split_time([*max_ends, *horizons(old)])


def behind_state(old: Box, max_ends: Iterable[Time]) -> Time:
    """Behind all that the old plan still answers for (thesis, 29.4.2)."""
    last = last_instant(old, max_ends)
    require_finite(old, last)
    return split_time([last, *horizons(old)])


def horizons(old: Box) -> list[Time]:
    """Up to where migrations that are under way in the old plan need it."""
    return [migration.horizon() for migration in under_way(old)]
