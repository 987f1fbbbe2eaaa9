"""Measurements as plain data and as a table."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from midstream.benchmarks.contenders import BY_HAND, MIDSTREAM
from midstream.benchmarks.measuring import ItemResult, Measured, Spread
from midstream.benchmarks.peers import PEERS


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One run of the benchmark.

    `peers` has the version of each library, None if absent; `left_out`, why one was not measured, or not at
    every batch size.
    """

    seed: int
    repetitions: int
    peers: Mapping[str, str | None]
    left_out: Mapping[str, str]
    items: tuple[ItemResult, ...]

    @property
    def rivals(self) -> list[str]:
        """The contenders that are measured beside the loop by hand."""
        return [MIDSTREAM, *(name for name in PEERS if self.peers[name] is not None)]

    @property
    def is_equal(self) -> bool:
        """True if all contenders gave equivalent results, on every item."""
        return all(item.is_equal for item in self.items)

    def other_windows(self) -> Iterator[tuple[ItemResult, ItemResult]]:
        """Each further window of an item, behind the item's first window."""
        firsts: dict[str, ItemResult] = {}
        for result in self.items:
            first = firsts.setdefault(result.item.name, result)
            if result is not first:
                yield first, result

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "equal": self.is_equal,
            "seed": self.seed,
            "repetitions": self.repetitions,
            "python": platform.python_version(),
            "cores": os.cpu_count(),
            "peers": dict(self.peers),
            "left_out": dict(self.left_out),
            "items": [item.as_dict() for item in self.items],
            "windows": [
                {
                    "item": result.item.name,
                    "window": result.window,
                    "first_window": first.window,
                    "contender": one.name,
                    "batch_size": one.batch_size,
                    "of_first_window": spread.as_dict(),
                }
                for first, result in self.other_windows()
                for one, spread in zip(result.measured, result.of_window(first), strict=True)
            ],
        }


def show(benchmark: Benchmark, console: Console) -> None:
    """Print a table with a line for each item and batch size, the peers left out, and wrong results."""
    console.print(
        Text(
            f"Speed relative to a hand-written Python loop for the same work, median of "
            f"{benchmark.repetitions} repetitions (least–most).\n"
        )
    )
    console.print(_table(benchmark))
    if any(benchmark.other_windows()):
        console.print(Text("\nSpeed relative to the same with the item's first window.\n"))
        console.print(_windows_table(benchmark))
    for name, reason in benchmark.left_out.items():
        console.print(Text(f"{name}: {reason}."))
    console.print(_verdict(benchmark))


def _table(benchmark: Benchmark) -> Table:
    rivals = benchmark.rivals
    has_windows = any(benchmark.other_windows())
    table = empty_table("item,\nwindow" if has_windows else "item", "batch", "by hand\n1,000/s", *rivals)
    for item in benchmark.items:
        names = [item.item.name]
        if has_windows and item.window is not None:
            names.append(f"{item.window:,}")
        for size, by_name in _by_size(item.measured).items():
            cells = [
                show_spread(item.of_by_hand(by_name[rival])) if rival in by_name else "–" for rival in rivals
            ]
            rate = item.rate(by_name[BY_HAND]).median / 1000
            table.add_row(names.pop(0) if names else "", f"{size:,}", f"{rate:,.0f}", *cells)
        table.add_section()
    return table


def _windows_table(benchmark: Benchmark) -> Table:
    contenders = (BY_HAND, *benchmark.rivals)
    table = empty_table("item", "window", "batch", *contenders)
    for first, result in benchmark.other_windows():
        spreads = {
            (one.batch_size, one.name): show_spread(spread)
            for one, spread in zip(result.measured, result.of_window(first), strict=True)
        }
        for size in _by_size(result.measured):
            cells = [spreads.get((size, name), "–") for name in contenders]
            table.add_row(result.item.name, f"{result.window:,}", f"{size:,}", *cells)
    return table


def empty_table(first: str, *others: str) -> Table:
    """A table with names in its first column and figures in the others."""
    table = Table(box=box.HORIZONTALS, show_edge=False, pad_edge=False, padding=0)
    table.add_column(first, no_wrap=True)
    for title in others:
        table.add_column(title, justify="right", no_wrap=True)
    return table


def _by_size(measured: Sequence[Measured]) -> dict[int, dict[str, Measured]]:
    by_size: dict[int, dict[str, Measured]] = {}
    for one in measured:
        by_size.setdefault(one.batch_size, {})[one.name] = one
    return by_size


def show_spread(spread: Spread) -> str:
    """A median, with the least and the largest in brackets.

    >>> show_spread(Spread(0.512, 0.5, 0.55))
    '0.51 (0.50–0.55)'
    """
    return f"{spread.median:.2f} ({spread.least:.2f}–{spread.most:.2f})"


def _verdict(benchmark: Benchmark) -> Text:
    if benchmark.is_equal:
        return Text("Verified: on every item all results are the same.", style="bold green")
    problems = [
        f"{item.item.name}, {one.name}, batches of {one.batch_size:,}: {one.problem}"
        for item in benchmark.items
        for one in item.measured
        if one.problem is not None
    ]
    return Text("Results are WRONG:\n" + "\n".join(problems), style="bold red")
