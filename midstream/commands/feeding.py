"""Batches of several sources as one sequence, in step."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from heapq import heapify, heappop, heappush

from midstream.io.sources.source import Source
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Time

NamedBatch = tuple[str, Batch | None]
"""A stream's name, and a batch of it; None where it has ended."""

AHEAD = 64
"""How many batches sources that may wait can be ahead of whoever takes them."""


def arrivals(sources: Mapping[str, Source], grain: int | None = None) -> Iterator[NamedBatch]:
    """What sources give, in an order that keeps them in step as far as possible.

    Recorded sources are read where they are behind in application time, so that no operator has to keep much
    of one while it waits for another. Where one of several may wait, all are read at the same time, and what
    comes is given at once. With a `grain`, in chronons, batches of recorded sources are cut so that none is
    ahead of the others by more: a migration lasts until all have passed what has come.

    State    A batch a source; `AHEAD` of all together where one may wait.
    """
    if len(sources) > 1 and any(source.is_live for source in sources.values()):
        yield from _as_they_come(sources)
    elif grain is not None and len(sources) > 1:
        yield from _abreast(sources, grain)
    else:
        yield from _in_step(sources)


def _in_step(sources: Mapping[str, Source]) -> Iterator[NamedBatch]:
    behind: list[tuple[Time, int, str]] = [(BEGINNING, i, name) for i, name in enumerate(sources)]
    heapify(behind)
    while behind:
        _, number, name = heappop(behind)
        batch = next(iter(sources[name]), None)
        yield name, batch
        if batch is not None:
            heappush(behind, (batch[-1][0], number, name))


def _abreast(sources: Mapping[str, Source], grain: int) -> Iterator[NamedBatch]:
    heads: list[tuple[Time, int, str, Batch]] = [(BEGINNING, i, name, []) for i, name in enumerate(sources)]
    heapify(heads)
    while heads:
        _, number, name, batch = heappop(heads)
        if not batch:
            following = next(iter(sources[name]), None)
            if following is None:
                yield name, None
            else:
                heappush(heads, (following[0][0], number, name, following))
            continue
        limit = heads[0][0] + grain if heads else FOREVER
        reach = next((i for i, element in enumerate(batch) if i and element[0] > limit), len(batch))
        yield name, batch[:reach]
        rest = batch[reach:]
        heappush(heads, (rest[0][0] if rest else batch[-1][0], number, name, rest))


def _as_they_come(sources: Mapping[str, Source]) -> Iterator[NamedBatch]:
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
        except BaseException as error:  # handed on to whoever takes the batches
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
            yield name, what
    finally:
        is_over.set()
