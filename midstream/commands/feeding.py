"""Batches of several sources as one sequence of events, in step."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from midstream.arrivals import Event, abreast, event_of, in_step
from midstream.io.sources.rows import part
from midstream.io.sources.source import Source
from midstream.plans.values.streams import Batch

AHEAD = 64
"""The largest number of batches that waiting sources may be ahead of the consumer."""


def arrivals(sources: Mapping[str, Source], grain: int | None = None) -> Iterator[Event]:
    """Events from sources, in an order that keeps them in step as far as possible.

    Recorded sources are read where they are behind in application time, so that no operator has to store much
    of one while it waits for another. If one of several sources may wait, all are read at the same time, and
    their batches are passed on at once. With a `grain`, in chronons, batches of recorded sources are cut so
    that none is ahead of the others by more: a migration lasts until all streams have passed the elements
    that came.

    State    A batch per source; `AHEAD` of all together if one may wait.
    """
    batches = {name: iter(source) for name, source in sources.items()}
    if len(sources) > 1 and any(source.is_live for source in sources.values()):
        yield from _as_they_come(sources)
    elif grain is not None and len(sources) > 1:
        yield from abreast(batches, grain)
    else:
        yield from in_step(batches)


def meeting(
    arrivals: Iterable[Event], streams: Iterable[str], at: int, since: int, *, is_held: bool
) -> Iterator[Event]:
    """Arrivals with a mark at the point where all streams have reached an instant, or have ended.

    An element that starts at `since` or later shows that its stream has reached it. If `is_held`, later
    events of such a stream wait for the other streams; as recorded streams are read in step, this is a batch
    of each.
    """
    missing, reached, waiting = set(streams), set[str](), list[Event]()
    for event in _cut(arrivals, at, since):
        kind, name, _ = event
        if is_held and missing and name in reached:
            waiting.append(event)
        else:
            yield event
        if kind == "advance":
            reached.add(name)
        elif name in missing and (kind == "end" or name in reached):
            missing.discard(name)
            if reached and not missing:
                yield "mark", "", at
                yield from waiting


def _cut(arrivals: Iterable[Event], at: int, since: int) -> Iterator[Event]:
    """Arrivals with a heartbeat on each stream in front of its first element that starts at `since` or later.

    That element may start long after the instant.
    """
    reached = set[str]()
    for kind, name, batch in arrivals:
        reach = None
        if kind == "push" and name not in reached:
            reach = next((i for i, (start, _, _) in enumerate(batch) if start >= since), None)
        if reach is None:
            yield kind, name, batch
            continue
        reached.add(name)
        if reach:
            yield kind, name, part(batch, 0, reach)
        yield "advance", name, at
        yield kind, name, part(batch, reach)


def _as_they_come(sources: Mapping[str, Source]) -> Iterator[Event]:
    came: queue.Queue[tuple[str, Batch | BaseException | None]] = queue.Queue(AHEAD)
    is_over = threading.Event()

    def put(name: str, what: Batch | BaseException | None) -> None:
        while not is_over.is_set():
            with suppress(queue.Full):
                came.put((name, what), timeout=0.1)
                return

    def read(name: str, source: Source) -> None:
        try:
            for batch in source:
                put(name, batch)
                if is_over.is_set():
                    return
            put(name, None)
        except BaseException as error:  # raised again by the consumer
            put(name, error)
        finally:
            source.close()

    for name, source in sources.items():
        threading.Thread(target=read, args=(name, source), name=f"source {name}", daemon=True).start()
    open_sources = len(sources)
    try:
        while open_sources:
            name, what = came.get()
            if isinstance(what, BaseException):
                raise what
            if what is None:
                open_sources -= 1
            yield event_of(name, what)
    finally:
        is_over.set()
