"""Break-even: whether what a migration saves over a horizon is more than what it costs.

    gain  =  (saving − z · deviation) · horizon − cost

Rates are in intermediate results per chronon, costs in intermediate results, times in chronons.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BreakEven:
    """When to migrate; larger `doubt` and `least_saving` migrate less often.

    horizon        for how long things are expected to stay as they are
    doubt          so many standard deviations the saving may be less than it seems
    least_saving   the share of the running plan's rate that must be saved

    >>> BreakEven(horizon=100).gain(running=2.0, saving=1.0, deviation=0.5, cost=30.0)
    45.0
    """

    horizon: float
    doubt: float = 0.5
    least_saving: float = 0.05

    def gain(self, *, running: float, saving: float, deviation: float, cost: float) -> float:
        """What a migration is expected to save beyond its cost; 0 where one must not be begun."""
        if saving <= self.least_saving * running:
            return 0.0
        return max(0.0, (saving - self.doubt * deviation) * self.horizon - cost)


def genmig_cost(*, saving: float, new: float, until_split: float, window: float) -> float:
    """What GenMig costs beyond a change at once: the old plan's excess until the split time, and what the new
    plan gives meanwhile. It begins empty, and is at its full rate a window later.

    >>> genmig_cost(saving=3.0, new=2.0, until_split=10, window=10)
    40.0
    """
    return max(0.0, saving) * until_split + new * until_split**2 / (2 * window)


def moving_states_cost(*, new: float, until_split: float, window: float) -> float:
    """What moving states costs: the new plan's results that are alive; none where nothing is.

    >>> moving_states_cost(new=2.0, until_split=10, window=10)
    10.0
    >>> moving_states_cost(new=2.0, until_split=0, window=10)
    0.0
    """
    return new * window / 2 if until_split > 0 else 0.0
