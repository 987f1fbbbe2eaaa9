"""Functions of single elements with a setting that can be changed while the operator runs."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Callable
from typing import Generic, TypeVar

from midstream.operators.base.operator import Operator
from midstream.plans.values.errors import PlanError
from midstream.plans.values.streams import BEGINNING, FOREVER, START, Batch, Time

T = TypeVar("T")


class Adjustable(Operator, Generic[T]):
    """Transform every element by the setting in force at its start.

    A setting changes at an instant of application time that no element has reached yet. So the results depend
    on that instant alone, and not on when the change was requested or where batches end.

    State    No elements; the settings so far.
    Cost     O(1) per element, O(log batch) per change.
    Source   thesis, 21.3 and 21.4.3
    """

    def __init__(self, setting: T) -> None:
        super().__init__()
        self.history: list[tuple[Time, T]] = [(BEGINNING, setting)]
        """The settings with the instants from which they hold, in order of time; future changes included."""
        self._ahead = 1
        """The number of entries of the history that are in force or past."""
        self._next_change: Time = FOREVER
        self.latest: Time = BEGINNING
        """The start of the last element."""
        self._function = self._compile(setting)

    @abstractmethod
    def _compile(self, setting: T) -> Callable[[Batch], Batch]:
        """The function that transforms a batch by a setting."""

    @property
    def is_changing(self) -> bool:
        """True if a change lies ahead."""
        return self._ahead < len(self.history)

    @property
    def setting(self) -> T:
        """The setting in force at the progress of the input."""
        return self.history[self._ahead - 1][1]

    def before(self, at: Time) -> T:
        """The setting in force one instant before a time."""
        return self.history[bisect_left(self.history, at, key=START) - 1][1]

    def _check(self, at: int) -> None:
        """Refuse a change that comes too late."""
        reached = self.reached[0]
        if type(at) is not int:
            raise PlanError(f"{self.name}: found a change at {at!r}, expected an integer", operator=self.name)
        if at < reached or at == self.latest:
            expected = self.latest + 1 if reached == self.latest else reached
            raise PlanError(
                f"{self.name}: found a change at {at}, expected one at {expected} or later: elements "
                "that start before have been given out",
                operator=self.name,
                at=at,
                progress=reached,
            )

    def _change(self, setting: T, at: int) -> None:
        """Let a new setting hold from `at` on; cancels earlier requests for that time or later."""
        del self.history[bisect_left(self.history, at, key=START) :]
        self.history.append((at, setting))
        self._ahead = min(self._ahead, len(self.history) - 1)
        self._next_change = self.history[self._ahead][0]
        self._catch_up([])

    def _process(self, port: int, batch: Batch) -> Batch:
        if batch:
            self.latest = batch[-1][0]
        if self.reached[0] < self._next_change:
            return self._function(batch) if batch else batch
        return self._catch_up(batch)

    def _catch_up(self, batch: Batch) -> Batch:
        """Apply the changes that the progress has reached."""
        out: Batch = []
        while self._next_change <= self.reached[0] and self._ahead < len(self.history):
            cut = bisect_left(batch, self._next_change, key=START)
            out += self._function(batch[:cut])
            batch = batch[cut:]
            self._function = self._compile(self.history[self._ahead][1])
            self._ahead += 1
            is_last = self._ahead == len(self.history)
            self._next_change = FOREVER if is_last else self.history[self._ahead][0]
        return out + self._function(batch)
