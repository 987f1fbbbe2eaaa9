"""Duplicate elimination and difference, written by hand."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from midstream.benchmarks.item import Chunk, Emit, Tagged
from midstream.plans.values.streams import START, Batch, Time


def distinct_batches(chunks: Iterable[Chunk], window: int, emit: Emit) -> None:
    """Every valid row once.

    An element is kept as `[end, row, end of the next equal element or None]`. Its end begins the part that
    the next one adds: so parts that start later come out in order by themselves.
    """
    kept: deque[list[Any]] = deque()
    latest: dict[Any, list[Any]] = {}
    for (batch,) in chunks:
        out: Batch = []
        for start, _, row in batch:
            while kept and kept[0][0] <= start:
                end, old, following = kept.popleft()
                if following is None:
                    del latest[old]
                else:
                    out.append((end, following, old))
            end = start + window
            if row not in latest:
                out.append((start, end, row))
            elif (last := latest[row])[0] == end:
                continue
            else:
                last[2] = end
            latest[row] = entry = [end, row, None]
            kept.append(entry)
        emit(out)
    emit([(end, following, row) for end, row, following in kept if following is not None])


def distinct_elements(feed: Iterable[Tagged], window: int, emit: Emit) -> None:
    """As `distinct_batches`, one element at a time."""
    kept: deque[list[Any]] = deque()
    latest: dict[Any, list[Any]] = {}
    for _, (start, _, row) in feed:
        while kept and kept[0][0] <= start:
            end, old, following = kept.popleft()
            if following is None:
                del latest[old]
            else:
                emit((end, following, old))
        end = start + window
        if row not in latest:
            emit((start, end, row))
        elif (last := latest[row])[0] == end:
            continue
        else:
            last[2] = end
        latest[row] = entry = [end, row, None]
        kept.append(entry)
    for end, row, following in kept:
        if following is not None:
            emit((end, following, row))


Excess = list[Any]
"""The state of a row: its excess on the left side, then a result `[start, None, row]` for each excess row.

The oldest result comes first.
"""


def difference_batches(chunks: Iterable[Chunk], window: int, emit: Emit) -> None:
    """The left rows, each without one for every equal valid right row, from batches in order of time.

    Results are queued as they begin, and leave from the front when their end is set. Of several equal results
    the oldest ends first, so that those behind it wait no longer than necessary.
    """
    kept: deque[tuple[Time, int, Any]] = deque()
    states: dict[Any, Excess] = {}
    queue: deque[list[Any]] = deque()
    for left, right in chunks:
        arrived = [(start, 0, row) for start, _, row in left] + [(start, 1, row) for start, _, row in right]
        arrived.sort(key=START)
        for start, port, row in arrived:
            while kept and kept[0][0] <= start:
                end, old_port, old = kept.popleft()
                state = states.get(old)
                if state is None:
                    states[old] = state = [0]
                if old_port:
                    state[0] += 1
                    if state[0] > 0:
                        result = [end, None, old]
                        state.append(result)
                        queue.append(result)
                else:
                    if state[0] > 0:
                        state.pop(1)[1] = end
                    state[0] -= 1
                if not state[0]:
                    del states[old]
            kept.append((start + window, port, row))
            state = states.get(row)
            if state is None:
                states[row] = state = [0]
            if port:
                if state[0] > 0:
                    state.pop(1)[1] = start
                state[0] -= 1
            else:
                state[0] += 1
                if state[0] > 0:
                    result = [start, None, row]
                    state.append(result)
                    queue.append(result)
            if not state[0]:
                del states[row]
        out: Batch = []
        while queue and queue[0][1] is not None:
            since, until, old = queue.popleft()
            if since < until:
                out.append((since, until, old))
        emit(out)
    emit(_run_out(kept, states, queue))


def difference_elements(feed: Iterable[Tagged], window: int, emit: Emit) -> None:
    """As `difference_batches`, one element at a time."""
    kept: deque[tuple[Time, int, Any]] = deque()
    states: dict[Any, Excess] = {}
    queue: deque[list[Any]] = deque()
    for port, (start, _, row) in feed:
        while kept and kept[0][0] <= start:
            end, old_port, old = kept.popleft()
            state = states.get(old)
            if state is None:
                states[old] = state = [0]
            if old_port:
                state[0] += 1
                if state[0] > 0:
                    result = [end, None, old]
                    state.append(result)
                    queue.append(result)
            else:
                if state[0] > 0:
                    state.pop(1)[1] = end
                state[0] -= 1
            if not state[0]:
                del states[old]
        kept.append((start + window, port, row))
        state = states.get(row)
        if state is None:
            states[row] = state = [0]
        if port:
            if state[0] > 0:
                state.pop(1)[1] = start
            state[0] -= 1
        else:
            state[0] += 1
            if state[0] > 0:
                result = [start, None, row]
                state.append(result)
                queue.append(result)
        if not state[0]:
            del states[row]
        while queue and queue[0][1] is not None:
            since, until, old = queue.popleft()
            if since < until:
                emit((since, until, old))
    for last in _run_out(kept, states, queue):
        emit(last)


def _run_out(kept: deque[tuple[Time, int, Any]], states: dict[Any, Excess], queue: deque[list[Any]]) -> Batch:
    """The remaining results after the last element."""
    for end, port, row in kept:
        state = states.setdefault(row, [0])
        if port:
            state[0] += 1
            if state[0] > 0:
                result = [end, None, row]
                state.append(result)
                queue.append(result)
        else:
            if state[0] > 0:
                state.pop(1)[1] = end
            state[0] -= 1
    return [(since, until, row) for since, until, row in queue if since < until]
