"""Windows and granules change their size while queries run (thesis, 21.3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inside import base_of, input_max_ends

from midstream.driving import run
from midstream.engine import Engine
from midstream.operators.base.setting import WithSetting
from midstream.operators.signs import signed_plan
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators import TimeWindow
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import (
    has_ordered_ends,
    input_nodes,
    is_key,
    logical,
    logical_plan,
)
from midstream.plans.expressions.aggregates import count
from midstream.plans.values.errors import PlanError
from midstream.plans.values.snapshots import equivalent
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, chronons
from midstream.testing import elements, rows

BIDS = stream("bids", item="integer", price="integer")
BOUNDS = (1, 60)
WIDE = BIDS.window(10, bounds=BOUNDS)


@given(elements(rows(2), chronons=True), st.integers(1, 24), st.sampled_from((1, 3, 20)), st.data())
def test_from_an_instant_on_a_window_has_another_size(
    bids: list[Element], at: int, size: int, data: st.DataObject
) -> None:
    """Everything above it sees elements of the old size before, and of the new one from then on."""
    query = WIDE.filter(BIDS["price"] > 0).distinct()
    results: list = []
    engine = Engine(query.plan(), results.extend)
    early = [e for e in bids if e[0] < at]
    cut = data.draw(st.integers(0, len(early)))
    engine.push("bids", early[:cut])
    assert engine.adjust({WIDE: size}, at=at).queries == ("query",)
    assert engine.plan == BIDS.window(size, bounds=BOUNDS).filter(BIDS["price"] > 0).distinct().plan()
    split = data.draw(st.integers(cut, len(bids)))
    engine.push("bids", bids[cut:split])
    engine.push("bids", bids[split:])
    engine.close()
    before, after = early, [e for e in bids if e[0] >= at]
    windowed = [*run(WIDE.plan(), {"bids": before}), *run(BIDS.window(size).plan(), {"bids": after})]
    above = stream("bids", item="integer", price="integer", intervals=True)
    expected = run(above.filter(BIDS["price"] > 0).distinct().plan(), {"bids": windowed})
    assert equivalent(results, expected)


def test_all_queries_with_a_window_are_changed() -> None:
    first: list = []
    second: list = []
    other: list = []
    engine = Engine(WIDE.plan(), first.extend)
    engine.add(WIDE.aggregate(n=count()).plan(), second.extend, name="counts")
    engine.add(BIDS.window(5).plan(), other.extend, name="other")
    engine.push("bids", chronons([(0, (1, 1))]))
    assert engine.adjust({WIDE: 2}, at=3).queries == ("query", "counts")
    engine.push("bids", chronons([(2, (2, 2)), (3, (3, 3))]))
    engine.close()
    assert first == [(0, 10, (1, 1)), (2, 12, (2, 2)), (3, 5, (3, 3))]
    assert equivalent(second, [(0, 2, (1,)), (2, 3, (2,)), (3, 5, (3,)), (5, 10, (2,)), (10, 12, (1,))])
    assert [end - start for start, end, _ in other] == [5, 5, 5]


def test_a_window_that_gives_positives_and_negatives_has_another_size() -> None:
    results: list = []
    engine = Engine(signed_plan(WIDE), results.extend)
    engine.adjust({WIDE: 2}, at=5)
    engine.push("bids", chronons([(4, (1, 1)), (5, (2, 2))]))
    engine.close()
    assert equivalent(results, [(4, 14, (1, 1)), (5, 7, (2, 2))])


def test_after_a_change_the_window_is_what_the_plan_says() -> None:
    """It can be changed again, and migrated."""
    results: list = []
    query = WIDE.filter(BIDS["price"] > 0).distinct()
    engine = Engine(query.plan(), results.extend)
    engine.resize(WIDE.node, 4, at=1)
    engine.push("bids", chronons([(1, (1, 1))]))
    narrow = BIDS.window(4, bounds=BOUNDS)
    migration = engine.migrate(narrow.distinct().filter(BIDS["price"] > 0).plan())
    engine.push("bids", chronons([(2, (1, 1)), (9, (1, 1))]))
    assert migration.phase.value == "done"
    with pytest.raises(PlanError, match=r"no query has window 10 \(from 1 to 60\) of bids"):
        engine.resize(WIDE.node, 3, at=20)
    engine.resize(narrow.node, 3, at=20)
    engine.push("bids", chronons([(20, (1, 1))]))
    engine.close()
    assert equivalent(results, [(1, 6, (1, 1)), (9, 13, (1, 1)), (20, 23, (1, 1))])


def test_a_granule_is_changed() -> None:
    coarse = BIDS.window(10).granularity(5, bounds=(1, 20))
    results: list = []
    engine = Engine(coarse.plan(), results.extend)
    engine.push("bids", chronons([(1, (1, 1))]))
    with pytest.raises(PlanError, match="found a change from granule 5 to 2 at 12"):
        engine.change_granule(coarse.node, 2, at=12)
    assert engine.plan == coarse.plan()
    engine.change_granule(coarse.node, 2, at=10)
    engine.push("bids", chronons([(8, (2, 2)), (11, (3, 3))]))
    assert results == [(5, 15, (1, 1)), (10, 20, (2, 2)), (12, 22, (3, 3))]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda e: e.resize(WIDE.node, 6, at=4), "found a change at 4, expected one at"),
        (lambda e: e.resize(WIDE.node, 0, at=9), "found a window of 0"),
        (lambda e: e.resize(WIDE.node, 6, at=9.5), "found a change at 9.5, expected an integer"),
        (lambda e: e.resize(WIDE.distinct().node, 5, at=9), "found distinct, expected a window or a granul"),
        (
            lambda e: e.resize(BIDS.window(7, bounds=BOUNDS).node, 5, at=9),
            r"no query has window 7 .* of bids",
        ),
        (lambda e: e.resize(WIDE.node, 61, at=9), "found a window of 61, expected one from 1 to 60"),
        (lambda e: e.resize(WIDE.node, None, at=9), "found a window of None, expected one from 1 to 60"),
        (lambda e: e.resize(BIDS.window(7).node, 5, at=9), r"window 7 is fixed, .* RANGE MIN …, MAX …"),
        (
            lambda e: e.change_granule(BIDS.granularity(7).node, 5, at=9),
            r"granularity 7 is fixed, .* granularity\(…, bounds=",
        ),
    ],
)
def test_what_cannot_be_changed_stays(change, message: str) -> None:
    results: list = []
    engine = Engine(WIDE.plan(), results.extend)
    engine.add(BIDS.window(5, bounds=BOUNDS).plan(), name="five")
    engine.push("bids", chronons([(4, (1, 1))]))
    with pytest.raises(PlanError, match=message):
        change(engine)
    engine.push("bids", chronons([(9, (2, 2))]))
    assert results == [(4, 14, (1, 1)), (9, 19, (2, 2))]
    assert engine.plan == WIDE.plan()


def test_a_window_changes_during_a_migration() -> None:
    results: list = []
    engine = Engine(WIDE.filter(BIDS["price"] > 0).distinct().plan(), results.extend)
    engine.push("bids", chronons([(4, (1, 1))]))
    migration = engine.migrate(WIDE.distinct().filter(BIDS["price"] > 0).plan())
    engine.adjust({WIDE: 5}, at=9)
    assert migration.phase.value == "moving"
    engine.push("bids", chronons([(8, (2, 2)), (9, (3, 3)), (20, (4, 4))]))
    assert migration.phase.value == "done"
    assert engine.plan == BIDS.window(5, bounds=BOUNDS).distinct().filter(BIDS["price"] > 0).plan()
    engine.close()
    assert equivalent(results, [(4, 14, (1, 1)), (8, 18, (2, 2)), (9, 14, (3, 3)), (20, 25, (4, 4))])


def test_a_migration_that_waits_has_the_settings_of_the_moment_at_which_it_begins() -> None:
    results: list = []
    engine = Engine(WIDE.filter(BIDS["price"] > 0).distinct().plan(), results.extend)
    engine.push("bids", chronons([(4, (1, 1))]))
    engine.migrate(WIDE.distinct().filter(BIDS["price"] > 0).plan())
    back = engine.migrate(WIDE.filter(BIDS["price"] > 0).distinct().plan(), when_busy="queue")
    engine.adjust({WIDE: 5}, at=9)
    for time in (9, 20, 30):
        engine.push("bids", chronons([(time, (3, 3))]))
    assert back.phase.value == "done"
    assert engine.plan == BIDS.window(5, bounds=BOUNDS).filter(BIDS["price"] > 0).distinct().plan()


def test_a_migration_can_be_aborted_after_a_change() -> None:
    results: list = []
    engine = Engine(WIDE.filter(BIDS["price"] > 0).distinct().plan(), results.extend)
    engine.push("bids", chronons([(4, (1, 1))]))
    migration = engine.migrate(WIDE.distinct().filter(BIDS["price"] > 0).plan())
    engine.adjust({WIDE: 5}, at=9)
    engine.push("bids", chronons([(9, (3, 3))]))
    migration.abort()
    engine.push("bids", chronons([(20, (4, 4))]))
    engine.close()
    assert equivalent(results, [(4, 14, (1, 1)), (9, 14, (3, 3)), (20, 25, (4, 4))])


def test_windows_that_become_equal_go_on_with_elements_of_their_own() -> None:
    """Each still has rows by its earlier size."""
    twice, once = BIDS.window(20, bounds=BOUNDS).distinct(), BIDS.window(10, bounds=BOUNDS).distinct()
    first: list = []
    second: list = []
    engine = Engine(twice.plan(), first.extend)
    engine.add(once.plan(), second.extend, name="once")
    engine.push("bids", chronons([(4, (1, 1))]))
    assert engine.adjust({BIDS.window(20, bounds=BOUNDS): 10}, at=10).queries == ("query",)
    assert engine.plan == engine.query("once").plan
    engine.push("bids", chronons([(12, (1, 1)), (60, (2, 2))]))
    engine.close()
    assert equivalent(first, [(4, 24, (1, 1)), (60, 70, (2, 2))])
    assert equivalent(second, [(4, 14, (1, 1)), (14, 22, (1, 1)), (60, 70, (2, 2))])


def test_all_levers_change_at_once_or_none() -> None:
    narrow = BIDS.window(5, bounds=BOUNDS)
    engine = Engine(WIDE.join(narrow.rename({"item": "i", "price": "p"}), on=[("item", "i")]).plan())
    before = engine.plan
    with pytest.raises(PlanError, match="found a window of 61"):
        engine.adjust({WIDE: 20, narrow: 61}, at=9)
    assert engine.plan == before
    engine.adjust({WIDE: 20, narrow: 10}, at=9)
    windows = {str(node.operator) for node in engine.plan.nodes if isinstance(node.operator, TimeWindow)}
    assert windows == {"window 20 (from 1 to 60)", "window 10 (from 1 to 60)"}


@pytest.mark.parametrize(
    ("query", "change", "largest"),
    [
        (
            BIDS.window(60, bounds=BOUNDS),
            lambda e: e.resize(BIDS.window(60, bounds=BOUNDS).node, 5, at=1),
            60,
        ),
        (
            BIDS.window(40).granularity(20, bounds=(5, 20)),
            lambda e: e.change_granule(BIDS.window(40).granularity(20, bounds=(5, 20)), 5, at=20),
            40,
        ),
    ],
    ids=["window", "granularity"],
)
def test_a_migration_waits_for_what_was_valid_before_the_change(query, change, largest: int) -> None:
    """An element of the larger window outlasts those behind it; the split time lies beyond it."""
    old = query.filter(BIDS["price"] > 0).distinct()
    results: list = []
    engine = Engine(old.plan(), results.extend)
    engine.push("bids", chronons([(0, (7, 7))]))
    change(engine)
    engine.push("bids", chronons([(21, (7, 7)), (22, (8, 8))]))
    expected: list = []
    alone = Engine(old.plan(), expected.extend)
    alone.push("bids", chronons([(0, (7, 7))]))
    change(alone)
    assert input_max_ends(engine)[0] >= largest
    conversion = Plan(input_nodes(logical_plan(engine.plan))[0])
    new = Stream(conversion.root)
    engine.migrate(new.distinct().filter(BIDS["price"] > 0).plan())
    rest = chronons([(25, (7, 7)), (90, (7, 7)), (200, (9, 9))])
    alone.push("bids", chronons([(21, (7, 7)), (22, (8, 8))]))
    for element in rest:
        engine.push("bids", [element])
        alone.push("bids", [element])
    engine.close()
    alone.close()
    assert equivalent(results, expected)


def running_windows(engine: Engine) -> list[str]:
    """The time windows that run."""
    return [str(n.operator.logical) for n in base_of(engine).running if isinstance(logical(n), TimeWindow)]


def test_windows_that_have_become_equal_meet_when_earlier_elements_have_expired_and_part_again() -> None:
    one, two = BIDS.window(20, bounds=BOUNDS), BIDS.window(10, bounds=BOUNDS)
    first: list = []
    second: list = []
    engine = Engine(one.distinct().plan(), first.extend)
    engine.add(two.distinct().plan(), second.extend, name="second")
    engine.adjust({one: 10}, at=10)
    for time in (5, 9, 12, 28):
        engine.push("bids", chronons([(time, (1, 1))]))
    assert len(running_windows(engine)) == 2
    engine.push("bids", chronons([(30, (1, 1))]))
    assert len(running_windows(engine)) == 1
    assert engine.adjust({two: 5}, at=40, queries=["query"]).queries == ("query",)
    assert sorted(running_windows(engine)) == ["window 10 (from 1 to 60)", "window 5 (from 1 to 60)"]
    for time in (38, 39, 60):
        engine.push("bids", chronons([(time, (1, 1))]))
    engine.close()
    assert equivalent(first, [(5, 49, (1, 1)), (60, 65, (1, 1))])
    assert equivalent(second, [(5, 22, (1, 1)), (28, 49, (1, 1)), (60, 70, (1, 1))])


def test_a_new_query_shares_a_window_again_when_earlier_elements_have_expired() -> None:
    engine = Engine(WIDE.distinct().plan())
    engine.adjust({WIDE: 5}, at=10)
    narrow = BIDS.window(5, bounds=BOUNDS).distinct().plan()
    engine.add(narrow, name="alone")
    assert len(running_windows(engine)) == 2
    engine.push("bids", chronons([(9, (1, 1))]))
    engine.remove("alone")
    engine.push("bids", chronons([(20, (1, 1))]))
    engine.add(narrow, name="together")
    assert len(running_windows(engine)) == 1
    assert engine.query("together").physical == engine.query().physical


def test_a_query_does_not_part_from_others_with_which_it_has_elements_in_common() -> None:
    engine = Engine(WIDE.distinct().plan())
    engine.add(WIDE.distinct().plan(), name="second")
    with pytest.raises(PlanError, match="distinct holds elements for second as well, so that second must be"):
        engine.adjust({WIDE: 5}, at=10, queries=["query"])
    with pytest.raises(PlanError, match="second does not have window 5"):
        engine.adjust({BIDS.window(5, bounds=BOUNDS): 6}, at=10, queries=["second"])
    assert engine.plan == engine.query("second").plan == WIDE.distinct().plan()
    assert engine.adjust({WIDE: 5}, at=10, queries=["query", "second"]).queries == ("query", "second")


def test_settings_go_on_in_another_engine() -> None:
    query = WIDE.filter(BIDS["price"] > 0)
    bids = list(chronons([(t, (t, 1)) for t in (2, 9, 14, 15, 30)]))
    expected: list = []
    found: list = []
    engine = Engine(query.plan(), expected.extend)
    engine.adjust({WIDE: 5}, at=10)
    engine.push("bids", bids[:2])
    engine.adjust({BIDS.window(5, bounds=BOUNDS): 7}, at=15)
    text = engine.query().dump_settings()
    engine.push("bids", bids[2:])
    other = Engine(engine.plan, found.extend)
    other.load_settings(text)
    assert other.query().settings() == engine.query().settings()
    other.push("bids", bids)
    assert (
        found
        == expected
        == [(t, t + size, (t, 1)) for (t, _, _), size in zip(bids, (10, 10, 5, 7, 7), strict=True)]
    )
    with pytest.raises(PlanError, match="runs already, for this query or for others"):
        other.load_settings(text)
    with pytest.raises(
        PlanError, match=r"found settings of window 7 .*, but the query's levers are: window 10"
    ):
        Engine(query.plan()).load_settings(text)


def test_a_window_of_rows_has_another_size() -> None:
    rows = BIDS.last(3, bounds=(1, 5))
    results: list = []
    engine = Engine(rows.plan(), results.extend)
    engine.push("bids", chronons([(t, (t, t)) for t in (1, 2)]))
    assert engine.adjust({rows: 1}, at=3).complete_at == FOREVER
    engine.push("bids", chronons([(t, (t, t)) for t in (3, 4, 5, 6)]))
    engine.close()
    assert equivalent(
        results,
        [
            (1, 4, (1, 1)),
            (2, 5, (2, 2)),
            (3, 4, (3, 3)),
            (4, 5, (4, 4)),
            (5, 6, (5, 5)),
            (6, FOREVER, (6, 6)),
        ],
    )


def test_queries_that_have_parted_are_changed_by_themselves() -> None:
    first: list = []
    second: list = []
    engine = Engine(WIDE.select("item").plan(), first.extend)
    engine.add(WIDE.select("price").plan(), second.extend, name="second")
    engine.adjust({WIDE: 5}, at=10, queries=["query"])
    assert engine.query("second").plan == WIDE.select("price").plan()
    engine.adjust({WIDE: 7}, at=20)
    engine.push("bids", chronons([(t, (t, t)) for t in (9, 10, 20)]))
    assert [end - start for start, end, _ in first] == [10, 5, 5]
    assert [end - start for start, end, _ in second] == [10, 10, 7]


def test_a_query_that_has_parted_remembers_what_it_has_seen() -> None:
    results: list = []
    query = BIDS.window(60, bounds=BOUNDS).filter(BIDS["price"] > 0)
    engine = Engine(query.distinct().plan(), results.extend)
    engine.add(query.plan(), name="second")
    engine.push("bids", chronons([(0, (7, 7))]))
    engine.adjust({BIDS.window(60, bounds=BOUNDS): 5}, at=10, queries=["query"])
    small = BIDS.window(5, bounds=BOUNDS)
    assert engine.migrate(small.distinct().filter(BIDS["price"] > 0).plan()).split > 60
    engine.push("bids", chronons([(20, (7, 7)), (70, (8, 8))]))
    engine.close()
    assert equivalent(results, [(0, 60, (7, 7)), (70, 75, (8, 8))])


def test_counts_go_on_under_the_new_node() -> None:
    engine = Engine(WIDE.distinct().plan())
    engine.push("bids", chronons([(4, (1, 1))]))
    engine.adjust({WIDE: 5}, at=9)
    engine.push("bids", chronons([(9, (2, 2)), (10, (3, 3))]))
    new = BIDS.window(5, bounds=BOUNDS)
    assert {node: engine.counters("query").emitted[node] for node in (WIDE.node, new.node)} == {
        WIDE.node: 1,
        new.node: 2,
    }


def test_rows_of_a_window_that_can_be_changed_may_leave_before_earlier_ones() -> None:
    rows = BIDS.last(3, bounds=(1, 5))
    assert has_ordered_ends(BIDS.last(3).node) and not has_ordered_ends(rows.node)
    assert has_ordered_ends(BIDS.last(3, by=["item"], bounds=(1, 5)).node) is False
    assert is_key(BIDS.last(1).node, ()) and not is_key(BIDS.last(1, bounds=(1, 5)).node, ())


def test_queries_do_not_part_below_a_union_that_holds_elements_for_both() -> None:
    """It has no state but results that wait for their turn."""
    other = stream("asks", item="integer", price="integer").window(5)
    both = WIDE.union(other)
    engine = Engine(both.plan())
    engine.add(both.plan(), name="second")
    engine.push("bids", chronons([(4, (1, 1))]))
    with pytest.raises(PlanError, match="union holds elements for second as well"):
        engine.adjust({WIDE: 5}, at=10, queries=["query"])


def test_a_fixed_window_above_a_lever_still_shows_how_long_its_elements_last() -> None:
    sampled = BIDS.sample(1, bounds=(0.1, 1))
    engine = Engine(sampled.window(60).filter(BIDS["price"] > 0).distinct().plan())
    engine.push("bids", chronons([(0, (7, 7))]))
    engine.adjust({sampled: 0.9}, at=100)
    engine.push("bids", chronons([(50, (7, 7))]))
    assert input_max_ends(engine) == [110]


def test_a_window_above_a_lever_that_parts_keeps_its_earlier_sizes() -> None:
    results: list = []
    sampled = BIDS.sample(1, bounds=(0.1, 1))
    query = sampled.window(10, bounds=BOUNDS)
    engine = Engine(query.plan(), results.extend)
    engine.add(query.plan(), name="second")
    engine.adjust({query: 5}, at=20)
    engine.adjust({sampled: 0.9}, at=40, queries=["query"])
    engine.push("bids", chronons([(12, (7, 7)), (21, (8, 8))]))
    assert results == [(12, 22, (7, 7)), (21, 26, (8, 8))]


def test_windows_that_meet_remember_what_they_have_given_out() -> None:
    """The elements of one of them still count where another stream is late."""
    late = stream("late", x="integer").window(5)
    joined = WIDE.filter(BIDS["price"] > 0).distinct().join(late, on=[("item", "x")])
    results: list = []
    engine = Engine(BIDS.window(6, bounds=BOUNDS).plan())
    engine.add(joined.plan(), results.extend, name="joined")
    engine.push("bids", chronons([(1, (7, 7))]))
    engine.adjust({BIDS.window(6, bounds=BOUNDS): 10}, at=3)
    engine.adjust({WIDE: 10}, at=4, queries=["joined"])
    engine.end("bids")
    engine.advance("late", 1)
    assert len(running_windows(engine)) == 2  # both read one window over bids, and one over the late stream
    moved = WIDE.distinct().filter(BIDS["price"] > 0).join(late, on=[("item", "x")])
    assert engine.migrate(moved.plan(), query="joined").split > 11


def test_settings_by_which_nothing_comes_any_more_are_forgotten() -> None:
    query = WIDE.filter(BIDS["price"] > 0)
    engine = Engine(query.plan())
    sizes = [10, *(3 + i % 2 for i in range(99))]
    for i in range(1, 100):
        engine.push("bids", chronons([(i, (1, 1))]))
        engine.adjust({BIDS.window(sizes[i - 1], bounds=BOUNDS): sizes[i]}, at=i + 1)
    (running,) = (op for op in base_of(engine).running.values() if isinstance(op, WithSetting))
    assert len(running.setting.history) < 10
    (history,) = engine.query().settings().values()
    assert len(history) == 100
    with pytest.raises(PlanError, match="query: found settings to forget of results before 100, expected 99"):
        engine.forget_settings(100)
    later = engine.query().settings(50, 60)
    engine.forget_settings(50)
    assert engine.query().settings(50, 60) == later
    assert [*engine.query().settings().values()] == [history[46:]]
    for ask in (lambda: engine.query().settings(49), lambda: engine.query().settings(BEGINNING, 60)):
        with pytest.raises(PlanError, match="expected 50 or later: earlier settings have been forgotten"):
            ask()
    other = Engine(engine.plan)
    other.load_settings(engine.query().dump_settings())
    assert other.query().settings() == engine.query().settings()
    with pytest.raises(PlanError, match="expected 50 or later"):
        other.query().settings(49)


def test_the_record_is_of_what_ran_where_changes_cancel_others() -> None:
    engine = Engine(WIDE.plan())
    engine.adjust({WIDE: 20}, at=100)
    engine.adjust({BIDS.window(20, bounds=BOUNDS): 20}, at=50)
    assert [*engine.query().settings().values()] == [((BEGINNING, 10), (50, 20))]


def test_levers_that_swap_their_settings_keep_their_own_records() -> None:
    other = BIDS.window(20, bounds=(1, 61)).rename({"item": "i", "price": "p"})
    engine = Engine(WIDE.join(other, on=[("item", "i")]).plan())
    engine.adjust({WIDE: 20, BIDS.window(20, bounds=(1, 61)): 10}, at=9)
    assert sorted(engine.query().settings().values()) == [
        ((BEGINNING, 10), (9, 20)),
        ((BEGINNING, 20), (9, 10)),
    ]


def test_what_came_with_settings_long_ago_counts_as_long_as_it_is_valid() -> None:
    wide = BIDS.window(50, bounds=BOUNDS)
    engine = Engine(wide.plan())
    engine.push("bids", chronons([(9, (1, 1))]))
    assert engine.adjust({wide: 5}, at=10).complete_at == 60
    for size in (6, 5, 6, 5):
        engine.push("bids", chronons([(int(engine.progress("bids")) + 2, (1, 1))]))
        window = BIDS.window(11 - size, bounds=BOUNDS)
        assert engine.adjust({window: size}, at=int(engine.progress("bids")) + 1).complete_at == 60
