"""What each plan of a query costs over time: enough to price any way of taking turns among them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.serialise import plan_from_json, plan_to_json
from midstream.plans.values.errors import ArgumentError, MidstreamError

FORMAT, VERSION = "midstream-courses", 1

TIE = 1e-9
"""Rates that differ by no more than this share of the lower one are equal: what differs is rounding."""


@dataclass(frozen=True)
class Counts:
    """What plans have given and keep in chronons in which a split time may lie (see `splits`).

    chronons    in order
    begun       by plan, how many results have started by the end of each
    alive       by plan, how many of these are valid in each
    following   by bucket, when the next element starts, at the bucket's start or behind it
    """

    chronons: tuple[int, ...]
    begun: tuple[tuple[int, ...], ...]
    alive: tuple[tuple[int, ...], ...]
    following: tuple[int, ...]

    @cached_property
    def place(self) -> Mapping[int, int]:
        """By chronon, its position."""
        return {chronon: i for i, chronon in enumerate(self.chronons)}

    def of(self, plans: Sequence[int]) -> Counts:
        """Those of some plans, by number."""
        return replace(
            self,
            begun=tuple(self.begun[number] for number in plans),
            alive=tuple(self.alive[number] for number in plans),
        )


@dataclass(frozen=True)
class Courses:
    """What equivalent plans cost, bucket by bucket, the given one first; one plan for each order of joins.

    starts    where the buckets start, in chronons
    window    for how long an element is valid; the longest time where there are several
    unit      what costs are counted in, such as "intermediate results"
    labels    of the plans, for people
    rates     by plan and bucket, the cost per chronon
    lasting   by bucket, for how many chronons what is valid at its start still lasts, at most; empty where
              that is not known, so that something always lasts for a window
    counts    what was counted of split times; None where it was not, so that within a bucket costs are
              spread evenly

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
        if not all(0 <= duration <= self.window for duration in self.lasting):
            raise _wrong("something that lasts longer than a window", f"0 to {self.window} chronons")
        if (counts := self.counts) is not None:
            _require_fitting(counts, len(self.plans), buckets)

    @property
    def bucket(self) -> int:
        """The length of a bucket."""
        return self.starts.step

    @property
    def end(self) -> int:
        """Where the last bucket ends; nothing costs anything from then on."""
        return self.starts.start + len(self.starts) * self.bucket

    @cached_property
    def totals(self) -> tuple[float, ...]:
        """What each plan costs in all, if it runs all the time."""
        return tuple(map(math.fsum, self._by_bucket))

    @property
    def best_fixed(self) -> int:
        """The plan that costs least if it runs all the time; the first of equals."""
        return min(range(len(self.plans)), key=self.totals.__getitem__)

    @cached_property
    def least(self) -> tuple[float, ...]:
        """By bucket, the lowest rate."""
        return tuple(map(min, zip(*self.rates, strict=True)))

    @property
    def hindsight(self) -> float:
        """What the best plan of each bucket costs, where moves are free. No lower bound where costs change
        within a bucket; if they do not, nothing is cheaper."""
        return self.bucket * math.fsum(self.least)

    def is_best(self, plan: int, bucket: int) -> bool:
        """Whether no plan costs less in a bucket, by its number."""
        return self.rates[plan][bucket] <= self.least[bucket] * (1 + TIE)

    def is_contested(self, bucket: int) -> bool:
        """Whether not all plans cost the same in a bucket."""
        return not all(self.is_best(plan, bucket) for plan in range(len(self.plans)))

    def until_split(self, bucket: int) -> int:
        """After how many chronons what is valid at the start of a bucket has expired."""
        return self.lasting[bucket] if self.lasting else self.window

    def following(self, bucket: int) -> int | None:
        """When the next element starts, at a bucket's start or behind it; None where that is not known."""
        return None if self.counts is None else self.counts.following[bucket]

    def alive(self, plan: int, chronon: int) -> int | None:
        """How many of a plan's results are valid in a chronon; None where that was not counted."""
        place = None if self.counts is None else self.counts.place.get(chronon)
        return None if self.counts is None or place is None else self.counts.alive[plan][place]

    def spent(self, plan: int, since: int, until: int) -> float:
        """What a plan costs in [since, until), if it runs by then for a window or longer. O(1)."""
        return max(0.0, self._before(plan, until) - self._before(plan, since))

    def _before(self, plan: int, time: int) -> float:
        if self.counts is not None and (place := self.counts.place.get(time - 1)) is not None:
            return float(self.counts.begun[plan][place])
        if time <= self.starts.start:
            return 0.0
        number, rest = divmod(time - self.starts.start, self.bucket)
        if number >= len(self.starts):
            return self._sums[plan][-1]
        return self._sums[plan][number] + rest * self.rates[plan][number]

    @cached_property
    def _sums(self) -> tuple[tuple[float, ...], ...]:
        """By plan, what it costs before each bucket."""
        return tuple((0.0, *accumulate(costs)) for costs in self._by_bucket)

    @cached_property
    def _by_bucket(self) -> tuple[tuple[float, ...], ...]:
        """By plan, what it costs in each bucket. What was counted is a whole number, which rates are not."""
        costs = tuple(tuple(self.bucket * rate for rate in rates) for rates in self.rates)
        return costs if self.counts is None else tuple(tuple(map(float, map(round, one))) for one in costs)

    def of(self, plans: Sequence[int]) -> Courses:
        """Those of some plans, by number."""
        return replace(
            self,
            plans=tuple(self.plans[number] for number in plans),
            labels=tuple(self.labels[number] for number in plans),
            rates=tuple(self.rates[number] for number in plans),
            counts=None if self.counts is None else self.counts.of(plans),
        )

    def between(self, since: int, until: int) -> Courses:
        """The same within a range of buckets: those that start in [since, until)."""
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
        """What was counted in a range of buckets, from the first of them on."""
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
            counts.following[first:beyond],
        )

    def dumps(self) -> str:
        """JSON that `loads` reads, the same for equal courses."""
        data: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "start": self.starts.start,
            "bucket": self.bucket,
            "buckets": len(self.starts),
            "window": self.window,
            "unit": self.unit,
            "plans": [
                {"label": label, "plan": plan_to_json(plan), "rates": rates}
                for label, plan, rates in zip(self.labels, self.plans, self.rates, strict=True)
            ],
            "lasting": self.lasting,
        }
        if self.counts is not None:
            data["counts"] = asdict(self.counts)
        return json.dumps(data, ensure_ascii=False)

    @classmethod
    def loads(cls, text: str) -> Courses:
        """Courses from JSON. Raises ArgumentError for anything else, PlanError for a plan that is none."""
        try:
            data: Any = json.loads(text)
            if not isinstance(data, Mapping) or (data.get("format"), data.get("version")) != (
                FORMAT,
                VERSION,
            ):
                raise ArgumentError(
                    f'courses: expected an object with "format": "{FORMAT}", "version": {VERSION}'
                )
            start, bucket, listed = int(data["start"]), int(data["bucket"]), data["plans"]
            return cls(
                range(start, start + int(data["buckets"]) * bucket, bucket),
                int(data["window"]),
                str(data["unit"]),
                tuple(plan_from_json(one["plan"]) for one in listed),
                tuple(str(one["label"]) for one in listed),
                tuple(tuple(map(float, one["rates"])) for one in listed),
                tuple(map(int, data["lasting"])),
                _counts(data["counts"]) if "counts" in data else None,
            )
        except MidstreamError:
            raise
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise ArgumentError(
                f"courses: {type(error).__name__}: {error}, expected what dumps gave"
            ) from error


def _counts(data: Any) -> Counts:
    by_plan = ([tuple(map(int, of_plan)) for of_plan in data[name]] for name in ("begun", "alive"))
    begun, alive = map(tuple, by_plan)
    return Counts(tuple(map(int, data["chronons"])), begun, alive, tuple(map(int, data["following"])))


def _require_fitting(counts: Counts, plans: int, buckets: int) -> None:
    chronons = len(counts.chronons)
    for name, by_plan in (("begun", counts.begun), ("alive", counts.alive)):
        found = [len(of_plan) for of_plan in by_plan]
        if found != [chronons] * plans:
            raise _wrong(f"{name} in {found} chronons, by plan", f"{plans} times {chronons}")
    if len(counts.following) != buckets:
        raise _wrong(f"{len(counts.following)} times that follow", f"{buckets}, one a bucket")


def _wrong(found: str, expected: str) -> ArgumentError:
    return ArgumentError(f"courses: found {found}, expected {expected}")
