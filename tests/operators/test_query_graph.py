"""Queries come and go in one engine, and share what they have in common."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inside import base_of, box_of, host_of

from midstream.driving import run
from midstream.engine import Engine
from midstream.operators.compile import legs
from midstream.operators.engine.running.planner import form
from midstream.operators.signs import signed_plan
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.algebra.specification import snapshots, specified
from midstream.plans.expressions.aggregates import count
from midstream.plans.values.errors import PlanError, UnknownStreamError
from midstream.plans.values.snapshots import equivalent, snapshot
from midstream.plans.values.streams import BEGINNING, FOREVER, chronons
from midstream.testing import (
    Event,
    drive,
    implemented,
    interleavings,
    is_ordered,
    plans,
    streams_for,
    verdict,
)

S = stream("s", x="integer", y="integer").window(10)
T = stream("t", z="integer").window(10)


def joined_plan(one: Plan) -> list[str]:
    """The sources of a plan by name."""
    return [source.stream for source in one.sources]


@st.composite
def alike(draw: st.DrawFn) -> list[Plan]:
    """Plans that have much in common, one of them run by signs."""
    some = draw(plans(depth=2))
    more = Plan({name: Stream(root).distinct().node for name, root in some.outputs.items()})
    kinds = (signed_plan, lambda plan: draw(implemented(plan)), lambda plan: plan)
    one, *others = (draw(st.sampled_from((some, more))) for _ in range(draw(st.integers(2, 3))))
    return [signed_plan(one), *(draw(st.sampled_from(kinds))(plan) for plan in others)]


@st.composite
def sessions(draw: st.DrawFn) -> tuple[list[Plan], dict, list[tuple]]:
    """Plans over common streams, and an order of arrivals in which queries are added and removed."""
    chosen = draw(st.one_of(st.lists(plans(depth=2), min_size=1, max_size=3), alike()))
    streams: dict = {}
    for plan in chosen:
        streams |= {k: v for k, v in draw(streams_for(plan)).items() if k not in streams}
    events: list[tuple] = [("stream", event) for event in draw(interleavings(streams))]
    for i in range(len(chosen)):
        at = draw(st.sampled_from((0, draw(st.integers(0, len(events))))))
        events.insert(at, ("add", i))
        if draw(st.booleans()):
            events.insert(draw(st.integers(at + 1, len(events))), ("remove", i))
    return chosen, streams, events


@given(sessions())
def test_every_query_gives_what_it_means(session: tuple[list[Plan], dict, list[tuple]]) -> None:
    """From the instant on that `complete_from` names; before it, nothing but what it means on less input."""
    chosen, streams, events = session
    # A query that reads every stream from the beginning, so that all are known to the engine.
    reader = Plan({name: stream_of(chosen, name) for name in streams})
    engine = Engine(reader)
    pushed: dict = {name: [] for name in streams}
    results: list[list] = [[] for _ in chosen]
    complete: dict[int, object] = {}
    ends: dict[int, object] = {}
    for kind, what in events:
        if kind == "add":
            complete[what] = engine.add(chosen[what], results[what].extend, name=str(what)).complete_from
        elif kind == "remove":
            ends[what] = box_of(engine, str(what)).progress()
            engine.remove(str(what))
        else:
            note(what, pushed)
            drive(engine, [what])
    engine.close()
    for i, plan in enumerate(chosen):
        assert is_ordered(results[i])
        if i in complete:
            expected = snapshots(logical_plan(plan), {name: pushed[name] for name in joined_plan(plan)})
            for instant, content in expected.items():
                if complete[i] <= instant < ends.get(i, FOREVER):
                    assert snapshot(results[i], instant) == content


def stream_of(chosen: list[Plan], name: str):
    """The source node of a stream."""
    return next(n for plan in chosen for n in plan.nodes if not n.inputs and n.operator.stream == name)


def note(event: Event, pushed: dict) -> None:
    """Remember what was pushed."""
    if event[0] == "push":
        pushed[event[1]] += event[2]


def test_a_query_from_the_beginning_lacks_nothing() -> None:
    engine = Engine(S.plan())
    assert engine.query().complete_from == BEGINNING
    engine.push("s", chronons([(5, (1, 1))]))
    assert engine.add(S.distinct().plan(), name="late").complete_from == 15
    assert engine.add(T.plan(), name="other").complete_from == BEGINNING


@pytest.mark.parametrize(
    ("query", "complete_from"),
    [
        (stream("s", x="integer"), 6),
        (stream("s", x="integer").window(10), 15),
        (stream("s", x="integer").window(10, slide=4), 18),
        (stream("s", x="integer").window(10).window(3), 17),
        (stream("s", x="integer").granularity(4), 8),
        (stream("s", x="integer").window(10).granularity(4), 16),
        (stream("s", x="integer").window(10).istream(), 16),
        (stream("s", x="integer").window(10).dstream(), 16),
        (stream("s", x="integer").window(None), FOREVER),
        (stream("s", x="integer").last(2), FOREVER),
        (stream("s", x="integer").last(2, by=["x"]), FOREVER),
    ],
    ids=str,
)
def test_what_a_late_query_lacks_depends_on_its_windows(query, complete_from: object) -> None:
    engine = Engine()
    engine.add(stream("s", x="integer").select().plan(), name="first")
    engine.push("s", chronons([(3, (1,)), (5, (1,))]))
    assert engine.add(query.plan(), name="late").complete_from == complete_from


def test_equal_subplans_run_once() -> None:
    counts = S.group_by("x").aggregate(n=count())
    engine = Engine(counts.plan())
    engine.push("s", chronons([(0, (1, 1))]))
    (running,) = [o for o in base_of(engine).running.values() if type(o).__name__ == "Aggregate"]
    engine.add(counts.filter(counts["n"] > 1).plan(), name="more")
    assert [o for o in base_of(engine).running.values() if type(o).__name__ == "Aggregate"] == [running]
    engine.remove()
    assert running in base_of(engine).running.values()
    engine.remove("more")
    with pytest.raises(UnknownStreamError, match="no query runs"):
        engine.progress()


def test_signed_operators_that_have_spoken_are_not_shared_with_later_queries() -> None:
    """They would get negatives without their positives."""
    window, results = signed_plan(S.plan()), []
    engine = Engine(window)
    engine.add(signed_plan(S.filter(S["x"] > 0).plan()), name="early")
    assert [form(node) for node in base_of(engine).running].count("signs") == 2
    engine.push("s", chronons([(3, (7, 7))]))
    engine.add(signed_plan(S.distinct().plan()), results.extend, name="late")
    engine.add(window, name="the same again")
    signed = [str(node.operator) for node in base_of(engine).running if form(node) == "signs"]
    assert signed == [
        "signed-time-window 10",
        "signed-filter x > 0",
        "signed-time-window 10",
        "signed-distinct",
    ]
    engine.push("s", chronons([(5, (7, 7)), (20, (8, 8))]))
    engine.close()
    assert results == [(5, 15, (7, 7)), (20, 30, (8, 8))]


def test_a_query_that_goes_takes_its_state_along() -> None:
    engine = Engine()
    engine.add(S.distinct().plan(), name="distinct")
    engine.add(S.join(T, on=[("x", "z")]).plan(), name="pairs")
    engine.push("s", chronons([(0, (1, 1)), (1, (2, 1))]))
    assert engine.size() == 4
    engine.remove("pairs")
    assert engine.size() == 2
    assert engine.streams == ("s",)
    with pytest.raises(UnknownStreamError, match="reads no stream t"):
        engine.push("t", [])
    engine.add(T.plan(), name="again")
    assert engine.streams == ("s", "t")


def test_a_stream_does_not_go_back_in_time_for_a_later_query() -> None:
    engine = Engine(S.plan())
    engine.push("s", chronons([(7, (1, 1))]))
    engine.remove()
    engine.add(S.plan())
    assert engine.progress("s") == 7


def test_what_cannot_be_added_leaves_the_engine_as_it_was() -> None:
    results: list = []
    engine = Engine(S.plan(), results.extend)
    for plan, name, message in (
        (S.plan(), "query", "there is a query query already"),
        (stream("s", x="string").plan(), "other", r"query other: found stream s \(x string\), expected"),
        (stream("s", x="integer", y="integer", intervals=True).plan(), "other", "s .* with intervals"),
    ):
        with pytest.raises(PlanError, match=message):
            engine.add(plan, name=name)
    with pytest.raises(UnknownStreamError, match="there is no query othr; known: query"):
        engine.remove("othr")
    engine.push("s", chronons([(0, (1, 1))]))
    assert results == [(0, 10, (1, 1))]
    assert engine.counters().results == 1


def test_a_migration_leaves_what_other_queries_share() -> None:
    """The operator that two queries share stays, with its state; only the rest is exchanged."""
    common = S.distinct()
    old = common.join(T, on=[("x", "z")])
    first, second = old.filter(old["y"] > 1), common.group_by("x").aggregate(n=count())
    narrow = common.filter(common["y"] > 1)
    results: list = []
    counts: list = []
    engine = Engine(first.plan(), results.extend)
    engine.add(second.plan(), counts.extend, name="counts")
    history = [(t, (t % 3, t % 4)) for t in range(60)]
    partners = [(t, (t % 3,)) for t in range(60)]
    engine.push("s", chronons(history[:20]))
    engine.push("t", chronons(partners[:20]))
    (shared,) = [o for o in base_of(engine).running.values() if "Distinct" in type(o).__name__]
    migration = engine.migrate(narrow.join(T, on=[("x", "z")]).plan())
    assert {str(node.operator) for node in host_of(engine).exchangeable_inputs()} == {"distinct", "window 10"}
    for t in range(20, 60, 5):
        engine.push("s", chronons(history[t : t + 5]))
        engine.push("t", chronons(partners[t : t + 5]))
    assert migration.phase.value == "done"
    assert shared in base_of(engine).running.values()
    engine.close()
    streams = {"s": list(chronons(history)), "t": list(chronons(partners))}
    assert equivalent(results, run(first.plan(), streams))
    assert is_ordered(results)
    assert equivalent(counts, run(second.plan(), {"s": streams["s"]}))


@pytest.mark.parametrize("goes", [False, True])
def test_what_others_share_can_be_exchanged_and_stays_for_them(goes: bool) -> None:
    """Unless the others go, and with them what only they needed."""
    unfiltered = S.distinct()
    old = unfiltered.filter(unfiltered["y"] > 1)
    results: list = []
    others: list = []
    engine = Engine(old.plan(), results.extend)
    engine.add(unfiltered.plan(), others.extend, name="distinct")
    rows = list(chronons((t, (t % 3, t % 4)) for t in range(60)))
    engine.push("s", rows[:10])
    before = {node: base_of(engine).running[node] for node in engine.query("distinct").physical.nodes[1:]}
    migration = engine.migrate(S.filter(S["y"] > 1).distinct().plan())
    assert len(migration.parts) == 1
    assert [str(node.operator) for node in before] == ["time-window 10", "distinct"]
    assert all(base_of(engine).running[node] is operator for node, operator in before.items())
    engine.push("s", rows[10:14])
    if goes:
        engine.remove("distinct")
    engine.push("s", rows[14:])
    assert migration.phase.value == "done"
    running = set(map(id, base_of(engine).running.values()))
    assert [id(one) in running for one in before.values()] == [True, not goes]
    engine.close()
    assert verdict(specified(old.plan(), {"s": rows}), results)
    assert is_ordered(results)
    if not goes:
        assert others == run(unfiltered.plan(), {"s": rows})


def test_queries_come_and_go_while_one_migrates() -> None:
    common = S.distinct()
    results: list = []
    late: list = []
    engine = Engine(common.filter(common["y"] > 1).plan(), results.extend)
    rows = [(t, (t % 3, t % 4)) for t in range(60)]
    engine.push("s", chronons(rows[:10]))
    migration = engine.migrate(S.filter(S["y"] > 1).distinct().plan())
    complete_from = engine.add(common.plan(), late.extend, name="late").complete_from
    engine.push("s", chronons(rows[10:13]))
    assert migration.phase.value == "moving"
    engine.add(T.plan(), name="passing")
    engine.remove("passing")
    engine.push("s", chronons(rows[13:]))
    assert migration.phase.value == "done"
    engine.close()
    streams = {"s": list(chronons(rows))}
    assert equivalent(results, run(common.filter(common["y"] > 1).plan(), streams))
    everything = run(common.plan(), streams)
    assert complete_from == 19
    for instant in range(complete_from, 80):
        assert snapshot(late, instant) == snapshot(everything, instant)


def test_results_are_counted_query_by_query() -> None:
    engine = Engine(S.plan())
    engine.push("s", chronons([(0, (1, 1))]))
    engine.add(S.plan(), name="same")
    engine.push("s", chronons([(1, (1, 1))]))
    assert [engine.counters(name).results for name in ("query", "same", None)] == [2, 1, 3]
    assert engine.counters().elements == 2


@pytest.mark.parametrize("leg", [1, 32])
def test_what_was_counted_stays_when_a_query_cuts_a_chain_or_goes(
    leg: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(legs, "LEG", leg)
    source = stream("s", x="integer", y="integer")
    few = source.filter(source["x"] > 0)
    engine, results = Engine(few.select("x").plan()), []
    engine.subscribe(results.extend)
    engine.push("s", chronons([(0, (1, 1)), (1, (0, 1)), (2, (2, 1))]))
    engine.add(few.plan(), name="rows")
    assert engine.counters("query").results == 2
    engine.push("s", chronons([(3, (1, 1)), (4, (0, 1))]))
    engine.push("s", chronons([(5, (1, 1))]))
    engine.remove("rows")
    engine.push("s", chronons([(6, (1, 1))]))
    assert engine.counters("query").results == len(results) == 5
    assert engine.counters().elements == 7


@pytest.mark.parametrize("leg", [1, 2, 32])
def test_results_of_an_element_come_in_order_of_queries_and_outputs(
    leg: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a query that came later brought the operators of an earlier one, or both are the same."""
    monkeypatch.setattr(legs, "LEG", leg)
    source = stream("s", x="integer", y="integer")
    few, low = source.filter(source["x"] > 0), source.filter(source["y"] < 5)
    engine, seen = Engine(), []
    for name, plan in (
        ("first", few.plan()),
        ("second", Plan({"low": low.node, "few": few.node, "all": source.node})),
        ("third", few.plan()),
    ):
        engine.add(plan, name=name)
        for output in plan.outputs:
            engine.subscribe(lambda batch, at=(name, output): seen.append(at), output, name)
    expected = [("first", "out"), ("second", "low"), ("second", "few"), ("second", "all"), ("third", "out")]
    for rows in ([(1, (1, 1))], [(2, (1, 1)), (3, (1, 1))]):
        seen.clear()
        engine.push("s", chronons(rows))
        assert seen == expected


def test_a_sink_may_change_the_queries() -> None:
    """Results of an element go to all that ran when it came."""
    engine, seen = Engine(S.plan()), []

    def change(batch: list) -> None:
        engine.remove("other")
        engine.add(S.distinct().plan(), lambda batch: seen.append("new"), name="new")

    engine.subscribe(change)
    engine.add(S.filter(S["x"] > 0).plan(), lambda batch: seen.append("other"), name="other")
    engine.push("s", chronons([(0, (1, 1))]))
    assert seen == ["other"]
    assert list(engine.queries) == ["query", "new"]
    assert len(list(base_of(engine).running)) == 2
