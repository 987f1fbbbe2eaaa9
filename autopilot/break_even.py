"""Break-even: the gain of a migration is its saving over a horizon, less its cost.

    gain  =  (saving − z · deviation) · horizon − cost − fixed
    move when  gain  >  max(least · running · horizon, fixed)

The gain must be a share of the running plan's cost over the horizon, and as much as the fixed cost of a
migration, in case that the saving does not come true. Rates are in the advisor's unit per
chronon, costs in its unit, times in chronons.
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
"""The strategies with a predictable cost."""


@dataclass(frozen=True, slots=True)
class BreakEven:
    """The rule for migrating; larger `doubt` and `least_saving` migrate less often.

    horizon        the time for which the situation is expected to last
    doubt          the number of standard deviations by which the saving may be less than it seems
    least_saving   the share of the running plan's cost over the horizon that must be left of the saving, less
    doubt and cost
    fixed          the cost of any migration, before a result is made: to prove, to prepare, to compile

    >>> BreakEven(horizon=100).gain(running=2.0, saving=1.0, deviation=0.5, cost=30.0)
    45.0
    """

    horizon: float
    doubt: float = 0.5
    least_saving: float = 0.05
    fixed: float = 0.0

    def gain(self, *, running: float, saving: float, deviation: float, cost: float) -> float:
        """The expected saving of a migration beyond its cost; 0 if it must not be begun."""
        gain = (saving - self.doubt * deviation) * self.horizon - cost - self.fixed
        return gain if gain > max(self.least_saving * running * self.horizon, self.fixed) else 0.0


def genmig_cost(*, saving: float, new: float, until_split: float, window: float) -> float:
    """The cost of GenMig beyond an immediate change.

    It is the old plan's excess until the split time, and the new plan's results until then. The new plan
    begins empty, and reaches its full rate a window later.

    >>> genmig_cost(saving=3.0, new=2.0, until_split=10, window=10)
    40.0
    """
    return max(0.0, saving) * until_split + new * until_split**2 / (2 * window)


def moving_states_cost(*, new: float, until_split: float, window: float) -> float:
    """The cost of moving states: the new plan's valid results; 0 if no element is valid.

    >>> moving_states_cost(new=2.0, until_split=10, window=10)
    10.0
    >>> moving_states_cost(new=2.0, until_split=0, window=10)
    0.0
    """
    return new * window / 2 if until_split > 0 else 0.0


def predicted_cost(strategy: str, saving: float, new: float, until_split: float, window: float) -> float:
    """The cost of a migration by a strategy beyond an immediate change.

    Raises   ArgumentError for a strategy that is not known here.

    >>> predicted_cost("parallel-track", saving=3.0, new=2.0, until_split=10, window=10)
    90.0
    """
    meanwhile = while_both_run(strategy, new, until_split, window)
    if strategy in ("swap", "moving-states") or until_split <= 0:
        return meanwhile
    return max(0.0, saving) * duration(strategy, until_split, window) + meanwhile


def while_both_run(strategy: str, new: float, until_split: float, window: float) -> float:
    """The results of the new plan while the old one still runs; for moving states, at once.

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
    """The time in which both plans run, in chronons.

    Parallel track also waits until the results of old elements with new ones have expired.
    """
    return until_split + window if strategy == "parallel-track" else until_split
