"""A function or a sink of one query that raises costs the queries beside it no result."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import midstream as ms
from midstream.plans.algebra.builder import Stream
from midstream.plans.values.errors import FunctionError
from midstream.plans.values.streams import Batch, Element

S = ms.stream("s", x="integer", y="integer")
T = ms.stream("t", z="integer")


def picky(value: int) -> bool:
    if value % 7 == 3:
        raise ValueError(f"no such item {value}")
    return value % 7 > 1


def faulty(column: str = "x") -> ms.Operand:
    return ms.opaque(picky, reads=[column], type="boolean")


WINDOW = S.window(5)
PICKED = ms.user_aggregate("picked", picky, lambda a, b: a + b, int, type="integer")
FAULTY: dict[str, Callable[[], Stream]] = {
    "filter": lambda: WINDOW.filter(faulty()),
    "filter above others": lambda: WINDOW.distinct().filter(faulty()).filter(ms.col("y") > 1).distinct(),
    "map": lambda: WINDOW.select("x", ok=faulty()).select("ok"),
    "map below a window": lambda: S.select("y", ok=faulty()).window(5).distinct(),
    "join": lambda: WINDOW.join(T.window(9), on=faulty() & (ms.col("y") == ms.col("z"))),
    "left of a join": lambda: WINDOW.filter(faulty()).join(T.window(9), on=[("y", "z")]),
    "right of a join": lambda: WINDOW.join(T.window(9).filter(faulty("z")), on=[("y", "z")]),
    "aggregate": lambda: WINDOW.group_by("y").aggregate(n=PICKED("x")),
    "union": lambda: WINDOW.filter(faulty()).union(WINDOW.filter(ms.col("y") > 2)),
}
SOUND: dict[str, Stream] = {
    "all": WINDOW,
    "distinct": WINDOW.distinct(),
    "join": WINDOW.join(T.window(9), on=[("y", "z")]),
    "count": WINDOW.group_by("y").aggregate(n=ms.count()),
    "other": T.window(4).distinct(),
    "raw": S.select("x"),
}


def arrivals(seed: int, batch: int) -> list[tuple[str, Batch]]:
    chance = random.Random(seed)
    events: list[tuple[str, Batch]] = []
    for start in range(0, 30, batch):
        for name, width in (("s", 2), ("t", 1)):
            rows = [
                (t, t + 1, tuple(chance.randrange(9) for _ in range(width)))
                for t in range(start, start + batch)
                for _ in range(chance.randrange(3))
            ]
            events.append((name, rows))
    return events


def results(
    queries: Sequence[tuple[str, Stream, Callable[[Batch], object] | None]],
    events: Sequence[tuple[str, Batch]],
    compiled: bool,
) -> tuple[dict[str, list[Element]], int]:
    """The results by query, and the number of calls that raised an error of a function or a sink."""
    engine, got, raised = ms.Engine(compile=compiled), {}, 0
    for name, query, sink in queries:
        got[name] = []
        engine.add(query, sink or got[name].extend, name=name)
    for name, batch in events:
        if name in engine.streams:
            try:
                engine.push(name, batch)
            except (FunctionError, ValueError, OSError):
                raised += 1
    try:
        engine.close()
    except (FunctionError, ValueError, OSError):
        raised += 1
    return got, raised


@settings(max_examples=3 * settings.default.max_examples, deadline=None)
@given(
    kind=st.sampled_from(list(FAULTY)),
    seed=st.integers(0, 10**6),
    batch=st.sampled_from((1, 2, 30)),
    place=st.integers(0, len(SOUND)),
    compiled=st.booleans(),
)
def test_a_function_that_raises_costs_other_queries_nothing(
    kind: str, seed: int, batch: int, place: int, compiled: bool
) -> None:
    sound = [(name, query, None) for name, query in SOUND.items()]
    mixed = [*sound[:place], ("faulty", FAULTY[kind](), None), *sound[place:]]
    events = arrivals(seed, batch)
    expected, never = results(sound, events, compiled)
    got, raised = results(mixed, events, compiled)
    assert never == 0
    assert {name: got[name] for name in SOUND} == expected
    rows = [row for _, elements in events for *_, row in elements]
    if kind in ("filter", "map", "map below a window"):
        assert (raised > 0) == any(len(row) == 2 and row[0] % 7 == 3 for row in rows)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("batch", [1, 700])
def test_the_error_names_the_query_and_comes_once(batch: int, compiled: bool) -> None:
    """Also from a batch that runs in pieces, all of which the other query gets."""
    got: list[Element] = []
    engine = ms.Engine(compile=compiled)
    engine.add(WINDOW.filter(faulty()), name="picky one")
    engine.add(WINDOW.filter(ms.col("x") == 3), got.extend, name="other")
    rows = [(t, t + 1, (3, 0)) for t in range(batch)]
    with pytest.raises(FunctionError) as error:
        engine.push("s", rows)
    assert error.value.__notes__ == [
        "query picky one lacks results of this event; all others have processed it"
    ]
    assert len(got) == batch
    engine.push("s", [(batch, batch + 1, (4, 0))])
    engine.close()


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("batch", [1, 30])
def test_a_sink_that_raises_costs_other_sinks_nothing(batch: int, compiled: bool) -> None:
    def full(batch: Batch) -> None:
        raise OSError("disk full")

    events = arrivals(1, batch)
    sound = [(name, query, None) for name, query in SOUND.items()]
    expected, _ = results(sound, events, compiled)
    got, raised = results([("full", WINDOW.distinct(), full), *sound], events, compiled)
    assert raised
    assert {name: got[name] for name in SOUND} == expected


def test_the_end_of_a_stream_that_raises_ends_the_others_too() -> None:
    def full(batch: Batch) -> None:
        raise OSError("disk full")

    got: list[Element] = []
    engine = ms.Engine()
    engine.add(WINDOW.aggregate(n=ms.count()), full, name="full")
    engine.add(T.window(4).aggregate(n=ms.count()), got.extend, name="other")
    engine.push("s", [(0, 1, (1, 1))])
    engine.push("t", [(0, 1, (1,))])
    with pytest.raises(OSError, match="disk full"):
        engine.close()
    assert got == [(0, 4, (1,))]
