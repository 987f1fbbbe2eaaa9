"""What a policy does while it is asked: its moves, and when it will look next."""

from __future__ import annotations

from midstream.autopilot.costs.bill import Move
from midstream.autopilot.costs.policies import Now, Policy, replay
from midstream.scenarios.trials.policies.case import Case

Asked = tuple[int, Move | None, float]
"""When it was asked, what it answered, and the instant of its next look."""


class Noted:
    """A policy that looks a few times a window, with notes of all that it was asked.

    Moves alone would hide a look at a wrong instant at which it stays, such as the first one.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.asked: list[Asked] = []

    def decide(self, now: Now) -> Move | None:
        move = self._policy.decide(now)
        self.asked.append((now.time, move, vars(self._policy)["_look_at"]))
        return move


def asked_before(time: int, case: Case, policy: Policy) -> list[Asked]:
    """All that it was asked before an instant, and when it looks first."""
    first = case.first, None, vars(policy)["_look_at"]
    noted = Noted(policy)
    replay(case.costs, noted)
    return [first, *(asked for asked in noted.asked if asked[0] < time)]
