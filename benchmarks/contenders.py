"""Contenders: implementations of a workload, and the number of elements that they take at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from midstream.benchmarks.item import Chunk, Tagged, Workload, chunks, feed, pushes
from midstream.engine import Engine
from midstream.plans.values.streams import Batch, Element

BY_HAND = "by hand"
MIDSTREAM = "midstream"


@dataclass(frozen=True, slots=True)
class Contender:
    """An implementation of a workload.

    `run` is measured; `convert` turns its results into elements, unmeasured. `keeps_order` is True if the
    results must come in order of time.
    """

    name: str
    batch_size: int
    run: Callable[[], Any]
    convert: Callable[[Any], list[Element]] = list
    keeps_order: bool = True


def contenders(workload: Workload, batch_sizes: Sequence[int], peers: Collection[str]) -> list[Contender]:
    """All contenders for a workload, by batch size; the hand-written loop is the first of each size.

    streamz processes single elements, so it takes part at batch size 1 only.
    """
    tagged, names = feed(workload.streams), tuple(workload.streams)
    taking_part: list[Contender] = []
    for size in batch_sizes:
        cut = chunks(tagged, len(names), size)
        # At size 1 the engine also takes single elements in order of time.
        given = [(names[port], [one]) for port, one in tagged] if size == 1 else pushes(names, cut)
        by_hand = _elements(workload, tagged) if size == 1 else _batches(workload, cut)
        taking_part.append(Contender(BY_HAND, size, by_hand))
        taking_part.append(Contender(MIDSTREAM, size, _engine(workload, given)))
        if "bytewax" in peers:
            taking_part.append(_bytewax(workload, tagged, size))
        if "streamz" in peers and size == 1:
            taking_part.append(_streamz(workload, tagged))
    return taking_part


def reference(workload: Workload) -> list[Element]:
    """The results of the hand-written loop over single elements."""
    return _elements(workload, feed(workload.streams))()


def _elements(workload: Workload, tagged: Sequence[Tagged]) -> Callable[[], list[Element]]:
    def run() -> list[Element]:
        results: list[Element] = []
        workload.item.element_loop(tagged, workload.span, results.append)
        return results

    return run


def _batches(workload: Workload, cut: Sequence[Chunk]) -> Callable[[], list[Element]]:
    def run() -> list[Element]:
        results: list[Element] = []
        workload.item.batch_loop(cut, workload.span, results.extend)
        return results

    return run


def _engine(workload: Workload, pushes: Sequence[tuple[str, Batch]]) -> Callable[[], list[Element]]:
    def run() -> list[Element]:
        results: list[Element] = []
        engine = Engine(workload.item.plan(workload.span), results.extend)
        push = engine.push
        for name, batch in pushes:
            push(name, batch)
        engine.close()
        return results

    return run


def _bytewax(workload: Workload, tagged: Sequence[Tagged], size: int) -> Contender:
    from midstream.benchmarks.bytewax_peer import as_elements, run_bytewax

    return Contender(
        "bytewax",
        size,
        lambda: run_bytewax(workload, tagged, size),
        lambda results: as_elements(workload, results),
        keeps_order=False,
    )


def _streamz(workload: Workload, tagged: Sequence[Tagged]) -> Contender:
    from midstream.benchmarks.streamz_peer import run_streamz

    return Contender("streamz", 1, lambda: run_streamz(workload, tagged), keeps_order=False)
