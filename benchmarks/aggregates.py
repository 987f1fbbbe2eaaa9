"""Aggregation over sliding windows, written by hand, with a result for every period without change."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from midstream.benchmarks.item import Chunk, Emit, Tagged
from midstream.plans.values.streams import BEGINNING, Batch, Element, Time


def max_avg_batches(chunks: Iterable[Chunk], window: int, emit: Emit) -> None:
    """Maximum and mean of all valid values.

    `tops` holds the values that no later one reaches: the first is the maximum.
    """
    kept: deque[tuple[Time, int]] = deque()
    tops: deque[tuple[Time, int]] = deque()
    total = 0
    since: Time = BEGINNING
    for (batch,) in chunks:
        out: Batch = []
        for start, _, (value,) in batch:
            while kept and kept[0][0] <= start:
                end, old = kept[0]
                if since < end:
                    out.append((since, end, (tops[0][1], total / len(kept))))
                    since = end
                kept.popleft()
                total -= old
                if tops and tops[0][0] <= end:
                    tops.popleft()
            if kept and since < start:
                out.append((since, start, (tops[0][1], total / len(kept))))
            since = start
            end = start + window
            kept.append((end, value))
            total += value
            while tops and tops[-1][1] <= value:
                tops.pop()
            tops.append((end, value))
        emit(out)
    rest: Batch = []
    _run_out(kept, tops, total, since, rest.append)
    emit(rest)


def max_avg_elements(feed: Iterable[Tagged], window: int, emit: Emit) -> None:
    """As `max_avg_batches`, one element at a time."""
    state = MaxAvgState(window)
    state.take(feed, emit)
    state.run_out(emit)


class MaxAvgState:
    """Maximum and mean of all values, which together have one key."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._kept: deque[tuple[Time, int]] = deque()
        self._tops: deque[tuple[Time, int]] = deque()
        self._total = 0
        self._since: Time = BEGINNING

    def take(self, arrived: Iterable[Tagged], emit: Emit) -> None:
        """Emit a result for every period that ends."""
        window, kept, tops = self._window, self._kept, self._tops
        total, since = self._total, self._since
        for _, (start, _, (value,)) in arrived:
            while kept and kept[0][0] <= start:
                end, old = kept[0]
                if since < end:
                    emit((since, end, (tops[0][1], total / len(kept))))
                    since = end
                kept.popleft()
                total -= old
                if tops and tops[0][0] <= end:
                    tops.popleft()
            if kept and since < start:
                emit((since, start, (tops[0][1], total / len(kept))))
            since = start
            end = start + window
            kept.append((end, value))
            total += value
            while tops and tops[-1][1] <= value:
                tops.pop()
            tops.append((end, value))
        self._total, self._since = total, since

    def run_out(self, emit: Emit) -> None:
        """Emit the results of the last periods."""
        _run_out(self._kept, self._tops, self._total, self._since, emit)

    def push(self, arrived: Sequence[Tagged]) -> list[Element]:
        """The results of all periods that end."""
        out: list[Element] = []
        self.take(arrived, out.append)
        return out

    def finish(self) -> list[Element]:
        """The results of the last periods."""
        out: list[Element] = []
        self.run_out(out.append)
        return out


def _run_out(
    kept: deque[tuple[Time, int]], tops: deque[tuple[Time, int]], total: int, since: Time, emit: Emit
) -> None:
    """Emit the remaining results after the last element."""
    while kept:
        end, old = kept[0]
        if since < end:
            emit((since, end, (tops[0][1], total / len(kept))))
            since = end
        kept.popleft()
        total -= old
        if tops and tops[0][0] <= end:
            tops.popleft()


Counted = list[Any]
"""The valid elements of a key: `[count, start of this count, place of its result]`."""


def group_count_batches(chunks: Iterable[Chunk], window: int, emit: Emit) -> None:
    """The number of valid elements of each key.

    A result gets its place in `places` when its period begins, in order of time. It leaves when it and all
    results before it are finished. `gone` counts the places removed from the front.
    """
    kept: deque[tuple[Time, Any]] = deque()
    groups: dict[Any, Counted] = {}
    places: list[Any] = []
    gone = 0
    for (batch,) in chunks:
        for start, _, (key, _) in batch:
            while kept and kept[0][0] <= start:
                end, old = kept.popleft()
                group = groups[old]
                count, since, place = group
                if count == 1:
                    del groups[old]
                    places[place - gone] = (since, end, (old, 1)) if since < end else ()
                elif since < end:
                    places[place - gone] = (since, end, (old, count))
                    group[:] = count - 1, end, gone + len(places)
                    places.append(None)
                else:
                    group[0] = count - 1
            kept.append((start + window, key))
            if key not in groups:
                groups[key] = [1, start, gone + len(places)]
                places.append(None)
                continue
            group = groups[key]
            count, since, place = group
            if since < start:
                places[place - gone] = (since, start, (key, count))
                group[:] = count + 1, start, gone + len(places)
                places.append(None)
            else:
                group[0] = count + 1
        finished = places.index(None)  # the last element's result is not
        emit([result for result in places[:finished] if result])
        del places[:finished]
        gone += finished
    emit(list(_run_out_groups(kept, groups, places, gone)))


def group_count_elements(feed: Iterable[Tagged], window: int, emit: Emit) -> None:
    """As `group_count_batches`, one element at a time; sometimes the first `head` places are removed."""
    kept: deque[tuple[Time, Any]] = deque()
    groups: dict[Any, Counted] = {}
    places: list[Any] = []
    gone = head = 0
    for _, (start, _, (key, _)) in feed:
        while kept and kept[0][0] <= start:
            end, old = kept.popleft()
            group = groups[old]
            count, since, place = group
            if count == 1:
                del groups[old]
                places[place - gone] = (since, end, (old, 1)) if since < end else ()
            elif since < end:
                places[place - gone] = (since, end, (old, count))
                group[:] = count - 1, end, gone + len(places)
                places.append(None)
            else:
                group[0] = count - 1
        kept.append((start + window, key))
        if key not in groups:
            groups[key] = [1, start, gone + len(places)]
            places.append(None)
        else:
            group = groups[key]
            count, since, place = group
            if since < start:
                places[place - gone] = (since, start, (key, count))
                group[:] = count + 1, start, gone + len(places)
                places.append(None)
            else:
                group[0] = count + 1
        while (result := places[head]) is not None:  # the last element's result is not finished
            if result:
                emit(result)
            head += 1
        if head > 1000:
            del places[:head]
            gone += head
            head = 0
    for result in _run_out_groups(kept, groups, places[head:], gone + head):
        emit(result)


def _run_out_groups(
    kept: deque[tuple[Time, Any]], groups: dict[Any, Counted], places: list[Any], gone: int
) -> Iterator[Element]:
    """The remaining results after the last element."""
    for end, key in kept:
        count, since, place = groups[key]
        if since < end:
            places[place - gone] = (since, end, (key, count))
            place = gone + len(places)
            places.append(())
        groups[key] = [count - 1, end, place]
    return (result for result in places if result)
