"""Items and workloads: an item is a piece of work, a workload is an item with its seeded streams."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from operator import itemgetter
from typing import Any, Protocol

from midstream.plans.algebra.plan import Plan
from midstream.plans.values.streams import Batch, Element, Payload

Emit = Callable[[Any], object]
"""The sink of a loop: takes a batch of results from a batch loop, one result from an element loop."""

Chunk = tuple[Batch, ...]
"""Consecutive elements of all streams together, one batch a stream; a batch may be empty."""

Tagged = tuple[int, Element]
"""An element with the number of its stream."""

BatchLoop = Callable[[Iterable[Chunk], int, Emit], None]
"""Work written by hand on batches; the window is in chronons."""

ElementLoop = Callable[[Iterable[Tagged], int, Emit], None]
"""A `BatchLoop`'s work on single elements, in order of time over all streams."""


class State(Protocol):
    """Work written by hand for the elements of one key, for libraries with keyed state."""

    def push(self, arrived: Sequence[Tagged]) -> list[Any]:
        """Take elements in order of time; return the results that are ready, in any order."""
        ...

    def finish(self) -> list[Element]:
        """Return the remaining results after the last element."""
        ...


@dataclass(frozen=True, slots=True)
class Item:
    """A piece of work in all its forms.

    `window` is the number of elements of a stream that are valid at once, None without a window; `period` is
    the mean distance of a stream's elements in chronons. `row` draws a payload, given the window and the
    element's number. `plan` and `state` take the window in chronons. Elements with an equal `key` belong
    together.
    """

    name: str
    title: str
    streams: tuple[str, ...]
    window: int | None
    period: int
    row: Callable[[random.Random, int, int], Payload]
    plan: Callable[[int], Plan]
    batch_loop: BatchLoop
    element_loop: ElementLoop
    key: Callable[[Payload], Hashable]
    state: Callable[[int], State]


@dataclass(frozen=True, slots=True)
class Workload:
    """An item with complete streams for it; `window` is in elements of a stream, `span` in chronons."""

    item: Item
    window: int
    span: int
    streams: Mapping[str, Batch]

    @property
    def elements(self) -> int:
        """The number of elements of all streams together."""
        return sum(map(len, self.streams.values()))


def workload(item: Item, elements: int, seed: int, window: int | None = None) -> Workload:
    """Draw streams with `elements` elements in all; a window other than the item's may be given.

    Equal arguments give equal streams. Distances vary between none and twice the period, so that there are
    ties and gaps.
    """
    size = item.window or 1 if window is None else window
    each = max(1, elements // len(item.streams))
    streams = {name: _stream(item, each, size, f"{seed} {item.name} {name}") for name in item.streams}
    return Workload(item, size, size * item.period, streams)


def _stream(item: Item, count: int, window: int, seed: str) -> Batch:
    draw = random.Random(seed)
    elements: Batch = []
    time = 0
    for i in range(count):
        time += draw.randrange(2 * item.period + 1)
        elements.append((time, time + 1, item.row(draw, window, i)))
    return elements


def feed(streams: Mapping[str, Batch]) -> list[Tagged]:
    """The elements of all streams in order of time.

    >>> feed({"a": [(1, 2, "x"), (5, 6, "y")], "b": [(3, 4, "z")]})
    [(0, (1, 2, 'x')), (1, (3, 4, 'z')), (0, (5, 6, 'y'))]
    """
    numbered = [[(e[0], port, e) for e in batch] for port, batch in enumerate(streams.values())]
    return [(port, element) for _, port, element in merge(*numbered, key=itemgetter(0, 1))]


def chunks(tagged: Sequence[Tagged], ports: int, size: int) -> list[Chunk]:
    """The elements cut into chunks in which a stream's batch has `size` elements on average.

    >>> chunks([(0, (1, 2, "x")), (1, (3, 4, "z")), (0, (5, 6, "y"))], ports=2, size=1)
    [([(1, 2, 'x')], [(3, 4, 'z')]), ([(5, 6, 'y')], [])]
    """
    step = size * ports
    cut: list[Chunk] = []
    for at in range(0, len(tagged), step):
        chunk: Chunk = tuple([] for _ in range(ports))
        for port, element in tagged[at : at + step]:
            chunk[port].append(element)
        cut.append(chunk)
    return cut


def pushes(names: Iterable[str], cut: Iterable[Chunk]) -> list[tuple[str, Batch]]:
    """Chunks as batches for an engine; empty batches are left out.

    >>> pushes(["a", "b"], [([(1, 2, "x")], [(3, 4, "z")]), ([(5, 6, "y")], [])])
    [('a', [(1, 2, 'x')]), ('b', [(3, 4, 'z')]), ('a', [(5, 6, 'y')])]
    """
    return [(name, batch) for chunk in cut for name, batch in zip(names, chunk, strict=True) if batch]
