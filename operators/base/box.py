"""The Box contract: everything that runs is a Box, be it a whole plan, a migration in progress, or somebody
else's engine.

A Box has named inputs and outputs, numbered from 0, and understands three events. Each event returns what it
made ready: one batch an output. Migration code knows this contract and nothing else. What another engine must
write is the `Box`; who drives one asks for a `Driver`, which `driver` makes of it.
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


class Driver(Protocol):
    """What else is asked of a Box by whoever drives it. Ours answer for themselves; for others `driver` makes
    one, so it may be left out.
    """

    @property
    def successor(self) -> Box | None:
        """The Box that goes on in its place, once it has handed over; None before. It is to be driven from
        then on, though this one passes on what it is given. Only migrations hand over."""

    def process(self, port: int, batch: Batch, progress: Time) -> list[Batch]:
        """A batch, possibly empty, and the progress of its port behind it, in one event: `push`, and what
        the batch does not tell of the progress by `advance`, or `end` at FOREVER."""

    def operators(self) -> Iterable[tuple[Node, Operator]]:
        """The operators inside with the nodes of their plans, for those who want to look: none where there is
        no plan, those of both plans during a migration."""


def driver(box: Box) -> Driver:
    """What drives a Box: itself, or an adapter."""
    is_one = hasattr(box, "process") and hasattr(box, "successor") and hasattr(box, "operators")
    return cast(Driver, box) if is_one else EventByEvent(box)


class EventByEvent:
    """Drives a Box of somebody else, which never hands over, and shows no operators."""

    successor = None

    def __init__(self, box: Box) -> None:
        self._box = box

    def process(self, port: int, batch: Batch, progress: Time) -> list[Batch]:
        """One event after the other."""
        box = self._box
        results = box.push(port, batch) if batch else [[] for _ in box.outputs]
        if batch and batch[-1][0] >= progress:
            return results
        more = box.end(port) if progress == FOREVER else box.advance(port, progress)
        return [first + second for first, second in zip(results, more, strict=True)]

    def operators(self) -> Iterable[tuple[Node, Operator]]:
        """None that can be seen."""
        return ()


def settled(box: Box) -> Box:
    """The Box itself, or the one that goes on in its place."""
    while (successor := driver(box).successor) is not None:
        box = successor
    return box


class HasState(Protocol):
    """What keeps elements."""

    def state(self) -> Iterable[Element]:
        """The elements that it keeps."""


def state_size(box: HasState) -> StateSize:
    """Elements and bytes of the state of a Box, or of what else keeps elements. Cost: O(size)."""
    require_box("state_size", box)
    sizes = list(map(element_bytes, box.state()))
    return StateSize(len(sizes), sum(sizes))


def max_end(box: Box) -> Time:
    """The largest end timestamp in a Box's state; BEGINNING where it keeps nothing. Cost: O(size)."""
    require_box("max_end", box)
    return max((end for _, end, _ in box.state()), default=BEGINNING)


def require_box(who: str, box: object) -> None:
    """Refuse what is no Box: the caller has confused arguments."""
    if not callable(getattr(box, "state", None)):
        raise wrong(who, box, "a Box")


def element_bytes(element: Element) -> int:
    """The memory that an element takes: its own tuple, its timestamps, its payload and the payload's
    values."""
    start, end, payload = element
    total = sys.getsizeof(element) + sys.getsizeof(start) + sys.getsizeof(end) + sys.getsizeof(payload)
    return total + sum(map(sys.getsizeof, payload)) if isinstance(payload, tuple) else total
