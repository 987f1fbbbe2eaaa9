"""Cost of collecting statistics while a query runs, as a share of the query's cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import merge
from operator import itemgetter
from time import process_time_ns
from typing import Any

from rich.console import Console
from rich.table import Table

from midstream.benchmarks.item import Item, Workload, workload
from midstream.benchmarks.items import ITEMS
from midstream.engine import Engine
from midstream.operators.engine.garbage_collection import streaming_gc
from midstream.operators.engine.measuring.statistics_collector import Collector
from midstream.optimizer.online.decayed_statistics import DecayedStatistics
from midstream.plans.values.streams import Batch, Time

BATCH = 64
CELLS = 8
"""Cells per window."""
HALF_LIFE = 2
"""In windows."""
WINDOWS = 6
"""The least number of windows of each stream in a run."""
READINGS = 1000
MARK = 0.05
"""The largest share that collecting may take."""


@dataclass(frozen=True, slots=True)
class ItemCost:
    """CPU seconds for an item: of the query, of collecting, and of smoothing the collected statistics."""

    name: str
    elements: int
    looks: int
    query: float
    collecting: float
    smoothing: float

    @property
    def share(self) -> float:
        """Time of collecting / time of the query."""
        return self.collecting / self.query

    @property
    def smoothing_share(self) -> float:
        """Time of smoothing / time of the query."""
        return self.smoothing / self.query


@dataclass(frozen=True, slots=True)
class CostRun:
    """The costs of all items."""

    items: Sequence[ItemCost]

    @property
    def is_good(self) -> bool:
        """True if collecting stays within its limit for all items."""
        return all(item.share <= MARK for item in self.items)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "items": [
                {
                    "name": item.name,
                    "elements": item.elements,
                    "looks": item.looks,
                    "collecting_share": item.share,
                    "smoothing_share": item.smoothing_share,
                }
                for item in self.items
            ],
            "is_good": self.is_good,
        }


class Watching:
    """Collects and smooths statistics, and measures the time for both."""

    def __init__(self, work: Workload, step: int) -> None:
        plan = work.item.plan(work.span)
        self._known = DecayedStatistics(plan, HALF_LIFE * CELLS * step)
        self._collector = Collector(plan.sources, self._known.columns, step)
        self.collecting = self.smoothing = self.looks = 0
        self._clock = clock_cost()

    def take(self, stream: str, batch: Batch, progress: Time) -> None:
        """Collect a batch of a stream."""
        begun = process_time_ns()
        self._collector.take(stream, batch, progress)
        self.collecting += process_time_ns() - begun - self._clock

    def look(self, now: int) -> None:
        """Smooth the statistics up to an instant that all streams have reached."""
        begun = process_time_ns()
        cells = self._collector.cells(now)
        collected = process_time_ns()
        self._known.take(cells)
        self._known.at(now)
        self.collecting += collected - begun - self._clock
        self.smoothing += process_time_ns() - collected - self._clock
        self.looks += 1


def clock_cost() -> int:
    """The time to read the clock, in nanoseconds, which is part of all that the clock measures."""
    begun = process_time_ns()
    for _ in range(READINGS):
        process_time_ns()
    return (process_time_ns() - begun) // READINGS


def measure_statistics(elements: int, advance: Callable[[int, int], object]) -> CostRun:
    """Run each item that has a window once."""
    items = [item for item in ITEMS if item.window]
    found = []
    for number, item in enumerate(items, 1):
        found.append(item_cost(item, max(elements, WINDOWS * len(item.streams) * (item.window or 0))))
        advance(number, len(items))
    return CostRun(found)


def item_cost(item: Item, elements: int) -> ItemCost:
    """The cost of collecting in a run, and of all else."""
    work = workload(item, elements, seed=1)
    batches = [
        [
            (batch[0][0], name, batch)
            for batch in (stream[i : i + BATCH] for i in range(0, len(stream), BATCH))
        ]
        for name, stream in work.streams.items()
    ]
    engine = Engine(item.plan(work.span), lambda batch: None)
    step = max(1, work.span // CELLS)
    watching = Watching(work, step)
    engine.watch_streams(watching, step)
    with streaming_gc():
        begun = process_time_ns()
        for _, name, batch in merge(*batches, key=itemgetter(0)):
            engine.push(name, batch)
        total = process_time_ns() - begun
    taken = watching.collecting + watching.smoothing
    return ItemCost(
        item.name,
        work.elements,
        watching.looks,
        (total - taken) / 1e9,
        watching.collecting / 1e9,
        watching.smoothing / 1e9,
    )


def show_statistics(run: CostRun, console: Console) -> None:
    """Print the costs as a table."""
    table = Table(title=f"Statistics while a query runs, batches of {BATCH}: seconds beside the query's")
    for column in ("item", "elements", "looks", "collecting", "smoothing"):
        table.add_column(column, justify="left" if column == "item" else "right")
    for item in run.items:
        shares = (f"{100 * share:.1f} %" for share in (item.share, item.smoothing_share))
        table.add_row(item.name, f"{item.elements:,}", f"{item.looks:,}", *shares)
    console.print(table)
    console.print(f"Collecting is to take at most {100 * MARK:.0f} %.")
