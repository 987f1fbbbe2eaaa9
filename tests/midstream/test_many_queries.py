"""Queries that have gone leave nothing behind, of whatever kind they were."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from itertools import count

import pytest
from steps import objects

import midstream as ms
from midstream.operators.compile.generated import LATEST
from midstream.operators.engine.measuring import meters
from midstream.operators.engine.running import tally
from midstream.plans.algebra.builder import Stream
from midstream.testing.law import vouched

S, T = ms.stream("s", k="integer", v="integer", w="string"), ms.stream("t", j="integer")
U = ms.stream("u", l="integer")
WINDOW = S.window(50)
MANY = 300
"""More queries than any cache holds."""

KINDS: dict[str, Callable[[int], Stream]] = {
    "name": lambda i: WINDOW.distinct(),
    "filter": lambda i: WINDOW.filter(ms.col("v") > i),
    "text": lambda i: WINDOW.filter(ms.col("w") == f"value {i}"),
    "window": lambda i: S.window(51 + i).distinct(),
    "rows": lambda i: S.last(1 + i).distinct(),
    "sample": lambda i: S.sample(1 / (1 + i)).window(50).distinct(),
    "lever": lambda i: S.window(51 + i, bounds=(10, 10**6)).distinct(),
    "projection": lambda i: WINDOW.select("k", sum=ms.col("v") + i),
    "groups": lambda i: WINDOW.filter(ms.col("v").ne(i)).group_by("k").aggregate(n=ms.count()),
    "join": lambda i: WINDOW.join(T.window(51 + i), on=[("k", "j")]),
}


def come_and_go(engine: ms.Engine, query: Callable[[int], Stream], numbers: count[int]) -> None:
    for _ in range(MANY):
        number = next(numbers)
        added = engine.add(query(number), lambda batch: None, name=f"q{number}")
        assert added.name in engine.queries
        engine.push("s", [(number, number + 1, (number % 7, number, "w"))])
        engine.remove(f"q{number}")


@pytest.mark.parametrize("kind", KINDS)
def test_objects_do_not_grow_with_queries_that_have_gone(kind: str) -> None:
    engine, numbers = ms.Engine(WINDOW.distinct(), lambda batch: None), count()
    come_and_go(engine, KINDS[kind], numbers)
    before, lines = objects(), len(linecache.cache)
    come_and_go(engine, KINDS[kind], numbers)
    assert objects() - before < MANY // 10
    assert len(linecache.cache) - lines <= LATEST
    assert engine.counters().elements >= MANY


def orders(number: int) -> list[Stream]:
    """Three orders of a join, whose filter lets all rows pass."""
    a, b, c = WINDOW.filter(ms.col("v") > -1 - number), T.window(50), U.window(50)
    return [
        a.join(b, on=[("k", "j")]).join(c, on=[("j", "l")]).select("k", "v", "j", "l"),
        b.join(c, on=[("j", "l")]).join(a, on=[("j", "k")]).select("k", "v", "j", "l"),
        c.join(a, on=[("l", "k")]).join(b, on=[("k", "j")]).select("k", "v", "j", "l"),
    ]


def done(engine: ms.Engine, number: int) -> None:
    strategies = ("genmig", "genmig-reference-point", "genmig-end-timestamp", "auto")
    vouched(engine, orders(number)[number % 3].plan(), strategies[number % 4])


def chained(engine: ms.Engine, number: int) -> None:
    for place in (1, 2, 0):
        vouched(engine, orders(number)[place].plan())


def queued(engine: ms.Engine, number: int) -> None:
    for place in (1, 2):
        vouched(engine, orders(number)[place].plan(), when_busy="queue")


def aborted(engine: ms.Engine, number: int) -> None:
    vouched(engine, orders(number)[1 + number % 2].plan()).abort()


def refused(engine: ms.Engine, number: int) -> None:
    """It is refused behind a later event, as the plans do not mean the same."""
    engine.migrate(orders(0)[0].filter(ms.col("v") > number).plan())


@pytest.mark.parametrize(
    ("migrate", "many"),
    [(done, 12)]
    + [
        pytest.param(migrate, 25, marks=pytest.mark.slow)
        for migrate in (done, aborted, chained, queued, refused)
    ],
)
def test_objects_do_not_grow_with_migrations(
    migrate: Callable[[ms.Engine, int], None], many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither those that have ended in one way or another."""
    monkeypatch.setattr(meters, "RECENT", 8)
    monkeypatch.setattr(tally, "GONE", 16)
    engine = ms.Engine(orders(0)[0], lambda batch: None)
    numbers, instants = count(), count()

    def feed(number: int) -> None:
        for t in (next(instants) for _ in range(number)):
            for name, row in (("s", (t % 7, t, "w")), ("t", (t % 50,)), ("u", (t % 50,))):
                engine.push(name, [(t, t + 1, row)])

    def run() -> None:
        for _ in range(many):
            feed(5)
            migrate(engine, next(numbers))
            feed(115)
            assert not engine.query().is_exchanged

    for _ in range(3):  # until what is bounded is full
        run()
    before = objects()
    run()
    assert objects() - before < many
