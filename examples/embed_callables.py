"""Give an engine of plain callables a migration: wrap its pipelines as Boxes. Nothing of our engine is used.

python examples/embed_callables.py
"""

from collections.abc import Callable, Iterable, Mapping
from random import Random

import midstream as ms
from midstream.boxes import Box, migrate_box, settled
from midstream.migration import find_strategy

Tagged = list[tuple[int, tuple]]  # a port, and an element: start, end, payload
Step = Callable[[Tagged, float], Tagged]  # told what comes in order of time, and how far time is behind it


def keep(condition: Callable[[tuple], bool], ports: tuple[int, ...] = (0,)) -> Step:
    """Drop what does not fulfil a condition on some ports: a plain function, for it keeps nothing."""
    return lambda tagged, now: [(port, one) for port, one in tagged if port not in ports or condition(one[2])]


class Join:
    """Pair payloads of ports 0 and 1 that agree in their first field, while both are valid."""

    def __init__(self) -> None:
        self.kept: Tagged = []

    def __call__(self, tagged: Tagged, now: float) -> Tagged:
        pairs: Tagged = []
        for port, (start, end, payload) in tagged:
            for side, (_, until, other) in self.kept:
                if side != port and until > start and other[0] == payload[0]:
                    pair = payload + other if port == 0 else other + payload
                    pairs.append((0, (start, min(end, until), pair)))
            self.kept.append((port, (start, end, payload)))
        # State goes by time alone; else the new plan would never be rid of what it has got from the old one.
        self.kept = [one for one in self.kept if one[1][1] > now]
        return pairs


class CallableBox:
    """Steps as a Box. One input may run ahead of the other: what arrives waits until it is its turn."""

    outputs = ("out",)

    def __init__(self, inputs: Iterable[str], *steps: Step) -> None:
        self.inputs, self.steps = tuple(inputs), steps
        self.reached = [ms.BEGINNING for _ in self.inputs]
        self.max_ends = [ms.BEGINNING for _ in self.inputs]
        self.waiting: Tagged = []

    def push(self, port: int, batch: list) -> list[list]:
        if self.reached[port] == ms.FOREVER:
            raise ValueError(f"{self.inputs[port]}: an element after the end")
        self.waiting += [(port, element) for element in batch]
        self.max_ends[port] = max(self.max_ends[port], *(end for _, end, _ in batch))
        return self.advance(port, batch[-1][0])

    def advance(self, port: int, time: float) -> list[list]:
        self.reached[port] = max(self.reached[port], time)  # what tells nothing new must do no harm
        self.waiting.sort(key=lambda tagged: tagged[1][0])
        ready = [one for one in self.waiting if one[1][0] <= self.progress()]
        del self.waiting[: len(ready)]
        for step in self.steps:
            ready = step(ready, self.progress())
        return [[element for _, element in ready]]

    def end(self, port: int) -> list[list]:
        return self.advance(port, ms.FOREVER)

    def progress(self, output: int = 0) -> float:
        return min(self.reached)  # no step gives later what starts before the time that it has been told

    def state(self) -> Iterable[tuple]:
        kept = [one for step in self.steps for one in getattr(step, "kept", ())]
        return [element for _, element in self.waiting + kept]

    def size(self) -> int:
        return len(self.state())

    def counters(self) -> Mapping[str, int]:
        return {}


def join_then_filter() -> CallableBox:
    """Orders of more than 50 with their payments: the running plan."""
    return CallableBox(("orders", "payments"), Join(), keep(lambda row: row[1] > 50))


def filter_then_join() -> CallableBox:
    """The same by a better plan: what is dropped first is not kept in the join."""
    return CallableBox(("orders", "payments"), keep(lambda row: row[1] > 50), Join())


def run(box: Box, stream: Tagged, new: Box | None = None, strategy: str = "genmig") -> tuple:
    """The results, and the migration in the middle of the stream, if there is a new box."""
    results, migration = [], None
    for number, (port, element) in enumerate(stream):
        if new is not None and number == len(stream) // 2:
            migration, (ready,) = migrate_box(box, new, find_strategy(strategy), box.max_ends, box.reached)
            box, results = migration, results + ready
        results += box.push(port, [element])[0]
        box = settled(box)  # from the end of the migration on, the new box is driven directly
    for port in range(len(box.inputs)):
        results += box.end(port)[0]
    return results, migration


def main() -> None:
    """Exchange plans in mid-stream. Windows stay outside: an element says itself how long it is valid."""
    rng = Random(7)
    rows = [(rng.randrange(9), rng.randrange(100)) for _ in range(400)]
    stream = [(rng.randrange(2), (2 * t, 2 * t + 60, row)) for t, row in enumerate(rows)]
    results, migration = run(join_then_filter(), stream, filter_then_join())
    verdict = ms.equivalent(results, run(join_then_filter(), stream)[0])
    print(verdict, ms.report(migration), sep="\n")
    assert verdict
    assert migration.successor is not None


if __name__ == "__main__":
    main()
