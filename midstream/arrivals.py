"""Arrivals: events for an engine, one by one, and streams cut into events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import heapify, heappop, heappush, merge
from itertools import islice
from operator import itemgetter
from typing import Any, Literal

from midstream.plans.values.arguments import (
    read_once,
    require,
    require_distinct_iterators,
    require_elements,
    require_mapping,
    wrong,
)
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time

Kind = Literal["push", "advance", "tick", "end", "mark"]
"""The kinds of events."""

Event = tuple[Kind, str, Any]
"""An event: elements on a stream, a heartbeat with its time, a stream's end (with None), a tick, or a mark.

A tick and a mark have a time. A tick sets that of the engine (see `Engine.tick`), and names no stream: "". A
mark has a name or "" in place of a stream's name. It is a place between two events where a caller looks or
acts.
"""


def time_of(event: Event) -> Time:
    """The application time of an event: the first start of a batch; FOREVER at the end of a stream.

    >>> time_of(("push", "s", [(3, 4, "a"), (5, 6, "b")])), time_of(("end", "s", None))
    (3, inf)
    """
    kind, _, what = event
    if kind == "end":
        return FOREVER
    time: Time = what[0][0] if kind == "push" else what
    return time


def interleave(
    streams: Mapping[str, Iterable[Element]], batch_size: int = 1000
) -> Iterable[tuple[str, list[Element]]]:
    """Cut complete streams into one sequence of batches in order of time: `(stream, batch)`.

    A batch holds consecutive elements of one stream out of `batch_size` consecutive ones of all, so that
    streams stay in step.

    >>> list(interleave({"a": [(1, 2, "x"), (5, 6, "y")], "b": [(3, 4, "z")]}, batch_size=2))
    [('a', [(1, 2, 'x')]), ('b', [(3, 4, 'z')]), ('a', [(5, 6, 'y')])]
    """
    require_mapping("streams", streams, "elements by the name of their stream")
    require("batch_size", batch_size, int, "a positive number of elements")
    if batch_size < 1:
        raise wrong("batch_size", batch_size, "a positive number of elements")
    for name, elements in streams.items():
        require_elements(f"stream {name}", elements)
    require_distinct_iterators("streams", streams)
    return _in_step(streams, batch_size)


def _in_step(
    streams: Mapping[str, Iterable[Element]], batch_size: int
) -> Iterator[tuple[str, list[Element]]]:
    numbered = [_numbered(i, name, elements) for i, (name, elements) in enumerate(streams.items())]
    merged = merge(*numbered, key=itemgetter(0, 1))
    while some := list(islice(merged, batch_size)):
        chunk: dict[str, list[Element]] = {}
        for _, _, name, element in some:
            chunk.setdefault(name, []).append(element)
        yield from chunk.items()


def _numbered(i: int, name: str, elements: Iterable[Any]) -> Iterator[tuple[Time, int, str, Element]]:
    for element in read_once(f"stream {name}", elements):
        if not isinstance(element, tuple) or not element:
            raise wrong(f"stream {name}", element, "an element (start, end, payload)")
        yield element[0], i, name, element


def marked(batches: Iterable[tuple[str, list[Element]]], instants: Iterable[float]) -> Iterator[Event]:
    """Turn batches in order of start into events, with a mark for each of some ordered instants.

    A mark comes in front of the first batch that starts at its instant or later.

    >>> list(marked([("a", [(1, 2, "x")]), ("b", [(5, 6, "y")])], [3, 9]))
    [('push', 'a', [(1, 2, 'x')]), ('mark', '', 3), ('push', 'b', [(5, 6, 'y')]), ('mark', '', 9)]
    """
    pushes: Iterable[Event] = (("push", name, batch) for name, batch in batches)
    return merge((("mark", "", instant) for instant in instants), pushes, key=time_of)


def event_of(name: str, batch: Batch | None) -> Event:
    """A batch of a stream as an event; None is the stream's end."""
    return ("end", name, None) if batch is None else ("push", name, batch)


def in_step(streams: Mapping[str, Iterator[Batch]]) -> Iterator[Event]:
    """Batches of complete streams; the next one is always of a stream that is behind in application time.

    >>> streams = {"a": iter([[(1, 2, "x")], [(9, 10, "y")]]), "b": iter([[(3, 4, "z")]])}
    >>> [name for kind, name, batch in in_step(streams) if kind == "push"]
    ['a', 'b', 'a']
    """
    behind: list[tuple[Time, int, str]] = [(BEGINNING, i, name) for i, name in enumerate(streams)]
    heapify(behind)
    while behind:
        _, number, name = heappop(behind)
        batch = next(streams[name], None)
        yield event_of(name, batch)
        if batch is not None:
            heappush(behind, (batch[-1][0], number, name))


def abreast(streams: Mapping[str, Iterator[Batch]], grain: int) -> Iterator[Event]:
    """Batches of complete streams, cut so that none is ahead of the others by more than `grain` chronons.

    State    A batch per stream.
    """
    heads: list[tuple[Time, int, str, Batch]] = [(BEGINNING, i, name, []) for i, name in enumerate(streams)]
    heapify(heads)
    while heads:
        _, number, name, batch = heappop(heads)
        if not batch:
            following = next(streams[name], None)
            if following is None:
                yield "end", name, None
            else:
                heappush(heads, (following[0][0], number, name, following))
            continue
        limit = heads[0][0] + grain if heads else FOREVER
        reach = next((i for i, element in enumerate(batch) if i and element[0] > limit), len(batch))
        yield "push", name, batch[:reach]
        rest = batch[reach:]
        heappush(heads, (rest[0][0] if rest else batch[-1][0], number, name, rest))
