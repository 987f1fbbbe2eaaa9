"""Complete streams run through a plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from itertools import islice
from operator import itemgetter
from typing import Any

from midstream.operators.engine.entrance import Entrances
from midstream.operators.engine.feed import Feed
from midstream.operators.engine.query_graph import QueryGraph
from midstream.plans.algebra.builder import Stream, plan_of
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.arguments import require, require_mapping, wrong
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.schema import suggest
from midstream.plans.values.streams import Chronons, Element, Time


def run(
    plan: Plan | Stream, streams: Mapping[str, Iterable[Element]], batch_size: int = 1000
) -> list[Element]:
    """Run a plan over complete streams and return the results of its first output.

    Raises   ArgumentError where `streams` lacks one that the plan reads; of one without elements, give [].

    >>> from midstream.plans.algebra.builder import stream
    >>> run(stream("s", x="integer").window(3).plan(), {"s": [(1, 2, (7,))]})
    [(1, 4, (7,))]
    """
    results: list[Element] = []
    graph = QueryGraph(Entrances())
    graph.add(plan_of("run", plan), results.extend)
    feed = Feed(graph)
    batches = interleave(streams, batch_size)
    for name in feed.streams:
        if name not in streams:
            near = suggest(name, streams)
            raise ArgumentError(
                f"run: found no stream {name} among {', '.join(streams) or 'none'}, expected the elements of "
                f"each stream that the plan reads, or []{near}"
            )
        elements = streams[name]
        if isinstance(elements, Chronons):
            graph.entrances[name].unit_said = elements.unit
    for name, batch in batches:
        feed.push(name, batch)
    feed.close()
    return results


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
    merged = merge(*numbered, key=itemgetter(0, 1))
    while some := list(islice(merged, batch_size)):
        chunk: dict[str, list[Element]] = {}
        for _, _, name, element in some:
            chunk.setdefault(name, []).append(element)
        yield from chunk.items()


def _numbered(i: int, name: str, elements: Iterable[Any]) -> Iterator[tuple[Time, int, str, Element]]:
    for element in elements:
        if not isinstance(element, tuple) or not element:
            raise wrong(f"stream {name}", element, "an element (start, end, payload)")
        yield element[0], i, name, element
