"""The path of a batch through connected operators: from each to those above it, by calls.

This is how a plan runs. With compilation (see compile/) generated functions do the same; a property test
compares both at every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from midstream.operators.base.failures import Failures
from midstream.operators.base.operator import Operator
from midstream.plans.algebra.plan import Node
from midstream.plans.values.streams import Batch, Time

Take = Callable[[Batch], object]
"""A function that takes a batch, which is not empty, as a sink does."""

ProcessEvent = Callable[[int, Batch, Time], Batch]
"""A function that processes an event of an operator: a batch on a port, and the progress behind it."""

Sinks = dict[tuple[int, int], list[Take]]
"""The sinks of an operator's results, by the places of queries and outputs."""

Flow = dict[int, tuple[Batch, Time]]
"""The results of stops in one event, and the progress behind them; by the stops' numbers."""

Ready = list[tuple[Sinks, Batch]]
"""Results to be delivered when all operators are done."""

RunStops = Callable[[Flow, Ready], None]
"""A function that runs some stops: it reads the results of those below, and adds their own."""


class Tap(Protocol):
    """An object that sees all results of an operator."""

    @property
    def see(self) -> Take:
        """The function that takes every batch."""


@dataclass(slots=True, eq=False)
class Stop:
    """A running node, with its inputs and the readers of its results."""

    node: Node
    number: int
    below: tuple[int, ...] = ()
    """By port, the number of the stop that it reads."""
    streams: tuple[str, ...] = ()
    """The streams that reach it."""
    operator: Operator | None = None
    """The operator; None for an input or a relation, whose elements come from outside."""
    users: dict[Any, None] = field(default_factory=dict)
    """The queries that use it."""
    readers: dict[Stop, int] = field(default_factory=dict)
    """The stops that read it, each with the number of its ports that do."""
    sinks: Sinks = field(default_factory=dict)
    tap: Tap | None = None
    measured: ProcessEvent | None = None
    """A function that replaces the operator's `process` and measures it, if it is measured."""

    @property
    def is_alone(self) -> bool:
        """True if one reader gets its results, and nobody else sees them."""
        is_seen = self.sinks or self.tap is not None or self.measured is not None
        return not is_seen and list(self.readers.values()) == [1]


def walk(stops: Iterable[Stop], flow: Flow, ready: Ready, failures: Failures | None = None) -> None:
    """Run all stops that can be reached from those in the flow; inputs come before their readers.

    Each stop passes its results on together with its progress, so that a stop without results does not hold
    up those behind it. With `failures`, an operator that raises gives nothing, and the others run on.
    """
    for stop in stops:
        feeds = [(port, *flow[below]) for port, below in enumerate(stop.below) if below in flow]
        operator = stop.operator
        if operator is None or not feeds:
            continue
        out: Batch = []
        try:
            for port, batch, progress in feeds:
                if batch or progress > operator.reached[port]:
                    out = out + (stop.measured or operator.process)(port, batch, progress)
        except Exception as error:
            if failures is None:
                raise
            failures.add(error, stop.users)
            out = []
        flow[stop.number] = out, operator.progress()
        if out and stop.tap is not None:
            stop.tap.see(out)
        if out and stop.sinks:
            ready.append((stop.sinks, out))


def deliver(ready: Ready, failures: Failures) -> None:
    """Pass results to sinks, in order of queries and outputs; one that raises costs the others nothing.

    A sink may change the queries, as no operator runs any more.
    """
    calls = [(place, sinks, batch) for of_node, batch in ready for place, sinks in of_node.items()]
    calls.sort(key=lambda call: call[0])
    for _, sinks, batch in calls:
        for sink in sinks:
            try:
                sink(batch)
            except Exception as error:
                failures.add(error)
