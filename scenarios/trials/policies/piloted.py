"""The autopilot as a policy, with costs of orders from decayed counts of keys."""

from __future__ import annotations

from midstream.autopilot.advice import Advice
from midstream.autopilot.autopilot import Autopilot
from midstream.autopilot.costs.bill import Move
from midstream.autopilot.costs.policies import Now
from midstream.autopilot.decision import Decision
from midstream.autopilot.key_counts import KeyCounts
from midstream.autopilot.query_pilot import QueryPilot
from midstream.autopilot.settings import BALANCED, Settings
from midstream.scenarios.trials.policies.case import Arrival, Case
from midstream.scenarios.trials.policies.policy import How, Observing


class Piloted(Observing, QueryPilot[int, float]):
    """Moves as the autopilot decides, by moving states where allowed and cheaper, else by GenMig.

    Both strategies are possible at any time, so they are weighed at every look. Where nothing arrives, and
    during a migration, it looks at instants of a grid and decides nothing.

    start   the first order, by number
    """

    def __init__(
        self, case: Case, start: int = 0, how: How = "moving-states", settings: Settings = BALANCED
    ) -> None:
        super().__init__(case)
        self.unasked = ("genmig",) if how == "genmig" else ("genmig", "moving-states")
        self.decider = Autopilot(start, case.window, settings)
        self._names = {
            stream: [f"{stream}.{column}" for column in columns] for stream, columns in case.columns.items()
        }
        joins = {
            number: (f"{order[0]}.{first}", f"{order[1]}.{second}")
            for number, (order, (first, second)) in enumerate(case.on.items())
        }
        self._counts = KeyCounts(joins, case.window, settings.half_life)
        self._window, self._step = case.window, case.window / settings.looks
        self._look_at, self._last = float(case.first), case.first
        self._now: Now | None = None
        self._move: Move | None = None

    def observe(self, arrival: Arrival) -> None:
        """Count the keys of an arrival."""
        if self.is_migrating:
            self._look_before(arrival[0])
        self._last, stream, row = arrival
        self._counts.take(self._last, dict(zip(self._names[stream], row, strict=True)))

    def decide(self, now: Now) -> Move | None:
        """The autopilot's move, a few times per window."""
        self.observe_before(now.time)
        is_time = now.time >= self._look_at
        self._look_before(now.time)
        if self.is_migrating:
            self.ended(now.time, now.running)
        self._now, self._move = now, None
        if is_time:
            self.look(now.time)
        self._now = None
        return self._move

    def _look_before(self, now: int) -> None:
        """Look at instants of the grid before `now`, until all counts have decayed."""
        while self._look_at < now:
            if self._look_at <= self._last + 8 * self._window:
                self.look(self._look_at)
            self._look_at += self._step

    def advise(self, now: float) -> Advice[int] | None:
        """Advice from the counts of keys."""
        return self._counts.advise(self.decider.running, now)

    def spent(self, now: float) -> float | None:
        """The cost so far; None where no decision is asked for."""
        return None if self._now is None else self._now.spent

    def until_split(self, now: float) -> float:
        """Chronons from now to a migration's split time."""
        return max(0, self._last + self._window - now)

    def carry_out(
        self, now: float, decision: Decision[int], advice: Advice[int] | None, until_split: float
    ) -> None:
        """Record the move to make, where a decision is asked for."""
        if self._now is not None and decision.to is not None:
            how: How = "genmig" if decision.strategy == "genmig" else "moving-states"
            self.begun(now, decision.to, how, until_split)
            self._move = Move(self._now.time, decision.to, how)
