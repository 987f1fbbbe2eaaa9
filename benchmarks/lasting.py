"""Long runs in which queries, settings and plans change all the time: memory and time in both halves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import cycle
from multiprocessing import get_context
from random import Random
from time import process_time_ns
from typing import Any

from rich.console import Console
from rich.table import Table

from midstream.autopilot.settings import EAGER
from midstream.benchmarks.memory import Halves
from midstream.engine import Engine
from midstream.io.process_memory import resident_bytes
from midstream.operators.engine.garbage_collection import streaming_gc
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.equivalence.comparison import equivalent
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.operands import col
from midstream.plans.values.streams import Batch, Element

INSTANTS = 10
"""The number of instants from change to change, and in a batch."""
PACE, LIFE = 20, 10
"""Another query comes after so many batches, and goes when so many others have come."""
PHASES = 24
"""The number of times that streams drift in a run: as many in each half, in the same turn."""
SHORTEST = 6_000
"""The least number of elements: with these, a query comes and another goes in each half."""
SAMPLES = 200
"""The number of samples of memory."""
GROWTH = 2 * 2**20
"""The bytes by which the second half may exceed the first."""
SLOWDOWN = 1.15
"""The time of an element in the second half may be so many times that in the first."""

A = stream("a", k="integer", v="integer")
B = stream("b", j="integer", w="integer")
C = stream("c", l="integer", z="integer")


class Changing:
    """An engine that changes between batches; each batch has the elements of some instants."""

    streams: Sequence[str] = "a"

    def __init__(self, seed: int, elements: int) -> None:
        self.random = Random(seed)
        self.instants = elements // len(self.streams)
        """The number of instants of the run."""
        self.results = 0
        """The number of results so far."""
        self.changes = 0
        """The number of changes so far."""
        self.engine = Engine(self.query(), self.receive)

    def query(self) -> Stream:
        """The query that runs all the time."""
        return A.window(1000).distinct()

    def receive(self, batch: Batch) -> None:
        """Count results."""
        self.results += len(batch)

    def row(self, name: str, time: int) -> tuple[int, int]:
        """A row of a stream."""
        return self.random.randrange(100), time % 1000

    def change(self, time: int) -> None:
        """Change the engine, at a time to which no element has come."""

    def elements(self, name: str, time: int) -> list[Element]:
        """The elements of a stream from a time on, for some instants."""
        return [(t, t + 1, self.row(name, t)) for t in range(time, time + INSTANTS)]


class Queries(Changing):
    """Different queries come, and go after a while."""

    shapes: Sequence[Callable[[int], Stream]] = (
        lambda i: A.window(1000).filter(col("v") > i).distinct(),
        lambda i: A.window(10 + i % 10_000).group_by("k").aggregate(n=count()),
        lambda i: A.last(1 + i % 1000).select("k", sum=col("v") + i),
        lambda i: A.sample(1 / (2 + i)).window(1000).distinct(),
    )

    def change(self, time: int) -> None:
        if time % (PACE * INSTANTS):
            return
        number = self.changes
        self.engine.add(self.shapes[number % len(self.shapes)](number), self.receive, name=f"query {number}")
        if number >= LIFE:
            self.engine.remove(f"query {number - LIFE}")
        self.changes += 1


class Adjustments(Changing):
    """A window gets another size every few instants."""

    def query(self) -> Stream:
        return A.window(500, bounds=(100, 1000)).distinct()

    def change(self, time: int) -> None:
        (lever,) = self.engine.levers()
        self.engine.adjust({lever.node: self.random.randint(100, 1000)}, at=time)
        self.changes += 1


class Migrations(Changing):
    """Migrations come one after the other, by all strategies, also to plans that have not run before."""

    streams = "abc"
    strategies = ("genmig", "genmig-reference-point", "genmig-end-timestamp", "auto")

    def __init__(self, seed: int, elements: int) -> None:
        super().__init__(seed, elements)
        self._strategies = cycle(self.strategies)

    def query(self) -> Stream:
        return next(self._orders(0))

    @staticmethod
    def _orders(number: int) -> Iterator[Stream]:
        a, b, c = A.window(200).filter(col("v") > -1 - number), B.window(200), C.window(200)
        yield a.join(b, on=[("k", "j")]).join(c, on=[("j", "l")]).select("k", "v", "w", "z")
        yield b.join(c, on=[("j", "l")]).join(a, on=[("j", "k")]).select("k", "v", "w", "z")
        yield c.join(a, on=[("l", "k")]).join(b, on=[("k", "j")]).select("k", "v", "w", "z")

    def row(self, name: str, time: int) -> tuple[int, int]:
        return self.random.randrange(200), time % 1000

    def change(self, time: int) -> None:
        if time and not self.engine.query().is_exchanged:
            self.changes += 1
            plan = list(self._orders(self.changes))[self.changes % 3].plan()
            # Its filter lets all rows pass, which nobody can prove.
            proof = equivalent(self.engine.query().plan, plan, steps=0)
            self.engine.migrate(plan, next(self._strategies), proof=proof, unproved="accept")


class Drift(Changing):
    """An eager autopilot follows streams that drift, whatever deciding takes."""

    streams = "abc"

    def __init__(self, seed: int, elements: int) -> None:
        super().__init__(seed, elements)
        self._pilot = self.engine.autopilot(settings=EAGER.unbounded)
        self._pilot.listen(lambda record: self._note(record.event))

    def _note(self, event: str) -> None:
        self.changes += event == "move"

    def query(self) -> Stream:
        return Migrations.query(self)  # type: ignore[arg-type]

    _orders = staticmethod(Migrations._orders)

    def row(self, name: str, time: int) -> tuple[int, int]:
        place = "abc".index(name)
        phase = PHASES * time // self.instants
        return self.random.randrange((20, 400, 200)[(phase + place) % 3]), time % 1000


CASES: dict[str, type[Changing]] = {
    "queries": Queries,
    "adjustments": Adjustments,
    "migrations": Migrations,
    "autopilot": Drift,
}


@dataclass(frozen=True, slots=True)
class LastingCase:
    """A long run: memory in both halves in bytes, None if unknown, and nanoseconds of an element in each."""

    name: str
    elements: int
    changes: int
    results: int
    memory: Halves | None
    first: float
    second: float

    @property
    def growth(self) -> int | None:
        """The bytes by which the largest memory of the second half exceeds that of the first."""
        return None if self.memory is None else self.memory.second - self.memory.first

    @property
    def slowdown(self) -> float:
        """The time of an element in the second half, as a multiple of that in the first."""
        return self.second / self.first

    @property
    def is_good(self) -> bool:
        """True if neither memory nor time grows."""
        return (self.growth or 0) <= GROWTH and self.slowdown <= SLOWDOWN

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "name": self.name,
            "elements": self.elements,
            "changes": self.changes,
            "results": self.results,
            "memory_bytes": None if self.memory is None else [self.memory.first, self.memory.second],
            "growth_bytes": self.growth,
            "nanoseconds_per_element": [self.first, self.second],
            "slowdown": self.slowdown,
            "is_good": self.is_good,
        }


@dataclass(frozen=True, slots=True)
class LastingRun:
    """The long runs of some cases."""

    cases: Sequence[LastingCase]

    @property
    def is_good(self) -> bool:
        """True if neither memory nor time grows in any case."""
        return all(case.is_good for case in self.cases)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"cases": [case.as_dict() for case in self.cases], "is_good": self.is_good}


def run_case(name: str, elements: int, seed: int) -> LastingCase:
    """Run a case once; the time is that of the engine, with its changes.

    >>> case = run_case("adjustments", 2_000, seed=1)
    >>> case.elements, case.changes
    (2000, 200)
    """
    changing = CASES[name](seed, elements)
    batches = changing.instants // INSTANTS
    times, memory = [0, 0], list[int | None]()
    with streaming_gc():
        for number in range(batches):
            time = number * INSTANTS
            coming = [(stream, changing.elements(stream, time)) for stream in changing.streams]
            begun = process_time_ns()
            changing.change(time)
            for stream, batch in coming:
                changing.engine.push(stream, batch)
            times[2 * number // batches] += process_time_ns() - begun
            if number % max(1, batches // SAMPLES) == 0:
                memory.append(resident_bytes())
    known = [one for one in memory if one is not None]
    first, second = (time * 2 / elements for time in times)
    halves = Halves.of(known) if len(known) == len(memory) > 1 else None
    return LastingCase(name, elements, changing.changes, changing.results, halves, first, second)


def measure_lasting(
    names: Sequence[str], elements: int, seed: int, advance: Callable[[int, int], object]
) -> LastingRun:
    """Run some cases, one after the other, each in a process of its own."""
    cases = []
    for number, name in enumerate(names, 1):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            cases.append(pool.submit(run_case, name, elements, seed).result())
        advance(number, len(names))
    return LastingRun(cases)


def show_lasting(run: LastingRun, console: Console) -> None:
    """Print the halves of each case as a table."""
    table = Table(title="Memory of the process, at most, and time of an element, by half of the run")
    for column in ("case", "elements", "changes", "MiB", "growth, MiB", "µs", "second / first"):
        table.add_column(column, justify="left" if column == "case" else "right")
    for case in run.cases:
        of_memory = ("–", "–")
        if case.memory is not None and case.growth is not None:
            halves = (f"{half / 2**20:.1f}" for half in (case.memory.first, case.memory.second))
            of_memory = (" → ".join(halves), f"{case.growth / 2**20:+.2f}")
        of_time = f"{case.first / 1000:.2f} → {case.second / 1000:.2f}", f"{case.slowdown:.2f}"
        table.add_row(case.name, f"{case.elements:,}", f"{case.changes:,}", *of_memory, *of_time)
    console.print(table)
    console.print(
        f"Memory is to grow by {GROWTH / 2**20:.0f} MiB at most, time to {SLOWDOWN} of what it was."
    )
