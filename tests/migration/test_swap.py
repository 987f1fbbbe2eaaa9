"""Swap: at once, where what differs is stateless; what the old plan holds back still comes, in order."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from inside import base_of, box_of, input_max_ends
from migration_law import Scenario, check

from midstream.engine import Engine
from midstream.migration.machine import Phase
from midstream.migration.report import report
from midstream.migration.swap import Swap
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.operators.signs import signed_plan
from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import MigrationRefused, PlanError
from midstream.plans.values.snapshots import equivalent
from midstream.plans.values.streams import Element, chronons
from midstream.testing import is_ordered, plans, verdict, workloads
from midstream.testing.families import one_column
from midstream.testing.law import vouched

ODD, LARGE, MORE = (col("u") % 2).eq(1), col("u") > 0, col("u") + 1


@st.composite
def forms(draw: st.DrawFn) -> list[Plan]:
    """Plans that mean the same, and differ in what is stateless, windows among it."""
    size, slide = draw(st.sampled_from((1, 4, 9))), draw(st.sampled_from((1, 1, 3)))
    a, b = (one_column(Stream(draw(plans(depth=1, forever=False)).root), "u") for _ in "ab")
    # No plan of the others reads d or e, so that their windows are only here.
    raw = [stream(name, x="integer").rename({"x": "u"}) for name in "de"]
    c, d = raw

    def window(one: Stream) -> Stream:
        return one.window(size, slide=slide)

    kept = [a, b, a.union(b), a.distinct(), a.filter(ODD).distinct().union(b)]
    one = draw(st.sampled_from(kept))
    found = draw(
        st.sampled_from(
            [
                [window(c).filter(ODD), window(c.filter(ODD))],
                [window(c).union(window(d)), window(c.union(d)), window(d.union(c))],
                [
                    window(c).union(one, window(d)).filter(LARGE),
                    one.filter(LARGE).union(window(d.filter(LARGE).union(c.filter(LARGE)))),
                    one.union(window(c.union(d).filter(LARGE))).filter(LARGE).coalesce(5),
                ],
                [one.union(c).filter(ODD), c.window(1).filter(ODD).union(one.filter(ODD))],
                [
                    one.filter(ODD).filter(LARGE),
                    one.filter(LARGE).split(3).filter(ODD),
                    one.filter(ODD & LARGE),
                ],
                [one.union(b).union(window(c)), window(c).union(one.union(b)), b.union(window(c), one)],
                [
                    one.select(u=col("u") + 1).filter(LARGE),
                    one.filter(col("u") + 1 > 0).select(u=col("u") + 1),
                ],
            ]
        )
    )
    return [query.plan() for query in draw(st.permutations(found))]


@st.composite
def swaps(draw: st.DrawFn, strategies: Iterable[str] = ("swap",)) -> Scenario:
    """Several exchanges between such plans."""
    drawn = draw(forms())
    workload = draw(workloads(st.just(drawn[0]), forever=False))
    number = draw(st.integers(1, 3))
    latest = len(workload.events)
    times = sorted(draw(st.lists(st.integers(0, latest), min_size=number, max_size=number)))
    moves = [
        (at, drawn[(i + 1) % len(drawn)], draw(st.sampled_from(tuple(strategies))))
        for i, at in enumerate(times)
    ]
    return Scenario(workload, moves)


@given(swaps())
def test_the_law(scenario: Scenario) -> None:
    """I6, and nothing runs twice."""
    for migration in check(scenario):
        event("swapped")
        event(f"held: {min(report(migration).peak_held, 2)}")
        assert migration.phase is Phase.DONE


@given(swaps(("swap", "swap", "genmig", "genmig-end-timestamp", "auto")))
def test_among_other_strategies(scenario: Scenario) -> None:
    """I8: a swap that still holds results is part of the next old plan."""
    check(scenario)


A, B = stream("a", u="integer"), stream("b", u="integer")
EARLY = A.filter(LARGE).window(10).union(B.filter(LARGE).window(10))
LATE = A.union(B).window(10).filter(LARGE)


def test_results_that_the_old_plan_held_back_come_in_their_turn() -> None:
    results: list[Element] = []
    engine = Engine(EARLY.plan(), results.extend)
    engine.push("a", chronons([(0, (1,)), (5, (2,)), (20, (3,))]))
    engine.push("b", chronons([(3, (9,))]))
    swap = engine.migrate(LATE.plan(), "swap")
    assert results == [(0, 10, (1,)), (3, 13, (9,))]
    (part,) = swap.parts
    assert isinstance(part, Swap)
    assert (part.phase, part.old, part.progress(), part.size()) == (Phase.DRAINING, None, 3, 2)
    assert swap.phase is Phase.DRAINING
    assert sorted(part.state()) == [(5, 15, (2,)), (20, 30, (3,))]
    assert engine.statistics() is not None
    engine.push("b", chronons([(6, (4,))]))
    assert results[2:] == [(5, 15, (2,)), (6, 16, (4,))]
    engine.push("b", chronons([(21, (5,))]))
    assert swap.phase is Phase.DONE
    assert isinstance(box_of(engine), PlanBox)
    engine.close()
    assert results[4:] == [(20, 30, (3,)), (21, 31, (5,))]
    told = report(swap)
    assert (told.phase, told.split_time, told.duration, told.peak_held) == ("done", 3, 0, 2)
    assert (told.results_old, told.results_new, told.results_fused, told.unmatched) == (2, 1, 0, 0)


def test_what_both_plans_have_goes_on_with_its_state() -> None:
    """The very operators, though the plan around them is another."""
    kept = A.window(10).distinct()
    results: list[Element] = []
    engine = Engine(kept.filter(LARGE).filter(ODD).plan(), results.extend)
    engine.push("a", chronons([(0, (1,)), (2, (3,))]))
    before = dict(base_of(engine).running)
    swap = engine.migrate(kept.filter(ODD).filter(LARGE).plan(), "swap")
    after = dict(base_of(engine).running)
    assert swap.phase is Phase.DONE
    shared = [node for node in after if node in before]
    assert {type(after[node]).__name__ for node in shared} == {"TimeWindow", "FifoDistinct"}
    assert all(after[node] is before[node] for node in shared)
    engine.push("a", chronons([(5, (1,)), (6, (4,))]))
    engine.close()
    assert equivalent(results, [(0, 15, (1,)), (2, 12, (3,))])


def test_an_idle_input_that_has_ended_does_not_hold_back_for_ever() -> None:
    results: list[Element] = []
    engine = Engine(EARLY.plan(), results.extend)
    engine.push("a", chronons([(5, (2,))]))
    engine.end("a")
    engine.migrate(LATE.plan(), "swap")
    assert results == []
    engine.end("b")
    assert results == [(5, 15, (2,))]
    assert isinstance(box_of(engine), PlanBox)


def test_a_window_moved_by_a_swap_is_metered_for_the_next_split_time() -> None:
    engine = Engine(LATE.plan())
    engine.push("a", chronons([(0, (1,)), (5, (2,))]))
    engine.push("b", chronons([(5, (9,))]))
    engine.migrate(EARLY.plan(), "swap")
    engine.push("a", chronons([(8, (1,))]))
    assert max(input_max_ends(engine)) == 18
    assert report(engine.migrate(EARLY.plan(), replace_all=True)).split_time == 19


def test_a_split_time_lies_behind_what_a_swap_still_holds() -> None:
    """The moved window's meter has not seen [20, 30), which came before it."""
    results: list[Element] = []
    engine = Engine(EARLY.plan(), results.extend)
    engine.push("a", chronons([(20, (3,))]))
    engine.push("b", chronons([(3, (9,))]))
    engine.migrate(LATE.plan(), "swap")
    migration = engine.migrate(LATE.plan(), replace_all=True)
    assert report(migration).split_time == 31
    engine.close()
    assert results == [(3, 13, (9,)), (20, 30, (3,))]
    assert report(migration).unmatched == 0


def test_other_queries_go_on() -> None:
    """What they share with the query that is swapped stays below it."""
    kept = A.window(10).distinct()
    results: dict[str, list[Element]] = {"one": [], "two": []}
    engine = Engine()
    engine.add(kept.filter(LARGE).filter(ODD).plan(), results["one"].extend, "one")
    engine.add(kept.aggregate(n=count()).plan(), results["two"].extend, "two")
    history = list(chronons([(t, (t % 4,)) for t in range(0, 40, 3)]))
    engine.push("a", history[:5])
    engine.migrate(kept.filter(ODD).filter(LARGE).plan(), "swap", "one")
    for element in history[5:]:
        engine.push("a", [element])
    engine.close()
    assert verdict(specified(kept.filter(ODD).plan(), {"a": history}), results["one"])
    assert verdict(specified(kept.aggregate(n=count()).plan(), {"a": history}), results["two"])
    assert is_ordered(results["one"])


WINDOW = A.window(10)
LOSES = "which the other plan does not have in the same place"


@pytest.mark.parametrize(
    ("old", "new", "reason", "operator"),
    [
        (
            WINDOW.distinct().filter(ODD),
            WINDOW.filter(ODD).distinct(),
            f"swap would lose the state of distinct of the old plan, {LOSES}; use genmig",
            "distinct",
        ),
        (
            WINDOW,
            WINDOW.distinct(),
            f"swap would lose the state of distinct of the new plan, {LOSES}; use genmig",
            "distinct",
        ),
        (
            A.last(3, ties="arrival").select(u=MORE),
            A.select(u=MORE).last(3, ties="arrival"),
            f"swap would lose the state of count window 3 ties by arrival of the old plan, {LOSES}; leave it "
            "where it is",
            "count window 3 ties by arrival",
        ),
        (
            WINDOW.filter(ODD),
            A.window(11).filter(ODD),
            "the windows on the way to the output out differ: only the old plan has window 10 of source a; "
            "only the new plan has window 11 of source a",
            "window 10",
        ),
        (
            WINDOW,
            WINDOW.rename({"u": "v"}),
            "the new plan's output has the columns (v integer), expected (u integer)",
            None,
        ),
    ],
)
def test_refused(old: Stream, new: Stream, reason: str, operator: str | None) -> None:
    results: list[Element] = []
    engine = Engine(old.plan(), results.extend)
    engine.push("a", chronons([(0, (1,))]))
    physical, running = engine.query().physical, engine.plan
    with pytest.raises(MigrationRefused) as refusal:
        engine.migrate(new.plan(), "swap")
    assert str(refusal.value) == reason
    assert operator is None or refusal.value.operator == operator
    assert engine.query().physical is physical
    assert engine.plan is running


def test_refused_where_negative_elements_would_lose_their_positive_ones() -> None:
    old = signed_plan(WINDOW.filter(ODD).plan())
    engine = Engine(old)
    with pytest.raises(MigrationRefused, match=r"from their negative ones at filter \(u % 2\)"):
        engine.migrate(signed_plan(WINDOW.filter(LARGE).filter(ODD).plan()), "swap")
    with pytest.raises(MigrationRefused, match=r"from their negative ones at filter \(u % 2\)"):
        engine.migrate(WINDOW.filter(ODD).filter(ODD).plan(), "swap", replace_all=True)


def test_above_them_where_intervals_begin_there_is_nothing_to_part() -> None:
    """The signed operators go on, with the very state that they have."""
    results: list[Element] = []
    engine = Engine(signed_plan(WINDOW.filter(ODD).plan()), results.extend)
    engine.push("a", chronons([(0, (1,)), (5, (3,))]))
    before = dict(base_of(engine).running)
    swap = vouched(engine, WINDOW.filter(ODD).filter(LARGE).plan(), "swap")
    assert swap.phase is Phase.DONE
    after = dict(base_of(engine).running)
    assert len(after) == len(before) + 1
    assert all(after[node] is operator for node, operator in before.items())
    history = [(0, 10, (1,)), (5, 15, (3,))]
    engine.push("a", chronons([(7, (-1,)), (8, (5,)), (40, (6,))]))
    engine.close()
    assert equivalent(results, [*history, (8, 18, (5,))])


def test_refused_where_another_query_runs_what_is_to_go() -> None:
    engine = Engine()
    engine.add(WINDOW.filter(ODD).filter(LARGE).plan(), name="one")
    engine.add(WINDOW.filter(ODD).distinct().plan(), name="two")
    with pytest.raises(
        MigrationRefused,
        match=r"filter \(u % 2\) = 1 of the old plan runs for other queries too, which must keep it",
    ):
        engine.migrate(WINDOW.filter(LARGE).filter(ODD).plan(), "swap", "one")


def test_refused_while_a_migration_is_under_way() -> None:
    engine = Engine(WINDOW.distinct().plan())
    engine.push("a", chronons([(0, (1,))]))
    engine.migrate(WINDOW.distinct().plan(), replace_all=True)
    with pytest.raises(
        MigrationRefused, match="of the same part is under way, which keeps two plans; swap when"
    ):
        engine.migrate(WINDOW.distinct().plan(), "swap", replace_all=True)


def test_refused_where_a_window_was_resized() -> None:
    window = A.window(10, bounds=(1, 20))
    engine = Engine(window.filter(ODD).plan())
    engine.push("a", chronons([(0, (1,))]))
    engine.resize(window.node, 20, at=5)
    with pytest.raises(MigrationRefused, match=r"window 20 .* of the old plan was adjusted while it ran"):
        engine.migrate(A.filter(ODD).window(20, bounds=(1, 20)).plan(), "swap")


def test_refused_where_a_relation_gives_rows_of_its_own() -> None:
    terms = relation("terms", temporal=True, u="integer")
    both = WINDOW.union(terms).plan()
    engine = Engine(both, relations={"terms": [(0, 30, (7,))]})
    with pytest.raises(MigrationRefused, match="union of the old plan gives rows of a relation where no"):
        engine.migrate(both, "swap", replace_all=True)


def test_a_moved_window_changes_behind_the_elements_that_the_old_plan_has_given_out() -> None:
    """The old plan's window above another one gets, at its end, what is valid later."""
    lower = stream("s", x="integer", y="integer").window(3)
    engine = Engine(lower.select("x").window(1, bounds=(1, 9)).plan())
    engine.push("s", chronons([(0, (1, 1))]))
    moved = lower.window(1, bounds=(1, 9))
    engine.migrate(moved.select("x").plan(), "swap")
    engine.push("s", chronons([(0, (2, 2))]))
    with pytest.raises(PlanError, match="found a change at 1, expected one at 3 or later"):
        engine.adjust({moved: 2}, at=1)
    assert engine.adjust({moved: 2}, at=3).queries == ("query",)
