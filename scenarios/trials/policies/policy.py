"""Policies that decide by arrivals: before each decision they have seen all earlier ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

from midstream.scenarios.trials.policies.case import Arrival, Case

How = Literal["genmig", "moving-states"]
"""The strategies of migration that can be priced offline."""


class Observing(ABC):
    """Reads the arrivals of a case, in order of time, also those during a migration."""

    def __init__(self, case: Case) -> None:
        self._arrivals = iter(case.arrivals)
        self._coming = next(self._arrivals, None)

    @abstractmethod
    def observe(self, arrival: Arrival) -> None:
        """Take note of an arrival."""

    def observe_before(self, time: int) -> None:
        """Observe all arrivals before an instant that are not observed yet."""
        while self._coming is not None and self._coming[0] < time:
            self.observe(self._coming)
            self._coming = next(self._arrivals, None)
