"""What a policy does while it is asked: its moves, and when it will look next."""

from __future__ import annotations

from midstream.autopilot.costs.bill import Bill
from midstream.autopilot.costs.policies import replay
from midstream.scenarios.policies.case import Arrival, Case, Order
from midstream.scenarios.policies.policy import Move, Now, Observer, Observing

Asked = tuple[int, Move | None, float]
"""When it was asked, what it answered, and the instant of its next look."""


class Noted:
    """A policy that looks a few times a window, with notes of all that it was asked.

    Moves alone would hide a look at a wrong instant at which it stays, such as the first one.
    """

    def __init__(self, policy: Observer) -> None:
        self._policy = policy
        self.asked: list[Asked] = []

    def begin(self, case: Case) -> Order:
        order = self._policy.begin(case)
        self.asked.append((case.first, None, vars(self._policy)["_look_at"]))
        return order

    def observe(self, arrival: Arrival) -> None:
        self._policy.observe(arrival)

    def decide(self, now: Now) -> Move | None:
        move = self._policy.decide(now)
        self.asked.append((now.time, move, vars(self._policy)["_look_at"]))
        return move


def replayed(case: Case, observer: Observer) -> Bill:
    """The bill of what decides by what arrives."""
    observing = Observing(case, observer)
    return replay(case.costs, observing, observing.start)


def asked_before(time: int, case: Case, policy: Observer) -> list[Asked]:
    """All that it was asked before an instant."""
    noted = Noted(policy)
    replayed(case, noted)
    return [asked for asked in noted.asked if asked[0] < time]
