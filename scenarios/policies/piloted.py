"""The autopilot as a policy: decayed counts of keys tell what each order of a case gives."""

from __future__ import annotations

from midstream.autopilot.advice import Advice
from midstream.autopilot.autopilot import Autopilot
from midstream.autopilot.key_counts import KeyCounts
from midstream.autopilot.settings import BALANCED, Settings
from midstream.scenarios.policies.case import Arrival, Case, Order
from midstream.scenarios.policies.policy import How, Move, Now


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
        self._known = PairRates(case, self._settings.half_life)
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


class PairRates:
    """Counts the keys of a case's streams, and tells what its orders give: an advisor."""

    def __init__(self, case: Case, half_life: float) -> None:
        self._names = {
            stream: tuple(f"{stream}.{column}" for column in columns)
            for stream, columns in case.columns.items()
        }
        joins = {
            order: (f"{order[0]}.{first}", f"{order[1]}.{second}")
            for order, (first, second) in case.on.items()
        }
        self._known = KeyCounts(joins, case.window, half_life)
        self.last = case.first
        """When the last element came."""

    def take(self, arrival: Arrival) -> None:
        """An element came."""
        self.last, stream, row = arrival
        self._known.take(self.last, dict(zip(self._names[stream], row, strict=True)))

    def advise(self, running: Order, known: float) -> Advice[Order] | None:
        """What all orders are expected to give, at an instant; None within a window of the first element."""
        return self._known.advise(running, known)
