"""What an autopilot decided, with the numbers behind it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

P = TypeVar("P", bound=Hashable)


@dataclass(frozen=True)
class Decision(Generic[P]):
    """To move or to stay. Rates are in the advisor's unit per chronon, times in chronons, costs in its unit.

    at          when
    running     the plan that runs
    candidate   the plan with the greatest gain, or the least loss; None where there is none
    moves       whether to move to it
    strategy    by which strategy a move is the cheapest
    rate        what the running plan costs
    saving      what the candidate costs less
    deviation   the standard deviation of that
    horizon     for how long
    cost        what the migration costs
    gain        what is saved over the horizon, less doubt and cost
    guard       the only plan to which moves are allowed, as the total is too far above the best plan's
    reason      why
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
        """A sentence."""
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
