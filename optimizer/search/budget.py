"""The budget of a search."""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import monotonic

from midstream.plans.values.arguments import require, wrong
from midstream.plans.values.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Steps:
    """A budget in steps of some tens of microseconds; the result is the same on every machine.

    Applying a rule takes `RULE` steps, and a third of the number is for rules. Pricing a pair of joined
    inputs takes one step; each ordering of joins may take up to the whole number.
    """

    number: int

    def __post_init__(self) -> None:
        require("budget", self.number, int, "a number of steps")
        if self.number < 0:
            raise ArgumentError(f"budget: found {self.number} steps, expected 0 or more")


@dataclass(frozen=True, slots=True)
class Milliseconds:
    """A budget in milliseconds; the result depends on the machine and may vary from run to run."""

    number: float

    def __post_init__(self) -> None:
        require("budget", self.number, (int, float), "a number of milliseconds")
        if not self.number > 0:
            raise ArgumentError(f"budget: found {self.number} milliseconds, expected more than 0")


Budget = Steps | Milliseconds

RULE = 10
"""Steps to apply a rule."""
PLAN = 20
"""Steps to make and price a whole plan."""
COMBINATION = 5
"""Steps to combine plans of an operator's inputs, and to price the result."""
STEPS = 30_000
"""Default limit of a search, in steps."""
QUICK_STEPS = 10_000
"""Limit in steps for a search that somebody waits for: in commands, and between two elements."""


def budget_of(budget: Budget | int) -> Budget:
    """Convert to a budget; a bare number counts steps, anything else raises ArgumentError."""
    if isinstance(budget, Steps | Milliseconds):
        return budget
    if isinstance(budget, bool) or not isinstance(budget, int):
        raise wrong("budget", budget, "a number of steps, Steps(…) or Milliseconds(…)")
    return Steps(budget)


class Clock:
    """The rest of a budget, from now on; its first third is for applying rules."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._steps = budget.number if isinstance(budget, Steps) else math.inf
        self._milliseconds = budget.number if isinstance(budget, Milliseconds) else math.inf
        self._applied = 0
        self._began = monotonic()

    def apply_rule(self) -> None:
        """Count an applied rule."""
        self._applied += RULE

    @property
    def again(self) -> Budget:
        """The budget of a second search after this one: as many steps, or the time that remains."""
        if isinstance(self._budget, Steps):
            return self._budget
        return Milliseconds(max(self._milliseconds - self._passed, 1e-3))

    @property
    def pairs(self) -> int:
        """Number of pairs that an ordering of joins may price."""
        return int(min(self._steps, STEPS))

    @property
    def plans(self) -> int:
        """Number of whole plans that may be priced."""
        return int(min(self._steps, STEPS)) // PLAN

    @property
    def combinations(self) -> float:
        """Number of times that a search for the several cheapest plans may combine plans of inputs."""
        return self._steps / COMBINATION

    @property
    def may_explore(self) -> bool:
        """True if another rule may be applied."""
        return self._applied + RULE <= self._steps / 3 and self._passed < self._milliseconds / 3

    @property
    def may_compare(self) -> bool:
        """True if more subplans may be priced."""
        return self._passed < self._milliseconds

    @property
    def _passed(self) -> float:
        return (monotonic() - self._began) * 1000
