"""How long a search may last."""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import monotonic

from midstream.plans.values.arguments import require, wrong
from midstream.plans.values.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Steps:
    """So many steps, of which one takes some tens of microseconds: the result is the same on every machine.

    To apply a rule takes `RULE` steps; a third of the number is for that. To price a pair of joined inputs
    takes one, and as many as the number may be taken wherever joins are put in order.
    """

    number: int

    def __post_init__(self) -> None:
        require("budget", self.number, int, "a number of steps")
        if self.number < 0:
            raise ArgumentError(f"budget: found {self.number} steps, expected 0 or more")


@dataclass(frozen=True, slots=True)
class Milliseconds:
    """So long: the result depends on the machine, and on what else it does, and may differ from run to
    run."""

    number: float

    def __post_init__(self) -> None:
        require("budget", self.number, (int, float), "a number of milliseconds")
        if not self.number > 0:
            raise ArgumentError(f"budget: found {self.number} milliseconds, expected more than 0")


Budget = Steps | Milliseconds

RULE = 10
"""How many steps it takes to apply a rule."""
PLAN = 20
"""How many steps it takes to make and price a whole plan."""
COMBINATION = 5
"""How many steps it takes to combine plans of an operator's inputs, and to price what comes out."""
STEPS = 30_000
"""How many steps a search takes at most unless the caller says otherwise."""
QUICK_STEPS = 10_000
"""How many it takes at most where somebody waits: in commands, and between two elements."""


def budget_of(budget: Budget | int) -> Budget:
    """A budget as it is given; a bare number is one of steps. Raises ArgumentError for anything else."""
    if isinstance(budget, Steps | Milliseconds):
        return budget
    if isinstance(budget, bool) or not isinstance(budget, int):
        raise wrong("budget", budget, "a number of steps, Steps(…) or Milliseconds(…)")
    return Steps(budget)


class Clock:
    """What is left of a budget, from now on. The first third of it is for applying rules."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._steps = budget.number if isinstance(budget, Steps) else math.inf
        self._milliseconds = budget.number if isinstance(budget, Milliseconds) else math.inf
        self._applied = 0
        self._began = monotonic()

    def apply_rule(self) -> None:
        """A rule is applied."""
        self._applied += RULE

    @property
    def again(self) -> Budget:
        """The budget of another search behind this one: as many steps, or the time that is left."""
        if isinstance(self._budget, Steps):
            return self._budget
        return Milliseconds(max(self._milliseconds - self._passed, 1e-3))

    @property
    def pairs(self) -> int:
        """How many pairs are priced where joins are put in order."""
        return int(min(self._steps, STEPS))

    @property
    def plans(self) -> int:
        """How many whole plans are priced."""
        return int(min(self._steps, STEPS)) // PLAN

    @property
    def combinations(self) -> float:
        """How often plans of inputs are combined where the several cheapest are looked for."""
        return self._steps / COMBINATION

    @property
    def may_explore(self) -> bool:
        """Whether a further rule may be applied."""
        return self._applied + RULE <= self._steps / 3 and self._passed < self._milliseconds / 3

    @property
    def may_compare(self) -> bool:
        """Whether further subplans may be priced."""
        return self._passed < self._milliseconds

    @property
    def _passed(self) -> float:
        return (monotonic() - self._began) * 1000
