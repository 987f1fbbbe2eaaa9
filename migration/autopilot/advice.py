"""What an advisor tells of plans: what they are expected to cost, and how sure that is."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

P = TypeVar("P", bound=Hashable)
"""Of plans: ours, or whatever another engine calls one."""
S_contra = TypeVar("S_contra", contravariant=True)
"""Of what is known of the streams."""


@dataclass(frozen=True)  # with slots, Forecast[str](...) fails in Python 3.11
class Forecast(Generic[P]):
    """What a plan is expected to cost, in the advisor's unit per chronon.

    saving      by how much that is less than what the running plan costs
    deviation   the standard deviation of the saving; what both plans have in common is no part of it
    lately      what it would have cost per chronon within the last window or so, had it run: by this the
                autopilot keeps account of what each plan costs in the long run; None to take the rate
    """

    plan: P
    rate: float
    saving: float
    deviation: float = 0.0
    lately: float | None = None


@dataclass(frozen=True)
class Advice(Generic[P]):
    """What an advisor tells when it is asked.

    running   what the running plan is expected to cost per chronon
    others    plans to move to, possibly none
    reason    what the forecasts come from, in a few words, for those who read decisions
    lately    what the running plan cost per chronon within the last window or so, by the same measure as the
              others' `lately`
    """

    running: float
    others: tuple[Forecast[P], ...] = ()
    reason: str = ""
    lately: float | None = None


class Advisor(Protocol[P, S_contra]):
    """Knows plans that mean the same as the running one, and what they would cost."""

    def advise(self, running: P, known: S_contra) -> Advice[P] | None:
        """Forecasts, by what is known of the streams at an instant; None where too little is known.

        An advisor that is asked the same twice gives the same answer, however fast the machine is.
        """
        ...
