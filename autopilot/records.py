"""What an autopilot did to a query, as records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import floor
from typing import Any, Literal

from midstream.autopilot.decision import Decision, short
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.streams import Time

Event = Literal["stay", "move", "refused", "done", "aborted", "failed", "left"]
"""It looked and stays, or moves; the migration that it wished for was refused; one has ended; the advisor has
failed, and is not asked any more; the query is not watched any more."""

LONG = 1000
"""Letters of a plan in JSON at most."""


@dataclass(frozen=True)
class Record:
    """Something that happened at an instant of application time.

    query      its name then
    at         the instant; None where a query has left
    event      what happened
    reason     why, in words
    running    the plan that ran, or runs again or from now on
    decision   with its numbers; of moves and stays, and of what was refused
    costs      by plan, what the advisor expects it to cost per chronon
    strategy   how a migration is carried out
    split      its split time: before it results are the old plan's
    spent      intermediate results of the query so far, of all plans that ran, since it is watched; while a
               migration is under way, those before it
    meanwhile  how many of them came while a migration was under way that has ended
    failure    what the advisor raised
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
        """A sentence."""
        return self.told(str)

    def told(self, instant: Callable[[Time], str]) -> str:
        """The same, with times as a function writes them."""
        at = "" if self.at is None else f" at {instant(self.at)}:"
        if self.event in ("stay", "move"):
            sentence = str(self.decision).partition(": ")[2]
            until = "at once" if self.split is None else f"until {instant(floor(self.split))}"
            how = f"; by {self.strategy}, {until}" if self.event == "move" else ""
            return f"{self.query}:{at} {sentence}{how}"
        words = {
            "refused": "the migration was refused",
            "done": "the migration is done",
            "aborted": "the migration was aborted",
            "failed": "the advisor failed, and is not asked any more",
            "left": "not watched any more",
        }
        told = f"{self.query}:{at} {words[self.event]}"
        if self.meanwhile is not None:
            told += f", {self.meanwhile:,} intermediate results meanwhile"
        return f"{told}: {self.reason}" if self.reason else told

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON; plans on one line, and numbers as the decision has them."""
        told: dict[str, Any] = {
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
            told |= {name: getattr(decision, name) for name in numbers}
            told["candidate"] = None if decision.candidate is None else short(decision.candidate, LONG)
            told["guard"] = None if decision.guard is None else short(decision.guard, LONG)
        return told
