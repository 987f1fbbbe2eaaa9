"""What it costs to take turns among plans: the bill of some moves, and the cheapest one that can be had.

A migration has its split time inside a chronon. The old plan gives what starts before the end of that
chronon; the new one gives what is valid inside it, and what starts behind. Where this was counted, a bill is
what an engine counts that begins these migrations (see `occupied`).

Where it was not, a migration is priced as the autopilot does, by what the new plan gives while the old one
still runs (`while_both_run`): until the split time of GenMig the old plan runs, and of the new plan's cost
only that part is due which comes from elements of after the beginning; moving states builds the new plan's
state at once. The rates are those of the buckets in which that happens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from midstream.autopilot.break_even import KNOWN, duration, while_both_run
from midstream.autopilot.costs.cheapest_way import Offer, cheapest_way
from midstream.autopilot.costs.series import Courses
from midstream.plans.values.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Move:
    """To begin a migration.

    at            when; within a bucket costs are spread evenly
    to            the plan, by number
    until_split   after how many chronons what is valid then has expired; None where that is as long as the
                  courses say of the bucket's start
    following     when the next element starts, at that instant or behind it; None where that is as the
                  courses say of the bucket's start
    """

    at: int
    to: int
    strategy: str
    until_split: int | None = None
    following: int | None = None


@dataclass(frozen=True, slots=True)
class Moved:
    """A migration: both plans run in [at, until); `meanwhile` is what the new one costs by then."""

    at: int
    until: int
    old: int
    new: int
    strategy: str
    meanwhile: float


@dataclass(frozen=True, slots=True)
class Bill:
    """What it costs to begin with a plan and to move."""

    start: int
    total: float
    moves: tuple[Moved, ...] = ()


def migration(courses: Courses, old: int, move: Move) -> Moved:
    """What a migration means.

    Raises   ArgumentError for a strategy whose cost is not known.
    """
    if move.strategy not in KNOWN:
        raise ArgumentError(f"policies: found strategy {move.strategy!r}, expected one of {', '.join(KNOWN)}")
    at, until_split, following = move.at, move.until_split, move.following
    number = (at - courses.starts.start) // courses.bucket
    until_split = courses.until_split(number) if until_split is None else until_split
    following = courses.following(number) if following is None else following
    chronon = split_chronon(move.strategy, at, until_split, following)
    if chronon is not None and (alive := courses.alive(move.to, chronon)) is not None:
        return Moved(at, chronon + 1, old, move.to, move.strategy, float(alive))
    if move.strategy in ("swap", "moving-states") or not until_split:
        before = _mean_before(courses, move.to, at)
        meanwhile = while_both_run(move.strategy, before, until_split, courses.window)
        return Moved(at, at, old, move.to, move.strategy, meanwhile)
    lasts = int(duration(move.strategy, until_split, courses.window))
    growing = _mean_growing(courses, move.to, at, lasts)
    meanwhile = while_both_run(move.strategy, growing, until_split, courses.window)
    return Moved(at, at + lasts, old, move.to, move.strategy, meanwhile)


def split_chronon(strategy: str, at: int, until_split: int, following: int | None) -> int | None:
    """The chronon inside which the split time of a migration lies that begins at an instant; None where it
    has none, or where that is not known.

    >>> split_chronon("genmig", 100, until_split=7, following=102)
    107
    >>> split_chronon("moving-states", 100, until_split=7, following=102)
    102
    """
    if strategy == "moving-states":
        return following
    if strategy.startswith("genmig"):
        return at + until_split if until_split else at - 1
    return None


def bill(courses: Courses, start: int, moves: Sequence[Move] = ()) -> Bill:
    """Add up what it costs to begin with a plan and to make some moves.

    A move to the running plan is one to a plan that costs the same.

    Raises   ArgumentError for a move to a plan that is none, or while a migration is under way.
    """
    _require_plan(courses, start)
    spent, since, running, done = 0.0, courses.starts.start, start, list[Moved]()
    for move in moves:
        _require_plan(courses, move.to)
        if not since <= move.at < courses.end:
            expected = f"one from {since}, where the last one has ended, and before {courses.end}"
            raise ArgumentError(f"policies: found {move}, expected {expected}")
        moved = migration(courses, running, move)
        spent += courses.spent(running, since, moved.until) + moved.meanwhile
        since, running = moved.until, move.to
        done.append(moved)
    return Bill(start, spent + courses.spent(running, since, courses.end), tuple(done))


def clairvoyant(courses: Courses, strategies: Sequence[str] = ("genmig",)) -> Bill:
    """The cheapest of all bills: a plan at first, and moves at the starts of buckets but the first, one
    migration at a time.

    Cost     O(buckets · plans² · strategies), and for each plan and bucket the buckets within a window.
    """
    numbers, buckets, starts = range(len(courses.plans)), len(courses.starts), courses.starts

    def instant(number: int) -> int:
        return starts[number] if number < buckets else courses.end

    def alone(plan: int, number: int) -> float:
        return courses.bucket * courses.rates[plan][number]

    def offers(number: int) -> Iterator[Offer[int, Moved]]:
        at = instant(number)
        for new, strategy in product(numbers, strategies if number else ()):
            moved = migration(courses, new, Move(at, new, strategy, courses.until_split(number)))
            # An instant at which the new plan runs alone; behind this one, as time does not stand still.
            after = min(max(number + 1, number - (at - moved.until) // courses.bucket), buckets)
            rest = moved.meanwhile + courses.spent(new, moved.until, instant(after))
            for old in numbers:
                if old != new:
                    doubled = courses.spent(old, at, moved.until)
                    yield Offer(old, new, after, doubled + rest, moved)

    found = cheapest_way(numbers, buckets, alone, offers)
    moved = (offer.move for offer in found.moves)
    return bill(courses, found.start, [Move(one.at, one.new, one.strategy) for one in moved])


def regret(courses: Courses, found: Bill, strategies: Sequence[str] = ("genmig",)) -> float:
    """By how much a bill exceeds the cheapest one."""
    return found.total - clairvoyant(courses, strategies).total


def running(courses: Courses, found: Bill) -> list[int]:
    """By bucket, the plan that gives the results at its start: the old one as long as both run."""
    plan, moves, plans = found.start, list(reversed(found.moves)), list[int]()
    for start in courses.starts:
        while moves and moves[-1].until <= start:
            plan = moves.pop().new
        plans.append(plan)
    return plans


def fidelity(courses: Courses, found: Bill) -> float | None:
    """The share of the contested buckets in which a best plan runs; None where none is contested."""
    hits = [
        courses.is_best(plan, number)
        for number, plan in enumerate(running(courses, found))
        if courses.is_contested(number)
    ]
    return sum(hits) / len(hits) if hits else None


def _mean_growing(courses: Courses, plan: int, at: int, lasts: int) -> float:
    """The mean rate of a plan that begins with nothing, weighed by the part that it gives by then: it grows
    over a window, and is 1 from then on."""
    full = at + courses.window
    parts = _parts(courses, plan, at, min(full, at + lasts))
    growing = sum(rate * ((until - at) ** 2 - (since - at) ** 2) for since, until, rate in parts)
    weight = min(courses.window, lasts) ** 2
    later, rest = courses.spent(plan, full, at + lasts), max(0, lasts - courses.window)
    scale = 2 * courses.window
    return (growing / scale + later) / (weight / scale + rest)


def _mean_before(courses: Courses, plan: int, at: int) -> float:
    """The mean rate of a plan within the last window, weighed by what of it is still valid: that falls from
    all to nothing as one looks back."""
    parts = _parts(courses, plan, at - courses.window, at)
    begins = at - courses.window
    alive = sum(rate * ((until - begins) ** 2 - (since - begins) ** 2) for since, until, rate in parts)
    return alive / courses.window**2


def _parts(courses: Courses, plan: int, since: int, until: int) -> Iterator[tuple[int, int, float]]:
    """The buckets within a range of time, cut to it, with a plan's rates."""
    begin, bucket = courses.starts.start, courses.bucket
    first = max(0, (since - begin) // bucket)
    beyond = min(len(courses.starts), -((begin - until) // bucket))
    for number in range(first, beyond):
        start = courses.starts[number]
        yield max(start, since), min(start + bucket, until), courses.rates[plan][number]


def _require_plan(courses: Courses, plan: int) -> None:
    if not 0 <= plan < len(courses.plans):
        raise ArgumentError(f"policies: found plan {plan}, expected one of 0 to {len(courses.plans) - 1}")
