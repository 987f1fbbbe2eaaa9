"""The feed: streams go in by name, and what they bring runs through the graph of all queries."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable
from functools import partial

from midstream.operators.compile.inlets import Inlet, compile_inlet
from midstream.operators.engine.entrance import Entrance
from midstream.operators.engine.query_graph import QueryGraph
from midstream.operators.engine.ways import Way
from midstream.plans.values.arguments import require
from midstream.plans.values.errors import UnknownStreamError
from midstream.plans.values.schema import suggest
from midstream.plans.values.streams import Batch, Element, Time

PIECE = 256
"""Larger batches run in pieces of so many elements: what one operator gives is still in the caches of the
processor when the next one takes it."""


class Feed:
    """Feeds a query graph. Elements are checked where they enter: order, validity and schema.

    Raises   UnknownStreamError, StreamOrderError, LateElementError, IntervalError, SchemaError, EndedError;
             then nothing of the batch was taken.
    """

    def __init__(self, graph: QueryGraph) -> None:
        self._graph = graph
        self._ways = graph.base.ways
        self._inlets = graph.inlets
        self._references = graph.entrances.references
        self._steps: deque[Generator[None, None, None]] = deque()
        """Work that is done a step at a time, one at each push, heartbeat and end."""

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of the streams that the queries read."""
        return tuple(self._ways)

    def push(self, stream: str, elements: Iterable[Element]) -> None:
        """Take a batch of elements `(start, end, payload)` of a stream."""
        try:
            inlet = self._inlets.get(stream)
        except TypeError:  # what has no hash is no name
            inlet = None
        if inlet is not None:
            inlet(elements)
        else:
            self._take(stream, elements)
        if self._steps:
            self._work()

    def advance(self, stream: str, time: int) -> None:
        """A heartbeat: no later element of the stream starts before `time`."""
        entrance = self._entrance(stream)
        self._process(self._ways[stream], *entrance.manager.advance(time))
        if self._steps:
            self._work()

    def tick(self, now: int) -> None:
        """It is `now` in application time: streams with a declared delay advance, though they are silent."""
        require("tick", now, int, "an instant in chronons")
        for stream, way in tuple(self._ways.items()):
            manager = self._graph.entrances[stream].manager
            if manager.delay is not None:
                self._process(way, *manager.tick(now))
        if self._steps:
            self._work()

    def end(self, stream: str) -> None:
        """Nothing more will come on the stream."""
        entrance = self._entrance(stream)
        self._process(self._ways[stream], *entrance.manager.end())
        if self._steps:
            self._work()

    def close(self) -> None:
        """End all streams."""
        for stream in self.streams:
            self.end(stream)

    def progress(self, stream: str | None = None) -> Time:
        """No later element of the stream starts before this; without a name, the least of all streams."""
        if stream is not None:
            return self._entrance(stream).progress
        if not self._ways:
            raise UnknownStreamError("no query runs, so that no stream has a progress; add a query")
        return min(self._graph.entrances[name].progress for name in self._ways)

    def work_in_steps(self, work: Generator[None, None, None]) -> None:
        """Do work a step at a time, one at each push, heartbeat and end. It must have taken its first."""
        self._steps.append(work)

    def open(self, stream: str) -> Inlet | None:
        """The compiled way of an element that comes alone, where there is one: not where ways are walked, nor
        where order is to be restored."""
        if stream not in self._inlets:
            entrance = self._graph.entrances[stream]
            is_plain = entrance.is_plain and not entrance.source.intervals
            is_plain = is_plain and stream not in self._references.streams
            self._inlets[stream] = self._inlet(stream) if self._graph.is_compiled and is_plain else None
        return self._inlets[stream]

    def _inlet(self, stream: str) -> Inlet | None:
        way, entrance = self._ways[stream], self._graph.entrances[stream]
        names = {
            "way": way,
            "entrance": entrance,
            "manager": entrance.manager,
            "take": partial(self._walk, stream),
            "adopt_plans": self._graph.adopt_plans,
            "waiting": self._graph.guests.ready,
        }
        return compile_inlet(way.source, list(way.stops.values()), way.sinks(), entrance.checks, names)

    def _take(self, stream: str, elements: Iterable[Element]) -> None:
        """Elements of a stream whose way is not compiled, or not yet."""
        self._entrance(stream)
        inlet = self.open(stream)
        if inlet is not None:
            inlet(elements)
        else:
            self._walk(stream, elements)

    def _walk(self, stream: str, elements: Iterable[Element]) -> None:
        """Elements of a stream that is read: they are checked, and take its way."""
        self._process(self._ways[stream], *self._graph.entrances[stream].push(elements))

    def _process(self, way: Way, batch: Batch, progress: Time) -> None:
        """Elements of a stream, possibly none, and the progress behind them."""
        if len(batch) > PIECE:
            self._process_pieces(way.stream, batch, progress)
        elif batch or progress > way.reached:
            self._process_piece(way, batch, progress)
        else:
            return
        if self._references:
            # Behind all pieces: an error stops nothing that was taken.
            self._references.keep(self._ways)
            self._references.see(way.stream, batch, progress)

    def _process_piece(self, way: Way, batch: Batch, progress: Time) -> None:
        way.process(batch, progress)
        if self._graph.guests.ready:
            self._graph.adopt_plans()

    def _process_pieces(self, stream: str, batch: Batch, progress: Time) -> None:
        for at in range(0, len(batch), PIECE):
            piece = batch[at : at + PIECE]
            is_last = at + PIECE >= len(batch)
            if stream in self._ways:  # a sink may have changed the queries
                self._process_piece(self._ways[stream], piece, progress if is_last else piece[-1][0])

    def _work(self) -> None:
        """One step of the work that is done so. Once all streams have ended nothing comes that it could be
        done beside."""
        if self._graph.has_ended():
            while self._steps:
                self._steps.popleft().close()
            return
        for work in tuple(self._steps):
            if next(work, self) is self:
                self._steps.remove(work)

    def _entrance(self, stream: object) -> Entrance:
        if isinstance(stream, str) and stream in self._ways:
            return self._graph.entrances[stream]
        known = self.streams
        reads = f"it reads {', '.join(known)}" if known else "no query runs"
        raise UnknownStreamError(
            f"the query reads no stream {stream}{suggest(stream, known)}; {reads}", stream=stream
        )
