"""The feed: streams go in by name, and their elements run through the graph of all queries."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from operator import attrgetter
from threading import current_thread, get_ident

from midstream.operators.compile.inlets import Inlet, compile_inlet
from midstream.operators.engine.graph.query_graph import QueryGraph
from midstream.operators.engine.input.entrance import Entrance
from midstream.operators.engine.measuring.watching import IDLE, Watch, Watcher
from midstream.operators.engine.running.queries import Stepwise
from midstream.operators.engine.running.stream_path import StreamPath
from midstream.plans.algebra.operators import Source
from midstream.plans.values.arguments import require, shown, wrong
from midstream.plans.values.errors import Note, ThreadError, UnknownStreamError, tell
from midstream.plans.values.schema import suggest
from midstream.plans.values.streams import FOREVER, START, Batch, Element, Time

PIECE = 256
"""The number of elements in a piece of a larger batch.

With small pieces, the results of one operator are still in the processor's caches when the next one takes
them.
"""


class _Release:
    """The work to run the elements that waited for looks of a watch that has ended."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed

    def step(self) -> bool:
        """Do all of it."""
        self._feed.release()
        return False


def _second_thread() -> ThreadError:
    """The error for a thread that comes while another one is inside."""
    return ThreadError(
        f"found thread {current_thread().name} in an engine while another thread is inside, expected one at "
        "a time; let all threads put elements into one queue.Queue, and one thread push them, or hold one "
        "threading.Lock during each call of the engine"
    )


class Feed:
    """Feeds a query graph, and checks elements at the entrance: order, validity and schema.

    Raises   UnknownStreamError, StreamOrderError, LateElementError, IntervalError, SchemaError, EndedError;
             then nothing of the batch was taken.
    """

    def __init__(self, graph: QueryGraph) -> None:
        self._graph = graph
        self._paths = graph.base.paths
        self._inlets = graph.inlets
        self._references = graph.entrances.references
        self._failures = graph.base.failures
        self._under_way: list[Stepwise] = []
        """Work that is done a step at a time, one behind each event."""
        self._notes: list[tuple[str, type[Note]]] = []
        """Notes to be told once the work of the call is done."""
        self._is_one_call = False
        """True while several events are one call of the user."""
        self._inside = 0
        """The thread of the event, or of the step of such work, that is under way; 0 if there is none.

        Changes may be incomplete then.
        """
        self._watches: dict[str, tuple[Watch, ...]] = {}
        """The watches by stream."""
        self._waiting: dict[str, tuple[Batch, Time]] = {}
        """By stream, the elements that wait for a look, and the progress behind them."""

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of the streams that the queries read."""
        return tuple(self._paths)

    def push(self, stream: str, elements: Iterable[Element]) -> None:
        """Take a batch of elements `(start, end, payload)` of a stream."""
        # CPython changes threads at calls and loops only, so none comes between this reading and writing.
        thread, was_inside = get_ident(), self._inside
        if was_inside and was_inside != thread:
            raise _second_thread()
        self._inside = thread
        try:
            try:
                inlet = self._inlets.get(stream)
            except TypeError:  # an object without a hash is no name
                inlet = None
            if inlet is not None:
                inlet(elements)
            else:
                self._take(stream, elements)
        finally:
            self._inside = was_inside
        if self._under_way or self._notes or self._failures.first is not None:
            self._follow()

    def advance(self, stream: str, time: int) -> None:
        """A heartbeat: no later element of the stream starts before `time`."""
        entrance = self._entrance(stream)
        with self._event():
            self._process(self._paths[stream], *entrance.manager.advance(time))

    def tick(self, now: int) -> None:
        """Set the time to `now`: streams with a declared delay advance, though they are silent."""
        require("tick", now, int, "an instant in chronons")
        with self._event():
            for stream, path in tuple(self._paths.items()):
                manager = self._graph.entrances[stream].manager
                if manager.delay is not None:
                    self._process(path, *manager.tick(now))

    def end(self, stream: str) -> None:
        """End a stream: no element will follow."""
        entrance = self._entrance(stream)
        with self._event():
            self._process(self._paths[stream], *entrance.manager.end())

    @contextmanager
    def _event(self) -> Iterator[None]:
        """Run a block as one event; a step of the waiting work follows."""
        thread, was_inside = get_ident(), self._inside
        if was_inside and was_inside != thread:
            raise _second_thread()
        self._inside = thread
        try:
            yield
        finally:
            self._inside = was_inside
        self._follow()

    def _follow(self) -> None:
        """Do what follows an event: a step of the waiting work, notes, and an error of the event."""
        try:
            self.step()
        finally:
            self._raise()

    def fail(self, error: Exception) -> None:
        """Raise an error once the present event is over; at once where there is none."""
        if not self._inside:
            raise error
        self._failures.add(error)

    def _raise(self) -> None:
        """Raise the error of an operator or a sink in an event that is over."""
        if not self._inside and (error := self._failures.take(len(self._graph.queries))) is not None:
            raise error

    def require_one_thread(self) -> None:
        """Raise ThreadError if another thread is inside the engine."""
        if self._inside and self._inside != get_ident():
            raise _second_thread()

    def close(self) -> None:
        """End all streams, also where a function or a sink raises as one ends; its error follows."""
        errors = []
        with self.one_call():
            for stream in self.streams:
                if stream in self._paths:  # a query that takes another's place may read fewer
                    try:
                        self.end(stream)
                    except Exception as error:
                        errors.append(error)
            if errors:
                raise errors[0]

    def progress(self, stream: str | None = None) -> Time:
        """A lower bound of the starts of later elements of a stream; without a name, of all streams."""
        if stream is not None:
            return self._entrance(stream).progress
        if not self._paths:
            raise UnknownStreamError("no query runs, so that no stream has a progress; add a query")
        return min(self._graph.entrances[name].progress for name in self._paths)

    def source(self, stream: str) -> Source:
        """The declaration of a stream that is read."""
        return self._entrance(stream).source

    def work_in_steps(self, work: Stepwise) -> None:
        """Do work a step at a time, one behind each event.

        Events are a push, a heartbeat, an end, and a change of the queries from outside.
        """
        self._under_way.append(work)

    def watch(
        self,
        watcher: Watcher,
        step: int = 1,
        streams: Iterable[str] | None = None,
        idle: int = IDLE,
        put_off: Callable[[int], int] | None = None,
        *,
        gathers: bool = False,
    ) -> Watch:
        """Let a watcher watch streams, by default all that are read now.

        Batches are cut at the instants of its looks, the multiples of `step`. Looks more than `idle` instants
        behind the last element are left out, and those that `put_off` puts off (see `Watch`). A watcher that
        `gathers` takes elements as they come.

        An element that starts at the instant of the next look or later waits for it, until all watched
        streams have come to that instant. That delays no result, as results come in order of their starts: a
        stream waits only if its elements bring no result before all watched streams have come (see
        `companions`), and no look of a watch that needs fewer streams.
        """
        for name, number in (("step", step), ("idle", idle)):
            require(f"watch: {name}", number, int, "a number from 1")
            if number < 1:
                raise wrong(f"watch: {name}", number, "a number from 1")
        watch = Watch(
            watcher, self.streams if streams is None else streams, step, idle, put_off, gathers=gathers
        )
        for stream in watch.marks:
            self._watches[stream] = (*self._watches.get(stream, ()), watch)
            self._inlets.pop(stream, None)
            if stream in self._waiting and self._waiting[stream][0]:
                watch.note(stream, self._waiting[stream][0])
        self._release(watch)
        return watch

    def unwatch(self, watch: Watch) -> None:
        """End a watch; twice is allowed."""
        for stream in watch.marks:
            remaining = tuple(w for w in self._watches.pop(stream, ()) if w is not watch)
            if remaining:
                self._watches[stream] = remaining
            self._inlets.pop(stream, None)
        self._release(watch)

    def _release(self, watch: Watch) -> None:
        """Run the elements that need not wait any more, now that a watch has begun or ended."""
        if not self._waiting.keys().isdisjoint(watch.marks):
            self.work_in_steps(_Release(self))
            self.step()

    def open(self, stream: str) -> Inlet | None:
        """The compiled path of a single element; None where there is none.

        There is none if paths are not compiled, or if order must be restored.
        """
        if stream not in self._inlets:
            entrance = self._graph.entrances[stream]
            is_plain = entrance.is_plain and not entrance.source.intervals
            is_plain = is_plain and stream not in self._references.streams
            self._inlets[stream] = self._inlet(stream) if self._graph.is_compiled and is_plain else None
        return self._inlets[stream]

    def _inlet(self, stream: str) -> Inlet | None:
        path, entrance = self._paths[stream], self._graph.entrances[stream]
        names = {
            "path": path,
            "entrance": entrance,
            "manager": entrance.manager,
            "take": partial(self._walk, stream),
            "adopt_plans": self._graph.adopt_plans,
            "waiting": self._graph.guests.ready,
        }
        marks = [watch.marks[stream] for watch in self._watches.get(stream, ())]
        is_timed = entrance.source.unit is not None
        stops, sinks, failures = list(path.stops), path.sinks(), self._failures
        return compile_inlet(
            path.source, stops, sinks, entrance.checks, names, failures, marks, is_timed=is_timed
        )

    def _take(self, stream: str, elements: Iterable[Element]) -> None:
        """Take elements of a stream whose path is not compiled, or not yet."""
        self._entrance(stream)
        inlet = self.open(stream)
        if inlet is not None:
            inlet(elements)
        else:
            self._walk(stream, elements)

    def _walk(self, stream: str, elements: Iterable[Element]) -> None:
        """Check elements of a stream, and run them along its path."""
        self._process(self._paths[stream], *self._graph.entrances[stream].push(elements))

    def _process(self, path: StreamPath, batch: Batch, progress: Time) -> None:
        """Process elements of a stream, possibly none, and the progress behind them."""
        if not batch and progress <= path.reached:
            return
        if path.stream in self._watches:
            self._process_watched(path.stream, batch, progress)
            for watch in self._watches.get(path.stream, ()):
                watch.relieve(path.stream)
        else:
            self._run(path, batch, progress)
        if self._references:
            # Behind all pieces, so that an error stops no element that was taken.
            self._references.keep(self._paths)
            self._references.see(path.stream, batch, progress)

    def _process_watched(self, stream: str, batch: Batch, progress: Time) -> None:
        """Process elements, cut at the instants of looks."""
        watches = self._watches[stream]
        is_early = stream not in self._waiting
        for watch in watches:
            is_early = is_early and progress < watch.marks[stream].limit
            if batch:
                watch.note(stream, batch)
        if is_early:
            self._run(self._paths[stream], batch, progress)
            return
        waiting, _ = self._waiting.get(stream, ([], None))
        waiting += batch  # in place: a stream may be far ahead
        self._waiting[stream] = waiting, progress
        others = [watch.marks for watch in watches if not watch.is_planned or self._is_over(watch)]
        self._catch_up([stream, *chain(*others)])

    def release(self) -> None:
        """Run the elements that wait, but for those that wait for another look."""
        self._catch_up(tuple(self._waiting))

    def run_all(self) -> None:
        """Run all elements that wait, before a query comes that must not see them; not within an event."""
        if self._inside or not self._waiting:
            return
        with self._event():
            ahead = tuple(self._waiting)
            for stream in ahead:
                batch, progress = self._waiting.pop(stream)
                if stream in self._paths:
                    self._run(self._paths[stream], batch, progress)
            self._catch_up(ahead)

    def _catch_up(self, streams: Iterable[str]) -> None:
        """Run elements of some streams that wait, up to the next looks, and look, until no look is due.

        A watch whose streams have all ended gets the rest.
        """
        ahead = dict.fromkeys(streams)
        while True:
            for stream in ahead:
                if stream in self._waiting:
                    self._run_waiting(stream)
            due = [
                watch for stream in ahead for watch in self._watches.get(stream, ()) if self._is_due(watch)
            ]
            if not due:
                break
            first = min(due, key=attrgetter("next"))
            try:
                first.look()
            except Exception as error:  # elements have to run on, whatever a watcher does
                self._failures.add(error)
            ahead |= dict.fromkeys(first.marks)
        for watch in dict.fromkeys(one for stream in ahead for one in self._watches.get(stream, ())):
            if self._is_over(watch):
                try:
                    watch.finish()
                except Exception as error:
                    self._failures.add(error)

    def _run_waiting(self, stream: str) -> None:
        """Run the elements of a stream that need not wait for a look."""
        batch, progress = self._waiting[stream]
        path = self._paths.get(stream)
        if path is None:  # a watcher may change the queries, as a sink may
            del self._waiting[stream]
            return
        watches = self._watches.get(stream, ())
        limit = min((self._reach(stream, progress, one) for one in watches), default=FOREVER)
        if progress > limit or (batch and batch[-1][0] >= limit):
            reach = bisect_left(batch, limit, key=START)
            first, progress = batch[:reach], limit
            del batch[:reach]
            batch = first
        else:
            del self._waiting[stream]
        if batch or progress > path.reached:
            self._run(path, batch, progress)

    def _reach(self, stream: str, progress: Time, watch: Watch) -> Time:
        """The start from which on elements of a stream must wait for the next look of a watch."""
        others = min((self._has_come(other) for other in watch.marks if other != stream), default=FOREVER)
        if progress == others == FOREVER:
            return FOREVER
        if self._may_wait(stream, watch):
            return watch.reach(others)
        return watch.next if others >= watch.next else FOREVER

    def _may_wait(self, stream: str, watch: Watch) -> bool:
        """True if elements of a stream that wait for a watch delay no result and no look of another one."""
        needed = watch.marks.keys()
        looks = self._watches.get(stream, ())
        companions = self._graph.companions(stream, watch.step)
        return needed <= companions and all(needed <= one.marks.keys() for one in looks)

    def _has_come(self, stream: str) -> Time:
        """The progress of a stream, with the elements that wait; FOREVER if no query reads it."""
        if stream in self._waiting:
            return self._waiting[stream][1]
        return self._paths[stream].reached if stream in self._paths else FOREVER

    def _is_due(self, watch: Watch) -> bool:
        """True if all watched streams have run to the instant of the next look, and not all have ended."""
        reached = [self._paths[stream].reached for stream in watch.marks if stream in self._paths]
        return watch.next <= min(reached, default=FOREVER) and not self._is_over(watch)

    def _is_over(self, watch: Watch) -> bool:
        """True if all watched streams have ended, though elements may still wait: nobody looks any more."""
        return all(self._has_come(stream) == FOREVER for stream in watch.marks)

    def _run(self, path: StreamPath, batch: Batch, progress: Time) -> None:
        """Run elements along their path, in pieces."""
        if len(batch) > PIECE:
            self._process_pieces(path.stream, batch, progress)
        else:
            self._process_piece(path, batch, progress)

    def _process_piece(self, path: StreamPath, batch: Batch, progress: Time) -> None:
        path.process(batch, progress)
        if self._graph.guests.ready:
            self._graph.adopt_plans()

    def _process_pieces(self, stream: str, batch: Batch, progress: Time) -> None:
        for at in range(0, len(batch), PIECE):
            piece = batch[at : at + PIECE]
            is_last = at + PIECE >= len(batch)
            if stream in self._paths:  # a sink may have changed the queries
                self._process_piece(self._paths[stream], piece, progress if is_last else piece[-1][0])

    def step(self) -> None:
        """Do a step of all waiting work, in order, behind an event.

        Within an event nothing is done, as a step follows each event. Once all streams have ended, no event
        follows, so all work is dropped after its step.
        """
        if self._inside or not (self._under_way or self._notes):
            return
        self._inside = get_ident()
        has_ended = self._graph.has_ended()
        try:
            for work in tuple(self._under_way):
                is_left = False  # work that raises is dropped
                try:
                    is_left = work.step() and not has_ended
                finally:
                    if not is_left:
                        self._under_way.remove(work)
        finally:
            self._inside = 0
            self._tell()

    def note(self, note: str, category: type[Note]) -> None:
        """Warn of a note behind the steps that follow the present event."""
        self._notes.append((note, category))

    @contextmanager
    def one_call(self) -> Iterator[None]:
        """Run several events as one call of the user: notes are told behind the last one."""
        was_one, self._is_one_call = self._is_one_call, True
        try:
            yield
        finally:
            self._is_one_call = was_one
            if not self._inside:
                self._tell()

    def _tell(self) -> None:
        """Tell all notes; where warnings are errors, raise the first one, which has the others as notes."""
        if self._is_one_call or not self._notes:
            return
        notes, self._notes = self._notes, []
        raised: list[Note] = []
        for note, category in notes:
            try:
                tell([note], category)
            except Note as error:
                raised.append(error)
        if raised:
            first, *others = raised
            for other in others:
                first.add_note(str(other))
            raise first

    def _entrance(self, stream: object) -> Entrance:
        if isinstance(stream, str) and stream in self._paths:
            return self._graph.entrances[stream]
        known = self.streams
        if not isinstance(stream, str):
            raise UnknownStreamError(
                f"found {shown(stream)}, expected the name of a stream; the query reads {', '.join(known)}",
                stream=stream,
            )
        reads = f"it reads {', '.join(known)}" if known else "no query runs"
        raise UnknownStreamError(
            f"the query reads no stream {stream}{suggest(stream, known)}; {reads}", stream=stream
        )
