"""The Box contract: everything that runs is a Box, be it a whole plan, a migration in progress, or somebody
else's engine.

A Box has named inputs and outputs, numbered from 0, and understands three events. Each event returns what it
made ready: one batch an output. Migration code knows this contract and nothing else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol, runtime_checkable

from midstream.plans.values.arguments import wrong
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time


@dataclass(frozen=True, slots=True)
class StateSize:
    """What a Box keeps: the number of elements, and their estimated size in bytes."""

    elements: int
    bytes: int


@runtime_checkable
class Box(Protocol):
    """A running computation over streams."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the input ports."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the output ports."""

    def push(self, port: int, batch: Batch) -> list[Batch]:
        """Elements arrived on a port, ordered by start and not before its progress."""

    def advance(self, port: int, time: Time) -> list[Batch]:
        """A heartbeat: no later element on this port starts before `time`."""

    def end(self, port: int) -> list[Batch]:
        """Nothing more will arrive on this port."""

    def progress(self, output: int = 0) -> Time:
        """No later element on this output starts before this; FOREVER once the output has ended."""

    def size(self) -> int:
        """How many elements it keeps. Cost: O(operators)."""

    def state(self) -> Iterable[Element]:
        """The elements that it keeps. Cost: O(size)."""

    def counters(self) -> Mapping[str, int]:
        """Counts since the start, by name."""


Event = Callable[[int, Batch, Time], list[Batch]]
"""Takes a port, a batch, possibly empty, and the progress of the port behind it."""


def event_of(box: Box) -> Event:
    """How a Box is given a batch and the progress behind it: by its `process`, where it has one for both in
    one event."""
    process: Event | None = getattr(box, "process", None)
    return partial(_one_after_the_other, box) if process is None else process


def _one_after_the_other(box: Box, port: int, batch: Batch, progress: Time) -> list[Batch]:
    results = box.push(port, batch) if batch else [[] for _ in box.outputs]
    if batch and batch[-1][0] >= progress:
        return results
    more = box.end(port) if progress == FOREVER else box.advance(port, progress)
    return [first + second for first, second in zip(results, more, strict=True)]


def settled(box: Box) -> Box:
    """The Box itself, or the one that goes on in its place: a Box that has handed over says so by its
    `successor`."""
    while (successor := getattr(box, "successor", None)) is not None:
        box = successor
    return box


class HasState(Protocol):
    """What keeps elements."""

    def state(self) -> Iterable[Element]:
        """The elements that it keeps."""


def state_size(box: HasState) -> StateSize:
    """Elements and bytes of the state of a Box, or of what else keeps elements. Cost: O(size)."""
    _require_box("state_size", box)
    elements = 0
    total = 0
    for element in box.state():
        elements += 1
        total += element_bytes(element)
    return StateSize(elements, total)


def max_end(box: Box) -> Time:
    """The largest end timestamp in a Box's state; BEGINNING where it keeps nothing. Cost: O(size)."""
    _require_box("max_end", box)
    return max((end for _, end, _ in box.state()), default=BEGINNING)


def _require_box(who: str, box: object) -> None:
    if not callable(getattr(box, "state", None)):
        raise wrong(who, box, "a Box")


def element_bytes(element: Element) -> int:
    """The memory that an element takes: its own tuple, its timestamps, its payload and the payload's
    values."""
    start, end, payload = element
    total = sys.getsizeof(element) + sys.getsizeof(start) + sys.getsizeof(end) + sys.getsizeof(payload)
    return total + sum(map(sys.getsizeof, payload)) if isinstance(payload, tuple) else total
