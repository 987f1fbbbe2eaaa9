"""Speed of a query from file to file, relative to a loop over Python's csv module."""

from __future__ import annotations

import csv
import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.text import Text

from midstream.benchmarks.memory import Halves
from midstream.io.process_memory import resident_bytes

MARK = 1 / 3
"""The least rate to reach, as a share of the hand-written loop's."""

SCRIPT = """
CREATE STREAM sale(at TIMESTAMP, item INT, price REAL, buyer VARCHAR) ORDERED BY at;
SELECT item, price, buyer FROM sale WHERE price > 500
"""


@dataclass(frozen=True, slots=True)
class FilesRun:
    """Seconds by hand and with us in each repetition, and memory in both halves of our last run."""

    rows: int
    results: int
    by_hand: tuple[float, ...]
    ours: tuple[float, ...]
    memory: Halves | None
    is_equal: bool

    @property
    def ratios(self) -> tuple[float, ...]:
        """Our rate relative to that of the loop, in each repetition."""
        return tuple(hand / own for hand, own in zip(self.by_hand, self.ours, strict=True))

    @property
    def ratio(self) -> float:
        """The median of the ratios."""
        return median(self.ratios)

    @property
    def is_good(self) -> bool:
        """True if results are equal, the rate is reached, and memory, if known, is flat."""
        return self.is_equal and self.ratio >= MARK and (self.memory is None or self.memory.is_flat)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "rows": self.rows,
            "results": self.results,
            "seconds_by_hand": list(self.by_hand),
            "seconds": list(self.ours),
            "ratio": self.ratio,
            "equal": self.is_equal,
            "memory_bytes": None if self.memory is None else self.memory.as_dict(),
        }


def measure_files(
    rows: int, repetitions: int, seed: int, progress: Callable[[int, int], object] = lambda done, total: None
) -> FilesRun:
    """Filter a CSV file of `rows` rows to another one, by hand and as a query, in turn.

    >>> run = measure_files(2_000, 1, seed=1)
    >>> run.is_equal, 0 < run.results < 2_000
    (True, True)
    """
    with tempfile.TemporaryDirectory() as folder:
        source, hand, own = (Path(folder, name) for name in ("sale.csv", "by_hand.csv", "query.csv"))
        _write_rows(source, rows, seed)
        seconds: tuple[list[float], list[float]] = ([], [])
        samples: list[int] = []
        results = 0
        for number in range(repetitions):
            started = perf_counter()
            results = by_hand(source, hand)
            seconds[0].append(perf_counter() - started)
            samples.clear()
            started = perf_counter()
            _query(source, own, samples)
            seconds[1].append(perf_counter() - started)
            progress(number + 1, repetitions)
        with hand.open(newline="") as one, own.open(newline="") as other:
            is_equal = all(a == b for a, b in zip_longest(csv.reader(one), csv.reader(other)))
        memory = Halves.of(samples) if len(samples) > 1 else None
        return FilesRun(rows, results, tuple(seconds[0]), tuple(seconds[1]), memory, is_equal)


def by_hand(source: Path, target: Path) -> int:
    """Do the work of the script in one loop; returns the number of results."""
    results = 0
    with source.open(newline="", encoding="utf-8") as file, target.open("w", newline="") as out:
        reader, writer = csv.reader(file), csv.writer(out)
        next(reader)
        writer.writerow(("start", "end", "item", "price", "buyer"))
        for at, item, price, buyer in reader:
            time, amount = int(at), float(price)
            if amount > 500:
                writer.writerow((time, time + 1, int(item), amount, buyer))
                results += 1
    return results


def _query(source: Path, target: Path, samples: list[int]) -> None:
    from midstream.commands.running import RunSettings, run_queries
    from midstream.plans.sql.catalog import Catalog

    def look(state: object) -> None:
        if (resident := resident_bytes()) is not None:
            samples.append(resident)

    catalog = Catalog()
    queries = catalog.execute(SCRIPT)
    run_queries(catalog, queries, RunSettings({"sale": str(source)}, str(target)), look)


def _write_rows(path: Path, rows: int, seed: int) -> None:
    draw = random.Random(seed)
    at = 0
    with path.open("w", encoding="utf-8") as file:
        file.write("at,item,price,buyer\n")
        for _ in range(rows):
            at += draw.randrange(3)
            price = draw.randrange(1, 100_000) / 100
            file.write(f"{at},{draw.randrange(1000)},{price},b{draw.randrange(50)}\n")


def show_files(run: FilesRun, console: Console) -> None:
    """Print the measurements in a few lines."""
    hand, own = (run.rows / median(seconds) / 1e6 for seconds in (run.by_hand, run.ours))
    console.print(
        Text(
            f"{run.rows:,} rows of CSV filtered to {run.results:,}: {hand:.2f} million rows/s by hand with "
            f"the csv module, {own:.2f} million as a query: {run.ratio:.2f} of it "
            f"({min(run.ratios):.2f}–{max(run.ratios):.2f}; the mark is {MARK:.2f})."
        )
    )
    if run.memory is not None:
        first, second = run.memory.first / 1e6, run.memory.second / 1e6
        console.print(Text(f"Memory: at most {first:.1f} MB in the first half, {second:.1f} MB after."))
    console.print(Text("The results are the same." if run.is_equal else "The results differ."))
