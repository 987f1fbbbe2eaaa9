"""The engine: streams go in by name, results come out to sinks, and the plan in between can be exchanged."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import merge
from operator import itemgetter, lt

from midstream.operators.box import Box, settled
from midstream.operators.plan_box import PlanBox
from midstream.plans.errors import (
    EndedError,
    IntervalError,
    SchemaError,
    StreamOrderError,
    UnknownStreamError,
)
from midstream.plans.logical import Source
from midstream.plans.observations import Observation
from midstream.plans.plan import Node, Plan
from midstream.plans.properties import input_nodes, logical_plan
from midstream.plans.schema import suggest
from midstream.plans.streams import BEGINNING, FOREVER, Batch, Element, Time

Sink = Callable[[Batch], object]

RECENT = 4096
"""How many of an input's last elements are kept for statistics."""


class _Meter:
    """What is known of one input of the exchangeable part. Cost: O(1) per element, in C loops."""

    __slots__ = ("count", "max_end", "recent")

    def __init__(self) -> None:
        self.count = 0
        self.max_end: Time = BEGINNING
        self.recent: deque[Element] = deque(maxlen=RECENT)

    def see(self, batch: Batch) -> None:
        self.count += len(batch)
        self.max_end = max(self.max_end, *map(itemgetter(1), batch))
        self.recent.extend(batch)


class Engine:
    """Runs a plan.

    The plan's windows, and all below them, run in a fixed part; what is above them runs in `box`, which can
    be exchanged while elements flow. Elements are checked where they enter: order, validity and schema.

    Output   Every sink gets the results of its output in order of start, in non-empty batches.
    Raises   UnknownStreamError, StreamOrderError, IntervalError, SchemaError, EndedError; then nothing of the
             batch was taken.

    >>> from midstream.plans.builder import stream
    >>> from midstream.plans.streams import chronons
    >>> results = []
    >>> engine = Engine(stream("bids", item="integer").window(60).distinct().plan(), results.extend)
    >>> engine.push("bids", chronons([(10, (7,)), (30, (7,)), (45, (8,))]))
    >>> engine.close()
    >>> results
    [(10, 70, (7,)), (45, 105, (8,)), (70, 90, (7,))]
    """

    def __init__(self, plan: Plan, sink: Sink | None = None) -> None:
        self.plan = plan
        """The plan whose box runs, or to which a migration under way is moving."""
        self.inputs: tuple[Node, ...] = input_nodes(logical_plan(plan))
        """Where the exchangeable part begins."""
        self.box: Box = PlanBox(plan, self.inputs)
        """The exchangeable part."""
        below = Plan({str(i): node for i, node in enumerate(self.inputs)})
        self._fixed = PlanBox(below)
        self._sources: Mapping[str, tuple[int, Source]] = {
            source.stream: (port, source) for port, source in enumerate(below.sources)
        }
        self._reached: dict[str, Time] = dict.fromkeys(self._sources, BEGINNING)
        self._meters = [_Meter() for _ in self.inputs]
        self._sinks: dict[int, list[Sink]] = {}
        self._elements = 0
        self._results = 0
        if sink is not None:
            self.subscribe(sink)

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of the streams that it reads."""
        return tuple(self._sources)

    def subscribe(self, sink: Sink, output: str | None = None) -> None:
        """Hand every further batch of results of an output to a function; of the first output by default."""
        names = self.box.outputs
        if output is not None and output not in names:
            raise UnknownStreamError(
                f"there is no output {output}{suggest(output, names)}; known: {', '.join(names)}"
            )
        self._sinks.setdefault(0 if output is None else names.index(output), []).append(sink)

    def push(self, stream: str, elements: Iterable[Element]) -> None:
        """Take a batch of elements `(start, end, payload)` of a stream."""
        port, source = self._source(stream)
        batch = list(elements)
        if not batch:
            return
        self._check(source, batch)
        self._reached[stream] = batch[-1][0]
        self._elements += len(batch)
        self._feed(self._fixed.push(port, batch))

    def advance(self, stream: str, time: int) -> None:
        """A heartbeat: no later element of the stream starts before `time`. One that tells nothing new is
        ignored."""
        port, _ = self._source(stream)
        if type(time) is not int:
            raise IntervalError(
                f"stream {stream}: found heartbeat {time!r}, expected an integer", stream=stream
            )
        if time > self._reached[stream]:
            self._reached[stream] = time
            self._feed(self._fixed.advance(port, time))

    def end(self, stream: str) -> None:
        """Nothing more will come on the stream. Ending twice is allowed."""
        port, _ = self._source(stream)
        if self._reached[stream] != FOREVER:
            self._reached[stream] = FOREVER
            self._feed(self._fixed.end(port))

    def close(self) -> None:
        """End all streams; all results are out afterwards."""
        for stream in self._sources:
            self.end(stream)

    def progress(self, stream: str | None = None) -> Time:
        """No later element of the stream starts before this; without a name, the least of all streams."""
        if stream is None:
            return min(self._reached.values())
        self._source(stream)
        return self._reached[stream]

    def observe(self) -> dict[Node, Observation]:
        """What was seen of each input of the exchangeable part. Cost: O(kept elements)."""
        return {
            node: Observation(meter.count, self._fixed.progress(i), meter.max_end, tuple(meter.recent))
            for i, (node, meter) in enumerate(zip(self.inputs, self._meters, strict=True))
        }

    def input_progress(self) -> list[Time]:
        """The progress of each input of the exchangeable part."""
        return [self._fixed.progress(i) for i in range(len(self.inputs))]

    def input_max_ends(self) -> list[Time]:
        """The largest end timestamp seen on each input of the exchangeable part."""
        return [meter.max_end for meter in self._meters]

    def exchange(self, box: Box, plan: Plan, ready: list[Batch]) -> None:
        """Put another box in place; `ready` is what became ready by doing so. The caller answers for its
        being right."""
        self.box = settled(box)
        self.plan = plan
        self._emit(ready)

    def counters(self) -> dict[str, int]:
        """`elements` in, `results` out, and the box's own counters."""
        return {"elements": self._elements, "results": self._results, **self.box.counters()}

    def _source(self, stream: str) -> tuple[int, Source]:
        try:
            return self._sources[stream]
        except KeyError:
            known = tuple(self._sources)
            raise UnknownStreamError(
                f"the query reads no stream {stream}{suggest(stream, known)}; it reads {', '.join(known)}",
                stream=stream,
            ) from None

    def _check(self, source: Source, batch: Batch) -> None:
        stream = source.stream
        try:
            if set(map(type, batch)) != {tuple}:
                raise TypeError
            starts, ends, payloads = map(list, zip(*batch, strict=True))
        except (TypeError, ValueError):
            raise IntervalError(
                f"stream {stream}: expected elements (start, end, payload), each a tuple", stream=stream
            ) from None
        reached = self._reached[stream]
        if reached == FOREVER:
            raise EndedError(f"stream {stream}: an element arrived after the end", stream=stream)
        if set(map(type, starts)) != {int} or not set(map(type, ends)) <= {int, float}:
            odd = next(e for e in batch if type(e[0]) is not int or type(e[1]) not in (int, float))
            raise IntervalError(
                f"stream {stream}: {odd!r} has timestamps that are no integers", stream=stream, element=odd
            )
        if starts[0] < reached or any(map(lt, starts[1:], starts)):
            self._refuse_order(stream, batch, reached)
        if source.intervals:
            odd_ones = (e for e in batch if not e[0] < e[1] or (type(e[1]) is float and e[1] != FOREVER))
            expected = "an end after the start, an integer or FOREVER"
        else:
            odd_ones = (e for e in batch if e[1] != e[0] + 1 or type(e[1]) is not int)
            expected = "a chronon: an end one after the start"
        if (bad := next(odd_ones, None)) is not None:
            raise IntervalError(
                f"stream {stream}: found {bad!r}, expected {expected}", stream=stream, element=bad
            )
        try:
            source.columns.check(payloads)
        except SchemaError as error:
            raise SchemaError(f"stream {stream}: {error}", stream=stream) from error

    def _refuse_order(self, stream: str, batch: Batch, reached: Time) -> None:
        for element in batch:
            if element[0] < reached:
                raise StreamOrderError(
                    f"stream {stream}: element {element!r} starts at {element[0]} after progress {reached}",
                    stream=stream,
                    element=element,
                    progress=reached,
                )
            reached = element[0]

    def _feed(self, arrived: list[Batch]) -> None:
        """Pass on what the fixed part gave, input by input, each with its progress."""
        for i, batch in enumerate(arrived):
            if batch:
                self._meters[i].see(batch)
                self._emit(self.box.push(i, batch))
            self._emit(self.box.advance(i, self._fixed.progress(i)))
            self.box = settled(self.box)

    def _emit(self, results: list[Batch]) -> None:
        for output, batch in enumerate(results):
            if batch:
                self._results += len(batch)
                for sink in self._sinks.get(output, ()):
                    sink(batch)


def interleave(
    streams: Mapping[str, Iterable[Element]], batch_size: int = 1000
) -> Iterable[tuple[str, list[Element]]]:
    """Complete streams as one sequence of batches in order of time: `(stream, batch)`.

    A batch holds consecutive elements of one stream out of `batch_size` consecutive ones of all, so that
    streams stay in step.

    >>> list(interleave({"a": [(1, 2, "x"), (5, 6, "y")], "b": [(3, 4, "z")]}, batch_size=2))
    [('a', [(1, 2, 'x')]), ('b', [(3, 4, 'z')]), ('a', [(5, 6, 'y')])]
    """
    numbered = [_numbered(i, name, elements) for i, (name, elements) in enumerate(streams.items())]
    chunk: dict[str, list[Element]] = {}
    size = 0
    for _, _, name, element in merge(*numbered, key=itemgetter(0, 1)):
        chunk.setdefault(name, []).append(element)
        size += 1
        if size == batch_size:
            yield from chunk.items()
            chunk, size = {}, 0
    yield from chunk.items()


def _numbered(i: int, name: str, elements: Iterable[Element]) -> Iterator[tuple[Time, int, str, Element]]:
    return ((element[0], i, name, element) for element in elements)


def run(plan: Plan, streams: Mapping[str, Iterable[Element]], batch_size: int = 1000) -> list[Element]:
    """Run a plan over complete streams and return the results of its first output.

    >>> from midstream.plans.builder import stream
    >>> run(stream("s", x="integer").window(3).plan(), {"s": [(1, 2, (7,))]})
    [(1, 4, (7,))]
    """
    results: list[Element] = []
    engine = Engine(plan, results.extend)
    for name, batch in interleave(streams, batch_size):
        engine.push(name, batch)
    engine.close()
    return results
