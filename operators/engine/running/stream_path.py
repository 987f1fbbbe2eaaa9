"""The path of the elements of a stream through all operators that they can reach, to the sinks."""

from __future__ import annotations

from midstream.operators.base.failures import Failures
from midstream.operators.base.walk import Flow, Ready, Stop, Take, deliver, walk
from midstream.operators.compile.legs import Legs
from midstream.plans.values.streams import Batch, Time


class StreamPath:
    """The path of a stream.

    Cost     O(operators reached) per event.
    """

    __slots__ = ("_failures", "_is_compiled", "_legs", "emitted", "reached", "source", "stops", "stream")

    def __init__(self, source: Stop, reached: Time, failures: Failures, *, is_compiled: bool) -> None:
        self.source = source
        self.reached = reached
        """The progress of the stream."""
        self.emitted = 0
        """The number of elements that arrived."""
        self.stops: dict[Stop, None] = {}
        """The stops, inputs before consumers."""
        (self.stream,) = source.streams
        self._legs = Legs(source, failures)
        self._failures = failures
        self._is_compiled = is_compiled

    def enter(self, stop: Stop) -> None:
        """Add a stop, behind all that it reads."""
        self.stops[stop] = None
        self._legs.enter(stop)

    def leave(self, stop: Stop) -> None:
        """Remove a stop."""
        del self.stops[stop]
        self._legs.leave(stop)

    def change(self, stop: Stop) -> None:
        """Take note that the readers of a stop have changed."""
        self._legs.change(stop)

    def process(self, batch: Batch, progress: Time) -> None:
        """Process elements, possibly none, and the progress behind them.

        Results go to the sinks when all operators are done. What raises is left in the failures.
        """
        source, ready = self.source, Ready()
        self.reached = progress
        self.emitted += len(batch)
        if batch and source.tap is not None:
            source.tap.see(batch)
        if batch and source.sinks:
            ready.append((source.sinks, batch))
        flow: Flow = {source.number: (batch, progress)}
        if self._is_compiled:
            for step in self._legs.steps():
                step(flow, ready)
        else:
            walk(self.stops, flow, ready, self._failures)
        if ready:
            deliver(ready, self._failures)

    def sinks(self) -> list[tuple[Stop, Take]]:
        """The sinks in order, each with the stop of its results."""
        places = sorted(
            (place, stop.number, stop) for stop in (self.source, *self.stops) for place in stop.sinks
        )
        return [(stop, sink) for place, _, stop in places for sink in stop.sinks[place]]
