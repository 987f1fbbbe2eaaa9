"""Parallel track obeys the law of migration over join trees, is refused elsewhere, and has the faults
that the thesis measured: two windows, a gap, and a burst."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from inside import box_of, host_of, input_max_ends

from midstream.driving import run
from midstream.engine import Engine
from midstream.migration.machine import Phase, under_way
from midstream.migration.migrate import migrate_box
from midstream.migration.parallel_track import (
    ParallelTrack,
    ParallelTrackStrategy,
    Tracks,
    behind_windows,
    require_join_tree,
)
from midstream.migration.preconditions import require_bounded
from midstream.migration.report import report
from midstream.migration.strategies import STRATEGIES
from midstream.migration.strategy import Strategy
from midstream.migration.transition import MigrationRequest, Transition
from midstream.operators.engine.input.relations import constant
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.operators.engine.running.planner import physical_plan
from midstream.operators.signs import signed_plan
from midstream.optimizer.search import neighbours, with_linked_joins
from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import above, input_nodes
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.snapshots import equivalent
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time, chronons
from midstream.testing import (
    Workload,
    drive,
    elements,
    implemented,
    is_ordered,
    plans,
    streams_for,
    verdict,
    workloads,
)


def tracks(*, windows: int = 2, is_ordered: bool = True) -> Strategy:
    """Parallel track of another length, or without order."""
    return ParallelTrackStrategy(windows=windows, is_ordered=is_ordered)


def track(engine: Engine, plan: Plan, *, windows: int = 2, is_ordered: bool = True) -> Transition:
    """Migrate a query of an engine as a whole, with everything checked."""
    host, how = host_of(engine), tracks(windows=windows, is_ordered=is_ordered)
    transition = Transition(host, MigrationRequest(plan, how, host.query(), replace_all=True))
    transition.begin()
    return transition


# The law


@st.composite
def join_trees(draw: st.DrawFn, forever: bool) -> Plan:
    """Joins and filters, or unions, projections, relations and all windows as well."""
    if draw(st.booleans()):
        return draw(plans(joins_only=True, forever=forever))
    return draw(plans(preserving=True, forever=forever, windows=True, relations=True))


@st.composite
def rewritten(draw: st.DrawFn, plan: Plan) -> Plan:
    """A plan that means the same, with implementations chosen where they work on intervals."""
    current = with_linked_joins(plan)
    for _ in range(draw(st.integers(0, 4))):
        found = list(neighbours(current))
        if not found:
            break
        current = draw(st.sampled_from(found))
    chosen = draw(implemented(current, upper=True))
    return chosen if is_allowed(chosen) else current


def is_allowed(plan: Plan) -> bool:
    """Whether nothing in the plan itself forbids a parallel track."""
    try:
        inputs = input_nodes(plan)
        require_bounded(plan.outputs.values(), set(inputs), "old")
        require_join_tree(upper(plan), "old")
    except MigrationRefused:
        return False
    return True


def upper(plan: Plan) -> Iterable[Node]:
    """What runs above the windows of a plan."""
    physical = physical_plan(plan)
    return above(physical, input_nodes(physical))


@st.composite
def cases(draw: st.DrawFn, moves: int = 1) -> tuple[Workload, list[tuple[int, Plan]]]:
    """A workload, and after which events to migrate to which plan."""
    forever = draw(st.integers(0, 4)) == 0
    plan = draw(join_trees(forever).filter(is_allowed))
    workload = draw(workloads(st.just(draw(rewritten(plan))), forever=forever))
    times = sorted(draw(st.lists(st.integers(0, len(workload.events)), min_size=moves, max_size=moves)))
    return workload, [(at, draw(rewritten(plan))) for at in times]


def alone(workload: Workload) -> list[Element]:
    """What the plan gives without a migration."""
    results: list[Element] = []
    engine = Engine(workload.plan, results.extend, relations=workload.relations)
    drive(engine, workload.events)
    engine.close()
    return results


def check(
    workload: Workload, results: list[Element], migrations: Sequence[Transition], engine: Engine
) -> None:
    """The law, at the end of all streams."""
    outcome = verdict(workload.specified(), results)
    assert outcome, str(outcome)
    assert is_ordered(results)
    for migration in migrations:
        assert migration.phase is Phase.DONE
        assert all(part.old is None for part in migration.parts)
        assert report(migration).unmatched == 0
    assert isinstance(box_of(engine), PlanBox)
    assert box_of(engine).size() == 0


@given(cases(), st.sampled_from((1, 2, 2, 3)))
def test_the_law(case: tuple[Workload, list[tuple[int, Plan]]], windows: int) -> None:
    """I6 for join trees; and not only each snapshot, each element is that of the plan without migration.

    Not a single one is cut, so that a result's interval is told of, too.
    """
    workload, ((at, plan),) = case
    results: list[Element] = []
    engine = Engine(workload.plan, results.extend, relations=workload.relations)
    drive(engine, workload.events[:at])
    if FOREVER in input_max_ends(engine):
        with pytest.raises(MigrationRefused, match="valid for ever"):
            track(engine, plan, windows=windows)
        return
    migration = track(engine, plan, windows=windows)
    drive(engine, workload.events[at:])
    engine.close()
    check(workload, results, [migration], engine)
    assert Counter(results) == Counter(alone(workload))
    origins = migration.origins()
    event(f"both plans gave results: {min(origins.old, origins.new) > 0}")


@given(cases(moves=3), st.data())
def test_chains(case: tuple[Workload, list[tuple[int, Plan]]], data: st.DataObject) -> None:
    """A parallel track may start during another, and GenMig during any; but no parallel track during
    GenMig."""
    workload, moves = case
    results: list[Element] = []
    engine = Engine(workload.plan, results.extend, relations=workload.relations)
    migrations: list[Transition] = []
    for i in range(len(workload.events) + 1):
        for _, plan in (move for move in moves if move[0] == i):
            if FOREVER in input_max_ends(engine):
                continue
            physical = engine.query().physical
            if data.draw(st.integers(0, 2)) == 0:
                migrations.append(engine.migrate(plan, replace_all=True))
            elif any(not isinstance(one, ParallelTrack) for one in under_way(box_of(engine))):
                with pytest.raises(MigrationRefused, match="while a migration by another strategy is under"):
                    track(engine, plan)
                assert engine.query().physical is physical
            else:
                migrations.append(track(engine, plan, windows=data.draw(st.integers(1, 2))))
        drive(engine, workload.events[i : i + 1])
    engine.close()
    check(workload, results, migrations, engine)


@given(cases(), st.booleans())
def test_progress_is_a_promise(case: tuple[Workload, list[tuple[int, Plan]]], is_ordered: bool) -> None:
    """I2, even where results overtake; and size and state agree."""
    workload, ((at, plan),) = case
    promised: Time = BEGINNING

    def sink(batch: Batch) -> None:
        assert all(start >= promised for start, _, _ in batch)

    engine = Engine(workload.plan, sink, relations=workload.relations)
    for i, happening in enumerate(workload.events):
        if i == at and FOREVER not in input_max_ends(engine):
            track(engine, plan, is_ordered=is_ordered)
        progress = box_of(engine).progress()
        assert progress >= promised
        assert isinstance(progress, int) or progress in (FOREVER, BEGINNING)
        assert box_of(engine).size() == len(list(box_of(engine).state()))
        promised = progress
        drive(engine, [happening])


@settings(max_examples=settings.default.max_examples // 2)
@given(plans(forever=False, arrangements=True), st.data())
def test_what_is_not_refused_gives_the_same_elements_in_every_form(plan: Plan, data: st.DataObject) -> None:
    """What telling old from new by equality rests on; elsewhere plans agree on snapshots only."""
    if not is_allowed(plan):
        event("refused")
        return
    complete = data.draw(streams_for(plan, forever=False))
    out = run(plan, complete)
    assert Counter(run(data.draw(rewritten(plan)), complete)) == Counter(out)


# Why join trees only

A = stream("A", a="string", intervals=True)
B = stream("B", b="string", intervals=True)
ABOVE = A.join(B, on=[("a", "b")]).distinct().plan()
BELOW = A.distinct().join(B.distinct(), on=[("a", "b")]).plan()
EXAMPLE = {
    "A": [(10, 111, ("a",)), (50, 151, ("a",))],
    "B": [(20, 121, ("a",)), (70, 171, ("a",))],
}


def test_example_28_1_is_refused() -> None:
    engine = Engine(ABOVE)
    physical = engine.query().physical
    with pytest.raises(
        MigrationRefused, match="parallel track is unsound over distinct of the old plan"
    ) as refusal:
        track(engine, BELOW)
    assert refusal.value.operator == "distinct"
    assert engine.query().physical is physical


@pytest.mark.parametrize("is_ordered", [True, False])
def test_example_28_1_without_the_precondition_gives_a_twice(is_ordered: bool) -> None:
    """Thesis, Figure 28.1: the old plan's [111, 121) holds an old element, and the new plan's [70, 151) is
    there as well."""
    old, new = (PlanBox(plan, input_nodes(plan)) for plan in (ABOVE, BELOW))
    out: list[Element] = []
    for port, name in enumerate(old.inputs):
        out += old.push(port, EXAMPLE[name][:1])[0]
    for port in range(2):
        out += old.advance(port, 40)[0]
    migration, ready = migrate_box(old, new, tracks(windows=1, is_ordered=is_ordered), [111, 121], [40, 40])
    out += ready[0]
    for port, name in enumerate(migration.inputs):
        out += migration.push(port, EXAMPLE[name][1:])[0]
    for port in range(2):
        out += migration.end(port)[0]
    assert Counter(out) == Counter({
        (20, 111, ("a", "a")): 1,
        (111, 121, ("a", "a")): 1,
        (70, 151, ("a", "a")): 1,
    })  # fmt: skip
    outcome = equivalent(out, run(ABOVE, EXAMPLE))
    assert [(d.start, d.end, d.left, d.right) for d in outcome.differences] == [(70, 121, 2, 1)]


def bids(size: int | None = 10) -> Stream:
    return stream("bids", item="integer", price="integer").window(size)


OFFERS = bids().alias("o")
ON = [("item", "o.item")]


@pytest.mark.parametrize(
    ("plan", "operator"),
    [
        (bids().distinct(), "distinct"),
        (bids().aggregate(n=count()), "aggregate count(*) as n"),
        (bids().difference(bids()), "difference"),
        (bids().strict_difference(bids()), "strict difference"),
        (bids().intersection(bids()), "intersection"),
        (bids().max_union(bids()), "max union"),
        (bids().semi_join(OFFERS, ON), "semi-join item = o.item"),
        (bids().anti_join(OFFERS, ON), "anti-join item = o.item"),
        (bids().split(2), "split 2"),
        (bids().coalesce(5), "coalesce 5"),
        (bids().join(OFFERS.distinct(), ON).filter(col("price") > 1), "distinct"),
    ],
)
def test_what_is_no_join_tree_is_refused_by_name(plan: Stream, operator: str) -> None:
    with pytest.raises(MigrationRefused) as refusal:
        require_join_tree(upper(plan.plan()), "new")
    assert str(refusal.value) == (
        f"parallel track is unsound over {operator} of the new plan: it is no part of a join tree (filter, "
        "projection, union, join), so a result of it is not made of old or of new elements alone; use genmig"
    )
    assert refusal.value.operator == operator


def test_a_join_of_signed_streams_is_refused() -> None:
    with pytest.raises(MigrationRefused, match="old plan: it gives positive and negative elements"):
        require_join_tree(upper(signed_plan(bids().join(OFFERS, ON).plan())), "old")


def test_a_join_tree_may_have_filters_projections_unions_and_relations_anywhere() -> None:
    terms = relation("terms", item="integer", price="integer").alias("t")
    tree = bids().filter(col("price") > 1).select("item").join(OFFERS.union(OFFERS), ON)
    require_join_tree(upper(tree.join(terms, [("item", "t.item")]).filter(col("o.price") > 2).plan()), "old")


def test_operators_below_the_windows_may_be_any() -> None:
    require_join_tree(upper(bids().distinct().istream().window(5).join(OFFERS, ON).plan()), "old")


# What the thesis measured

WINDOW = 50
L, M, R = (stream(name, {name: "integer"}).window(WINDOW) for name in ("l", "m", "r"))
LEFT_DEEP = L.join(M, on=[("l", "m")]).join(R, on=[("l", "r")]).plan()
RIGHT_DEEP = L.join(M.join(R, on=[("m", "r")]), on=[("l", "m")]).plan()
START, LENGTH = 100, 300


def measured(
    strategy: str, *, windows: int = 2, is_ordered: bool = True
) -> tuple[Transition, list[tuple[int, Element]], list[Element]]:
    """Three streams in step, one element each a chronon; the migration, each result with the instant at which
    it came, and the results without a migration."""
    arrived: list[tuple[int, Element]] = []
    now = 0
    engine = Engine(LEFT_DEEP, lambda batch: arrived.extend((now, element) for element in batch))
    history = {name: list(chronons((t, (t % 7,)) for t in range(LENGTH))) for name in "lmr"}
    migration: Transition | None = None
    for now in range(LENGTH):
        if now == START:
            migration = (
                engine.migrate(RIGHT_DEEP, strategy)
                if strategy == "genmig"
                else track(engine, RIGHT_DEEP, windows=windows, is_ordered=is_ordered)
            )
        for name in "lmr":
            engine.push(name, history[name][now : now + 1])
    assert migration is not None
    return migration, arrived, run(LEFT_DEEP, history)


def pause(arrived: list[tuple[int, Element]]) -> tuple[int, int]:
    """The longest time without a result, from and to."""
    times = sorted({now for now, _ in arrived})
    return max(pairwise(times), key=lambda pair: pair[1] - pair[0])


def test_it_takes_two_windows_and_genmig_one() -> None:
    both = {name: report(measured(name)[0]) for name in ("parallel-track", "genmig")}
    assert {name: found.phase for name, found in both.items()} == dict.fromkeys(both, "done")
    assert both["genmig"].duration == WINDOW + 1
    assert both["parallel-track"].duration == 2 * WINDOW + 1
    assert report(measured("parallel-track", windows=1)[0]).duration == WINDOW + 1


def test_there_is_a_gap_and_then_a_burst() -> None:
    """Thesis, Figure 30.1; in order, nothing follows the first result that is kept."""
    migration, arrived, right = measured("parallel-track")
    start, end = pause(arrived)
    assert START <= start <= START + 1
    assert end == migration.split + 0.5 == START + 2 * WINDOW
    per_chronon = Counter(now for now, _ in arrived)
    usual = max(count for now, count in per_chronon.items() if now < START)
    assert per_chronon[end] > 50 * usual
    assert is_ordered([element for _, element in arrived])
    assert Counter(element for _, element in arrived) == Counter(right)
    assert report(migration).peak_held > report(measured("genmig")[0]).peak_held
    start, end = pause(measured("genmig")[1])
    assert end - start == 1


def test_as_in_the_thesis_old_results_come_for_one_window_and_none_in_the_other() -> None:
    """Figure 30.1 has a falling rate in the first window: those results overtake those that are kept, which
    order forbids."""
    migration, arrived, right = measured("parallel-track", is_ordered=False)
    assert pause(arrived) == (START + WINDOW - 1, START + 2 * WINDOW)
    first, second = (
        sum(START + a <= now < START + b for now, _ in arrived)
        for a, b in ((0, WINDOW // 2), (WINDOW // 2, WINDOW))
    )
    assert first > 1.5 * second > 0
    assert not is_ordered([element for _, element in arrived])
    assert Counter(element for _, element in arrived) == Counter(right)
    assert report(migration).results_old > 0


# When it ends

CALM = L.join(M, on=[("l", "m")]).plan()
CALM_TOO = M.join(L, on=[("l", "m")], columns=("l", "m")).plan()


def rows(*times: int) -> list[Element]:
    return list(chronons((t, (1,)) for t in times))


def test_a_port_is_counted_once_and_heartbeats_suffice() -> None:
    """Erratum 14: no result is waited for, and late elements on one input do not stand for another's."""
    results: list[Element] = []
    engine = Engine(CALM, results.extend)
    engine.push("l", rows(0))
    engine.advance("m", 0)
    migration = track(engine, CALM_TOO)
    for t in (200, 201, 202):
        engine.push("l", rows(t))
    assert migration.phase is Phase.MOVING
    engine.advance("m", 100)
    assert migration.phase is Phase.MOVING
    engine.advance("m", 101)
    assert migration.phase is Phase.DONE
    assert results == []
    assert isinstance(box_of(engine), PlanBox)


def test_a_result_of_an_old_element_waits_for_the_new_plan_to_be_past_its_start() -> None:
    results: list[Element] = []
    engine = Engine(CALM, results.extend)
    engine.push("l", rows(0))
    engine.push("m", rows(0))
    migration = track(engine, CALM_TOO)
    engine.push("l", rows(3))
    engine.push("m", rows(3))
    assert results == [(0, 50, (1, 1))]
    engine.advance("l", 4)
    engine.advance("m", 4)
    assert results == [(0, 50, (1, 1)), (3, 50, (1, 1)), (3, 50, (1, 1))]
    assert [part.progress() for part in migration.parts] == [3]
    engine.close()
    assert results[3:] == [(3, 53, (1, 1))]
    assert (migration.origins().old, migration.origins().new) == (2, 1)


def test_before_the_first_element_it_ends_with_it() -> None:
    results: list[Element] = []
    engine = Engine(CALM, results.extend)
    migration = track(engine, CALM_TOO)
    assert [part.old for part in migration.parts] == [None]
    engine.push("l", rows(0))
    engine.push("m", rows(0, 1))
    engine.close()
    assert results == [(0, 50, (1, 1)), (1, 50, (1, 1))]
    assert migration.phase is Phase.DONE
    assert report(migration).duration is None


def test_after_the_end_it_is_over_at_once() -> None:
    engine = Engine(CALM)
    engine.push("l", rows(0))
    engine.close()
    assert track(engine, CALM_TOO).phase is Phase.DONE


@pytest.mark.parametrize("origin", [-(10**6), 2**53, 10**20])
def test_timestamps_of_any_size(origin: int) -> None:
    results: list[Element] = []
    engine = Engine(CALM, results.extend)
    history = rows(*range(origin, origin + 300, 9))
    for name in "lm":
        engine.push(name, history[:5])
    migration = track(engine, CALM_TOO)
    for name in "lm":
        engine.push(name, history[5:])
    assert migration.phase is Phase.DONE
    assert report(migration).duration == 2 * WINDOW + 1
    engine.close()
    assert Counter(results) == Counter(run(CALM, {"l": history, "m": history}))
    assert is_ordered(results)


def test_boxes_that_no_engine_runs_are_tracked_too() -> None:
    """It is set up as other strategies are, from a fork, a joiner and a split time; windows are below."""
    history = [(t, t + WINDOW, row) for t, _, row in rows(*range(0, 300, 9))]
    both = {"l": history, "m": history}
    sources = [stream(one, {one: "integer"}, intervals=True) for one in "lm"]
    plan = sources[0].join(sources[1], on=[("l", "m")]).plan()
    old = PlanBox(plan)
    results = [element for port in range(2) for element in old.push(port, history[:5])[0]]
    migration, (ready,) = migrate_box(
        old, PlanBox(plan), STRATEGIES["parallel-track"], [history[4][1]] * 2, old.reached
    )
    assert isinstance(migration, ParallelTrack)
    assert migration.split == behind_windows([history[4][1]] * 2, old.reached) == 36 + 2 * WINDOW + 0.5
    results += ready
    for element in history[5:]:
        for port in range(2):
            results += migration.push(port, [element])[0]
    assert migration.phase is Phase.DONE
    for port in range(2):
        results += migration.end(port)[0]
    assert Counter(results) == Counter(run(plan, both))
    assert is_ordered(results)
    assert report(migration).unmatched == 0
    assert min(migration.origins().old, migration.origins().new) > 0


def test_the_longest_window_counts() -> None:
    assert behind_windows([30, 70], [20, 20]) == 120.5
    assert behind_windows([30, 70], [20, 90], 3) == 90.5
    assert behind_windows([30, BEGINNING], [20, BEGINNING], 1) == 30.5
    assert behind_windows([30, BEGINNING], [FOREVER, 5]) == 30.5


def test_what_is_valid_for_ever_is_refused() -> None:
    engine = Engine(bids(None).plan())
    engine.push("bids", chronons([(1, (7, 2))]))
    with pytest.raises(MigrationRefused, match="valid for ever"):
        track(engine, bids(None).plan())


def test_rows_of_a_relation_are_in_both_plans() -> None:
    terms = relation("terms", x="integer").alias("t")
    plan = L.join(terms, on=[("l", "t.x")]).plan()
    results: list[Element] = []
    engine = Engine(plan, results.extend, relations={"terms": constant([(1,), (1,)])})
    engine.push("l", rows(0, 4))
    track(engine, plan)
    engine.push("l", rows(8, 70, 200))
    engine.close()
    assert results == [(t, t + 50, (1, 1)) for t in (0, 4, 8, 70, 200) for _ in range(2)]


def test_plans_that_do_not_mean_the_same_are_found_out() -> None:
    results: list[Element] = []
    s = stream("s", x="integer", intervals=True)
    engine = Engine(s.plan(), results.extend)
    engine.push("s", [(0, 20, (1,))])
    migration = track(engine, s.select(x=col("x") + 1).plan())
    engine.push("s", [(2, 9, (1,)), (90, 91, (1,))])
    assert results == [(0, 20, (1,)), (2, 9, (1,)), (2, 9, (2,)), (90, 91, (2,))]
    assert report(migration).unmatched == 1


def test_a_track_within_a_track_is_unwrapped_when_it_is_done() -> None:
    engine = Engine(CALM)
    for name in "lm":
        engine.push(name, rows(0))
    first = track(engine, CALM_TOO, windows=1)
    second = track(engine, CALM)
    (inner,), (outer,) = first.parts, second.parts
    assert isinstance(outer.old, PlanBox)
    assert under_way(outer.old) == [inner]
    for name in "lm":
        engine.push(name, rows(60))
    assert first.phase is Phase.DONE
    assert under_way(outer.old) == []
    for name in "lm":
        engine.push(name, rows(120))
    assert second.phase is Phase.DONE
    assert box_of(engine).size() == 2


def test_peaks_are_kept() -> None:
    engine = Engine(CALM)
    engine.push("l", rows(*range(10)))
    migration = track(engine, CALM_TOO)
    assert (report(migration).peak_state_old, report(migration).peak_state_new) == (10, 0)
    engine.push("l", rows(10, 11))
    assert (report(migration).peak_state_old, report(migration).peak_state_new) == (12, 2)
    engine.advance("m", 200)
    engine.advance("l", 200)
    assert (report(migration).peak_state_old, report(migration).peak_state_new) == (12, 2)
    assert [part.size() for part in migration.parts] == [0]


# Telling old results from new ones


@given(elements(), elements(), st.integers(0, 40), st.booleans(), st.data())
def test_tracks_keep_what_only_the_old_plan_gives(
    old: list[Element], new: list[Element], latest: int, is_ordered_: bool, data: st.DataObject
) -> None:
    """Whatever comes first, equal results among them: the old plan's own once, what both give once."""
    last = latest + 0.5
    own = [element for element in old if element[1] <= latest]
    one, other = sorted(own + new, key=lambda e: e[0]), list(new)
    tracks = Tracks(last, is_ordered=is_ordered_)
    out: list[Element] = []
    is_done = False
    while one or other:
        taken, seen = data.draw(st.integers(0, len(one))), data.draw(st.integers(0, len(other)))
        new_progress = other[seen][0] if seen < len(other) else FOREVER
        is_last = taken == len(one) and not is_done and data.draw(st.booleans())
        out += tracks.process([] if is_last else one[:taken], other[:seen], new_progress)
        if is_last:
            is_done = True
            out += tracks.complete(one, new_progress)
        one, other = one[taken:], other[seen:]
        assert len(tracks) == len(list(tracks)) <= tracks.bound
        promised = tracks.progress(one[0][0] if one else FOREVER, new_progress)
        assert all(promised <= start for start, _, _ in (*tracks, *one, *other))
    out += tracks.process([], [], FOREVER) if is_done else tracks.complete([], FOREVER)
    assert Counter(out) == Counter(own + new)
    assert is_ordered(out) or not is_ordered_
    assert len(tracks) == 0
    assert (tracks.origins.old, tracks.origins.new) == (len(own), len(new))
    assert tracks.origins.unmatched == 0


@given(elements(), elements(), st.integers(0, 40), st.data())
def test_abandoned_tracks_have_given_what_the_old_plan_gave(
    own: list[Element], new: list[Element], latest: int, data: st.DataObject
) -> None:
    """Neither plan need be as far as the other, nor mean the same."""
    old = sorted(own + data.draw(st.lists(st.sampled_from(new)) if new else st.just([])), key=lambda e: e[0])
    given, rest, left = list(old), old, new
    tracks = Tracks(latest + 0.5)
    out: list[Element] = []
    for _ in range(3):
        taken, seen = data.draw(st.integers(0, len(rest))), data.draw(st.integers(0, len(left)))
        out += tracks.process(rest[:taken], left[:seen], left[seen][0] if seen < len(left) else FOREVER)
        rest, left = rest[taken:], left[seen:]
    given = old[: len(old) - len(rest)]
    out += tracks.abandon()
    assert Counter(out) == Counter(given)
    assert is_ordered(out)
    assert len(tracks) == 0


def test_an_old_result_is_not_given_away_while_the_new_plan_may_give_it_too() -> None:
    tracks = Tracks(9.5)
    assert tracks.process([(3, 8, "a"), (3, 8, "a")], [], 3) == []
    assert tracks.progress(5, 5) == 3
    assert tracks.process([], [(3, 8, "a")], 4) == [(3, 8, "a")]
    assert tracks.complete([], 9) == []
    assert tracks.process([], [], 10) == [(3, 8, "a")]


def test_equal_results_are_taken_away_as_often_as_the_new_plan_gives_them() -> None:
    tracks = Tracks(9.5)
    a = (3, 8, "a")
    assert tracks.process([a, a, a], [a, a], 4) == [a]
    assert tracks.complete([], 10) == [a, a]
    assert (tracks.origins.old, tracks.origins.new, tracks.origins.unmatched) == (1, 2, 0)
