"""A long run with fixed windows that shows if memory stays flat."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from midstream.engine import Engine
from midstream.io.process_memory import resident_bytes
from midstream.operators.engine.garbage_collection import streaming_gc
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.expressions.aggregates import count, max_
from midstream.plans.expressions.operands import col
from midstream.plans.values.streams import Batch

WINDOW = 5_000
"""In chronons; a stream has one element per chronon on average."""

SHORTEST = 8 * WINDOW
"""The least number of elements: with these, the windows of both streams slide in both halves."""

SAMPLES = 200
"""The number of samples of memory."""

TOLERANCE = 0.05
"""The share by which the second half may exceed the first, as the allocator's use of pages varies."""

OPERATORS = "filter, join, duplicate elimination and grouped aggregation"


@dataclass(frozen=True, slots=True)
class MemorySample:
    """Memory after some elements, in bytes, None if unknown, and the number of elements kept."""

    elements: int
    resident: int | None
    state: int


@dataclass(frozen=True, slots=True)
class Halves:
    """The largest value in each half of a run."""

    first: int
    second: int

    @staticmethod
    def of(values: Sequence[int]) -> Halves:
        """The halves of at least two values, in order."""
        middle = len(values) // 2
        return Halves(max(values[:middle]), max(values[middle:]))

    @property
    def is_flat(self) -> bool:
        """True if the second half exceeds the first by at most TOLERANCE."""
        return self.second <= self.first * (1 + TOLERANCE)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"max_first_half": self.first, "max_second_half": self.second, "flat": self.is_flat}


@dataclass(frozen=True, slots=True)
class MemoryRun:
    """A run with its samples in order."""

    elements: int
    results: int
    seed: int
    samples: tuple[MemorySample, ...]
    operators: str = OPERATORS

    @property
    def has_memory(self) -> bool:
        """True if the memory of the process could be read."""
        return all(sample.resident is not None for sample in self.samples)

    @property
    def memory(self) -> Halves | None:
        """Bytes of the process; None if they could not be read."""
        return Halves.of([sample.resident or 0 for sample in self.samples]) if self.has_memory else None

    @property
    def state(self) -> Halves:
        """Elements kept by the plan."""
        return Halves.of([sample.state for sample in self.samples])

    @property
    def is_flat(self) -> bool:
        """True if the state and, if known, the memory stay flat."""
        return self.state.is_flat and (self.memory is None or self.memory.is_flat)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "flat": self.is_flat,
            "elements": self.elements,
            "results": self.results,
            "seed": self.seed,
            "operators": self.operators,
            "window": WINDOW,
            "memory_bytes": None if self.memory is None else self.memory.as_dict(),
            "state_elements": self.state.as_dict(),
            "samples": [[sample.elements, sample.resident, sample.state] for sample in self.samples],
        }


def watched_plan() -> Plan:
    """Per group, the keys that both streams have, and the highest value among them."""
    left = stream("l", l_key="integer", l_value="integer").window(WINDOW).filter(col("l_value") > 99)
    right = stream("r", r_key="integer", r_value="integer").window(WINDOW)
    keys = left.join(right, on=[("l_key", "r_key")]).select("l_key", top=col("l_value") % 10).distinct()
    grouped = keys.select(group=col("l_key") % 100, top=col("top")).group_by("group")
    return grouped.aggregate(keys=count(), highest=max_("top")).plan()


def watch(
    elements: int,
    seed: int,
    progress: Callable[[int, int], object] = lambda done, total: None,
    batch_size: int = 1000,
) -> MemoryRun:
    """Run `elements` elements of two streams; neither they nor the results are kept.

    >>> run = watch(20_000, seed=1)
    >>> run.elements, run.state.first > 0
    (20000, True)
    """
    results = 0

    def receive(batch: Batch) -> None:
        nonlocal results
        results += len(batch)

    engine = Engine(watched_plan(), receive)
    samples: list[MemorySample] = []
    done, every = 0, max(2 * batch_size, elements // SAMPLES)
    with streaming_gc():
        for left, right in _arrivals(elements, seed, batch_size):
            engine.push("l", left)
            engine.push("r", right)
            done += len(left) + len(right)
            if done >= every * (len(samples) + 1) or done >= elements:
                samples.append(MemorySample(done, resident_bytes(), engine.size()))
                progress(done, elements)
        engine.close()
    return MemoryRun(done, results, seed, tuple(samples))


def _arrivals(elements: int, seed: int, batch_size: int) -> Iterator[tuple[Batch, Batch]]:
    draw = random.Random(seed)
    for at in range(0, elements // 2, batch_size):
        times = range(at, min(at + batch_size, elements // 2))
        yield _stretch(draw, times), _stretch(draw, times)


def _stretch(draw: random.Random, times: range) -> Batch:
    return [(time, time + 1, (draw.randrange(WINDOW), draw.randrange(1000))) for time in times]


def show_memory(run: MemoryRun, console: Console) -> None:
    """Print the largest values of both halves, and the verdict."""
    console.print(
        Text(
            f"{run.elements:,} elements went through {run.operators}, with windows of {WINDOW:,} chronons, "
            f"and gave {run.results:,} results.\n"
        )
    )
    memory = run.memory
    if memory is None:
        console.print(Text("The memory of the process cannot be read on this system."))
    else:
        first, second = (f"{value / 2**20:,.1f} MiB" for value in (memory.first, memory.second))
        console.print(Text(f"memory of the process, at most    {first} in the first half, {second} after"))
    console.print(
        Text(
            f"elements kept by the plan, at most    {run.state.first:,} in the first half, "
            f"{run.state.second:,} after\n"
        )
    )
    if run.is_flat:
        console.print(Text("Both stay flat." if memory else "The state stays flat.", style="bold green"))
    else:
        console.print(Text("It GROWS.", style="bold red"))
