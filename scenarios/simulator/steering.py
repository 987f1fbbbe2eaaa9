"""The deciders of a scenario: while it runs they say which plan is to run."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from midstream.autopilot.costs.policies import Now, Policy


class NamedMove(NamedTuple):
    """To move to a plan, by its name, with a strategy."""

    to: str
    strategy: str


class Steering(Protocol):
    """Decides for one run; made when the run begins."""

    start: str
    """The first plan."""

    def decide(self, time: int, spent: int) -> NamedMove | None:
        """Whether to move; asked when time comes to an instant at which something arrives, before that,
        unless a migration is under way. `spent` intermediate results there were so far."""
        ...


class ByPolicy:
    """A policy decides among plans, by their numbers.

    asked   whether it is asked at an instant
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
    """How many intermediate results there were before an instant; `spent` by arrivals at `times`."""

    def before(time: int) -> int:
        arrivals = bisect_left(times, time)
        return spent[arrivals - 1] if arrivals else 0

    return before
