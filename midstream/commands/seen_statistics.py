"""Statistics of a run's streams, written to a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from midstream.engine import Engine
from midstream.io.new_file import NewFile
from midstream.operators.engine.measuring.statistics_collector import Collector
from midstream.optimizer import Statistics
from midstream.optimizer.online.decayed_statistics import DecayedStatistics
from midstream.optimizer.statistics_file import dump_statistics
from midstream.plans.algebra.operators import Source, TimeWindow
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.values.streams import FOREVER, Batch, Time

HALF_LIFE = 8
"""The half-life of statistics, in windows of the largest size."""
CELLS = 8
"""The number of cells in a window."""


class SeenStatistics:
    """Collects statistics of some queries' streams, in which recent elements count most.

    If no query has a bounded time window, they are statistics of the last elements.
    """

    def __init__(self, engine: Engine, plans: Mapping[str, Plan]) -> None:
        self._engine, self._queries = engine, list(plans)
        together = Plan(
            {
                f"{query}.{name}": root
                for query, plan in plans.items()
                for name, root in logical_plan(plan).outputs.items()
            }
        )
        self._window = max(_windows(together.nodes), default=0)
        self._until = 0
        if self._window:
            step = max(1, self._window // CELLS)
            self._known = DecayedStatistics(
                together, HALF_LIFE * self._window, threshold=0, constant=self._observed(Source).streams
            )
            self._collector = Collector(together.sources, self._known.columns, step)
            engine.watch_streams(self, step)

    def take(self, stream: str, batch: Batch, progress: Time) -> None:
        """Collect a batch of a stream."""
        self._collector.take(stream, batch, progress)

    def look(self, now: Time) -> None:
        """Take the cells up to an instant that all streams have reached."""
        cells = self._collector.cells(now)
        self._until = max([self._until, *(cell.end for cell in cells)])
        self._known.take(cells)

    def statistics(self) -> Statistics:
        """The statistics after the end of all streams."""
        if not self._window:
            return self._observed()
        self.look(FOREVER)
        return self._known.at(self._until)

    def write(self, file: NewFile) -> None:
        """Write the statistics."""
        file.write(dump_statistics(self.statistics()) + "\n")

    def _observed(self, *but: type) -> Statistics:
        """Statistics of the engine on the queries' leaves, except for some kinds."""
        known = [self._engine.statistics(query) for query in self._queries]
        return Statistics(
            {
                node: one
                for each in known
                for node, one in each.streams.items()
                if not node.inputs and not isinstance(node.operator, but)
            }
        )


def _windows(nodes: Iterable[Node]) -> Sequence[int]:
    return [
        node.operator.size
        for node in nodes
        if isinstance(node.operator, TimeWindow) and node.operator.size is not None
    ]
