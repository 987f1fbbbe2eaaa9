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


class Additive(Accumulator):
    """One that a value leaves as it came, with the other sign."""

    __slots__ = ()

    @abstractmethod
    def change(self, value: Any, sign: int) -> None:
        """A value enters (1) or leaves (-1)."""

    def add(self, value: Any, end: Time) -> None:
        """It enters."""
        self.change(value, 1)

    def remove(self, value: Any) -> None:
        """It leaves."""
        self.change(value, -1)
