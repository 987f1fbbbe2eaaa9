"""Settings of running operators: what is in force when, while elements flow."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from copy import copy
from itertools import islice, takewhile
from typing import Any, Generic, TypeVar

from midstream.operators.base.operator import Operator
from midstream.plans.values.errors import PlanError
from midstream.plans.values.streams import BEGINNING, FOREVER, START, Batch, Time

T = TypeVar("T")


def _for_ever(setting: object) -> Time:
    return FOREVER


class Setting(Generic[T]):
    """The setting of a running operator: each element is treated by what is in force at its start.

    It changes at an instant of application time that no element has reached yet. So the results depend on
    that instant alone, and not on when the change was requested or where batches end.

    State    The settings so far, future ones included, until they are forgotten.
    Cost     O(1) per batch, O(log batch) where the setting changes; O(log settings) to request a change, and
             amortised O(1) to forget a setting.
    Source   thesis, 21.3 and 21.4.3

    >>> setting = Setting(50)
    >>> setting.change(20, at=3)
    >>> setting.parts([(1, 2, "b"), (3, 4, "a")], reached=3)
    [(50, [(1, 2, 'b')]), (20, [(3, 4, 'a')])]
    >>> setting.history
    [(-inf, 50), (3, 20)]
    """

    __slots__ = ("_ahead", "_ends", "given_until", "history", "latest", "now", "until")

    def __init__(self, value: T) -> None:
        self.history: list[tuple[Time, T]]
        """The settings with the instants from which they hold, in order of time; future changes included."""
        self._ends: list[tuple[Time, Time]]
        """By setting, but for the last: when its elements have expired, and when those so far have."""
        self._ahead: int
        """The number of entries of the history that are in force or past."""
        self.now: T
        """The setting by which elements are treated while the progress is before `until`."""
        self.until: Time
        """The instant of the next change."""
        self.begin(value)
        self.latest: Time = BEGINNING
        """The start of the last element."""
        self.given_until: Time = BEGINNING
        """The instant before which another operator, in whose place this one runs, has got elements."""

    def at(self, time: Time) -> T:
        """The setting in force at a time."""
        return self.history[bisect_right(self.history, time, key=START) - 1][1]

    def before(self, time: Time) -> T:
        """The setting in force one instant before a time."""
        return self.history[bisect_left(self.history, time, key=START) - 1][1]

    def ahead_of(self, reached: Time) -> Time:
        """The first instant of which no element has been given out."""
        return max(reached, self.given_until, self.latest + 1)

    def require_ahead(self, name: str, at: int, reached: Time) -> None:
        """Refuse a change that comes too late, as elements as late as `at` have been given out."""
        if type(at) is not int:
            raise PlanError(f"{name}: found a change at {at!r}, expected an integer", operator=name)
        expected = self.ahead_of(reached)
        if at < expected:
            raise PlanError(
                f"{name}: found a change at {at}, expected one at {expected} or later: elements "
                "that start before have been given out",
                operator=name,
                at=at,
                progress=reached,
            )

    def change(self, value: T, at: int, validity: Callable[[T], Time] = _for_ever) -> None:
        """Let another setting hold from `at` on; cancels earlier requests for that time or later.

        `validity` gives the most chronons for which an element is valid that comes with a setting.
        """
        place = bisect_left(self.history, at, key=START)
        del self.history[place:], self._ends[place - 1 :]
        end = at + validity(self.history[-1][1])
        self._ends.append((end, max(end, self._ends[-1][1]) if self._ends else end))
        self.history.append((at, value))
        self._ahead = min(self._ahead, len(self.history) - 1)
        self.until = self.history[self._ahead][0]

    def complete_at(self, validity: Callable[[T], Time]) -> Time:
        """The instant from which on nothing is valid that came before the last change.

        And if later elements are valid for longer than earlier ones, the first ones of these end then.
        """
        at, value = self.history[-1]
        return max(self._ends[-1][1], at + validity(value)) if self._ends else BEGINNING

    def forget(self, number: int) -> None:
        """Forget a number of the earliest settings, but none that is in force or to come."""
        number = min(number, self._ahead - 1)
        if number > 0:
            self.history[: number + 1] = [(BEGINNING, self.history[number][1])]
            del self._ends[:number]
            self._ahead -= number

    def forget_expired(self, reached: Time) -> None:
        """Forget the earliest settings by which nothing is treated, and nothing valid has come.

        Of rows that are counted, it is not known when they expire; no setting is needed to know that.
        """
        past = islice(self._ends, self._ahead - 1)
        self.forget(sum(1 for _ in takewhile(lambda ends: ends[0] <= reached or ends[0] == FOREVER, past)))

    def copied(self) -> Setting[T]:
        """A setting that goes on from here by itself."""
        new = copy(self)
        new.history, new._ends = list(self.history), list(self._ends)
        return new

    def begin(self, value: T) -> None:
        """Begin anew with a setting, as if there had been no other."""
        self.history, self._ends, self._ahead = [(BEGINNING, value)], [], 1
        self.now, self.until = value, FOREVER

    def parts(self, batch: Batch, reached: Time) -> Sequence[tuple[T, Batch]]:
        """The parts of a batch that ends at a progress, each with the setting for its elements."""
        if batch:
            self.latest = batch[-1][0]
        if reached < self.until:
            return ((self.now, batch),)
        parts: list[tuple[T, Batch]] = []
        while self.until <= reached and self._ahead < len(self.history):
            cut = bisect_left(batch, self.until, key=START)
            parts.append((self.now, batch[:cut]))
            batch = batch[cut:]
            self.now = self.history[self._ahead][1]
            self._ahead += 1
            self.until = FOREVER if self._ahead == len(self.history) else self.history[self._ahead][0]
        return [*parts, (self.now, batch)]


class WithSetting(Operator):
    """An operator whose setting can change while it runs."""

    setting: Setting[Any]

    def earliest(self, value: Any) -> tuple[Time, int]:
        """The first instant at which another setting may begin, and the granule of later ones."""
        return self.setting.ahead_of(self.reached[0]), 1

    def require_change(self, value: Any, at: int) -> None:
        """Refuse another setting from `at` on.

        Raises   PlanError where elements as late as `at` have been given out, or where later results would
                 come out of order.
        """
        self.setting.require_ahead(self.name, at, self.reached[0])

    def change(self, value: Any, at: int, validity: Callable[[Any], Time] = _for_ever) -> None:
        """Treat the elements that start at `at` or later by another setting; earlier ones keep theirs.

        It cancels earlier requests for its time or after.

        Raises   What `require_change` raises; then nothing has changed.
        """
        self.require_change(value, at)
        self.setting.change(value, at, validity)
