"""The Box contract: everything that runs is a Box, a plan, a migration in progress, or another engine.

A Box has named inputs and outputs, numbered from 0, and understands three events. Each event returns the
results that are ready: one batch per output. Migration code knows this contract and nothing else. The adapter
of another engine implements `Box`; code that drives a Box uses a `Driver`, which `driver` makes of it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, cast, runtime_checkable

from midstream.operators.base.operator import Operator
from midstream.plans.algebra.plan import Node
from midstream.plans.values.arguments import wrong
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time


@dataclass(frozen=True, slots=True)
class StateSize:
    """The size of a Box's state: the number of elements, and their estimated size in bytes."""

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
        """A lower bound of the starts of later elements on this output; FOREVER once the output has ended."""

    def size(self) -> int:
        """The number of elements in the state.

        Cost     O(operators)
        """

    def state(self) -> Iterable[Element]:
        """The elements in the state.

        Cost     O(size)
        """

    def counters(self) -> Mapping[str, int]:
        """Counts since the start, by name."""


class Driver(Protocol):
    """Further methods that code driving a Box needs.

    Our own Boxes have them; for others `driver` adds them, so an implementation may leave them out.
    """

    @property
    def successor(self) -> Box | None:
        """The Box that replaces this one, once it has handed over; None before.

        From then on the successor must be driven, though this Box passes its input on. Only migrations hand
        over.
        """

    def process(self, port: int, batch: Batch, progress: Time) -> list[Batch]:
        """Process a batch, possibly empty, and the progress of its port behind it, in one event.

        It does the same as `push`, then `advance` if the progress is beyond the batch, or `end` at FOREVER.
        """

    def operators(self) -> Iterable[tuple[Node, Operator]]:
        """The operators inside with their nodes: none without a plan, of both plans in a migration."""


def driver(box: Box) -> Driver:
    """The driver of a Box: the Box itself, or an adapter."""
    is_driver = hasattr(box, "process") and hasattr(box, "successor") and hasattr(box, "operators")
    return cast(Driver, box) if is_driver else EventByEvent(box)


class EventByEvent:
    """Drives a Box of another engine, which never hands over and shows no operators."""

    successor = None

    def __init__(self, box: Box) -> None:
        self._box = box

    def process(self, port: int, batch: Batch, progress: Time) -> list[Batch]:
        """Pass the events on one by one."""
        box = self._box
        results = box.push(port, batch) if batch else [[] for _ in box.outputs]
        if batch and batch[-1][0] >= progress:
            return results
        more = box.end(port) if progress == FOREVER else box.advance(port, progress)
        return [first + second for first, second in zip(results, more, strict=True)]

    def operators(self) -> Iterable[tuple[Node, Operator]]:
        """Return nothing, as no operators are visible."""
        return ()


def settled(box: Box) -> Box:
    """The Box itself, or the last of its successors."""
    while (successor := driver(box).successor) is not None:
        box = successor
    return box


class HasState(Protocol):
    """An object that keeps elements."""

    def state(self) -> Iterable[Element]:
        """The elements in the state."""


def state_size(box: HasState) -> StateSize:
    """The elements and bytes in the state of a Box, or of any other object that keeps elements.

    Cost     O(size)
    """
    require_box("state_size", box)
    sizes = list(map(element_bytes, box.state()))
    return StateSize(len(sizes), sum(sizes))


def max_end(box: Box) -> Time:
    """The largest end timestamp in a Box's state; BEGINNING if it is empty.

    Cost     O(size)
    """
    require_box("max_end", box)
    return max((end for _, end, _ in box.state()), default=BEGINNING)


def require_box(who: str, box: object) -> None:
    """Refuse an object that is no Box: the caller has confused arguments."""
    if not callable(getattr(box, "state", None)):
        raise wrong(who, box, "a Box")


def element_bytes(element: Element) -> int:
    """The bytes that an element takes: its tuple, its timestamps, its payload and the payload's values."""
    start, end, payload = element
    total = sys.getsizeof(element) + sys.getsizeof(start) + sys.getsizeof(end) + sys.getsizeof(payload)
    return total + sum(map(sys.getsizeof, payload)) if isinstance(payload, tuple) else total
