"""What an advisor tells of plans: what they are expected to cost, and how sure that is."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from midstream.plans.values.arguments import require, require_number, wrong

P = TypeVar("P", bound=Hashable)
"""Of plans: ours, or whatever another engine calls one."""
S_contra = TypeVar("S_contra", contravariant=True)
"""Of what is known of the streams."""


def require_plan(who: str, plan: P) -> P:
    """A plan. Raises ArgumentError for what cannot be hashed."""
    try:
        hash(plan)
    except TypeError:
        raise wrong(who, plan, "something that can be hashed") from None
    return plan


@dataclass(frozen=True)  # with slots, Forecast[str](...) fails in Python 3.11
class Forecast(Generic[P]):
    """What a plan is expected to cost, in the advisor's unit per chronon.

    saving      by how much that is less than what the running plan costs
    deviation   the standard deviation of the saving; what both plans have in common is no part of it
    lately      what it would have cost per chronon within the last window or so, had it run: by this the
                autopilot keeps account of what each plan costs in the long run; None to take the rate
    state       how much it keeps, in any unit; None where that is not known
    """

    plan: P
    rate: float
    saving: float
    deviation: float = 0.0
    lately: float | None = None
    state: float | None = None

    def __post_init__(self) -> None:
        """Raises ArgumentError for what is no number."""
        require_plan("forecast: plan", self.plan)
        for name in ("rate", "saving", "deviation"):
            require_number(f"forecast: {name}", getattr(self, name))
        for name in ("lately", "state"):
            if getattr(self, name) is not None:
                require_number(f"forecast: {name}", getattr(self, name))


@dataclass(frozen=True)
class Advice(Generic[P]):
    """What an advisor tells when it is asked.

    running   what the running plan is expected to cost per chronon
    others    plans to move to, possibly none
    reason    what the forecasts come from, in a few words, for those who read decisions
    lately    what the running plan cost per chronon within the last window or so, by the same measure as the
              others' `lately`
    state     how much the running plan keeps
    """

    running: float
    others: tuple[Forecast[P], ...] = ()
    reason: str = ""
    lately: float | None = None
    state: float | None = None

    def __post_init__(self) -> None:
        """Raises ArgumentError for what are no numbers and no forecasts."""
        require_number("advice: running", self.running)
        require("advice: others", self.others, tuple, "a tuple of forecasts")
        for one in self.others:
            require("advice: others", one, Forecast, "a tuple of forecasts")
        require("advice: reason", self.reason, str, "text")
        for name in ("lately", "state"):
            if getattr(self, name) is not None:
                require_number(f"advice: {name}", getattr(self, name))


def advice_of_costs(
    running: P, costs: Mapping[P, float], deviation: float = 0.0, reason: str = ""
) -> Advice[P]:
    """Advice by what each plan costs, from a cost function, rates or selectivities of one's own.

    Of two streams with `a` and `b` elements per chronon, valid for a window w, a share `s` of whose pairs
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
    """Knows plans that mean the same as the running one, and what they would cost."""

    def advise(self, running: P, known: S_contra) -> Advice[P] | None:
        """Forecasts, by what is known of the streams at an instant; None where too little is known.

        An advisor that is asked the same twice gives the same answer, however fast the machine is.
        """
