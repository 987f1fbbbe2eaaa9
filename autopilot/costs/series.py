"""Costs of plans by buckets of time: enough to price any schedule of these plans."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

from midstream.autopilot.break_even import KNOWN, duration, while_both_run
from midstream.autopilot.costs.bill import Bill, Move, split_chronon
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.serialise import plan_from_json, plan_to_json
from midstream.plans.values.artefacts import ArtefactError, Header, artefact_text, parsed, read_artefact
from midstream.plans.values.errors import ArgumentError

HEADER: Header = {"format": "midstream-courses", "version": 1}

TIE = 1e-9
"""The relative difference below which rates count as equal: it is a rounding error."""


@dataclass(frozen=True)
class Counts:
    """The counted results of plans in chronons in which a split time may lie (see `splits`).

    chronons   in order
    begun      by plan, the number of results that have started by the end of each chronon
    alive      by plan, the number of these that are valid in each chronon
    """

    chronons: tuple[int, ...]
    begun: tuple[tuple[int, ...], ...]
    alive: tuple[tuple[int, ...], ...]

    @cached_property
    def place(self) -> Mapping[int, int]:
        """The position of each chronon."""
        return {chronon: i for i, chronon in enumerate(self.chronons)}

    def of(self, plans: Sequence[int]) -> Counts:
        """The counts of some plans, by number."""
        return replace(
            self,
            begun=tuple(self.begun[number] for number in plans),
            alive=tuple(self.alive[number] for number in plans),
        )


@dataclass(frozen=True)
class CostSeries:
    """The costs of equivalent plans, bucket by bucket, the reference plan first; one plan per order of joins.

    starts    the starts of the buckets, in chronons
    window    the validity of an element, in chronons; the longest one if there are several
    unit      the unit of costs, such as "intermediate results"
    labels    of the plans, for people
    rates     by plan and bucket, the cost per chronon
    lasting   by bucket, the chronons from its start until the last element so far ends, at most; −1 if it
              ended before; empty if that is not known, so that it always is a window
    counts    the counts for split times; None without them, so that within a bucket costs are spread evenly

    Raises   ArgumentError where these do not fit together.
    """

    starts: range
    window: int
    unit: str
    plans: tuple[Plan, ...]
    labels: tuple[str, ...]
    rates: tuple[tuple[float, ...], ...]
    lasting: tuple[int, ...] = ()
    counts: Counts | None = None

    def __post_init__(self) -> None:
        buckets = len(self.starts)
        if self.starts.step < 1 or self.window < 1:
            raise _wrong(f"buckets of {self.starts.step} and a window of {self.window} chronons", "1 or more")
        if not self.plans or not len(self.plans) == len(self.labels) == len(self.rates):
            found = f"{len(self.plans)} plans, {len(self.labels)} labels, rates of {len(self.rates)}"
            raise _wrong(found, "one or more plans, each with a label and with rates")
        for label, rates in zip(self.labels, self.rates, strict=True):
            if len(rates) != buckets:
                raise _wrong(f"{len(rates)} rates of {label}", f"{buckets}, one a bucket")
            for start, rate in zip(self.starts, rates, strict=True):
                if not (math.isfinite(rate) and rate >= 0):
                    raise _wrong(f"rate {rate} of {label} at {start}", "a number of 0 or more")
        if len(self.lasting) not in (0, buckets):
            raise _wrong(f"{len(self.lasting)} durations", f"none, or {buckets}, one a bucket")
        if not all(-1 <= duration <= self.window for duration in self.lasting):
            raise _wrong("something that lasts longer than a window", f"-1 to {self.window} chronons")
        if (counts := self.counts) is not None:
            _require_fitting(counts, len(self.plans))

    @property
    def bucket(self) -> int:
        """The length of a bucket, in chronons."""
        return self.starts.step

    @property
    def instants(self) -> range:
        """The instants at which a policy may move: the starts of buckets."""
        return self.starts

    @property
    def end(self) -> int:
        """The end of the last bucket; nothing costs anything from then on."""
        return self.starts.start + len(self.starts) * self.bucket

    @cached_property
    def totals(self) -> tuple[float, ...]:
        """The total cost of each plan, if it runs all the time."""
        return tuple(map(math.fsum, self._by_bucket))

    @cached_property
    def least(self) -> tuple[float, ...]:
        """The lowest rate of each bucket."""
        return tuple(map(min, zip(*self.rates, strict=True)))

    @property
    def hindsight(self) -> float:
        """The cost of the best plan of each bucket, if moves are free.

        If costs change within a bucket, it is no lower bound; otherwise nothing is cheaper.
        """
        return self.bucket * math.fsum(self.least)

    def is_best(self, plan: int, bucket: int) -> bool:
        """True if no plan costs less in a bucket, by its number."""
        return self.rates[plan][bucket] <= self.least[bucket] * (1 + TIE)

    def is_contested(self, bucket: int) -> bool:
        """True if plans cost different amounts in a bucket, by its number."""
        return not all(self.is_best(plan, bucket) for plan in range(len(self.plans)))

    def alive(self, plan: int, chronon: int) -> int | None:
        """The number of a plan's results valid in a chronon; None where that was not counted."""
        place = None if self.counts is None else self.counts.place.get(chronon)
        return None if self.counts is None or place is None else self.counts.alive[plan][place]

    def spent(self, plan: int, since: int, until: int) -> float:
        """The cost of a plan in [since, until), if it runs by then for a window or longer.

        Cost     O(1)
        """
        return max(0.0, self._before(plan, until) - self._before(plan, since))

    def both_run(self, move: Move) -> tuple[int, float]:
        """The end of the time in which both plans of a migration run, and the cost of the new one by then.

        Where that was not counted, it is estimated as the autopilot does, by the results of the new plan
        while the old one still runs (`while_both_run`). With GenMig the old plan runs until the split time,
        and of the new plan's cost only the part from elements after the beginning counts. Moving states
        builds the new plan's state at once. The rates are those of the buckets in which this happens, and
        within a bucket costs are spread evenly.

        Raises   ArgumentError for a strategy with an unknown cost.
        """
        at, to, strategy, until_split = move.at, move.to, move.strategy, move.until_split
        if strategy not in KNOWN:
            raise ArgumentError(f"policies: found strategy {strategy!r}, expected one of {', '.join(KNOWN)}")
        if until_split is None:
            bucket = (at - self.starts.start) // self.bucket
            until_split = self.lasting[bucket] if self.lasting else self.window
        chronon = split_chronon(strategy, at, until_split)
        if chronon is not None and (alive := self.alive(to, chronon)) is not None:
            return chronon + 1, float(alive)
        until_split = max(0, until_split)
        if strategy in ("swap", "moving-states") or not until_split:
            return at, while_both_run(strategy, self._mean_before(to, at), until_split, self.window)
        lasts = int(duration(strategy, until_split, self.window))
        growing = self._mean_growing(to, at, lasts)
        return at + lasts, while_both_run(strategy, growing, until_split, self.window)

    def running(self, bill: Bill) -> list[int]:
        """By bucket, the plan that gives the results at its start: the old one while both run."""
        plan, moves, plans = bill.start, list(reversed(bill.moves)), list[int]()
        for start in self.starts:
            while moves and moves[-1].until <= start:
                plan = moves.pop().new
            plans.append(plan)
        return plans

    def fidelity(self, bill: Bill) -> float | None:
        """The share of the contested buckets in which a best plan runs; None where none is contested."""
        hits = [
            self.is_best(plan, bucket)
            for bucket, plan in enumerate(self.running(bill))
            if self.is_contested(bucket)
        ]
        return sum(hits) / len(hits) if hits else None

    def _mean_growing(self, plan: int, at: int, lasts: int) -> float:
        """The mean rate of a plan that begins without state, weighed by the share of its results by then.

        The share grows over a window, and is 1 from then on.
        """
        full = at + self.window
        parts = self._parts(plan, at, min(full, at + lasts))
        growing = sum(rate * ((until - at) ** 2 - (since - at) ** 2) for since, until, rate in parts)
        weight = min(self.window, lasts) ** 2
        later, beyond = self.spent(plan, full, at + lasts), max(0, lasts - self.window)
        scale = 2 * self.window
        return (growing / scale + later) / (weight / scale + beyond)

    def _mean_before(self, plan: int, at: int) -> float:
        """The mean rate of a plan within the last window, weighed by the share of its results still valid.

        Looking back over the window, the share falls from all to nothing.
        """
        begins = at - self.window
        parts = self._parts(plan, begins, at)
        alive = sum(rate * ((until - begins) ** 2 - (since - begins) ** 2) for since, until, rate in parts)
        return alive / self.window**2

    def _parts(self, plan: int, since: int, until: int) -> Iterator[tuple[int, int, float]]:
        """The buckets within a range of time, cut to it, with a plan's rates."""
        begin, bucket = self.starts.start, self.bucket
        first = max(0, (since - begin) // bucket)
        beyond = min(len(self.starts), -((begin - until) // bucket))
        for number in range(first, beyond):
            start = self.starts[number]
            yield max(start, since), min(start + bucket, until), self.rates[plan][number]

    def _before(self, plan: int, time: int) -> float:
        if self.counts is not None and (place := self.counts.place.get(time - 1)) is not None:
            return float(self.counts.begun[plan][place])
        if time <= self.starts.start:
            return 0.0
        number, offset = divmod(time - self.starts.start, self.bucket)
        if number >= len(self.starts):
            return self._sums[plan][-1]
        return self._sums[plan][number] + offset * self.rates[plan][number]

    @cached_property
    def _sums(self) -> tuple[tuple[float, ...], ...]:
        """By plan, its cost before each bucket."""
        return tuple((0.0, *accumulate(costs)) for costs in self._by_bucket)

    @cached_property
    def _by_bucket(self) -> tuple[tuple[float, ...], ...]:
        """By plan, its cost in each bucket; counted costs are whole numbers, which rates are not."""
        costs = tuple(tuple(self.bucket * rate for rate in rates) for rates in self.rates)
        return costs if self.counts is None else tuple(tuple(map(float, map(round, cost))) for cost in costs)

    def of(self, plans: Sequence[int]) -> CostSeries:
        """The series of some plans, by number."""
        return replace(
            self,
            plans=tuple(self.plans[number] for number in plans),
            labels=tuple(self.labels[number] for number in plans),
            rates=tuple(self.rates[number] for number in plans),
            counts=None if self.counts is None else self.counts.of(plans),
        )

    def between(self, since: int, until: int) -> CostSeries:
        """The series of the buckets that start in [since, until)."""
        inside = [i for i, start in enumerate(self.starts) if since <= start < until]
        first, beyond = (inside[0], inside[-1] + 1) if inside else (0, 0)
        return replace(
            self,
            starts=self.starts[first:beyond],
            rates=tuple(rates[first:beyond] for rates in self.rates),
            lasting=self.lasting[first:beyond],
            counts=None if self.counts is None else self._counted(first, beyond),
        )

    def _counted(self, first: int, beyond: int) -> Counts:
        """The counts of a range of buckets, from the first of them on."""
        assert self.counts is not None
        counts, starts = self.counts, self.starts[first:beyond]
        inside = [
            i for i, chronon in enumerate(counts.chronons) if starts and starts.start <= chronon < starts.stop
        ]
        before = [round(self._before(plan, starts.start)) if starts else 0 for plan in range(len(self.plans))]
        return Counts(
            tuple(counts.chronons[i] for i in inside),
            tuple(
                tuple(of_plan[i] - n for i in inside) for of_plan, n in zip(counts.begun, before, strict=True)
            ),
            tuple(tuple(of_plan[i] for i in inside) for of_plan in counts.alive),
        )

    def dumps(self) -> str:
        """JSON that `loads` reads, the same for equal series."""
        plans = tuple(
            _PlanInFile(label, plan_to_json(plan), rates)
            for label, plan, rates in zip(self.labels, self.plans, self.rates, strict=True)
        )
        file = _SeriesFile(
            self.starts.start,
            self.bucket,
            len(self.starts),
            self.window,
            self.unit,
            plans,
            self.lasting,
            self.counts,
        )
        return artefact_text(HEADER, file)

    @classmethod
    def loads(cls, text: str) -> CostSeries:
        """Read a series from JSON.

        Raises   ArgumentError for anything else, PlanError for a plan that is none.
        """
        try:
            file = read_artefact(parsed(text), HEADER, _SeriesFile)
        except ArtefactError as error:
            raise ArgumentError(f"courses: {error}") from error
        if file.bucket < 1 or file.buckets < 0:
            raise _wrong(f"{file.buckets} buckets of {file.bucket} chronons", "0 or more, of 1 or more")
        return cls(
            range(file.start, file.start + file.buckets * file.bucket, file.bucket),
            file.window,
            file.unit,
            tuple(plan_from_json(one.plan) for one in file.plans),
            tuple(one.label for one in file.plans),
            tuple(one.rates for one in file.plans),
            file.lasting,
            file.counts,
        )


@dataclass(frozen=True)
class _PlanInFile:
    label: str
    plan: dict[str, Any]
    rates: tuple[float, ...]


@dataclass(frozen=True)
class _SeriesFile:
    start: int
    bucket: int
    buckets: int
    window: int
    unit: str
    plans: tuple[_PlanInFile, ...]
    lasting: tuple[int, ...]
    counts: Counts | None = None


def _require_fitting(counts: Counts, plans: int) -> None:
    chronons = len(counts.chronons)
    for name, by_plan in (("begun", counts.begun), ("alive", counts.alive)):
        found = [len(of_plan) for of_plan in by_plan]
        if found != [chronons] * plans:
            raise _wrong(f"{name} in {found} chronons, by plan", f"{plans} times {chronons}")


def _wrong(found: str, expected: str) -> ArgumentError:
    return ArgumentError(f"courses: found {found}, expected {expected}")
