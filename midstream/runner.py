"""The runner: sources in, one engine in one thread, commands between two events, observers behind them."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from typing import Any

from midstream.arrivals import Event, abreast, event_of, in_step
from midstream.driving import Command, Trial, drive
from midstream.engine import Engine
from midstream.io.sources.rows import stamped
from midstream.io.sources.source import Source
from midstream.plans.values.near_names import NearNames
from midstream.plans.values.streams import FOREVER, Batch

AHEAD = 64
"""The largest number of batches that a live source may be ahead of the engine."""

TICK = 0.1
"""Seconds between two looks at the clock while live sources are silent."""

Observer = Callable[[Event, Trial], object]
"""A function that is called with each event, once the engine has taken it, in the engine's thread."""

Drive = Callable[[Trial, Iterable[Event]], Iterator[Event]]
"""Sends events to the engine of a trial, as `drive` does."""


class Runner(NearNames):
    """Runs an engine over sources, in the thread that iterates over `events`.

    sources     the sources by stream
    grain       recorded streams are cut so that none is ahead by more chronons (see `arrivals`)
    idle        seconds of silence after which a live source does not hold up the others any more: its time
                goes on with theirs, if all are idle to the latest; results depend on the clock then
    now         the present chronon: the engine's time where streams declare a delay; None if none does
    driven      sends the events to the engine; by default `drive`
    is_live     True if commands may come while the engine waits for rows

    Observers see each event, and the engine with its plans, counts and migrations. At the end of all sources
    nothing is closed.

    State    A batch of each recorded source, `AHEAD` of each live one.
    Raises   The errors of sources, engine and observers, which end the run. An error of a command goes to
             who gave it.

    >>> import midstream as ms
    >>> plan = ms.stream("s", x="integer").window(9).plan()
    >>> batches = ([(t, t + 1, (t,))] for t in range(3))
    >>> results = ms.Results()
    >>> runner = Runner(ms.Engine(plan, results), {"s": Source("s", batches)})
    >>> answer = runner.command(lambda trial: trial.engine.counters().elements)
    >>> for kind, stream, what in runner.events():
    ...     pass
    >>> answer.result(), len(results)
    (0, 3)
    """

    def __init__(
        self,
        engine: Engine,
        sources: Mapping[str, Source],
        *,
        grain: int | None = None,
        idle: float | None = None,
        now: Callable[[], int] | None = None,
        driven: Drive = drive,
        is_live: bool = False,
    ) -> None:
        self.trial = Trial(engine, self._due)
        self.observers: list[Observer] = []
        self._commands: deque[tuple[Command, Future[Any]]] = deque()
        self._driven, self._is_over = driven, False
        self._arrivals: Iterator[Event]
        self._live = None
        if is_live or idle is not None or now is not None or _need_threads(sources):
            self._live = _Live(sources, grain, idle, now)
            self._arrivals = iter(self._live)
        else:
            self._arrivals = _recorded(sources, grain)

    def command(self, command: Command) -> Future[Any]:
        """Let the engine's thread carry out a command in front of its next event; from any thread.

        The future has what the command returns. It is cancelled if the run ends before.
        """
        done: Future[Any] = Future()
        self._commands.append((command, done))
        if self._is_over:
            self._cancel()
        elif self._live is not None:
            self._live.wake()
        return done

    def events(self) -> Iterator[Event]:
        """Run to the end of all sources; yields each event that engine and observers have taken.

        A mark stands where commands are carried out between events.
        """
        try:
            for event in self._driven(self.trial, self._arrivals):
                for observer in self.observers:
                    observer(event, self.trial)
                yield event
        finally:
            self._is_over = True
            self._cancel()

    def _due(self, event: Event) -> Iterator[Command]:
        while self._commands:
            yield _answered(*self._commands.popleft())

    def _cancel(self) -> None:
        while self._commands:
            self._commands.popleft()[1].cancel()


def _answered(command: Command, done: Future[Any]) -> Command:
    """A command whose outcome goes to a future."""

    def carry_out(trial: Trial) -> None:
        if not done.set_running_or_notify_cancel():
            return
        try:
            done.set_result(command(trial))
        except BaseException as error:
            done.set_exception(error)
            if not isinstance(error, Exception):
                raise

    return carry_out


def arrivals(sources: Mapping[str, Source], grain: int | None = None) -> Iterator[Event]:
    """Events from sources, in an order that keeps them in step as far as possible.

    Recorded sources are read where they are behind in application time, so that no operator has to store much
    of one while it waits for another. Each live source has a thread, unless it is alone and its rows have
    times; its batches are passed on at once. With a `grain`, in chronons, batches of recorded sources are cut
    so that none is ahead of the others by more: a migration lasts until all streams have passed the elements
    that came.

    State    A batch of each recorded source, `AHEAD` of each live one.
    """
    if _need_threads(sources):
        return iter(_Live(sources, grain, None, None))
    return _recorded(sources, grain)


def _need_threads(sources: Mapping[str, Source]) -> bool:
    live = [source for source in sources.values() if source.is_live]
    return bool(live) and (len(sources) > 1 or live[0].now is not None)


def _recorded(sources: Mapping[str, Source], grain: int | None) -> Iterator[Event]:
    batches = {name: iter(source) for name, source in sources.items()}
    if grain is not None and len(sources) > 1:
        return abreast(batches, grain)
    return in_step(batches)


class _Live:
    """Events from sources of which some may wait; each of these is read in a thread of its own.

    Recorded sources are read in the thread of the iteration, where nothing live is there.
    """

    def __init__(
        self,
        sources: Mapping[str, Source],
        grain: int | None,
        idle: float | None,
        now: Callable[[], int] | None,
    ) -> None:
        self._threads = {name: _Reader(name, source) for name, source in sources.items() if source.is_live}
        self._recorded = _recorded({n: s for n, s in sources.items() if n not in self._threads}, grain)
        self._idle, self._now = idle, now
        self._came: queue.SimpleQueue[_Reader | None] = queue.SimpleQueue()
        """The readers that have something, once for each; None wakes."""
        self._reached: dict[str, Any] = {}
        """The time to which each stream has come."""
        self._looked = -TICK
        """The time of the last look at the clock, by the monotonic clock."""
        self._looks_at_clock = (
            idle is not None
            or now is not None
            or any(reader.source.now is not None for reader in self._threads.values())
        )

    def wake(self) -> None:
        """Let the iteration yield a mark, though nothing has come."""
        self._came.put(None)

    def __iter__(self) -> Iterator[Event]:
        for one in self._threads.values():
            one.begin(self._came)
        waiting, is_recorded_over = len(self._threads), False
        event: Event | None
        try:
            while waiting or not is_recorded_over:
                try:
                    reader = self._came.get(is_recorded_over, TICK if self._looks_at_clock else None)
                except queue.Empty:
                    if not is_recorded_over:
                        event = next(self._recorded, None)
                        is_recorded_over = event is None
                        if event is not None:
                            yield self._noted(event)
                    yield from self._silent()
                    continue
                if reader is None:
                    yield "mark", "", min(self._reached.values(), default=0)
                    continue
                taken = event_of(reader.name, reader.take())
                waiting -= taken[0] == "end"
                yield self._noted(taken)
                yield from self._silent()
        finally:
            for one in self._threads.values():
                one.stop()

    def _noted(self, event: Event) -> Event:
        kind, name, what = event
        self._reached[name] = FOREVER if kind == "end" else what[-1][0]
        return event

    def _silent(self) -> Iterator[Event]:
        """The heartbeats of silent streams: by the clock that stamps their rows, and behind idle ones."""
        seconds = time.monotonic()
        if not self._looks_at_clock or seconds < self._looked + TICK:
            return
        self._looked = seconds
        if self._now is not None:
            yield "tick", "", self._now()
        silent = [reader for reader in self._threads.values() if reader.is_silent]
        for reader in silent:
            if reader.source.now is not None:
                yield from self._advanced(reader.name, reader.source.now())
        if self._idle is None:
            return
        idle = {
            reader.name
            for reader in silent
            if reader.came + self._idle < seconds and reader.source.now is None
        }
        reached = {name: time for name, time in self._reached.items() if time != FOREVER}
        others = [time for name, time in reached.items() if name not in idle]
        if reached:
            to = min(others) if others else max(reached.values())
            for name in sorted(idle):
                yield from self._advanced(name, to)

    def _advanced(self, name: str, to: int) -> Iterator[Event]:
        if name not in self._reached or self._reached[name] < to:
            self._reached[name] = to
            yield "advance", name, to


class _Reader:
    """Reads a live source in a thread, at most `AHEAD` batches ahead.

    Rows without times are stamped when they are taken, so that the time of a silent stream can go on until
    then.
    """

    def __init__(self, name: str, source: Source) -> None:
        self.name, self.source = name, source
        self.came = time.monotonic()
        """The time at which the last batch was taken, by the monotonic clock."""
        self._batches: deque[Batch | BaseException | None] = deque()
        self._places = threading.Semaphore(AHEAD)
        self._is_over = threading.Event()
        self._is_ended = False

    @property
    def is_silent(self) -> bool:
        """True if nothing waits to be taken, and more may come."""
        return not self._batches and not self._is_ended

    def begin(self, came: queue.SimpleQueue[_Reader | None]) -> None:
        """Begin to read; `came` gets this reader for each batch, at the end, and for an error."""
        thread = threading.Thread(target=self._read, args=(came,), name=f"source {self.name}", daemon=True)
        thread.start()

    def take(self) -> Batch | None:
        """The next batch; None is the end.

        Raises   The error of the source.
        """
        batch = self._batches.popleft()
        self._places.release()
        self.came = time.monotonic()
        if isinstance(batch, BaseException):
            raise batch
        self._is_ended = batch is None
        return batch if batch is None or self.source.now is None else stamped(batch, self.source.now())

    def stop(self) -> None:
        """Read no further."""
        self._is_over.set()
        self._places.release()

    def _read(self, came: queue.SimpleQueue[_Reader | None]) -> None:
        try:
            for batch in self.source:
                if not self._put(batch, came):
                    return
            self._put(None, came)
        except BaseException as error:  # raised again where batches are taken
            self._put(error, came)
        finally:
            self.source.close()

    def _put(self, what: Batch | BaseException | None, came: queue.SimpleQueue[_Reader | None]) -> bool:
        self._places.acquire()
        if self._is_over.is_set():
            return False
        self._batches.append(what)
        came.put(self)
        return True
