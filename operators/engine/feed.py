"""The feed: streams go in by name, and what they bring runs through the graph of all queries."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from operator import attrgetter

from midstream.operators.compile.inlets import Inlet, compile_inlet
from midstream.operators.engine.entrance import Entrance
from midstream.operators.engine.queries import Stepwise
from midstream.operators.engine.query_graph import QueryGraph
from midstream.operators.engine.watching import IDLE, Watch, Watcher
from midstream.operators.engine.ways import Way
from midstream.plans.values.arguments import require, wrong
from midstream.plans.values.errors import UnknownStreamError
from midstream.plans.values.schema import suggest
from midstream.plans.values.streams import FOREVER, START, Batch, Element, Time

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
        self._under_way: list[Stepwise] = []
        """Work that is done a step at a time, one behind each event."""
        self._is_inside = False
        """Whether an event, or a step of such work, is under way; then what it changes is not complete."""
        self._watches: dict[str, tuple[Watch, ...]] = {}
        """By stream, who watches it."""

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of the streams that the queries read."""
        return tuple(self._ways)

    def push(self, stream: str, elements: Iterable[Element]) -> None:
        """Take a batch of elements `(start, end, payload)` of a stream."""
        was_inside, self._is_inside = self._is_inside, True
        try:
            try:
                inlet = self._inlets.get(stream)
            except TypeError:  # what has no hash is no name
                inlet = None
            if inlet is not None:
                inlet(elements)
            else:
                self._take(stream, elements)
        finally:
            self._is_inside = was_inside
        if self._under_way:
            self.step()

    def advance(self, stream: str, time: int) -> None:
        """A heartbeat: no later element of the stream starts before `time`."""
        entrance = self._entrance(stream)
        with self._event():
            self._process(self._ways[stream], *entrance.manager.advance(time))

    def tick(self, now: int) -> None:
        """It is `now` in application time: streams with a declared delay advance, though they are silent."""
        require("tick", now, int, "an instant in chronons")
        with self._event():
            for stream, way in tuple(self._ways.items()):
                manager = self._graph.entrances[stream].manager
                if manager.delay is not None:
                    self._process(way, *manager.tick(now))

    def end(self, stream: str) -> None:
        """Nothing more will come on the stream."""
        entrance = self._entrance(stream)
        with self._event():
            self._process(self._ways[stream], *entrance.manager.end())

    @contextmanager
    def _event(self) -> Iterator[None]:
        """What is done in a block is one event; a step of the work that waits for events follows."""
        was_inside, self._is_inside = self._is_inside, True
        try:
            yield
        finally:
            self._is_inside = was_inside
        self.step()

    def close(self) -> None:
        """End all streams."""
        for stream in self.streams:
            if stream in self._ways:  # a query that takes another's place may read fewer
                self.end(stream)

    def progress(self, stream: str | None = None) -> Time:
        """No later element of the stream starts before this; without a name, the least of all streams."""
        if stream is not None:
            return self._entrance(stream).progress
        if not self._ways:
            raise UnknownStreamError("no query runs, so that no stream has a progress; add a query")
        return min(self._graph.entrances[name].progress for name in self._ways)

    def work_in_steps(self, work: Stepwise) -> None:
        """Do work a step at a time, one behind each event: a push, a heartbeat, an end, and a change of the
        queries from outside."""
        self._under_way.append(work)

    def watch(
        self,
        watcher: Watcher,
        step: int = 1,
        streams: Iterable[str] | None = None,
        idle: int = IDLE,
    ) -> Watch:
        """Let somebody watch streams, by default all that are read now. A batch is cut where he looks, at
        multiples of `step`, of which those are left out that come more than `idle` behind the last
        element."""
        for name, number in (("step", step), ("idle", idle)):
            require(f"watch: {name}", number, int, "a number from 1")
            if number < 1:
                raise wrong(f"watch: {name}", number, "a number from 1")
        watch = Watch(watcher, self.streams if streams is None else streams, step, idle)
        for stream in watch.marks:
            self._watches[stream] = (*self._watches.get(stream, ()), watch)
            self._inlets.pop(stream, None)
        return watch

    def unwatch(self, watch: Watch) -> None:
        """Nobody watches any more; twice is allowed."""
        for stream in watch.marks:
            left = tuple(one for one in self._watches.pop(stream, ()) if one is not watch)
            if left:
                self._watches[stream] = left
            self._inlets.pop(stream, None)

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
        marks = [watch.marks[stream] for watch in self._watches.get(stream, ())]
        is_timed = entrance.source.unit is not None
        stops, sinks = list(way.stops.values()), way.sinks()
        return compile_inlet(way.source, stops, sinks, entrance.checks, names, marks, is_timed=is_timed)

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
        if not batch and progress <= way.reached:
            return
        if way.stream in self._watches:
            self._process_watched(way.stream, batch, progress)
        else:
            self._run(way, batch, progress)
        if self._references:
            # Behind all pieces: an error stops nothing that was taken.
            self._references.keep(self._ways)
            self._references.see(way.stream, batch, progress)

    def _process_watched(self, stream: str, batch: Batch, progress: Time) -> None:
        """The same, cut at the instants that somebody looks at."""
        is_due = False
        for watch in self._watches[stream]:
            if batch:
                watch.note(stream, batch)
            is_due |= watch.next <= progress
        if is_due:
            batch = self._look(stream, batch, progress)
        way = self._ways.get(stream)
        if way is None:  # who looks may change the queries, as a sink may
            return
        if batch or progress > way.reached:
            self._run(way, batch, progress)
        if progress == FOREVER:
            for watch in self._watches.get(stream, ()):
                if self._others_reached(watch, stream) == FOREVER:
                    watch.finish()

    def _look(self, stream: str, batch: Batch, progress: Time) -> Batch:
        """Let elements run up to each instant that somebody looks at now, and look; the rest is given."""
        told = self._watches[stream]
        while stream in self._ways and (due := self._due(stream, progress)) is not None:
            now = due.next
            reach = bisect_left(batch, now, key=START)
            if reach or now > self._ways[stream].reached:
                self._run(self._ways[stream], batch[:reach], now)
                batch = batch[reach:]
            if stream in self._ways and due.next == now:
                due.look()
            watches = self._watches.get(stream, ())
            if batch and watches is not told:
                for watch in watches:
                    if watch not in told:  # it began as another one looked
                        watch.note(stream, batch)
            told = watches
        return batch

    def _due(self, stream: str, progress: Time) -> Watch | None:
        """Of those who watch a stream that comes to an instant, the one whose next look is the earliest, if
        all streams that are watched have come there, and not all have ended."""
        due = [
            watch
            for watch in self._watches.get(stream, ())
            if watch.next <= progress
            and watch.next <= (others := self._others_reached(watch, stream))
            and not progress == others == FOREVER
        ]
        return min(due, key=attrgetter("next"), default=None)

    def _others_reached(self, watch: Watch, stream: str) -> Time:
        """How far all streams but one are that somebody watches."""
        others = (self._ways[one].reached for one in watch.marks if one != stream and one in self._ways)
        return min(others, default=FOREVER)

    def _run(self, way: Way, batch: Batch, progress: Time) -> None:
        """Let elements take their way, in pieces."""
        if len(batch) > PIECE:
            self._process_pieces(way.stream, batch, progress)
        else:
            self._process_piece(way, batch, progress)

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

    def step(self) -> None:
        """A step of all that is done so, in order, behind an event; nothing within one, as the event itself
        is followed by a step. Once all streams have ended nothing comes that it could be done beside."""
        if self._is_inside or not self._under_way:
            return
        self._is_inside = True
        has_ended = self._graph.has_ended()
        try:
            for work in tuple(self._under_way):
                is_left = False  # what raises is not asked again
                try:
                    is_left = work.step() and not has_ended
                finally:
                    if not is_left:
                        self._under_way.remove(work)
        finally:
            self._is_inside = False

    def _entrance(self, stream: object) -> Entrance:
        if isinstance(stream, str) and stream in self._ways:
            return self._graph.entrances[stream]
        known = self.streams
        reads = f"it reads {', '.join(known)}" if known else "no query runs"
        raise UnknownStreamError(
            f"the query reads no stream {stream}{suggest(stream, known)}; {reads}", stream=stream
        )
