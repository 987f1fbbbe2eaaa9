"""GenMig over signed streams: old and new plans of either form, in any mixture."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from inside import host_of, input_progress
from migration_law import Scenario, check, equations, equivalents

from midstream.arrivals import interleave
from midstream.engine import Engine
from midstream.migration import backlog
from midstream.migration.report import report
from midstream.migration.signed import signed_fork
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.operators.engine.running.planner import form, physical_plan
from midstream.operators.signs import signed_plan
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.snapshots import normal_form
from midstream.plans.values.streams import chronons
from midstream.testing import Workload, implemented, plans, verdict, workloads
from midstream.testing.rephrasing import arranged


@st.composite
def carried_out(draw: st.DrawFn, plan: Plan, at_least_one: bool = False) -> Plan:
    """The plan in signs, in intervals, or in a mixture; windows may be of either form."""
    kinds = (
        ("signs", "mixture", "arranged")
        if at_least_one
        else ("signs", "mixture", "arranged", "intervals", "any")
    )
    match draw(st.sampled_from(kinds)):
        case "signs":
            return signed_plan(plan)
        case "intervals":
            return physical_plan(plan)
        case "mixture":
            return draw(implemented(plan))
        case "arranged":
            return draw(implemented(draw(arranged(plan))))
    return plan


@st.composite
def scenarios(draw: st.DrawFn, moves: int) -> Scenario:
    logical = draw(plans(forever=False))
    old = draw(carried_out(logical, at_least_one=True))
    others = [draw(carried_out(draw(equivalents(logical)))) for _ in range(moves)]
    workload = draw(workloads(st.just(old), forever=False))
    times = sorted(draw(st.lists(st.integers(0, len(workload.events)), min_size=moves, max_size=moves)))
    found = [(at, plan, "genmig") for at, plan in zip(times, others, strict=True)]
    aborts = [(draw(st.integers(times[0], len(workload.events))), 0)] if draw(st.booleans()) else []
    return Scenario(workload, found, draw(st.booleans()), aborts)


@st.composite
def dense(draw: st.DrawFn) -> Scenario:
    """An early migration by one of the equations, amid rows that are often equal and meet often."""
    windows = [
        stream(name, {column: "integer"}).window(draw(st.integers(1, 7)))
        for name, column in zip("abc", "uuv", strict=True)
    ]
    old, new = (query.plan() for query in draw(st.sampled_from(equations(*windows))))
    if draw(st.booleans()):
        old, new = new, old
    streams: dict = {}
    for source in old.sources:
        steps = st.tuples(st.integers(0, 2), st.tuples(st.integers(0, 1)))
        drawn = draw(st.lists(steps, min_size=16, max_size=24))
        times = accumulate(gap for gap, _ in drawn)
        streams[source.stream] = list(chronons(zip(times, (row for _, row in drawn), strict=True)))
    events = [("push", name, batch) for name, batch in interleave(streams, batch_size=1)]
    workload = Workload(draw(carried_out(old, at_least_one=True)), streams, events)
    moves = [(draw(st.integers(4, 16)), draw(carried_out(new)), "genmig")]
    return Scenario(workload, moves, draw(st.booleans()))


@given(dense())
def test_the_law_amid_many(scenario: Scenario) -> None:
    """I46: where both plans have much to say."""
    for migration in check(scenario):
        assert migration.failure is None
        forks = [fork for part in migration.parts for fork in part.backlog.forks]
        event(f"signed inputs: {any(fork.begins < migration.split for fork in forks)}")
        event(f"both plans gave results: {min(migration.origins().old, migration.origins().new) > 0}")
        event(f"fused: {min(migration.origins().fused, 3)}")


@given(scenarios(1))
def test_the_law(scenario: Scenario) -> None:
    """I46: plans of positives and negatives."""
    for migration in check(scenario):
        assert migration.failure is None


@given(scenarios(2))
def test_the_law_of_two(scenario: Scenario) -> None:
    """One after the other, and within each other."""
    assert all(migration.failure is None for migration in check(scenario))


A, B = stream("a", x="integer").window(10), stream("b", y="integer").window(20)
ODD = (col("x") % 2).eq(1)
JOINED, OTHER = A.join(B, on=[("x", "y")]).filter(ODD), A.filter(ODD).join(B, on=[("x", "y")])


def fed(engine: Engine, since: int, until: int) -> None:
    for t in range(since, until):
        for name, step in (("a", 1), ("b", 3)):
            if name in engine.streams:
                engine.push(name, chronons([(t, (t % 4,))] if t % step == 0 else []))


def unmoved(query: Stream) -> list:
    results: list = []
    engine = Engine(query.plan(), results.extend)
    fed(engine, 0, 80)
    engine.close()
    return results


@pytest.mark.parametrize("is_signed", [True, False])
def test_the_split_time_is_behind_the_ends_of_what_has_begun(is_signed: bool) -> None:
    """By hand: b last came at 18, and leaves at 38; a last came at 20."""
    results: list = []
    engine = Engine(signed_plan(JOINED.plan()), results.extend)
    fed(engine, 0, 21)
    migration = engine.migrate(signed_plan(OTHER.plan()) if is_signed else physical_plan(OTHER.plan()))
    fed(engine, 21, 80)
    assert report(migration).split_time == 39
    assert migration.phase.value == "done"
    assert migration.origins().new > 0
    assert migration.origins().unmatched == 0
    engine.close()
    assert verdict(normal_form(unmoved(JOINED)), results)
    running = [form(node) for node in engine.query().physical.nodes]
    assert running.count("signs") == (4 if is_signed else 2)


def test_the_new_plan_is_never_told_more_than_what_a_signed_input_has_reached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Elements from before the split time are still to come there."""
    monkeypatch.setattr(backlog, "MOST_WAITING", 1)
    engine = Engine(signed_plan(JOINED.plan()))
    fed(engine, 0, 21)
    (part,) = engine.migrate(signed_plan(OTHER.plan()), replace_all=True).parts
    new = part.new
    assert isinstance(new, PlanBox)
    for t in range(21, 38):
        fed(engine, t, t + 1)
        pairs = zip(new.reached, input_progress(engine), strict=True)
        assert all(told <= reached < part.split for told, reached in pairs)
    assert min(new.reached) > 21


def test_windows_of_both_forms_side_by_side() -> None:
    """Each input is forked by its form."""
    both = Node(
        JOINED.node.operator,
        (
            Node(
                Physical("signed-hash-join", JOINED.node.inputs[0].operator),
                (Node(Physical("signed-time-window", A.node.operator), A.node.inputs), B.node),
            ),
        ),
    )
    results: list = []
    engine = Engine(Plan(both), results.extend)
    fed(engine, 0, 21)
    (part,) = engine.migrate(OTHER.plan()).parts
    assert [form(node) for node in host_of(engine).exchangeable_inputs().values()] == ["signs", "intervals"]
    assert len(part.inputs) == 2
    fed(engine, 21, 80)
    engine.close()
    assert verdict(normal_form(unmoved(JOINED)), results)


LAST = stream("a", x="integer").last(3)


def test_refused_where_nobody_knows_when_rows_will_end() -> None:
    """How long a row of a count window is valid follows from what comes."""
    engine = Engine(signed_plan(LAST.distinct().plan()))
    engine.migrate(signed_plan(LAST.distinct().distinct().plan()))
    engine.push("a", chronons([(1, (7,))]))
    with pytest.raises(
        MigrationRefused, match=r"signed-count-window 3 gives .* and does not know when those that are valid"
    ) as refusal:
        engine.migrate(LAST.distinct().plan(), when_busy="chain")
    assert refusal.value.operator.startswith("signed-count-window")


def test_refused_where_something_is_valid_for_ever() -> None:
    forever = stream("a", x="integer").window(None)
    engine = Engine(signed_plan(forever.plan()))
    engine.push("a", chronons([(1, (7,))]))
    with pytest.raises(MigrationRefused, match="valid for ever"):
        engine.migrate(forever.filter(ODD).plan())


def test_a_fork_lets_through_what_has_begun_since() -> None:
    """Old copies end first, whichever they are; what is left ends as often as it has begun."""
    fork = signed_fork(Counter({"a": 2, "b": 1}))
    assert fork([(1, 1, "a"), (2, -1, "a"), (3, -1, "c")], 3) == [(1, 1, "a"), (3, -1, "c")]
    assert fork([(4, -1, "b"), (4, 1, "b"), (5, -1, "a"), (6, -1, "a"), (7, -1, "b")], 7) == [
        (4, 1, "b"),
        (6, -1, "a"),
        (7, -1, "b"),
    ]


@pytest.mark.parametrize("is_signed", [True, False])
def test_it_can_be_aborted(is_signed: bool) -> None:
    results: list = []
    engine = Engine(signed_plan(JOINED.plan()), results.extend)
    fed(engine, 0, 21)
    migration = engine.migrate(signed_plan(OTHER.plan()) if is_signed else OTHER.plan())
    fed(engine, 21, 30)
    migration.abort()
    fed(engine, 30, 80)
    engine.close()
    assert migration.phase.value == "aborted"
    assert verdict(normal_form(unmoved(JOINED)), results)
