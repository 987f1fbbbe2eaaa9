"""Items as users would write them, with a result for each arrival, over streams of skewed keys.

The loops by hand and the states for Bytewax do not handle results that end: an aggregate has a result when an
element arrives, and none when one expires. They drop expired elements when they meet them. All results come
with their start.
"""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Any

from midstream.benchmarks.item import Emit, State, Tagged
from midstream.benchmarks.items import alike, filter_map, first, four_way, group_count, two_way
from midstream.benchmarks.joins import KeyedRows, combinations
from midstream.benchmarks.keyed import AtOnce, FourWayState, JoinState, StatelessState
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.expressions.aggregates import avg, max_
from midstream.plans.values.streams import Batch, Payload, Time

KEYS, EXPONENT = 10_000, 1.1
"""The k-th key comes in proportion to k ** -EXPONENT (Zipf)."""

PERIOD = 100
"""Chronons between two elements of all streams, on average."""


@dataclass(frozen=True, slots=True)
class ArrivalItem:
    """A piece of work.

    `window` is in elements of all streams. Elements with an equal `key` belong together.
    """

    name: str
    title: str
    streams: tuple[str, ...]
    window: int
    plan: Callable[[int], Plan]
    by_hand: Callable[[Iterable[Sequence[Tagged]], int, Emit], None]
    key: Callable[[Payload], Hashable] | None
    state: Callable[[int], State]

    @property
    def span(self) -> int:
        """The window in chronons."""
        return self.window * PERIOD


def draw(ports: int, elements: int, seed: int) -> list[Tagged]:
    """The elements of `ports` streams in order of time, no two at the same instant.

    >>> [(port, end - start, len(row)) for port, (start, end, row) in draw(1, 2, seed=1)]
    [(0, 1, 2), (0, 1, 2)]
    """
    weights = list(accumulate((k + 1) ** -EXPONENT for k in range(KEYS)))
    numbers = _drawn(f"{seed} port", range(ports))
    times = accumulate(_drawn(f"{seed} gap", range(1, 2 * PERIOD)))
    keys = _drawn(f"{seed} key", range(KEYS), weights)
    values = _drawn(f"{seed} value", range(1_000_000))
    columns = islice(zip(numbers, times, keys, values, strict=True), elements)
    return [(port, (time, time + 1, (key, value))) for port, time, key, value in columns]


def _drawn(seed: str, population: range, weights: list[float] | None = None) -> Iterator[int]:
    """Numbers without end.

    They are drawn in small batches, as whole columns would hide the memory that contenders need.
    """
    chance = random.Random(seed)
    while True:
        yield from chance.choices(population, cum_weights=weights, k=1000)


def chunked(tagged: Sequence[Tagged], size: int) -> list[Sequence[Tagged]]:
    """Consecutive elements in chunks of `size`."""
    return [tagged[at : at + size] for at in range(0, len(tagged), size)]


def _join(chunks: Iterable[Sequence[Tagged]], window: int, emit: Emit) -> None:
    sides: tuple[dict[Any, deque[Any]], ...] = (defaultdict(deque), defaultdict(deque))
    for chunk in chunks:
        out: Batch = []
        for port, (start, _, row) in chunk:
            key = row[0]
            other = sides[1 - port].get(key)
            if other:
                while other and other[0][0] <= start:
                    other.popleft()
                if port:
                    for end, theirs in other:
                        out.append((start, end, theirs + row))
                else:
                    for end, theirs in other:
                        out.append((start, end, row + theirs))
            sides[port][key].append((start + window, row))
        emit(out)


def _four_way(chunks: Iterable[Sequence[Tagged]], window: int, emit: Emit) -> None:
    """Join all four streams in one step, without intermediate results."""
    sides: list[dict[Any, KeyedRows]] = [defaultdict(list) for _ in range(4)]
    for chunk in chunks:
        out: Batch = []
        for port, (start, _, row) in chunk:
            key = row[0]
            one, two, three = (side[key] for i, side in enumerate(sides) if i != port)
            if one and two and three:
                for bucket in (one, two, three):
                    while bucket and bucket[0][0] <= start:
                        del bucket[0]
                out += combinations(start, port, row, one, two, three)
            mine = sides[port][key]
            while mine and mine[0][0] <= start:
                del mine[0]
            mine.append((start + window, row))
        emit(out)


class MaxAvg(AtOnce):
    """The maximum and the mean of the valid values at each arrival."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._kept: deque[tuple[Time, int]] = deque()
        self._tops: deque[tuple[Time, int]] = deque()
        self._total = 0

    def push(self, arrived: Sequence[Tagged]) -> list[Any]:
        """A result for each arrival."""
        window, kept, tops, total = self._window, self._kept, self._tops, self._total
        out: list[Any] = []
        for _, (start, _, (_, value)) in arrived:
            while kept and kept[0][0] <= start:
                total -= kept.popleft()[1]
            while tops and tops[0][0] <= start:
                tops.popleft()
            while tops and tops[-1][1] <= value:
                tops.pop()
            entry = (start + window, value)
            kept.append(entry)
            tops.append(entry)
            total += value
            out.append((start, tops[0][1], total / len(kept)))
        self._total = total
        return out


def _max_avg(chunks: Iterable[Sequence[Tagged]], window: int, emit: Emit) -> None:
    work = MaxAvg(window).push
    for chunk in chunks:
        emit(work(chunk))


def _count(chunks: Iterable[Sequence[Tagged]], window: int, emit: Emit) -> None:
    kept: deque[tuple[Time, Any]] = deque()
    counts: dict[Any, int] = {}
    for chunk in chunks:
        out: list[Any] = []
        for _, (start, _, (key, _)) in chunk:
            while kept and kept[0][0] <= start:
                counts[kept.popleft()[1]] -= 1
            kept.append((start + window, key))
            counts[key] = rows = counts.get(key, 0) + 1
            out.append((start, key, rows))
        emit(out)


class Counting(AtOnce):
    """The number of valid elements of a key at each arrival."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._ends: deque[Time] = deque()

    def push(self, arrived: Sequence[Tagged]) -> list[Any]:
        """A result for each arrival."""
        window, ends = self._window, self._ends
        out: list[Any] = []
        for _, (start, _, (key, _)) in arrived:
            while ends and ends[0] <= start:
                ends.popleft()
            ends.append(start + window)
            out.append((start, key, len(ends)))
        return out


def _filter_map(chunks: Iterable[Sequence[Tagged]], window: int, emit: Emit) -> None:
    for chunk in chunks:
        emit([(start, end, (key, value * 2)) for _, (start, end, (key, value)) in chunk if value % 2 == 0])


def _max_avg_plan(window: int) -> Plan:
    values = stream("s", key="integer", value="integer").window(window)
    return values.aggregate(top=max_("value"), mean=avg("value")).plan()


ARRIVALS = (
    ArrivalItem("join", "half a result an element", ("l", "r"), 30, two_way, _join, first, JoinState),
    ArrivalItem(
        "expansive-join", "five results an element", ("l", "r"), 300, two_way, _join, first, JoinState
    ),
    ArrivalItem(
        "four-way-join",
        "four streams on one key, half a result an element",
        tuple("abcd"),
        40,
        four_way,
        _four_way,
        first,
        FourWayState,
    ),
    ArrivalItem("max-avg", "sliding MAX and AVG", ("s",), 36_000, _max_avg_plan, _max_avg, alike, MaxAvg),
    ArrivalItem("group-count", "sliding COUNT by key", ("s",), 36_000, group_count, _count, first, Counting),
    ArrivalItem(
        "filter-map", "keep half, compute a column", ("s",), 1, filter_map, _filter_map, None, StatelessState
    ),
)
"""Windows of joins are short, as with skewed keys long windows give too many results."""


def at_arrivals(results: Iterable[Any]) -> Iterable[Any]:
    """Our results in the form of those by hand: starts and values.

    >>> list(at_arrivals([(1, 9, ("a", 3))]))
    [(1, 'a', 3)]
    """
    return ((start, *payload) for start, _, payload in results)
