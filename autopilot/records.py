"""The events of a query's autopilot, as records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import floor
from typing import Any, Literal

from midstream.autopilot.decision import Decision, short
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.streams import Time

Event = Literal["stay", "move", "refused", "done", "aborted", "failed", "left"]
"""The events: `stay` and `move` at a look; `refused`, `done` and `aborted` for migrations; and two others.

After `failed` the next look tries again; after `left` the query is not watched any more.
"""

LONG = 1000
"""The largest number of letters of a plan in JSON."""


@dataclass(frozen=True)
class Record:
    """An event at an instant of application time.

    query      the query's name at that time
    at         the instant; None where nobody looked: a query that has left, or stays with its plan untouched
    event      the kind of event
    reason     the reason in words
    running    the plan that ran, or runs again or from now on
    decision   the decision with its numbers; for moves, stays and refusals
    costs      by plan, the cost per chronon that the advisor expects
    strategy   the strategy of a migration
    split      its split time: before it results are the old plan's
    spent      intermediate results of the query, of all plans that ran, since it is watched; while a
               migration is under way, those before it
    meanwhile  the number of these during a migration that has ended
    failure    the exception of the advisor
    """

    query: str
    at: int | None
    event: Event
    reason: str
    running: Plan
    decision: Decision[Plan] | None = None
    costs: Mapping[Plan, float] = field(default_factory=dict)
    strategy: str | None = None
    split: float | None = None
    spent: int = 0
    meanwhile: int | None = None
    failure: Exception | None = None

    def __str__(self) -> str:
        """A sentence, with times as numbers."""
        return self.text(str)

    def text(self, instant: Callable[[Time], str]) -> str:
        """A sentence, with times as a function writes them."""
        at = "" if self.at is None else f" at {instant(self.at)}:"
        if self.decision is not None and self.event in ("stay", "move"):
            sentence = str(self.decision).partition(": ")[2]
            until = "at once" if self.split is None else f"until {instant(floor(self.split))}"
            how = f"; by {self.strategy}, {until}" if self.event == "move" else ""
            return f"{self.query}:{at} {sentence}{how}"
        words = {
            "stay": "the query stays with its plan",
            "refused": "the migration was refused",
            "done": "the migration is done",
            "aborted": "the migration was aborted",
            "failed": "the look failed, and the next one tries again",
            "left": "not watched any more",
        }
        text = f"{self.query}:{at} {words[self.event]}"
        if self.meanwhile is not None:
            text += f", {self.meanwhile:,} intermediate results meanwhile"
        return f"{text}: {self.reason}" if self.reason else text

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON; plans on one line, and numbers as the decision has them."""
        data: dict[str, Any] = {
            "query": self.query,
            "at": self.at,
            "event": self.event,
            "reason": self.reason,
            "running": short(self.running, LONG),
            "strategy": self.strategy,
            "split": self.split,
            "spent": self.spent,
            "meanwhile": self.meanwhile,
            "failure": None if self.failure is None else f"{type(self.failure).__name__}: {self.failure}",
            "costs": {short(plan, LONG): cost for plan, cost in self.costs.items()},
        }
        if (decision := self.decision) is not None:
            numbers = ("rate", "saving", "deviation", "horizon", "cost", "gain")
            data |= {name: getattr(decision, name) for name in numbers}
            data["candidate"] = None if decision.candidate is None else short(decision.candidate, LONG)
            data["guard"] = None if decision.guard is None else short(decision.guard, LONG)
        return data
