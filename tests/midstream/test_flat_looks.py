"""What autopilots and budgets keep of streams does not grow with these, however late the next look is."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import midstream as ms
from midstream.operators.compile.inlets import FULL
from midstream.operators.engine.measuring.sampling import CELLS
from midstream.operators.engine.measuring.statistics_collector import LONG, MOST
from midstream.plans.algebra.builder import Stream
from midstream.plans.values.streams import Element

A = ms.stream("a", k="integer", v="integer", tag="string")
B = ms.stream("b", j="integer", w="integer", label="string")
WINDOW = 50
FEW = A.window(WINDOW).filter(ms.col("k") < 50).distinct().filter(ms.col("v") > 5)
PAIRS = A.window(WINDOW).join(B.window(WINDOW), on=[("k", "j")]).filter(ms.col("v") > 0)
LEVERS = A.window(WINDOW, bounds=(5, WINDOW)).distinct()
NEVER: Any = {"every": 10**6, "deciding": None}


TAG = " ".join(["a", "tag"])
"""An object that each row refers to."""


def rows() -> int:
    """The number of rows that are still known to anybody, results included."""
    gc.collect()
    return sys.getrefcount(TAG)


@contextmanager
def engine_of(query: Stream, *others: Stream, **how: Any) -> Iterator[ms.Engine]:
    engine = ms.Engine(query, lambda batch: None)
    for number, other in enumerate(others):
        engine.add(other, lambda batch: None, name=f"other {number}")
    if "memory" in how:
        engine.budget(**how)
    else:
        engine.autopilot(**how)
    yield engine


def feed(engine: ms.Engine, until: int, names: str, size: int, pace: int = 1, since: int = 0) -> None:
    """A row a chronon, or `pace` in one, in batches of a size."""
    for at in range(since, until, size):
        for name in names:
            batch: list[Element] = [
                (t // pace, t // pace + 1, (t % 60, t, TAG)) for t in range(at, min(until, at + size))
            ]
            engine.push(name, batch)


@pytest.mark.parametrize("size", [1, 100])
@pytest.mark.parametrize(
    ("query", "names", "how"),
    [
        (FEW, "a", {}),
        (PAIRS, "ab", {}),
        (FEW, "a", {"every": 10**6}),
        (LEVERS, "a", {"memory": 10**6}),
        (LEVERS, "a", {"memory": 10**6, **NEVER}),
    ],
    ids=["put off", "two streams", "rare", "budget", "rare budget"],
)
def test_elements_since_the_last_look_are_not_kept(
    query: Stream, names: str, how: dict[str, Any], size: int
) -> None:
    with engine_of(query, **how) as engine:
        feed(engine, 20_000, names, size)
        # The recent elements of meters are those of statistics, 4,096 of each window.
        bound = len(names) * (2 * LONG * MOST + FULL + 3 * WINDOW + 2 * 4096)
        assert rows() < bound


@pytest.mark.parametrize("size", [1, 100])
def test_a_stream_may_be_ahead_of_a_silent_one(size: int) -> None:
    """Nobody looks while a stream of another query is silent."""
    others = B.window(WINDOW, bounds=(5, WINDOW)).distinct()
    with engine_of(LEVERS, others, memory=10**6) as engine:
        feed(engine, 100, "b", 1)
        feed(engine, 60_000, "a", size, pace=20)
        held = [one for one in gc.get_objects() if type(one).__name__ == "CellSample"]
        assert sum(len(one._picked) for one in held) <= (CELLS + 4) * 2 * LONG * MOST
        assert sum(len(one.elements) for one in gc.get_objects() if type(one).__name__ == "Mark") < FULL
        assert rows() < (CELLS + 4) * 2 * LONG * MOST + 20 * 3 * WINDOW + 4 * 4096


def test_all_may_come_at_one_instant() -> None:
    with engine_of(A.filter(ms.col("v") > 5).window(WINDOW).distinct(), every=10) as engine:
        engine.advance("a", 1)
        for number in range(20_000):
            engine.push("a", [(5, 6, (number % 3, 1, TAG))])
        assert rows() < 2 * LONG * MOST + FULL + 2 * 4096
