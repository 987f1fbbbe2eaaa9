"""Break-even: whether what a migration saves over a horizon is more than what it costs.

    gain  =  (saving − z · deviation) · horizon − cost
    move when  gain  >  least · running · horizon

The gain must be a share of what the running plan costs over the horizon. Rates are in intermediate results
per chronon, costs in intermediate results, times in chronons.
"""

from __future__ import annotations

from dataclasses import dataclass

from midstream.plans.values.errors import ArgumentError

KNOWN = (
    "swap",
    "genmig-reference-point",
    "genmig-end-timestamp",
    "genmig",
    "parallel-track",
    "moving-states",
)
"""The strategies whose costs can be predicted."""


@dataclass(frozen=True, slots=True)
class BreakEven:
    """When to migrate; larger `doubt` and `least_saving` migrate less often.

    horizon        for how long things are expected to stay as they are
    doubt          so many standard deviations the saving may be less than it seems
    least_saving   the share of what the running plan costs over the horizon that must be left of the saving,
                   less doubt and cost

    >>> BreakEven(horizon=100).gain(running=2.0, saving=1.0, deviation=0.5, cost=30.0)
    45.0
    """

    horizon: float
    doubt: float = 0.5
    least_saving: float = 0.05

    def gain(self, *, running: float, saving: float, deviation: float, cost: float) -> float:
        """What a migration is expected to save beyond its cost; 0 where one must not be begun."""
        gain = (saving - self.doubt * deviation) * self.horizon - cost
        return gain if gain > self.least_saving * running * self.horizon else 0.0


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


def predicted_cost(strategy: str, saving: float, new: float, until_split: float, window: float) -> float:
    """What a migration by a strategy costs beyond a change at once.

    Raises   ArgumentError for a strategy that is not known here.

    >>> predicted_cost("parallel-track", saving=3.0, new=2.0, until_split=10, window=10)
    90.0
    """
    given = while_both_run(strategy, new, until_split, window)
    if strategy in ("swap", "moving-states") or until_split <= 0:
        return given
    return max(0.0, saving) * duration(strategy, until_split, window) + given


def while_both_run(strategy: str, new: float, until_split: float, window: float) -> float:
    """What the new plan gives while the old one still runs; of moving states, at once.

    Raises   ArgumentError for a strategy that is not known here.
    """
    if strategy not in KNOWN:
        raise ArgumentError(f"autopilot: found strategy {strategy!r}, expected one of {', '.join(KNOWN)}")
    if strategy == "swap" or until_split <= 0:
        return 0.0
    if strategy == "moving-states":
        return moving_states_cost(new=new, until_split=until_split, window=window)
    lasts = duration(strategy, until_split, window)
    growing = min(lasts, window)
    return new * (growing**2 / (2 * window) + lasts - growing)


def duration(strategy: str, until_split: float, window: float) -> float:
    """For how long both plans run, where they do. Parallel track also waits until results of old elements
    with new ones have gone."""
    return until_split + window if strategy == "parallel-track" else until_split
