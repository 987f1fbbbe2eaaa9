"""What a running aggregate function is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from midstream.plans.values.streams import Time


class Accumulator(ABC):
    """The aggregate of the values that are in. Unknown values (None) are not passed in."""

    __slots__ = ()

    @abstractmethod
    def add(self, value: Any, end: Time) -> None:
        """A value enters, to leave at `end`. Values enter in order of their starts."""

    @abstractmethod
    def remove(self, value: Any) -> None:
        """A value leaves, because its end is reached."""

    @abstractmethod
    def value(self, at: Time) -> Any:
        """The aggregate of the values that are in and end after `at`. Successive calls never go back in
        time."""
