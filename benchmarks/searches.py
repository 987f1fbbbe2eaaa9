"""Delays of a query's elements while a search for a better plan goes on between them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from time import process_time
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from midstream.engine import Engine
from midstream.optimizer import Search
from midstream.optimizer.search import STEPS
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.values.streams import Element

JOINED = 6
"""The number of streams that the query joins."""
WINDOW, VALUES = 200, 100
"""The validity of a row in chronons, and the number of values of a column."""
BEFORE, MEASURED = 1_200, 1_200
"""The number of elements before the search, for its statistics, and of measured elements."""
MARK = 0.005
"""Seconds by which the longest delay of an element may grow, in the median of all runs."""


@dataclass(frozen=True, slots=True)
class SearchesRun:
    """The longest delay of an element in each run, in seconds, without a search and with one.

    `elements` has the number of elements over which a search went on.
    """

    without: Sequence[float]
    during: Sequence[float]
    elements: Sequence[int]

    @property
    def growth(self) -> float:
        """The growth of the median delay, in seconds."""
        return median(self.during) - median(self.without)

    @property
    def is_good(self) -> bool:
        """True if the growth is at most MARK."""
        return self.growth <= MARK

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "longest_delay_without": list(self.without),
            "longest_delay_during": list(self.during),
            "elements_of_search": list(self.elements),
            "median_growth": self.growth,
            "is_good": self.is_good,
        }


def query() -> Stream:
    """A chain of joins that begins with the worst join."""
    streams = [
        stream(f"s{i}", {f"x{i}": "integer", f"y{i}": "integer"}).window(WINDOW) for i in range(JOINED)
    ]
    joined = streams[0]
    for i in range(1, JOINED):
        joined = joined.join(streams[i], on=[(f"y{i - 1}", f"x{i}")])
    return joined


def elements(count: int, seed: int) -> list[tuple[str, Element]]:
    """Rows of the streams in turn, one at each chronon."""
    rng = random.Random(seed)
    return [
        (f"s{time % JOINED}", (time, time + 1, (rng.randrange(VALUES), rng.randrange(VALUES))))
        for time in range(count)
    ]


def longest_delay(seed: int, searches: bool) -> tuple[float, int]:
    """The longest time of an element, in CPU seconds, and the number of elements that a search takes.

    The search begins with the first measured element, which waits for its beginning too.
    """
    engine = Engine(query())
    rows = elements(BEFORE + MEASURED, seed)
    for name, element in rows[:BEFORE]:
        engine.push(name, [element])
    longest, searched = 0.0, 0
    search: Search | None = None
    for name, element in rows[BEFORE:]:
        began = process_time()
        if searches and search is None:
            search = engine.optimize(budget=STEPS)
        engine.push(name, [element])
        longest = max(longest, process_time() - began)
        if search is not None and not search.is_done:
            searched += 1
    assert search is None or search.is_done
    return longest, searched


def measure_searches(runs: int, advance: Callable[[int, int | None], object]) -> SearchesRun:
    """Run without a search and with one in turn, so that both meet equal conditions of the machine."""
    without, during, counts = [], [], []
    for seed in range(runs):
        without.append(longest_delay(seed, searches=False)[0])
        longest, searched = longest_delay(seed, searches=True)
        during.append(longest)
        counts.append(searched)
        advance(seed + 1, runs)
    return SearchesRun(without, during, counts)


def show_searches(run: SearchesRun, console: Console) -> None:
    """Print the measurements as a table, and the verdict."""
    table = Table("longest delay of an element", "median", "99th percentile", "most")
    for name, delays in (("without a search", run.without), ("while a search goes on", run.during)):
        last = quantiles(delays, n=100, method="inclusive")[-1] if len(delays) > 1 else delays[0]
        table.add_row(name, *(f"{1000 * value:.2f} ms" for value in (median(delays), last, max(delays))))
    console.print(table)
    verdict = "kept" if run.is_good else "not kept"
    console.print(
        Text(
            f"A search goes on over {median(run.elements):g} elements in the median. The median grows by "
            f"{1000 * run.growth:.2f} ms; at most {1000 * MARK:g} ms: {verdict}."
        )
    )
