"""Give streamz pipelines a migration: wrap them as Boxes. Nothing of our engine is used.

pip install 'midstream[peers]'; python examples/peers/embed_streamz.py
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate
from random import Random

from streamz import Stream

import midstream as ms
from midstream.boxes import migrate_box, settled
from midstream.migration import find_strategy

Item = tuple[int | None, tuple]  # a port and an element; (None, (time, time, None)) is a heartbeat


def keep(source: Stream, condition: Callable[[tuple], bool]) -> Stream:
    """Drop what does not fulfil a condition on port 0; never a heartbeat."""
    return source.filter(lambda item: item[0] != 0 or condition(item[1][2]))


def join(source: Stream) -> Stream:
    """Pair payloads of ports 0 and 1 that agree in their first field, while both are valid."""

    def step(kept: list[Item], item: Item) -> tuple[list[Item], list[Item]]:
        port, (start, end, row) = item
        kept = [one for one in kept if one[1][1] > start]  # state goes by time, heartbeats included
        if port is None:
            return kept, [item]
        met = [(t, other) for side, (_, t, other) in kept if side != port and other[0] == row[0]]
        pairs = [(0, (start, min(end, t), row + other if port == 0 else other + row)) for t, other in met]
        return [*kept, item], pairs

    return source.accumulate(step, start=[], returns_state=True).flatten()


class StreamzBox:
    """A pipeline as a Box. Streamz has no order across sources: what arrives waits until it is its turn."""

    outputs = ("out",)

    def __init__(self, inputs: Iterable[str], *steps: Callable[[Stream], Stream]) -> None:
        self.inputs = tuple(inputs)
        self.reached = [ms.BEGINNING for _ in self.inputs]
        self.max_ends = [ms.BEGINNING for _ in self.inputs]
        self.waiting: list[Item] = []
        self.given: list[Item] = []
        self.nodes = list(accumulate(steps, lambda node, step: step(node), initial=Stream()))
        self.sink = self.nodes[-1].sink(self.given.append)

    def push(self, port: int, batch: list) -> list[list]:
        if self.reached[port] == ms.FOREVER:
            raise ValueError(f"{self.inputs[port]}: an element after the end")
        self.waiting += [(port, element) for element in batch]
        self.max_ends[port] = max(self.max_ends[port], *(end for _, end, _ in batch))
        return self.advance(port, batch[-1][0])

    def advance(self, port: int, time: float) -> list[list]:
        self.reached[port] = max(self.reached[port], time)
        now = self.progress()
        self.waiting.sort(key=lambda item: item[1][0])
        ready = [item for item in self.waiting if item[1][0] <= now]
        del self.waiting[: len(ready)]
        for item in [*ready, (None, (now, now, None))]:
            self.nodes[0].emit(item)  # without an event loop, all results are given when this returns
        results = [element for tag, element in self.given if tag is not None]
        self.given.clear()
        if now == ms.FOREVER and self.nodes[-1].downstreams:  # an end may be told again
            self.sink.destroy()  # streamz holds sinks in a registry: an old plan would stay in memory
        return [results]

    def end(self, port: int) -> list[list]:
        return self.advance(port, ms.FOREVER)

    def progress(self, output: int = 0) -> float:
        return min(self.reached)

    def state(self) -> Iterable[tuple]:
        """What waits, and what streamz keeps where it accumulates, below the flattening."""
        kept = [one for node in self.nodes[1:] for one in getattr(node.upstreams[0], "state", ())]
        return [element for _, element in self.waiting + kept]

    def size(self) -> int:
        return len(self.state())

    def counters(self) -> Mapping[str, int]:
        return {}


def join_then_filter() -> StreamzBox:
    return StreamzBox(("orders", "payments"), join, lambda source: keep(source, lambda row: row[1] > 50))


def filter_then_join() -> StreamzBox:
    return StreamzBox(("orders", "payments"), lambda source: keep(source, lambda row: row[1] > 50), join)


def main() -> None:
    """Exchange the pipeline in mid-stream for a better one, and compare with one that is never exchanged."""
    rng = Random(7)
    box, new, alone = join_then_filter(), filter_then_join(), join_then_filter()
    results, expected = [], []
    for t in range(400):
        port, element = rng.randrange(2), (2 * t, 2 * t + 60, (rng.randrange(9), rng.randrange(100)))
        if t == 200:
            box, (ready,) = migrate_box(box, new, find_strategy("genmig"), box.max_ends, box.reached)
            migration, results = box, results + ready
        results += box.push(port, [element])[0]
        expected += alone.push(port, [element])[0]
        box = settled(box)
    for port in range(2):
        results += box.end(port)[0]
        expected += alone.end(port)[0]
    verdict = ms.equivalent(results, expected)
    print(verdict, ms.report(migration), sep="\n")
    assert verdict and box is new


if __name__ == "__main__":
    main()
