"""Decayed statistics that begin anew when the streams have changed."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations, groupby
from operator import attrgetter

from midstream.optimizer.online.changes import THRESHOLD, Changes
from midstream.optimizer.online.decayed_statistics import DecayedStatistics
from midstream.optimizer.online.requirements import Column, requirements
from midstream.optimizer.statistics import Statistics, StreamStatistics
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.arguments import require
from midstream.plans.values.errors import StatisticsError
from midstream.plans.values.observations import Cell

KEPT = 8
"""Number of windows whose cells are kept, to begin anew with the cells since a change."""

NOTHING = 1e-9
"""Count below which a value is dropped; rounding may leave as much when all additions are taken away."""


Counts = Mapping[Column, Mapping[Hashable, float]]
"""By column, the number of elements with each value."""


class RestartingStatistics:
    """Decayed statistics of the elements since the last change of the streams.

    Decayed counts need about their half-life to reflect a change, as they still contain what came before it.
    Here, the test of Page and Hinkley watches the logarithms of some numbers for each cell of time: the
    elements of a stream; the pairs of equal values that they form with each other and with those of the last
    `window` chronons, for each pair of columns that a join equates; and the ratio of any two of these, which
    decides about the best join order.

    Pairs consist of elements up to a window apart, so that less than a window tells too little about them.
    After a change the cells since then count, and in any case those of the last `window`. Until a window has
    passed since the first element, there are no statistics.

    Input    As for `DecayedStatistics`.
    State    In addition, the cells of the last 8 windows.
    Cost     In addition, O(values) per cell and pair of columns; at a change, the cells since then once more.
    """

    def __init__(
        self,
        plan: Plan,
        half_life: float,
        window: float,
        *,
        threshold: float = THRESHOLD,
        constant: Mapping[Node, StreamStatistics] | None = None,
    ) -> None:
        require("statistics: window", window, (int, float), "a number of chronons")
        if not 0 < window < math.inf:
            raise StatisticsError(f"found a window of {window}, expected a positive number of chronons")
        self._plan, self._half_life, self._constant = plan, half_life, constant
        self._known = self._anew()
        self._window = window
        self._changes = Changes(threshold)
        self._lately = _Lately(requirements(plan).pairs, window)
        self._cells: deque[Cell] = deque()
        self._first: int | None = None
        """Start of the first element."""
        self.changed: int | None = None
        """Beginning of the last change, if one was detected."""

    def _anew(self) -> DecayedStatistics:
        return DecayedStatistics(self._plan, self._half_life, constant=self._constant)

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """By stream, the columns whose values the collector must count."""
        return self._known.columns

    def take(self, cells: Iterable[Cell]) -> None:
        """Take cells in order of time, as the collector returns them: all of an instant at once."""
        for _, of_one in groupby(cells, key=attrgetter("end")):
            together = list(of_one)
            start = min(cell.start for cell in together)
            if self._first is None:
                self._first = min(cell.first for cell in together)
            self._known.take(together)
            self._cells += together
            while self._cells[0].end <= start - KEPT * self._window:
                self._cells.popleft()
            since = self._changes.take(start, self._lately.take(together))
            if since is not None:
                self._restart(int(since), together[0].end)

    def _restart(self, since: int, now: int) -> None:
        self.changed = since
        while self._cells and self._cells[0].start < min(since, now - self._window):
            self._cells.popleft()
        self._known = self._anew()
        self._known.take(self._cells)

    def at(self, now: int) -> Statistics | None:
        """The statistics at an instant of the grid (see `DecayedStatistics.at`).

        None within a window of the first element.
        """
        if self._first is None or now < self._first + self._window:
            return None
        return self._known.at(now)


class _Lately:
    """Numbers of elements, and of pairs of equal values, cell by cell.

    In a longer cell, they are those that streams with the same rates would have in one as long as the first.
    """

    def __init__(self, pairs: Sequence[tuple[Column, Column]], window: float) -> None:
        self._pairs, self._window = pairs, window
        self._first: int | None = None
        """The length of the first cell."""
        self._is_even = True
        """True while all cells are of that length."""
        self._counts: dict[Column, dict[Hashable, float]] = defaultdict(dict)
        self._instants: deque[tuple[int, int, Counts]] = deque()
        """The ends of the cells of an instant, their length, and the counts in them."""
        self._streams: set[str] = set()

    def take(self, cells: Sequence[Cell]) -> dict[Hashable, float]:
        """Take the cells of one instant; return the numbers to watch."""
        end = cells[0].end
        length = end - min(cell.start for cell in cells)
        if self._first is None:
            self._first = length
        self._is_even &= length == self._first
        share = of_pairs = self._first / length
        while self._instants and self._instants[0][0] <= end - self._window:
            self._remove(self._instants.popleft()[2])
        if not self._is_even:
            # Beside each other, and beside those that are kept.
            kept = sum(instant[1] for instant in self._instants)
            usual = (math.ceil(self._window / self._first) - 1) * self._first
            of_pairs *= (2 * usual + self._first) / (2 * kept + length)
        new = {(cell.stream, column): _weighed(cell, column) for cell in cells for column in cell.keys}
        found: dict[Hashable, float] = {pair: of_pairs * self._pairs_of(*pair, new) for pair in self._pairs}
        self._add(new)
        self._instants.append((end, length, new))
        counted = {cell.stream: share * cell.elements for cell in cells}
        self._streams |= counted.keys()
        found |= {stream: counted.get(stream, 0.0) for stream in self._streams}
        # Add a half, as 0 has no logarithm.
        logs = {name: math.log(number + 0.5) for name, number in found.items()}
        ratios = {(one, other): logs[one] - logs[other] for one, other in combinations(self._pairs, 2)}
        return logs | ratios

    def _add(self, new: Counts) -> None:
        for column, counts in new.items():
            lately = self._counts[column]
            for value, n in counts.items():
                lately[value] = lately.get(value, 0.0) + n

    def _remove(self, old: Counts) -> None:
        for column, counts in old.items():
            lately = self._counts[column]
            for value, n in counts.items():
                left = lately[value] - n
                if left < NOTHING:
                    del lately[value]
                else:
                    lately[value] = left

    def _pairs_of(self, one: Column, other: Column, new: Counts) -> float:
        """Number of pairs with a new value: with earlier values, and with each other."""
        ours, theirs = new.get(one, {}), new.get(other, {})
        before, others = self._counts[one], self._counts[other]
        return _products(ours, others) + _products(ours, theirs) + _products(theirs, before)


def _weighed(cell: Cell, column: str) -> Mapping[Hashable, float]:
    """Estimated number of elements with each value of a column, from the cell's sample."""
    weight = cell.weight
    return {value: n * weight for value, n in cell.keys[column].items()}


def _products(some: Mapping[Hashable, float], others: Mapping[Hashable, float]) -> float:
    return math.fsum([n * others[value] for value, n in some.items() if value in others])
