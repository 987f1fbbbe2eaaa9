"""The autopilot as a policy: decayed counts of keys tell what each order of a case gives."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping

from midstream.migration.autopilot.advice import Advice, Forecast
from midstream.migration.autopilot.autopilot import Autopilot
from midstream.migration.autopilot.settings import BALANCED, Settings
from midstream.optimizer.pair_rates import DecayedCounts, difference, pair_rate
from midstream.scenarios.policies.case import Arrival, Case, Order
from midstream.scenarios.policies.policy import How, Move, Now

LITTLE = 1e-3


class Piloted:
    """Moves as the autopilot says; with moving states where allowed and cheaper, else by GenMig.

    start   the first order; by default the first one of the case
    """

    def __init__(
        self, start: Order | None = None, how: How = "moving-states", settings: Settings = BALANCED
    ) -> None:
        self._start, self._settings = start, settings
        self._strategies: tuple[How, ...] = ("genmig",) if how == "genmig" else ("genmig", "moving-states")

    def begin(self, case: Case) -> Order:
        """The first order."""
        start = self._start or case.orders[0]
        self._known = PairRates(case, self._settings.half_life * case.window)
        self._pilot = Autopilot(start, case.window, self._settings)
        self._window, self._step = case.window, case.window / self._settings.looks
        self._look_at, self._is_moving = float(case.first), False
        return start

    def observe(self, arrival: Arrival) -> None:
        """Count its keys."""
        if self._is_moving:
            self._watch(arrival[0])
        self._known.take(arrival)

    def decide(self, now: Now) -> Move | None:
        """A few times a window."""
        is_time = now.time >= self._look_at
        self._watch(now.time)
        if self._is_moving:
            self._pilot.ended(now.time, now.running)
            self._is_moving = False
        if not is_time:
            return None
        until_split = max(0, self._known.last + self._window - now.time)
        advice = self._known.advise(now.running, now.time)
        decision = self._pilot.decide(now.time, advice, until_split, self._strategies, now.spent)
        if decision.to is None:
            return None
        how: How = "genmig" if decision.strategy == "genmig" else "moving-states"
        self._pilot.begun(now.time, decision.to, how, until_split)
        self._is_moving = True
        return Move(decision.to, how)

    def _watch(self, now: int) -> None:
        """Look where nothing can be decided: during a migration, and before an instant while nothing came."""
        running = self._pilot.running
        # Within so many windows, what is counted has come to nothing.
        beyond_all = self._known.last + 8 * self._window
        while self._look_at < now:
            if self._look_at <= beyond_all:
                self._pilot.decide(self._look_at, self._known.advise(running, self._look_at))
            self._look_at += self._step


Rates = Mapping[str, Mapping[Hashable, float]]
"""By stream and column, elements per chronon of each key."""


class PairRates:
    """Counts the keys of a case's streams, and tells what its orders give: an advisor.

    A second count decays so fast that pairs of elements that are a window apart count e times less than those
    of equal times: it tells what the orders gave lately.
    """

    def __init__(self, case: Case, half_life: float) -> None:
        self._case, self._first = case, case.first
        self._slow, self._fast = _Counts(case, half_life), _Counts(case, math.log(2) * case.window)
        self.last = 0
        """When the last element came."""

    def take(self, arrival: Arrival) -> None:
        """An element came."""
        self.last, stream, row = arrival
        for column, key in zip(self._case.columns[stream], row, strict=True):
            for counts in (self._slow, self._fast):
                counts.by_column[f"{stream}.{column}"].take(self.last, key)

    def advise(self, running: Order, known: float) -> Advice[Order] | None:
        """What all orders are expected to give, at an instant; None within a window of the first element."""
        passed = known - self._first
        if passed < self._case.window:
            return None
        slow, fast = self._slow.rates(known, passed), self._fast.rates(known, passed)
        others = [order for order in self._case.orders if order != running]
        return Advice(
            self._rate(running, slow),
            tuple(self._forecast(running, other, slow, fast) for other in others),
            "pair rates by decayed counts of keys",
            self._rate(running, fast),
        )

    def _forecast(self, running: Order, other: Order, slow: Rates, fast: Rates) -> Forecast[Order]:
        saving = difference(
            slow, self._named(running), self._named(other), self._case.window, self._slow.decay
        )
        return Forecast(
            other, self._rate(other, slow), saving.value, saving.deviation, self._rate(other, fast)
        )

    def _rate(self, order: Order, rates: Rates) -> float:
        one, other = self._named(order)
        return pair_rate(rates[one], rates[other], self._case.window)

    def _named(self, order: Order) -> tuple[str, str]:
        """The two columns that an order joins, by name."""
        (one, first), (other, second) = zip(order, self._case.on[order], strict=True)
        return f"{one}.{first}", f"{other}.{second}"


class _Counts:
    """Decayed counts of all columns."""

    def __init__(self, case: Case, half_life: float) -> None:
        self.by_column = {
            f"{stream}.{column}": DecayedCounts(half_life)
            for stream, columns in case.columns.items()
            for column in columns
        }
        self.decay = math.log(2) / half_life

    def rates(self, now: float, passed: float) -> Rates:
        """Elements per chronon; at first, what would have come before the first element is missing."""
        missing = math.exp(-self.decay * passed)
        rates = {name: counts.rates(now) for name, counts in self.by_column.items()}
        if missing < LITTLE:
            return rates
        return {
            name: {key: rate / (1 - missing) for key, rate in by_key.items()}
            for name, by_key in rates.items()
        }
