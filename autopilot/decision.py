"""The decision of an autopilot, with the numbers behind it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

P = TypeVar("P", bound=Hashable)


@dataclass(frozen=True)
class Decision(Generic[P]):
    """A decision to move or to stay; rates in the advisor's unit per chronon, times in chronons.

    at          the instant
    running     the plan that runs
    candidate   the plan with the greatest gain, or the least loss; None if there is none
    moves       True to move to it
    strategy    the cheapest strategy for the move
    rate        the cost of the running plan
    saving      the cost of the running plan less that of the candidate
    deviation   the standard deviation of the saving
    horizon     the time for which the situation is expected to last
    cost        the cost of the migration, in the advisor's unit
    gain        the saving over the horizon, less doubt and cost
    guard       the only plan to which moves are allowed, as the total is too far above the best plan's
    reason      the reason in words
    """

    at: float
    running: P
    reason: str
    candidate: P | None = None
    moves: bool = False
    strategy: str | None = None
    rate: float = 0.0
    saving: float = 0.0
    deviation: float = 0.0
    horizon: float = 0.0
    cost: float = 0.0
    gain: float = 0.0
    guard: P | None = None

    @property
    def to(self) -> P | None:
        """The plan to move to; None to stay."""
        return self.candidate if self.moves else None

    def __str__(self) -> str:
        """A sentence for people."""
        if self.candidate is None:
            return f"at {self.at:g}: stay, {self.reason}"
        numbers = (
            f"saves {self.saving:.3g} ± {self.deviation:.2g} of {self.rate:.3g} per chronon"
            f" over {self.horizon:.0f} chronons, costs {self.cost:.3g}"
        )
        to = short(self.candidate)
        if self.moves:
            return f"at {self.at:g}: move to {to} by {self.strategy}, {self.reason}: it {numbers}"
        return f"at {self.at:g}: stay, {self.reason}: a move to {to} {numbers}"


def short(plan: Hashable, most: int = 60) -> str:
    """A plan on one line.

    >>> short("join x = y\\n├─ a\\n└─ b")
    'join x = y a b'
    """
    line = " ".join(word for word in str(plan).split() if word not in ("├─", "└─", "│"))
    return line if len(line) <= most else line[: most - 1] + "…"
