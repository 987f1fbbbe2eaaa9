"""The advice of an advisor: the expected costs of plans, and their uncertainty."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from midstream.plans.values.arguments import require, require_number, wrong

P = TypeVar("P", bound=Hashable)
"""The type of plans: ours, or that of another engine."""
S_contra = TypeVar("S_contra", contravariant=True)
"""The type of the statistics on the streams."""


def require_plan(who: str, plan: P) -> P:
    """Return a plan.

    Raises   ArgumentError for a plan that cannot be hashed.
    """
    try:
        hash(plan)
    except TypeError:
        raise wrong(who, plan, "something that can be hashed") from None
    return plan


@dataclass(frozen=True)  # with slots, Forecast[str](...) fails in Python 3.11
class Forecast(Generic[P]):
    """The expected cost of a plan, in the advisor's unit per chronon.

    rate        the expected cost
    saving      the cost of the running plan less that of this one
    deviation   the standard deviation of the saving; parts that both plans have do not count
    lately      the cost per chronon within the last window or so, had the plan run: by it the autopilot adds
                up the cost of each plan in the long run; None to take the rate
    state       the size of its state, in any unit; None if that is not known
    """

    plan: P
    rate: float
    saving: float
    deviation: float = 0.0
    lately: float | None = None
    state: float | None = None

    def __post_init__(self) -> None:
        """Raises ArgumentError for a value that is no number."""
        require_plan("forecast: plan", self.plan)
        for name in ("rate", "saving", "deviation"):
            require_number(f"forecast: {name}", getattr(self, name))
        for name in ("lately", "state"):
            if getattr(self, name) is not None:
                require_number(f"forecast: {name}", getattr(self, name))


@dataclass(frozen=True)
class Advice(Generic[P]):
    """The answer of an advisor.

    running   the expected cost of the running plan per chronon
    others    forecasts for plans to move to, possibly none
    reason    the origin of the forecasts, in a few words, for readers of decisions
    lately    the cost of the running plan per chronon within the last window or so, as `lately` of the others
    state     the size of the running plan's state
    """

    running: float
    others: tuple[Forecast[P], ...] = ()
    reason: str = ""
    lately: float | None = None
    state: float | None = None

    def __post_init__(self) -> None:
        """Raises ArgumentError for values that are no numbers and no forecasts."""
        require_number("advice: running", self.running)
        require("advice: others", self.others, tuple, "a tuple of forecasts")
        for other in self.others:
            require("advice: others", other, Forecast, "a tuple of forecasts")
        require("advice: reason", self.reason, str, "text")
        for name in ("lately", "state"):
            if getattr(self, name) is not None:
                require_number(f"advice: {name}", getattr(self, name))


def advice_of_costs(
    running: P, costs: Mapping[P, float], deviation: float = 0.0, reason: str = ""
) -> Advice[P]:
    """Advice from the cost of each plan, by your own cost function, rates or selectivities.

    For two streams with `a` and `b` elements per chronon, valid for a window w, and a share `s` of pairs that
    agree, a join gives 2 w a b s results per chronon.

    costs       per chronon, of all plans with the running one
    deviation   the standard deviation of the difference of two of them

    Raises   ArgumentError where the running plan is missing, or costs are no numbers.

    >>> advice = advice_of_costs("old", {"old": 5.0, "new": 2.0})
    >>> advice.running, advice.others[0].plan, advice.others[0].saving
    (5.0, 'new', 3.0)
    """
    if not isinstance(costs, Mapping):
        raise wrong("advice of costs: costs", costs, "numbers by plan")
    by_plan = {plan: require_number(f"advice of costs: {plan}", cost) for plan, cost in costs.items()}
    try:
        own = by_plan.pop(running)
    except (KeyError, TypeError):
        raise wrong("advice of costs: running", running, f"one of the plans {list(costs)}") from None
    others = (Forecast(plan, cost, own - cost, deviation) for plan, cost in by_plan.items())
    return Advice(own, tuple(others), reason)


class Advisor(Protocol[P, S_contra]):
    """An object that knows plans equivalent to the running one, and their costs."""

    def advise(self, running: P, statistics: S_contra, /) -> Advice[P] | None:
        """Forecasts by the statistics on the streams at an instant; None where too little is known.

        An advisor gives the same answer to the same question, however fast the machine is.
        """
