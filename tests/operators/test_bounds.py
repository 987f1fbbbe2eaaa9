"""Queries share levers that are equal but for their bounds, and keep their own bounds (thesis, 21.4.2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inside import base_of

from midstream.engine import Engine
from midstream.operators.engine.running.bounds import around, intersection
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators import Adjustable
from midstream.plans.algebra.properties import is_lever, logical
from midstream.plans.expressions.aggregates import count
from midstream.plans.values.errors import PlanError
from midstream.plans.values.streams import chronons

S = stream("s", x="integer", y="integer")
A, B = S.window(60, bounds=(10, 120)), S.window(60, bounds=(50, 200))


def both(one: Stream = A, two: Stream = B) -> Engine:
    """An engine with two queries, a and b."""
    engine = Engine()
    engine.add(one, name="a")
    engine.add(two, name="b")
    return engine


def running_levers(engine: Engine) -> list[str]:
    """The levers that run."""
    return sorted(str(logical(node)) for node in base_of(engine).running if is_lever(node))


@pytest.mark.parametrize(
    ("one", "two", "kind", "expected"),
    [
        (A, B, "size", (50, 120)),
        (S.last(5, bounds=(1, 9)), S.last(5, bounds=(2, 20)), "rows", (2, 9)),
        (S.last(5, by=["x"], bounds=(1, 9)), S.last(5, by=["x"], bounds=(2, 20)), "rows", (2, 9)),
        (
            S.window(60).granularity(5, bounds=(1, 20)),
            S.window(60).granularity(5, bounds=(5, 60)),
            "granule",
            (5, 20),
        ),
        (S.sample(0.5, bounds=(0.1, 1)), S.sample(0.5, bounds=(0.2, 0.6)), "share", (0.2, 0.6)),
    ],
)
def test_levers_that_are_equal_but_for_bounds_run_once_within_the_bounds_of_all(
    one: Stream, two: Stream, kind: str, expected: tuple[float, float]
) -> None:
    engine = both(one, two)
    assert len(running_levers(engine)) == 1
    (lever,) = engine.levers()
    assert (lever.kind, lever.bounds, lever.queries) == (kind, expected, ("a", "b"))
    assert (engine.query("a").plan, engine.query("b").plan) == (one.plan(), two.plan())
    assert engine.adjust({lever.node: expected[0]}, at=60).queries == ("a", "b")
    assert [each.setting for each in engine.levers()] == [expected[0]]


def test_bounds_are_those_of_the_queries_that_are_still_there() -> None:
    engine = both()
    engine.add(S.window(60, bounds=(60, 60)), name="c")
    assert [lever.bounds for lever in engine.levers()] == [(60, 60)]
    engine.remove("c")
    assert [lever.bounds for lever in engine.levers()] == [(50, 120)]
    engine.remove("b")
    assert [lever.bounds for lever in engine.levers()] == [(10, 120)]
    assert engine.adjust({A: 10}, at=5).queries == ("a",)


def test_queries_whose_bounds_allow_a_setting_part_from_the_others() -> None:
    first: list = []
    second: list = []
    engine = Engine()
    engine.add(A.filter(S["x"] > 0), first.extend, name="a")
    engine.add(B.select("x"), second.extend, name="b")
    adjusted = engine.adjust({A: 20}, at=5)
    assert adjusted.queries == ("a",)
    assert adjusted.notes == ("b keeps window 60 (from 50 to 200) of s, as its bounds do not allow 20",)
    assert [(each.setting, each.bounds, each.queries) for each in engine.levers()] == [
        (20, (10, 120), ("a",)),
        (60, (50, 200), ("b",)),
    ]
    engine.push("s", chronons([(4, (1, 1)), (5, (2, 2))]))
    assert [end - start for start, end, _ in first] == [60, 20]
    assert [end - start for start, end, _ in second] == [60, 60]


def test_queries_that_have_parted_meet_again_when_their_settings_are_equal() -> None:
    engine = both()
    engine.adjust({A: 20}, at=5)
    assert len(running_levers(engine)) == 2
    engine.adjust({S.window(20, bounds=(10, 120)): 60}, at=10)
    assert [(each.bounds, each.queries) for each in engine.levers()] == [((50, 120), ("a", "b"))]
    engine.push("s", chronons([(4, (1, 1)), (300, (2, 2))]))
    engine.advance("s", 400)
    assert len(running_levers(engine)) == 1
    assert engine.query("a").physical == engine.query("b").physical


def test_queries_with_elements_in_common_do_not_part() -> None:
    counts = [window.aggregate(n=count()) for window in (A, B)]
    engine = both(*counts)
    with pytest.raises(PlanError, match=r"holds elements for b as well, .* adjusted too; b keeps window 60"):
        engine.adjust({A: 20}, at=5)
    assert [each.plan for each in engine.queries.values()] == [each.plan() for each in counts]
    assert engine.adjust({A: 100}, at=5).queries == ("a", "b")


@pytest.mark.parametrize(
    ("settings", "queries", "message"),
    [
        ({A: 130}, (), "found a window of 130, expected one from 10 to 120"),
        ({S.window(60, bounds=(50, 120)): 20}, (), "found a window of 20, expected one from 50 to 120"),
        ({S.window(60, bounds=(1, 999)): 60}, (), r"no query has window 60 \(from 1 to 999\) of s"),
        (
            {A: 60, B: 70},
            (),
            r"found the settings 60 and 70 of window 60 .* which is one lever of a, b; give",
        ),
        ({A: 20}, ("b",), r"b does not have window 60 \(from 10 to 120\) of s"),
        ({A: 20}, ("a", "b"), r"nothing has changed: b keeps window 60 \(from 50 to 200\) of s, as"),
    ],
)
def test_what_the_bounds_do_not_allow_is_refused(settings: dict, queries: tuple, message: str) -> None:
    engine = both()
    before = engine.levers()
    with pytest.raises(PlanError, match=message):
        engine.adjust(settings, at=5, queries=queries)
    assert engine.levers() == before


def test_a_query_keeps_all_settings_where_its_bounds_do_not_allow_one_of_them() -> None:
    early, late = S.sample(0.5, bounds=(0.1, 1)), S.sample(0.5, bounds=(0.4, 1))
    one, two = early.window(60, bounds=(10, 120)), late.window(60, bounds=(20, 200))
    engine = both(one, two)
    assert len(engine.levers()) == 2
    assert engine.adjust({early: 0.2, one: 100}, at=5).queries == ("a",)
    assert engine.query("b").plan == two.plan()


def test_fixed_windows_and_windows_of_one_row_run_for_themselves() -> None:
    """Rules and operators rely on what is true of them alone."""
    engine = both(S.window(60), A)
    assert len(base_of(engine).running) == 2
    rows = both(S.last(1, bounds=(1, 1)), S.last(1, bounds=(1, 9)))
    assert len(running_levers(rows)) == 2
    assert "the greatest setting of one of them is 1" in rows.query("a").notes[0]


def test_two_windows_of_one_query_stay_two() -> None:
    twice = A.select("x").union(B.select("y").rename({"y": "x"}))
    engine = both(twice, A.select("x"))
    assert [(each.bounds, each.queries) for each in engine.levers()] == [
        ((10, 120), ("a", "b")),
        ((50, 200), ("a",)),
    ]
    other = S.window(60, bounds=(50, 100))
    engine.add(other, name="c")
    assert len(engine.levers()) == 3
    assert engine.adjust({A: 20}, at=5).queries == ("a", "b")
    assert [each.setting for each in engine.levers()] == [20, 60, 60]


def test_notes_say_why_levers_run_apart() -> None:
    engine = both(S.window(30, bounds=(10, 40)), B)
    engine.add(S.window(100, bounds=(60, 120)), name="c")
    assert engine.query("b").notes == (
        "window 60 (from 50 to 200) of s runs apart from window 30 (from 10 to 40) of s of a: their bounds "
        "have no setting in common",
        "window 60 (from 50 to 200) of s runs apart from window 100 (from 60 to 120) of s of c: their "
        "settings differ; both allow 60 to 120",
    )
    assert both().query("a").notes == ()


def test_plans_facts_and_migrations_have_the_bounds_that_a_query_declares() -> None:
    query = A.filter(S["x"] > 0).distinct()
    engine = both(query, B.filter(S["x"] > 0).distinct())
    engine.push("s", chronons([(t, (t % 3, t)) for t in range(20)]))
    assert engine.counters("a").emitted[A.node] == 20
    assert A.node in engine.observe("a") and A.node in engine.max_ends("a")
    assert query.node in engine.held("a") and A.node in engine.query("a").settings()
    other = A.distinct().filter(S["x"] > 0).plan()
    assert engine.obstacle(other, "a") is None
    assert engine.predict_migration(other, query="a").duration > 0
    migration = engine.migrate(other, query="a")
    assert engine.query("a").plan == other
    engine.push("s", chronons([(t, (t % 3, t)) for t in (100, 300, 500)]))
    assert migration.phase.value == "done"
    assert engine.query("a").plan == other
    assert engine.optimize("b").original == engine.query("b").plan


def test_a_lever_that_moves_in_a_plan_keeps_its_bounds() -> None:
    engine = both(A.filter(S["x"] > 0), B)
    engine.remove("b")
    moved = S.filter(S["x"] > 0).window(60, bounds=(10, 120)).plan()
    engine.migrate(moved, "swap", "a")
    assert engine.query("a").plan == moved
    assert [(each.bounds, each.queries) for each in engine.levers()] == [((10, 120), ("a",))]


def test_settings_of_a_shared_lever_go_on_in_another_engine() -> None:
    engine = both()
    engine.adjust({A: 70}, at=5)
    other = Engine(engine.query("b").plan)
    other.load_settings(engine.query("b").dump_settings())
    assert other.query().settings() == engine.query("b").settings()


def test_a_query_is_complete_only_when_no_later_setting_can_make_what_it_missed_valid() -> None:
    """Behind a window, elements that have come before the query start later, when the size may be greater."""

    def windows(size: int) -> Stream:
        return S.window(6, bounds=(1, 10)).select("x").window(size, bounds=(1, 11))

    engine = Engine(windows(1))
    engine.push("s", chronons([(3, (2, 0))]))
    assert engine.add(windows(2), name="b").complete_from == 9 + 11 - 1
    assert engine.add(S.window(6, bounds=(1, 20)), name="c").complete_from == 9


bounds = st.tuples(st.integers(2, 6), st.integers(6, 12))


@given(st.lists(bounds, min_size=1, max_size=4))
def test_the_bounds_in_force_are_within_all_and_those_shown_around_all(each: list) -> None:
    engine = Engine()
    for number, declared in enumerate(each):
        engine.add(S.window(6, bounds=declared), name=str(number))
    (lever,) = engine.levers()
    allowed = [size for size in range(1, 14) if all(least <= size <= most for least, most in each)]
    assert lever.bounds == (allowed[0], allowed[-1]) == intersection(each)
    (operator,) = map(logical, filter(is_lever, base_of(engine).running))
    assert isinstance(operator, Adjustable)
    assert operator.bounds == (min(least for least, _ in each), max(most for _, most in each)) == around(each)


def test_levers_whose_settings_become_equal_meet_with_the_bounds_of_both() -> None:
    small = S.window(20, bounds=(10, 120))
    engine = both(small, B)
    assert len(engine.levers()) == 2
    assert engine.adjust({small: 60}, at=5).queries == ("a",)
    assert [(each.bounds, each.queries) for each in engine.levers()] == [((50, 120), ("a", "b"))]
    engine.push("s", chronons([(4, (1, 1)), (300, (2, 2))]))
    engine.advance("s", 400)
    assert len(running_levers(engine)) == 1


def test_two_windows_of_a_new_query_do_not_meet_others() -> None:
    engine = Engine()
    engine.add(S.window(60, bounds=(50, 100)), name="c")
    engine.add(A.select("x").union(B.select("y").rename({"y": "x"})), name="a")
    assert [each.bounds for each in engine.levers()] == [(50, 100), (10, 120), (50, 200)]
