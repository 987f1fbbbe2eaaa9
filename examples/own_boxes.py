"""Give the plans of another engine a migration: wrap each as a Box. Nothing of our engine is used.

python examples/own_boxes.py
"""

from collections.abc import Callable, Iterable, Mapping

import midstream as ms
from midstream.boxes import migrate_box
from midstream.migration import STRATEGIES


class FunctionBox:
    """A pipeline of plain functions on single payloads as a Box: one input, one output, no state."""

    inputs = ("in",)
    outputs = ("out",)

    def __init__(self, *steps: Callable[[object], Iterable[object]]) -> None:
        self.steps = steps
        self.reached = ms.BEGINNING
        self.received = 0

    def push(self, port: int, batch: list) -> list[list]:
        """Every step turns a payload into any number of payloads."""
        self.received += len(batch)
        self.reached = batch[-1][0]
        for step in self.steps:
            batch = [(start, end, made) for start, end, payload in batch for made in step(payload)]
        return [batch]

    def advance(self, port: int, time: float) -> list[list]:
        """A heartbeat."""
        self.reached = max(self.reached, time)
        return [[]]

    def end(self, port: int) -> list[list]:
        """The end is a heartbeat at the end of time."""
        return self.advance(port, ms.FOREVER)

    def progress(self, output: int = 0) -> float:
        """Results keep the starts of their elements."""
        return self.reached

    def size(self) -> int:
        """Nothing is kept."""
        return 0

    def state(self) -> Iterable:
        """Nothing is kept."""
        return ()

    def counters(self) -> Mapping[str, int]:
        """How many elements came."""
        return {"received": self.received}


def words(line: object) -> Iterable[object]:
    """The words of a line."""
    return str(line).split()


def long_only(word: object) -> Iterable[object]:
    """The word, if it is long."""
    return [word] if len(str(word)) > 4 else []


def lower(text: object) -> Iterable[object]:
    """In lower case."""
    return [str(text).lower()]


def main() -> None:
    """Move from one order of steps to another while lines arrive; each line is valid for ten chronons."""
    lines = ["Continuous queries run", "for a LONG time", "Their plans", "need not", "stay the SAME forever"]
    stream = [(t, t + 10, line) for t, line in zip(range(0, 50, 5), lines * 2, strict=True)]
    old, new = FunctionBox(words, long_only, lower), FunctionBox(lower, words, long_only)
    results = old.push(0, stream[:4])[0]
    migration, (ready,) = migrate_box(
        old, new, STRATEGIES["genmig"], max_ends=[stream[3][1]], reached=[old.progress()]
    )
    results += ready
    for element in stream[4:]:
        results += migration.push(0, [element])[0]
    results += migration.end(0)[0]
    print(ms.report(migration))
    verdict = ms.equivalent(results, FunctionBox(words, long_only, lower).push(0, stream)[0])
    print(verdict)
    assert verdict
    assert migration.successor is new


if __name__ == "__main__":
    main()
