"""The work for one key, written by hand, as state for Bytewax and streamz.

A state knows time only from the key's own elements, so a result may come later than it could.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from midstream.benchmarks.item import Tagged
from midstream.benchmarks.joins import KeyedRows, combinations
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Time


class AtOnce:
    """A state that holds no result back."""

    def finish(self) -> list[Element]:
        """No results, as none are held back."""
        return []


class JoinState(AtOnce):
    """Both sides of one key."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._sides: tuple[KeyedRows, KeyedRows] = ([], [])

    def push(self, arrived: Sequence[Tagged]) -> list[Element]:
        """Pair each element with the valid elements of the other side."""
        window, sides = self._window, self._sides
        out: list[Element] = []
        for port, (start, _, row) in arrived:
            for side in sides:
                while side and side[0][0] <= start:
                    del side[0]
            if port:
                for end, other in sides[0]:
                    out.append((start, end, other + row))
            else:
                for end, other in sides[1]:
                    out.append((start, end, row + other))
            sides[port].append((start + window, row))
        return out


class FourWayState(AtOnce):
    """All four sides of one key."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._sides: list[KeyedRows] = [[], [], [], []]

    def push(self, arrived: Sequence[Tagged]) -> list[Element]:
        """Combine each element with the valid elements of the other sides."""
        window, sides = self._window, self._sides
        out: list[Element] = []
        for port, (start, _, row) in arrived:
            for side in sides:
                while side and side[0][0] <= start:
                    del side[0]
            one, two, three = (side for i, side in enumerate(sides) if i != port)
            if one and two and three:
                out += combinations(start, port, row, one, two, three)
            sides[port].append((start + window, row))
        return out


class CountState:
    """The valid elements of one group."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._ends: deque[Time] = deque()
        self._since: Time = BEGINNING
        self._key: Any = None

    def push(self, arrived: Sequence[Tagged]) -> list[Element]:
        """The results of all periods that end."""
        window, ends = self._window, self._ends
        out: list[Element] = []
        for _, (start, _, (key, _)) in arrived:
            self._key = key
            if ends:
                self._expire(start, out)
                if ends and self._since < start:
                    out.append((self._since, start, (key, len(ends))))
            self._since = start
            ends.append(start + window)
        return out

    def _expire(self, time: Time, out: list[Element]) -> None:
        ends, key = self._ends, self._key
        while ends and ends[0] <= time:
            end = ends[0]
            if self._since < end:
                out.append((self._since, end, (key, len(ends))))
                self._since = end
            ends.popleft()

    def finish(self) -> list[Element]:
        """The results of the last periods."""
        out: list[Element] = []
        self._expire(FOREVER, out)
        return out


class DistinctState(AtOnce):
    """The end of the last result of one row."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._until: Time | None = None

    def push(self, arrived: Sequence[Tagged]) -> list[Element]:
        """The part of each element that no earlier element covers."""
        out: list[Element] = []
        for _, (start, _, row) in arrived:
            end = start + self._window
            if self._until is None or self._until <= start:
                out.append((start, end, row))
            elif self._until < end:
                out.append((self._until, end, row))
            self._until = end
        return out


class DifferenceState:
    """The number of times that one row is valid more often on the left side than on the right."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._ends: deque[tuple[Time, int]] = deque()
        self._excess = 0
        self._open: deque[Time] = deque()
        self._row: Any = None

    def push(self, arrived: Sequence[Tagged]) -> list[Element]:
        """A result for every row that expires, or is subtracted."""
        out: list[Element] = []
        for port, (start, _, row) in arrived:
            self._row = row
            self._expire(start, out)
            self._change(port == 0, start, out)
            self._ends.append((start + self._window, port))
        return out

    def _expire(self, time: Time, out: list[Element]) -> None:
        ends = self._ends
        while ends and ends[0][0] <= time:
            end, port = ends.popleft()
            self._change(port == 1, end, out)

    def _change(self, is_more: bool, time: Time, out: list[Element]) -> None:
        if is_more:
            self._excess += 1
            if self._excess > 0:
                self._open.append(time)
        else:
            if self._excess > 0 and (since := self._open.popleft()) < time:
                out.append((since, time, self._row))
            self._excess -= 1

    def finish(self) -> list[Element]:
        """The results of the last periods."""
        out: list[Element] = []
        self._expire(FOREVER, out)
        return out


class StatelessState(AtOnce):
    """Filter and map, without state, for libraries without operators of their own for it."""

    def __init__(self, window: int) -> None:
        pass

    def push(self, arrived: Sequence[Tagged]) -> list[Element]:
        """Keep even values and double them."""
        return [(start, end, (key, value * 2)) for _, (start, end, (key, value)) in arrived if value % 2 == 0]
