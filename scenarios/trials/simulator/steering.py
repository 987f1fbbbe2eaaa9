"""Deciders of a scenario: they choose the plan while it runs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from midstream.autopilot.costs.policies import Now, Policy


class NamedMove(NamedTuple):
    """A move to a plan, by its name, with a strategy."""

    to: str
    strategy: str


class Steering(Protocol):
    """Decides for one run; made when the run begins."""

    start: str
    """The first plan."""

    def decide(self, time: int, spent: int) -> NamedMove | None:
        """The move to make now, or None.

        Called when time comes to an instant at which something arrives, before the arrival, unless a
        migration is under way. `spent` is the number of intermediate results so far.
        """
        ...


class ByPolicy:
    """A policy that chooses among plans by their numbers.

    asked   returns True for instants at which the policy is asked
    """

    def __init__(
        self, policy: Policy, names: Sequence[str], start: int, asked: Callable[[int], bool] = lambda _: True
    ) -> None:
        self.start = names[start]
        self._policy, self._names, self._running, self._asked = policy, names, start, asked

    def decide(self, time: int, spent: int) -> NamedMove | None:
        """The move that the policy makes, or None."""
        if not self._asked(time):
            return None
        move = self._policy.decide(Now(time, self._running, spent))
        if move is None:
            return None
        self._running = move.to
        return NamedMove(self._names[move.to], move.strategy)


def counted_before(times: Sequence[int], spent: Sequence[int]) -> Callable[[int], int]:
    """Function for the intermediate results before an instant, from `spent` by arrivals at `times`."""

    def before(time: int) -> int:
        arrivals = bisect_left(times, time)
        return spent[arrivals - 1] if arrivals else 0

    return before
