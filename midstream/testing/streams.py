"""Hypothesis strategies for streams and their orders of arrival."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from midstream.arrivals import Event
from midstream.plans.values.streams import FOREVER, Element

LATEST = 24
"""Generated elements start before this instant."""

# Hypothesis analyses each strategy before its first draw; so each is made only once.
_STARTS = st.integers(0, 4)
_GAPS = st.sampled_from((0, 0, 1, 1, 2, 5, None))
"""Gaps from one element to the next; None repeats the element."""
_LENGTHS = st.integers(1, 12)
_LENGTHS_OR_FOREVER = st.one_of(_LENGTHS, _LENGTHS, _LENGTHS, st.just(FOREVER))


@functools.cache
def rows(columns: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Payloads of small integers, which are often equal."""
    return st.tuples(*[st.integers(0, 3)] * columns)


@st.composite
def elements(
    draw: st.DrawFn,
    payloads: st.SearchStrategy[Any] | None = None,
    *,
    chronons: bool = False,
    forever: bool = True,
    max_size: int = 12,
) -> list[Element]:
    """A physical stream with the cases that operators get wrong.

    These are ties, one-chronon intervals, intervals that end where others start, gaps, duplicates, and with
    `forever` endless elements.
    """
    payloads = rows(2) if payloads is None else payloads
    lengths = _LENGTHS_OR_FOREVER if forever else _LENGTHS
    result: list[Element] = []
    time = draw(_STARTS)
    for _ in range(draw(st.integers(0, max_size))):
        gap = draw(_GAPS)
        if gap is None and result:
            result.append(result[-1])
            continue
        time += gap or 0
        if time >= LATEST:
            break
        result.append((time, time + 1 if chronons else time + draw(lengths), draw(payloads)))
    return result


@st.composite
def interleavings(
    draw: st.DrawFn, streams: Mapping[str, Sequence[Element]], *, early: bool = False
) -> list[Event]:
    """An order of arrival: batches of any size, heartbeats, skew, idle streams, ends early or late.

    With `early`, heartbeats may come before the first element.
    """
    queues: dict[str, list[Event]] = {}
    for name, complete in streams.items():
        queue: list[Event] = []
        rest = list(complete)
        if early and draw(st.booleans()):
            queue.append(("advance", name, draw(st.integers(-2, int(rest[0][0]) if rest else LATEST))))
        while rest:
            size = draw(st.integers(1, len(rest)))
            batch, rest = rest[:size], rest[size:]
            queue.append(("push", name, batch))
            if draw(st.booleans()):
                last = int(batch[-1][0])
                latest = int(rest[0][0]) if rest else LATEST + 30
                queue.append(("advance", name, draw(st.integers(last, latest))))
        if draw(st.booleans()):
            queue.append(("end", name, None))
        queues[name] = queue
    events: list[Event] = []
    while waiting := [name for name, queue in queues.items() if queue]:
        events.append(queues[draw(st.sampled_from(waiting))].pop(0))
    return events


def is_ordered(results: Sequence[Element]) -> bool:
    """True if a stream never goes back in time and has no empty interval."""
    starts = [start for start, _, _ in results]
    return starts == sorted(starts) and all(start < end for start, end, _ in results)
