"""The engine: streams go in by name, results of queries come out to sinks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from heapq import merge
from operator import itemgetter
from typing import Any

from midstream.operators.base.box import Box
from midstream.operators.engine import adjustment
from midstream.operators.engine.entrance import Entrance, Entrances
from midstream.operators.engine.exchangeable import ExchangeableGraph
from midstream.operators.engine.input_manager import DeadLetter
from midstream.operators.engine.meter import RECENT
from midstream.operators.engine.queries import Sink
from midstream.operators.engine.relations import Relations
from midstream.plans.algebra.builder import Stream, node_of, plan_of
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import input_nodes, logical_plan
from midstream.plans.values.arguments import require, require_mapping, wrong
from midstream.plans.values.errors import UnknownStreamError
from midstream.plans.values.schema import suggest
from midstream.plans.values.streams import FOREVER, Element, Time

__all__ = ["RECENT", "Engine", "interleave", "run"]


class Engine(ExchangeableGraph):
    """Runs queries over streams.

    Elements are checked where they enter: order, validity and schema. Then they run through the graph of all
    queries.

    `slack` and `delay` declare disorder and latency, stream by stream (see InputManager). `dead_letters` is
    handed what cannot be taken, in lists, instead of an error. `relations` holds the elements of each
    relation that a query may be joined to. Where `compile`, the ways of elements are compiled, which is
    faster; else they are walked, which a debugger can follow. None is for what the environment says by
    MIDSTREAM_COMPILE, 0 or 1; where it says nothing they are compiled.

    Output   Every sink gets the results of its output in order of start, in non-empty batches.
    Raises   UnknownStreamError, StreamOrderError, LateElementError, IntervalError, SchemaError, EndedError;
             then nothing of the batch was taken.

    >>> from midstream.plans.algebra.builder import stream
    >>> from midstream.plans.values.streams import chronons
    >>> results = []
    >>> engine = Engine(stream("bids", item="integer").window(60).distinct().plan(), results.extend)
    >>> engine.push("bids", chronons([(10, (7,)), (30, (7,)), (45, (8,))]))
    >>> engine.close()
    >>> results
    [(10, 70, (7,)), (45, 105, (8,)), (70, 90, (7,))]
    """

    def __init__(
        self,
        plan: Plan | Stream | None = None,
        sink: Sink | None = None,
        *,
        relations: Relations | None = None,
        slack: Mapping[str, Time] | None = None,
        delay: Mapping[str, int] | None = None,
        dead_letters: Callable[[list[DeadLetter]], object] | None = None,
        compile: bool | None = None,
    ) -> None:
        super().__init__(Entrances(slack, delay, dead_letters), relations, compile=compile)
        self._steps: deque[Generator[None, None, None]] = deque()
        """Work that is done a step at a time, one at each push, heartbeat and end."""
        if plan is not None:
            self.add(plan, sink)

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of the streams that it reads."""
        return tuple(self._base.ways)

    def push(self, stream: str, elements: Iterable[Element]) -> None:
        """Take a batch of elements `(start, end, payload)` of a stream."""
        try:
            inlet = self.inlets.get(stream)
        except TypeError:  # what has no hash is no name
            inlet = None
        if inlet is not None:
            inlet(elements)
        else:
            self._entrance(stream)
            self.take(stream, elements)
        if self._steps:
            self._work()

    def advance(self, stream: str, time: int) -> None:
        """A heartbeat: no later element of the stream starts before `time`. One that tells nothing new is
        ignored."""
        entrance = self._entrance(stream)
        self.process(self._base.ways[stream], *entrance.manager.advance(time))
        if self._steps:
            self._work()

    def tick(self, now: int) -> None:
        """It is `now` in application time: streams with a declared delay advance, though they are silent."""
        for stream, way in tuple(self._base.ways.items()):
            manager = self._entrances[stream].manager
            if manager.delay is not None:
                self.process(way, *manager.tick(now))
        if self._steps:
            self._work()

    def end(self, stream: str) -> None:
        """Nothing more will come on the stream. Ending twice is allowed."""
        entrance = self._entrance(stream)
        self.process(self._base.ways[stream], *entrance.manager.end())
        if self._steps:
            self._work()

    def has_ended(self) -> bool:
        """Whether all streams have ended: nothing comes any more."""
        return all(self._entrances[name].progress == FOREVER for name in self._base.ways)

    def work_in_steps(self, work: Generator[None, None, None]) -> None:
        """Do work a step at a time, one at each push, heartbeat and end, so that it never holds up elements
        for long. It is closed when all streams have ended. It must have taken its first step."""
        self._steps.append(work)

    def _work(self) -> None:
        """One step of the work that is done so. Once all streams have ended nothing comes that it could be
        done beside."""
        if self.has_ended():
            while self._steps:
                self._steps.popleft().close()
            return
        for work in tuple(self._steps):
            if next(work, self) is self:
                self._steps.remove(work)

    def close(self) -> None:
        """End all streams; all results are out afterwards."""
        for stream in tuple(self._base.ways):
            self.end(stream)

    def progress(self, stream: str | None = None) -> Time:
        """No later element of the stream starts before this; without a name, the least of all streams."""
        if stream is None:
            return min(self._entrances[name].progress for name in self._base.ways)
        return self._entrance(stream).progress

    def resize(self, window: Node | Stream, size: int | None, at: int) -> list[str]:
        """From application time `at` on, give a time window another size, in all queries that have it; see
        adjustment.resize."""
        return adjustment.resize(self, node_of("resize", window), size, at)

    def change_granule(self, conversion: Node | Stream, granule: int, at: int) -> list[str]:
        """From application time `at` on, give a granularity conversion another granule, in all queries that
        have it; see adjustment.change_granule."""
        return adjustment.change_granule(self, node_of("change_granule", conversion), granule, at)

    @property
    def plan(self) -> Plan:
        """The plan of the first query: the one that runs, or to which a migration under way is moving."""
        return self.query().plan

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Where the exchangeable part of the first query begins, as logical nodes."""
        return input_nodes(logical_plan(self.plan))

    @property
    def box(self) -> Box:
        """The exchangeable part of the first query, to be looked at."""
        return self.part()

    def counters(self, query: str | None = None) -> dict[str, int]:
        """`elements` in, `results` out, the counters of the query's part, and dead letters by reason."""
        self.count_results(query)
        letters = self._entrances.letters
        refused = {} if letters is None else letters.counters()
        base = self.base()
        return {
            "elements": sum(map(base.made, base.nodes)) + self._waiting(),
            "results": self.query(query).results,
            **self.part(query).counters(),
            **{f"dead letters: {reason}": number for reason, number in sorted(refused.items())},
        }

    def size(self) -> int:
        """How many elements are kept: by operators, where streams enter, and in logs."""
        return self.base().size() + self._waiting() + self._logged()

    def _waiting(self) -> int:
        """How many elements wait where streams enter."""
        return sum(self._entrances[stream].manager.size() for stream in self._base.ways)

    def _entrance(self, stream: object) -> Entrance:
        if isinstance(stream, str) and stream in self._base.ways:
            return self._entrances[stream]
        known = tuple(self._base.ways)
        reads = f"it reads {', '.join(known)}" if known else "no query runs"
        raise UnknownStreamError(
            f"the query reads no stream {stream}{suggest(stream, known)}; {reads}", stream=stream
        )


def interleave(
    streams: Mapping[str, Iterable[Element]], batch_size: int = 1000
) -> Iterable[tuple[str, list[Element]]]:
    """Complete streams as one sequence of batches in order of time: `(stream, batch)`.

    A batch holds consecutive elements of one stream out of `batch_size` consecutive ones of all, so that
    streams stay in step.

    >>> list(interleave({"a": [(1, 2, "x"), (5, 6, "y")], "b": [(3, 4, "z")]}, batch_size=2))
    [('a', [(1, 2, 'x')]), ('b', [(3, 4, 'z')]), ('a', [(5, 6, 'y')])]
    """
    require_mapping("streams", streams, "elements by the name of their stream")
    require("batch_size", batch_size, int, "a positive number of elements")
    if batch_size < 1:
        raise wrong("batch_size", batch_size, "a positive number of elements")
    for name, elements in streams.items():
        if isinstance(elements, str | bytes | Mapping) or not isinstance(elements, Iterable):
            raise wrong(f"stream {name}", elements, "elements (start, end, payload)")
    return _in_step(streams, batch_size)


def _in_step(
    streams: Mapping[str, Iterable[Element]], batch_size: int
) -> Iterator[tuple[str, list[Element]]]:
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


def _numbered(i: int, name: str, elements: Iterable[Any]) -> Iterator[tuple[Time, int, str, Element]]:
    for element in elements:
        if not isinstance(element, tuple) or not element:
            raise wrong(f"stream {name}", element, "an element (start, end, payload)")
        yield element[0], i, name, element


def run(
    plan: Plan | Stream, streams: Mapping[str, Iterable[Element]], batch_size: int = 1000
) -> list[Element]:
    """Run a plan over complete streams and return the results of its first output.

    >>> from midstream.plans.algebra.builder import stream
    >>> run(stream("s", x="integer").window(3).plan(), {"s": [(1, 2, (7,))]})
    [(1, 4, (7,))]
    """
    results: list[Element] = []
    engine = Engine(plan_of("run", plan), results.extend)
    for name, batch in interleave(streams, batch_size):
        engine.push(name, batch)
    engine.close()
    return results
