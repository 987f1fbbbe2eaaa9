"""The way of a batch through connected operators: from each to those above it, by calls.

This is how a plan runs. With compilation (see compile/) generated functions do the same; a property test
compares both at every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from midstream.operators.base.operator import Operator
from midstream.plans.algebra.plan import Node
from midstream.plans.values.streams import Batch, Time

Take = Callable[[Batch], object]
"""Takes a batch, which is not empty, as a sink does."""

ProcessEvent = Callable[[int, Batch, Time], Batch]
"""What an operator does with an event: a batch on a port, and the progress behind it."""

Sinks = dict[tuple[int, int], list[Take]]
"""Who gets the results of an operator, by the places of queries and outputs."""

Flow = dict[int, tuple[Batch, Time]]
"""What stops gave in one event, and how far they are behind it; by their numbers."""

Ready = list[tuple[Sinks, Batch]]
"""Results that are to be delivered when all operators are done."""

RunStops = Callable[[Flow, Ready], None]
"""Runs some stops: reads what those below them gave, and adds what they give."""


class Tap(Protocol):
    """Sees all that an operator gives."""

    @property
    def see(self) -> Take:
        """What is to take every batch."""


@dataclass(slots=True, eq=False)
class Stop:
    """A node that runs: what it reads, and who wants what it gives."""

    node: Node
    number: int
    below: tuple[int, ...] = ()
    """By port, the number of the stop that it reads."""
    streams: tuple[str, ...] = ()
    """Those that reach it."""
    operator: Operator | None = None
    """None where the node is an input or a relation: what it gives comes from outside."""
    users: dict[Any, None] = field(default_factory=dict)
    """The queries that have it."""
    readers: dict[Node, int] = field(default_factory=dict)
    """The nodes that read it, each with the number of its ports that do."""
    sinks: Sinks = field(default_factory=dict)
    tap: Tap | None = None
    measured: ProcessEvent | None = None
    """Runs the operator in place of its own `process`, and measures it."""

    @property
    def is_alone(self) -> bool:
        """Whether what it gives goes to one reader, and nobody else wants to see it."""
        is_seen = self.sinks or self.tap is not None or self.measured is not None
        return not is_seen and list(self.readers.values()) == [1]


def walk(stops: Iterable[Stop], flow: Flow, ready: Ready) -> None:
    """Run all stops that can be reached from those in the flow; inputs come before their readers.

    Each hands on its results together with its progress, so that one with nothing to say does not stop those
    behind it.
    """
    for stop in stops:
        feeds = [(port, *flow[below]) for port, below in enumerate(stop.below) if below in flow]
        operator = stop.operator
        if operator is None or not feeds:
            continue
        out: Batch = []
        for port, batch, progress in feeds:
            if batch or progress > operator.reached[port]:
                out = out + (stop.measured or operator.process)(port, batch, progress)
        flow[stop.number] = out, operator.progress()
        if out and stop.tap is not None:
            stop.tap.see(out)
        if out and stop.sinks:
            ready.append((stop.sinks, out))


def deliver(ready: Ready) -> None:
    """Hand results to sinks, in order of queries and outputs. A sink may change the queries: no operator
    runs any more."""
    calls = [(place, sinks, batch) for of_node, batch in ready for place, sinks in of_node.items()]
    calls.sort(key=lambda call: call[0])
    for _, sinks, batch in calls:
        for sink in sinks:
            sink(batch)
