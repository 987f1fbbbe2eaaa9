"""The interface of a running aggregate function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from midstream.plans.values.streams import Time


class Accumulator(ABC):
    """The aggregate of the present values; NULL values are not passed in."""

    __slots__ = ()

    @abstractmethod
    def add(self, value: Any, end: Time) -> None:
        """Add a value that leaves at `end`; values enter in order of their starts."""

    @abstractmethod
    def remove(self, value: Any) -> None:
        """Remove a value, because its end is reached."""

    @abstractmethod
    def value(self, at: Time) -> Any:
        """The aggregate of the present values that end after `at`; calls never go back in time."""


class Additive(Accumulator):
    """An accumulator from which a value leaves by the same change with the other sign."""

    __slots__ = ()

    @abstractmethod
    def change(self, value: Any, sign: int) -> None:
        """Add (1) or remove (-1) a value."""

    def add(self, value: Any, end: Time) -> None:
        """Add a value."""
        self.change(value, 1)

    def remove(self, value: Any) -> None:
        """Remove a value."""
        self.change(value, -1)
