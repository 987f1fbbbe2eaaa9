"""The policy that weighs the cost of a migration, with costs of orders from decayed counts of keys."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from midstream.autopilot.break_even import BreakEven, genmig_cost, moving_states_cost
from midstream.autopilot.costs.bill import Move
from midstream.autopilot.costs.policies import Now
from midstream.optimizer.pair_rates import DecayedCounts, difference, pair_rate
from midstream.scenarios.trials.policies.case import Arrival, Case
from midstream.scenarios.trials.policies.policy import How, Observing

HALF_LIFE, HORIZON = 2, 8
"""In windows."""

LOOKS = 8
"""Looks per window."""


class ByBreakEven(Observing):
    """Moves when that pays over the horizon, by moving states where allowed and cheaper, else by GenMig."""

    def __init__(self, case: Case, how: How = "moving-states") -> None:
        super().__init__(case)
        self._case, self._how, self._window = case, how, case.window
        self._counts = {
            (stream, column): DecayedCounts(HALF_LIFE * case.window)
            for stream, columns in case.columns.items()
            for column in columns
        }
        self._rule = BreakEven(HORIZON * case.window)
        self._look_at, self._last = 0.0, 0

    def observe(self, arrival: Arrival) -> None:
        """Count the keys of an arrival."""
        self._last, stream, row = arrival
        for column, key in zip(self._case.columns[stream], row, strict=True):
            self._counts[stream, column].take(self._last, key)

    def decide(self, now: Now) -> Move | None:
        """The move with the greatest gain, if any pays; computed a few times per window."""
        self.observe_before(now.time)
        if now.time < self._look_at:
            return None
        self._look_at = now.time + self._window / LOOKS
        best = max(
            (self._move(now, order) for order in range(len(self._case.orders)) if order != now.running),
            key=lambda found: found[0],
        )
        return best[1] if best[0] > 0 else None

    def _move(self, now: Now, order: int) -> tuple[float, Move]:
        """The gain of a move to an order, and the move."""
        rates: dict[str, Mapping[Hashable, float]] = {}
        one, other = self._named(now.running, rates, now.time), self._named(order, rates, now.time)
        window, decay = self._window, next(iter(self._counts.values())).decay
        saving = difference(rates, one, other, window, decay)
        new = pair_rate(rates[other[0]], rates[other[1]], window)
        until_split = max(0, self._last + window - now.time)
        ways: dict[How, float] = {
            "genmig": genmig_cost(saving=saving.value, new=new, until_split=until_split, window=window)
        }
        if self._how == "moving-states":
            ways["moving-states"] = moving_states_cost(new=new, until_split=until_split, window=window)
        how = min(ways, key=ways.__getitem__)
        running = pair_rate(rates[one[0]], rates[one[1]], window)
        gain = self._rule.gain(
            running=running, saving=saving.value, deviation=saving.deviation, cost=ways[how]
        )
        return gain, Move(now.time, order, how)

    def _named(self, number: int, rates: dict[str, Mapping[Hashable, float]], now: int) -> tuple[str, str]:
        """The two columns that an order joins, by name; their rates are added to `rates`."""
        order = self._case.orders[number]
        (one, first), (other, second) = zip(order, self._case.on[order], strict=True)
        names = f"{one}.{first}", f"{other}.{second}"
        for name, where in zip(names, ((one, first), (other, second)), strict=True):
            if name not in rates:
                rates[name] = self._counts[where].rates(now)
        return names
