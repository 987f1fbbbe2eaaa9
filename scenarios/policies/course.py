"""What a policy has cost so far, while time goes on."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from midstream.scenarios.policies.case import Case, Order
from midstream.scenarios.policies.replay import Bill, Moved


def spent_before(case: Case, bill: Bill) -> Callable[[int], int]:
    """How many intermediate results all plans that ran had given before an instant.

    Before all time it is 0, and behind all that starts the total of the bill.
    """
    parts: list[tuple[int, int, Order, Moved | None]] = []
    spent, since, running = 0, case.first, bill.start
    for moved in bill.moves:
        parts.append((since, spent, running, None))
        spent += case.traces[running].begun(since, moved.at)
        parts.append((moved.at, spent, running, moved))
        spent += case.traces[running].begun(moved.at, moved.until) + moved.meanwhile
        running, since = moved.new, moved.until
    parts.append((since, spent, running, None))
    starts = [start for start, *_ in parts]

    def before(time: int) -> int:
        i = bisect_right(starts, time) - 1
        if i < 0:
            return 0
        start, known, order, moved = parts[i]
        return known + case.traces[order].begun(start, time) + (_new(case, moved, time) if moved else 0)

    return before


def _new(case: Case, moved: Moved, time: int) -> int:
    """What the new plan of a migration has given before an instant at which both run."""
    trace = case.traces[moved.new]
    if moved.how == "genmig":
        return trace.reaching(moved.until - 1, moved.at, time)
    return trace.alive(moved.at) + trace.begun(moved.at, time) if time > moved.at else 0
