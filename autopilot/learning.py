"""Statistics of streams, learned cell by cell, for an autopilot."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf, log, sqrt

from midstream.autopilot.budget import Efforts
from midstream.autopilot.looks import Looks
from midstream.optimizer import Statistics
from midstream.optimizer.online.decayed_statistics import DecayedStatistics
from midstream.optimizer.online.restarting_statistics import RestartingStatistics
from midstream.optimizer.statistics import StreamStatistics
from midstream.plans.algebra.operators import Source
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.values.observations import Cell

DEVIATIONS = 2.0
"""The standard deviations by which the number of elements may differ from what their rate leads to."""


class Learning:
    """The statistics by which plans are chosen, and on demand those of the last window or so.

    half_life     the time after which an element counts half, in windows
    constant      statistics of relations
    tells_lately  True where `lately` will be asked
    """

    def __init__(
        self,
        plan: Plan,
        looks: Looks,
        half_life: float,
        *,
        constant: Mapping[Node, StreamStatistics] | None = None,
        tells_lately: bool = True,
    ) -> None:
        window = looks.window
        self._statistics = RestartingStatistics(plan, half_life * window, window, constant=constant)
        self.columns = self._statistics.columns
        """By stream, the columns whose values must be counted."""
        self.memory = float(max(window, looks.step))
        """The chronons after which the faster statistics count an element 1 / e."""
        self._fast: DecayedStatistics | None = None
        if tells_lately:
            self._fast = DecayedStatistics(plan, log(2) * self.memory, threshold=0.0, constant=constant)
        self._nodes = {
            node.operator.stream: node
            for node in logical_plan(plan).nodes
            if isinstance(node.operator, Source)
        }
        self.arrived = dict.fromkeys(self._nodes.values(), 0)
        """By source, the number of elements in all cells so far."""
        self._window = window
        self._course: deque[tuple[int, dict[Node, int]]] = deque()
        """The instants of the last window at which statistics were known, each with `arrived` then."""
        self.efforts = Efforts()

    def take(self, cells: Sequence[Cell]) -> None:
        """Add cells in order of time, as a collector gives them."""
        for cell in cells:
            self.arrived[self._nodes[cell.stream]] += cell.elements
            self.efforts.rows += len(cell.rows)
        self.efforts.cells += len(cells)
        self._statistics.take(cells)
        if self._fast is not None:
            self._fast.take(cells)

    def statistics(self, now: int) -> Statistics | None:
        """The statistics from elements before an instant; None within a window of the first one."""
        known, course = self._statistics.at(now), self._course
        if known is not None and (not course or course[-1][0] < now):
            course.append((now, dict(self.arrived)))
            while len(course) > 1 and course[1][0] <= now - self._window:
                course.popleft()
        return known

    def at_recent_rates(self, now: int, statistics: Statistics) -> Statistics:
        """Statistics with the rates of the last window, or since the previous look if that is longer.

        Old elements may outweigh these where a burst has just ended. A rate is an interval: of those that the
        count of elements leaves likely, it is the one that is nearest to the rate so far.
        """
        since, before = self._course[0]
        if since == now:
            return statistics
        return _with_distances(
            statistics,
            {
                node: likely_distance(statistics.streams[node].d, now - since, count - before[node])
                for node, count in self.arrived.items()
                if node in statistics.streams
            },
        )

    def lately(self, now: int) -> Statistics:
        """The recent statistics; only if `tells_lately`."""
        assert self._fast is not None
        return self._fast.at(now)


def likely_distance(d: float, passed: int, count: int) -> float:
    """The distance of elements nearest to `d` that is likely where so many have come in a time."""
    doubt = DEVIATIONS * sqrt(count + 1)
    most, least = count + 1 + doubt, count - doubt
    return min(max(d, passed / most), passed / least if least > 0 else inf)


def with_rates(
    statistics: Statistics, passed: int, before: Mapping[Node, int], until: Mapping[Node, int]
) -> Statistics:
    """Replace the rates of streams by those of a period, from the counts of elements before and behind it."""
    came = {node: n - before.get(node, 0) for node, n in until.items()}
    return _with_distances(statistics, {node: passed / n if n else inf for node, n in came.items()})


def _with_distances(statistics: Statistics, distances: Mapping[Node, float]) -> Statistics:
    streams = {
        node: replace(stream, d=distances[node]) if node in distances else stream
        for node, stream in statistics.streams.items()
    }
    return replace(statistics, streams=streams)
