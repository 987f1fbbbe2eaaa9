"""Compare what users would write; each run has a process of its own, with its own peak of memory."""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass, field
from multiprocessing import get_context
from statistics import median
from time import process_time
from typing import Any

from rich.console import Console
from rich.text import Text

from midstream.benchmarks.arrivals import ARRIVALS, ArrivalItem, at_arrivals, chunked, draw
from midstream.benchmarks.contenders import BY_HAND, MIDSTREAM
from midstream.benchmarks.item import Emit, Tagged, chunks, pushes
from midstream.benchmarks.measuring import Spread
from midstream.benchmarks.options import BenchmarkError
from midstream.benchmarks.report import empty_table, show_spread
from midstream.engine import Engine
from midstream.io.process_memory import peak_bytes, resident_bytes
from midstream.io.progress import counted
from midstream.operators.engine.garbage_collection import streaming_gc

BYTEWAX = "bytewax"

COLLECTORS = ("on", "off", "streaming")
"""Python's collector of cyclic garbage: as it is, turned off, or within streaming_gc()."""

CHECKED = 20_000
"""The number of elements on which all results are compared first."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Time and memory of one run.

    seconds   CPU seconds, as others may use the processor too
    before    bytes that its process used before the run; None if unknown
    peak      the most bytes that its process used; None if unknown
    """

    seconds: float
    results: int
    before: int | None
    peak: int | None


@dataclass(slots=True)
class Runs:
    """The runs of an item with one setting of the collector, by contender, in the order of repetitions."""

    item: ArrivalItem
    collector: str
    runs: dict[str, list[Figures]] = field(default_factory=dict)

    def rate(self, name: str, elements: int) -> Spread:
        """Elements per second."""
        return Spread.of([elements / one.seconds for one in self.runs[name]])

    def ratio(self, other: str) -> Spread:
        """Our speed relative to that of another contender, repetition by repetition."""
        pairs = zip(self.runs[other], self.runs[MIDSTREAM], strict=True)
        return Spread.of([theirs.seconds / ours.seconds for theirs, ours in pairs])

    def memory(self, name: str) -> float | None:
        """The median of the additional memory of a run, in bytes."""
        needed = [one.peak - one.before for one in self.runs[name] if one.peak and one.before]
        return median(needed) if needed else None


@dataclass(frozen=True, slots=True)
class ArrivalsRun:
    """All measurements, and the problems of results, by item."""

    elements: int
    batch_size: int
    seed: int
    rows: tuple[Runs, ...]
    problems: dict[str, str]

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "equal": not self.problems,
            "problems": self.problems,
            "elements": self.elements,
            "batch_size": self.batch_size,
            "seed": self.seed,
            "items": [
                {
                    "item": row.item.name,
                    "collector": row.collector,
                    "contender": name,
                    "seconds": [one.seconds for one in runs],
                    "results": runs[0].results,
                    "given_bytes": [one.before for one in runs],
                    "peak_bytes": [one.peak for one in runs],
                    "elements_per_second": row.rate(name, self.elements).as_dict(),
                    "midstream_of_it": row.ratio(name).as_dict(),
                }
                for row in self.rows
                for name, runs in row.runs.items()
            ],
        }


def compare(
    items: Sequence[ArrivalItem],
    elements: int,
    repetitions: int,
    batch_size: int,
    collectors: Sequence[str],
    peers: Collection[str],
    seed: int,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> ArrivalsRun:
    """Compare the results of all contenders, then run them in turn, again and again.

    Raises   BenchmarkError where a process ends before its time.
    """
    names = (BY_HAND, *([BYTEWAX] if BYTEWAX in peers else []), MIDSTREAM)
    problems = {
        item.name: problem for item in items if (problem := _difference(item, names, batch_size, seed))
    }
    rows = [Runs(item, collector, {name: [] for name in names}) for item in items for collector in collectors]
    step = counted(progress, repetitions * len(rows) * len(names))
    for row in rows:
        for _ in range(repetitions):
            for name in names:
                figures = _alone(row.item.name, name, elements, batch_size, row.collector, seed)
                row.runs[name].append(figures)
                step()
    return ArrivalsRun(elements, batch_size, seed, tuple(rows), problems)


def _difference(item: ArrivalItem, names: Sequence[str], batch_size: int, seed: int) -> str | None:
    """A message about the results of a contender if they are wrong.

    Our results of aggregates also cover instants without an arrival.
    """
    tagged = draw(len(item.streams), CHECKED, seed)
    outputs: dict[str, list[Any]] = {}
    for name in names:
        results: list[Any] = []
        _work(item, name, tagged, batch_size, results.extend)()
        outputs[name] = results
    expected = sorted(outputs[BY_HAND])
    for name, results in outputs.items():
        if name == MIDSTREAM and not isinstance(expected[0][-1], tuple):
            if not set(at_arrivals(results)) >= set(expected):
                return f"{name}: a result by hand is missing"
        elif sorted(results) != expected:
            return f"{name}: the results are not those by hand"
    return None


def _alone(name: str, contender: str, elements: int, batch_size: int, collector: str, seed: int) -> Figures:
    """One run in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        try:
            return pool.submit(measure, name, contender, elements, batch_size, collector, seed).result()
        except BrokenProcessPool as error:
            raise BenchmarkError(
                f"{name}: the process of {contender} ended before its time: {error}", found=name
            ) from error


def measure(name: str, contender: str, elements: int, batch_size: int, collector: str, seed: int) -> Figures:
    """Run a contender in this process; results are counted and not kept.

    >>> measure("filter-map", "midstream", 2000, 100, "on", seed=1).results > 900
    True
    """
    item = next(item for item in ARRIVALS if item.name == name)
    results = 0

    def emit(batch: Sequence[Any]) -> None:
        nonlocal results
        results += len(batch)

    tagged = draw(len(item.streams), elements, seed)
    work = _work(item, contender, tagged, batch_size, emit)
    gc.collect()
    before, was_on = resident_bytes(), gc.isenabled()
    with ExitStack() as stack:
        if collector == "streaming":
            stack.enter_context(streaming_gc())
        elif collector == "off":
            gc.disable()
            stack.callback(gc.enable if was_on else gc.disable)
        started = process_time()
        work()
        seconds = process_time() - started
    return Figures(seconds, results, before, peak_bytes())


def _work(
    item: ArrivalItem, contender: str, tagged: Sequence[Tagged], batch_size: int, emit: Emit
) -> Callable[[], object]:
    """The work of a contender, with its inputs at hand."""
    size = batch_size * len(item.streams)
    if contender == BY_HAND:
        together = chunked(tagged, size)
        return lambda: item.by_hand(together, item.span, emit)
    if contender == BYTEWAX:
        from midstream.benchmarks.bytewax_peer import EmittingSink, run_dataflow

        def without_keys(batch: list[Any]) -> None:
            emit(batch if item.key is None else [result for _, result in batch])

        sink = EmittingSink(without_keys)
        return lambda: run_dataflow(tagged, size, item.key, lambda: item.state(item.span), sink)
    arriving = pushes(item.streams, chunks(tagged, len(item.streams), batch_size))
    engine = Engine(item.plan(item.span), emit)

    def run() -> None:
        for stream, batch in arriving:
            engine.push(stream, batch)
        engine.close()

    return run


def show_arrivals(run: ArrivalsRun, console: Console) -> None:
    """Print a table with a line for each item and setting of the collector."""
    others = [name for name in run.rows[0].runs if name != MIDSTREAM]
    rates = [f"{name}\n1,000/s" for name in run.rows[0].runs]
    memory = [f"{name}\nMiB" for name in run.rows[0].runs]
    table = empty_table("item", "collector", *rates, *(f"of {name}" for name in others), *memory)
    for row in run.rows:
        table.add_row(
            row.item.name,
            row.collector,
            *(f"{row.rate(name, run.elements).median / 1000:,.0f}" for name in row.runs),
            *(show_spread(row.ratio(name)) for name in others),
            *("–" if (needed := row.memory(name)) is None else f"{needed / 2**20:,.1f}" for name in row.runs),
        )
    console.print(
        Text(
            f"{run.elements:,} elements, keys by Zipf's law, batches of {run.batch_size:,}, a result an "
            "arrival. Speed of Midstream relative to the others: median (least–most). Memory: the most "
            "that a run needed beside its inputs.\n"
        )
    )
    console.print(table)
    if run.problems:
        lines = [f"{name}: {problem}" for name, problem in run.problems.items()]
        console.print(Text("Results are WRONG:\n" + "\n".join(lines), style="bold red"))
    else:
        console.print(Text("Verified: the results are the same.", style="bold green"))
