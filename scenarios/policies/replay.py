"""Prices a policy offline, exactly: from the arrivals, without an engine.

The old plan runs until the split time, and gives all that starts until then. The new one gives

    genmig          what is valid behind the split time, which is inside the chronon in which the last
                    element so far ends
    moving-states   at once, what is alive at the split time, which is inside the present chronon; and all
                    that starts from then on

Where the split time lies before the present, nothing is alive, and a move is free.
"""

from __future__ import annotations

from dataclasses import dataclass

from midstream.scenarios.policies.case import Case, Order
from midstream.scenarios.policies.policy import How, Move, Now, Policy


@dataclass(frozen=True, slots=True)
class Moved:
    """A migration: both plans run from when to when, [at, until), and what the new one gives until then."""

    at: int
    until: int
    old: Order
    new: Order
    how: How
    meanwhile: int


@dataclass(frozen=True, slots=True)
class Bill:
    """What a policy cost: intermediate results of all plans that ran."""

    start: Order
    total: int
    moves: tuple[Moved, ...]


def move(case: Case, now: int, last_start: int, old: Order, to: Move) -> Moved:
    """What a migration means that begins when time comes to `now`; the last element so far started before.

    Cost     O(log n + the new plan's intermediate results within a window)
    """
    trace = case.traces[to.to]
    if to.how == "genmig":
        last = last_start + case.window
        until = max(now, last + 1)
        meanwhile = trace.reaching(last, now, until)
    else:
        last, until = now, now + 1
        meanwhile = trace.alive(now) + trace.begun(now, until)
    return Moved(now, until, old, to.to, to.how, meanwhile)


def replay(case: Case, policy: Policy) -> Bill:
    """Run a policy over a case, and add up.

    Cost     O(arrivals), what the policy takes, and a window of intermediate results for each move.
    Raises   ValueError where the policy names an order that the case does not have, or the running one.
    """
    start = running = policy.begin(case)
    _require_other(case, running, None)
    traces, spent, since, free_from, last = case.traces, 0, case.first, case.first, case.first
    moves: list[Moved] = []
    for time, together in case.instants():
        if time >= free_from and time > case.first:
            spent += traces[running].begun(since, time)
            since = time
            wish = policy.decide(Now(time, running, spent))
            if wish is not None:
                _require_other(case, wish.to, running)
                moved = move(case, time, last, running, wish)
                spent += traces[running].begun(time, moved.until) + moved.meanwhile
                moves.append(moved)
                running, since, free_from = moved.new, moved.until, moved.until
        for arrival in together:
            policy.observe(arrival)
        last = time
    # What follows the last migration; one that goes on beyond the end has been paid for.
    spent += traces[running].begun(since, case.beyond) if since < case.beyond else 0
    return Bill(start, spent, tuple(moves))


def _require_other(case: Case, order: Order, running: Order | None) -> None:
    if order not in case.orders or order == running:
        others = [one for one in case.orders if one != running]
        raise ValueError(f"found order {order}, expected one of {others}")
