"""Queries that have gone leave nothing behind, of whatever kind they were."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from itertools import count

import pytest
from steps import objects

import midstream as ms
from midstream.operators.compile.generated import LATEST
from midstream.plans.algebra.builder import Stream

S, T = ms.stream("s", k="integer", v="integer", w="string"), ms.stream("t", j="integer")
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
