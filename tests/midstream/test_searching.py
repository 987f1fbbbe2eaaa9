"""A search for a better plan goes on in slices between elements, and changes nothing of what they give."""

from __future__ import annotations

import random

import pytest

import midstream as ms
from midstream.optimizer.search import choice as searching

A, B, C, D = (ms.stream(name, **{name: "integer", f"{name}2": "integer"}).window(60) for name in "abcd")
QUERY = A.join(B, on=[("a", "b")]).join(C, on=[("b2", "c")]).join(D, on=[("c2", "d")])
FEW, MANY = 3, 20
"""Values: what has few finds many partners."""


def rows(seed: int, until: int = 120) -> list[tuple[str, int, tuple[int, int]]]:
    rng = random.Random(seed)
    pick = {"a": (FEW, FEW), "b": (FEW, FEW), "c": (FEW, MANY), "d": (MANY, FEW)}
    return [
        (name, time, tuple(rng.randrange(n) for n in pick[name]))  # type: ignore[misc]
        for time in range(until)
        for name in "abcd"
    ]


def fed(engine: ms.Engine, until: int = 120) -> None:
    for name, time, row in rows(1, until):
        engine.push(name, ms.chronons([(time, row)]))


@pytest.fixture
def engine() -> ms.Engine:
    engine = ms.Engine(QUERY)
    fed(engine)
    return engine


def advanced(engine: ms.Engine, search: ms.optimizer.Search) -> int:
    """Heartbeats until a search is done; gives how many it took."""
    for beats in range(1, 10_000):
        engine.advance("a", engine.progress("a") + 1)
        if search.is_done:
            return beats
    raise AssertionError("the search goes on for ever")


def test_a_search_in_slices_finds_what_one_at_once_finds(
    engine: ms.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = engine.optimize()
    assert expected.is_better
    monkeypatch.setattr(searching, "SLICE", 0.0)
    search = engine.optimize(budget=30_000)
    assert not search.is_done
    assert search.choice.plan == QUERY.plan()
    assert advanced(engine, search) > 5
    assert search.choice == expected
    assert search.choice.steps == expected.steps


def test_long_slices_are_fewer(engine: ms.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "SLICE", 60.0)
    assert advanced(engine, engine.optimize(budget=30_000)) == 1


def test_results_are_those_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "SLICE", 0.0)
    results: list[list] = [[], []]
    engines = [ms.Engine(QUERY, sink.extend) for sink in results]
    for number, (name, time, row) in enumerate(rows(2)):
        for engine in engines:
            engine.push(name, ms.chronons([(time, row)]))
        if number == 100:
            search = engines[0].optimize(budget=30_000)
    assert results[0]
    assert results[0] == results[1]
    assert search.finish().plan == search.choice.plan


def test_what_a_search_has_found_can_be_migrated_to(engine: ms.Engine) -> None:
    search = engine.optimize(budget=30_000)
    advanced(engine, search)
    transition = engine.migrate(search.choice)
    assert engine.plan == search.choice.plan
    engine.close()
    assert ms.report(transition).phase == "done"


def test_a_search_ends_with_the_streams_and_can_be_finished(
    engine: ms.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "SLICE", 0.0)
    search = engine.optimize(budget=30_000)
    engine.close()
    assert not search.is_done
    assert search.finish().is_better
    late = engine.optimize(budget=30_000)
    assert late.finish().plan == search.choice.plan


def test_several_searches_go_on_beside_each_other(engine: ms.Engine) -> None:
    one, other = engine.optimize(budget=30_000), engine.optimize(budget=0)
    assert advanced(engine, other) == 1 or other.is_done
    advanced(engine, one)
    assert one.choice.is_complete
    assert not other.choice.is_complete
