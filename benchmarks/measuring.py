"""Repeated measurements of all contenders for a workload, in turn, and the comparison of their results."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

from midstream.benchmarks.contenders import BY_HAND, contenders, reference
from midstream.benchmarks.item import Item, Workload, workload
from midstream.plans.values.snapshots import equivalent
from midstream.plans.values.streams import Element, is_ordered

WARM_UP = 20
"""The warm-up runs on this fraction of the elements."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of some repetitions, with the least and the largest."""

    median: float
    least: float
    most: float

    @staticmethod
    def of(values: Sequence[float]) -> Spread:
        """The median, the least and the largest of some values.

        >>> Spread.of([3, 1, 2])
        Spread(median=2, least=1, most=3)
        """
        return Spread(median(values), min(values), max(values))

    def as_dict(self) -> dict[str, float]:
        """Plain data for JSON."""
        return {"median": self.median, "min": self.least, "max": self.most}


@dataclass(slots=True)
class Measured:
    """Measurements of one contender: seconds of each repetition, and the comparison of its results.

    `problem` is a message about wrong results; None if they are right.
    """

    name: str
    batch_size: int
    seconds: list[float] = field(default_factory=list)
    results: int = 0
    is_ordered: bool = True
    problem: str | None = None
    checksum: int | None = None

    def check(
        self, results: list[Element], expected: Callable[[], Sequence[Element]], keeps_order: bool
    ) -> None:
        """Compare results with the expected ones, which are sorted.

        Later results are only compared with the first, by number and by the sum of all hashes.
        """
        checksum = sum(map(hash, results))
        if self.checksum is not None:
            if (checksum, len(results)) != (self.checksum, self.results):
                self.problem = self.problem or "the results differ from repetition to repetition"
            return
        self.checksum, self.results = checksum, len(results)
        self.is_ordered = is_ordered(results)
        known = expected()
        if sorted(results) != known and not (verdict := equivalent(known, results)):
            self.problem = f"by hand on the left, this on the right: {verdict}"
        elif keeps_order and not self.is_ordered:
            self.problem = "the results are not in order of time"


@dataclass(frozen=True, slots=True)
class ItemResult:
    """Measurements of one item with one window, in elements of a stream.

    `elements` counts the elements of all streams.
    """

    item: Item
    window: int | None
    elements: int
    measured: tuple[Measured, ...]

    @property
    def is_equal(self) -> bool:
        """True if all contenders gave equivalent results."""
        return all(one.problem is None for one in self.measured)

    def rate(self, contender: Measured) -> Spread:
        """Elements per second."""
        return Spread.of([self.elements / seconds for seconds in contender.seconds])

    def of_by_hand(self, contender: Measured) -> Spread:
        """Speed relative to the hand-written loop of the same batch size, repetition by repetition."""
        by_hand = next(m for m in self.measured if (m.name, m.batch_size) == (BY_HAND, contender.batch_size))
        return Spread.of([a / b for a, b in zip(by_hand.seconds, contender.seconds, strict=True)])

    def of_window(self, first: ItemResult) -> tuple[Spread, ...]:
        """Speed of each contender relative to its own with another window, repetition by repetition."""
        return tuple(
            Spread.of([a / b for a, b in zip(other.seconds, one.seconds, strict=True)])
            for one, other in zip(self.measured, first.measured, strict=True)
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "item": self.item.name,
            "title": self.item.title,
            "window": self.window,
            "elements": self.elements,
            "results": self.measured[0].results,
            "equal": self.is_equal,
            "measured": [
                {
                    "contender": one.name,
                    "batch_size": one.batch_size,
                    "seconds": one.seconds,
                    "elements_per_second": self.rate(one).as_dict(),
                    "of_by_hand": self.of_by_hand(one).as_dict(),
                    "results": one.results,
                    "ordered": one.is_ordered,
                    "problem": one.problem,
                }
                for one in self.measured
            ],
        }


def runs(batch_sizes: Sequence[int], peers: Collection[str], repetitions: int) -> int:
    """The number of runs for one workload, warm-up included."""
    each = 2 + ("bytewax" in peers)
    single = 1 in batch_sizes and "streamz" in peers
    return (repetitions + 1) * (len(batch_sizes) * each + single)


class Contest:
    """The contenders for a workload, each under its number, and their measurements so far.

    All run in turn, again and again, so that other work of the machine affects all alike. Each first runs
    once on a twentieth of the elements, unmeasured.
    """

    def __init__(self, work: Workload, seed: int, batch_sizes: Sequence[int], peers: Collection[str]) -> None:
        small = workload(work.item, work.elements // WARM_UP, seed, work.window)
        self._beginners = contenders(small, batch_sizes, peers)
        self._contenders = contenders(work, batch_sizes, peers)
        # Pickled: otherwise these results would stay in memory between those of the runs, and contenders
        # would keep their state in the gaps.
        self._expected = partial(pickle.loads, pickle.dumps(sorted(reference(work))))
        self._work = work
        self._measured = tuple(Measured(one.name, one.batch_size) for one in self._contenders)

    def __len__(self) -> int:
        """The number of contenders."""
        return len(self._contenders)

    def warm_up(self, number: int) -> None:
        """Run a contender, unmeasured."""
        self._beginners[number].run()

    def repeat(self, number: int) -> None:
        """Measure a contender once more, and compare its results."""
        contender, measured = self._contenders[number], self._measured[number]
        gc.collect()
        started = perf_counter()
        output = contender.run()
        measured.seconds.append(perf_counter() - started)
        measured.check(contender.convert(output), self._expected, contender.keeps_order)

    def result(self) -> ItemResult:
        """All measurements so far."""
        window = self._work.window if self._work.item.window else None
        return ItemResult(self._work.item, window, self._work.elements, self._measured)
