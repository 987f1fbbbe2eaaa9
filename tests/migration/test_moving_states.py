"""Moving states: the new plan begins with what is still valid, by a log or by the state of joins."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from inside import base_of, host_of
from migration_law import ONE_COLUMN, Scenario, check, dense, equations, scenarios

from midstream.engine import Engine
from midstream.migration.auto import Prediction
from midstream.migration.migrate import migrate_box, prepare, require_possible
from midstream.migration.report import report
from midstream.migration.strategies import STRATEGIES, find_strategy
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.operators.signs import signed_plan
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.implementations import IMPLEMENTATIONS
from midstream.plans.algebra.operators import Join
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import MigrationRefused, PlanError
from midstream.plans.values.snapshots import normal_form
from midstream.plans.values.streams import BEGINNING, FOREVER, chronons
from midstream.testing import verdict, workloads


@given(scenarios("moving-states"))
def test_the_law_with_a_log(scenario: Scenario) -> None:
    """I45: any plan, at any moment."""
    for migration in check(replace(scenario, is_logged=True)):
        assert migration.failure is None
        event(f"copied: {any(part.observer.peak_new for part in migration.parts)}")
        event(f"fused: {migration.origins().fused > 0}")


@given(st.integers(0, len(equations(*ONE_COLUMN)) - 1).flatmap(dense))
def test_the_law_amid_many_with_a_log(scenario: Scenario) -> None:
    """I45: where much is valid and much has been said."""
    moves = [(at, plan, "moving-states") for at, plan, _ in scenario.moves]
    for migration in check(replace(scenario, moves=moves, is_logged=True)):
        assert migration.failure is None
        event(f"both plans gave results: {min(migration.origins().old, migration.origins().new) > 0}")
        event(f"fused: {min(migration.origins().fused, 3)}")


@given(scenarios("genmig", moves=3), st.data())
def test_the_law_among_others_with_a_log(scenario: Scenario, data: st.DataObject) -> None:
    """One after the other, and within each other."""
    kinds = st.sampled_from(("moving-states", "moving-states", "genmig", "swap", "auto"))
    moves = [(at, plan, data.draw(kinds)) for at, plan, _ in scenario.moves]
    last = len(scenario.workload.events)
    aborts = [(data.draw(st.integers(at, last)), i) for i, (at, _, _) in enumerate(scenario.moves)]
    wanted = aborts[: data.draw(st.integers(0, 2))]
    logged = replace(scenario, moves=moves, is_logged=True, aborts=wanted)
    assert all(migration.failure is None for migration in check(logged))


CONDITIONS = [
    ([("u", "v")], [("v", "w")]),
    (col("u") <= col("v"), [("v", "w")]),
    ([("u", "v")], col("w") - 1 <= col("v")),
    (col("u") < col("v") + 2, (col("v") < col("w")) & (col("w") < col("v") + 3)),
]


@st.composite
def join_trees(draw: st.DrawFn) -> Scenario:
    """Joins of three streams, whose keys may be unknown, one way round and the other."""
    size = draw(st.sampled_from((None, 6)))
    a, b, c = (
        stream(name, {column: "integer?"}, intervals=size is None)
        for name, column in zip("abc", "uvw", strict=True)
    )
    if size is not None:
        a, b, c = a.window(size), b.window(2 * size), c.window(size)
    ab, bc = draw(st.sampled_from(CONDITIONS))
    trees = [a.join(b, on=ab).join(c, on=bc), a.join(b.join(c, on=bc), on=ab)]
    if draw(st.booleans()):
        trees = [tree.filter(col("w") > 0).union(tree.select("u", "v", "w")) for tree in trees]
    if draw(st.booleans()):
        trees.reverse()
    old, new = (draw(with_joins(tree.plan())) for tree in trees)
    workload = draw(workloads(st.just(old), forever=False))
    at = draw(st.integers(0, len(workload.events) * 2 // 3))
    return Scenario(workload, [(at, new, "moving-states")], draw(st.booleans()))


@st.composite
def with_joins(draw: st.DrawFn, plan: Plan) -> Plan:
    """The plan with an implementation on intervals chosen for every join."""
    changed: dict[Node, Node] = {}
    for node in plan.nodes:
        inputs = tuple(changed[child] for child in node.inputs)
        operator = node.operator
        if isinstance(operator, Join):
            names = [
                one.name
                for one in IMPLEMENTATIONS[Join]
                if one.gives == "intervals"
                and one.obstacle(Node(Physical(one.name, operator), inputs)) is None
            ]
            operator = Physical(draw(st.sampled_from(names)), operator)
        changed[node] = Node(operator, inputs)
    return Plan({name: changed[root] for name, root in plan.outputs.items()})


@given(join_trees())
def test_the_law_by_the_state_of_joins(scenario: Scenario) -> None:
    """I45: what the joins of the old plan keep is enough."""
    migrations = check(scenario)
    event(f"moved: {bool(migrations)}")
    for migration in migrations:
        assert migration.failure is None
        event(f"copied: {any(part.observer.peak_new for part in migration.parts)}")
        event(f"both plans gave results: {min(migration.origins().old, migration.origins().new) > 0}")


A, B = stream("a", x="integer").window(10), stream("b", y="integer").window(10)
LARGE = col("x") > 5
ON = [("x", "y")]
LATE, EARLY = A.join(B, on=ON).filter(LARGE), A.filter(LARGE).join(B, on=ON)
ROWS = {"a": list(chronons([(t, (t % 9,)) for t in range(0, 60, 2)]))}
ROWS["b"] = list(chronons([(t, (t % 9,)) for t in range(0, 60, 3)]))


def running(query: Stream, until: int, *, is_logged: bool = False) -> tuple[Engine, list]:
    """An engine whose streams are in step, up to an instant."""
    results: list = []
    engine = Engine(query.plan(), results.extend)
    if is_logged:
        engine.keep_log()
    feed(engine, 0, until)
    return engine, results


def feed(engine: Engine, since: int, until: int) -> None:
    for t in range(since, until):
        for name in engine.streams:
            engine.push(name, [row for row in ROWS[name] if row[0] == t])
            engine.advance(name, t)


def unmoved(query: Stream) -> list:
    engine, results = running(query, 60)
    engine.close()
    return results


def test_it_is_over_with_the_chronon() -> None:
    """By hand: nothing starts after 20, so the new plan takes over at 21. GenMig would wait until 31."""
    engine, results = running(LATE, 21)
    migration = engine.migrate(EARLY.plan(), "moving-states")
    assert report(migration).split_time == 21
    # Of a, what came at 16; of b, at 12, 15 and 18.
    assert migration.parts[0].observer.peak_new == 1 + 3
    engine.advance("a", 21)
    assert migration.phase.value == "moving"
    engine.advance("b", 21)
    assert migration.phase.value == "done"
    feed(engine, 21, 60)
    engine.close()
    assert results == unmoved(LATE)


def test_results_that_reach_beyond_are_not_given_twice() -> None:
    """What distinct has given out before the migration, of which its state knows nothing, the log knows."""
    query = A.filter(LARGE).distinct()
    engine, results = running(query, 21, is_logged=True)
    assert any(end > 21 for _, end, _ in results)
    migration = engine.migrate(A.distinct().filter(LARGE).plan(), "moving-states")
    feed(engine, 21, 60)
    engine.close()
    assert report(migration).duration <= 1
    assert report(migration).unmatched == 0
    assert verdict(normal_form(unmoved(query)), results)


NOT_TOLD = {
    "a filter in front": (
        EARLY,
        LATE,
        "still valid on time-window 10 of a cannot be recovered from the state of filter x > 5",
    ),
    "two readers": (
        A.filter(LARGE).union(A),
        A.union(A.filter(LARGE)),
        "valid on time-window 10 of a cannot be recovered from the state of filter x > 5 and union",
    ),
    "what is valid is not kept": (
        A.distinct().filter(LARGE),
        A.filter(LARGE).distinct(),
        "moving states without a log is unsound over distinct of the old plan: its results need not start",
    ),
    "starts are not kept by the new plan": (
        LATE,
        LATE.distinct(),
        "moving states without a log is unsound over distinct of the new plan",
    ),
}


@pytest.mark.parametrize("name", NOT_TOLD)
def test_refused_where_the_state_does_not_tell(name: str) -> None:
    old, new, reason = NOT_TOLD[name]
    engine, results = running(old, 21)
    physical, plan = engine.query().physical, engine.plan
    with pytest.raises(MigrationRefused, match=reason) as refusal:
        engine.migrate(new.plan(), "moving-states", replace_all=True)
    assert str(refusal.value).endswith("ask for a log by engine.keep_log()")
    assert engine.query().physical is physical
    assert engine.plan is plan
    feed(engine, 21, 60)
    engine.close()
    assert results == unmoved(old)


def test_refused_where_a_side_has_ended() -> None:
    """No element of a can meet one of b any more, so the join keeps none: but another plan may need it."""
    engine, _ = running(LATE, 21)
    engine.end("b")
    with pytest.raises(MigrationRefused, match="still valid on time-window 10 of a cannot be recovered"):
        require_possible(host_of(engine), EARLY.plan(), find_strategy("moving-states"))
    with pytest.raises(MigrationRefused, match="still valid on time-window 10 of a cannot be recovered"):
        engine.migrate(EARLY.plan(), "moving-states")


def test_a_log_is_complete_when_what_came_before_it_has_expired() -> None:
    engine, results = running(LATE, 21)
    assert engine.keep_log() == 30
    feed(engine, 21, 30)
    with pytest.raises(
        MigrationRefused, match=r"not complete, and will be from 30 on, when all that came .*; found 29$"
    ):
        engine.migrate(EARLY.distinct().plan(), "moving-states")
    assert engine.keep_log() == 30
    feed(engine, 30, 31)
    migration = engine.migrate(EARLY.plan(), "moving-states")
    feed(engine, 31, 60)
    engine.close()
    assert report(migration).split_time == 31
    assert verdict(normal_form(unmoved(LATE)), results)


def test_a_log_will_never_be_complete_where_something_is_valid_for_ever() -> None:
    forever = stream("a", x="integer").window(None)
    engine, _ = running(forever, 5)
    assert engine.keep_log() == FOREVER
    with pytest.raises(MigrationRefused, match="the log of the query is not complete, and never will be"):
        engine.migrate(forever.filter(LARGE).plan(), "moving-states")


def test_what_is_valid_for_ever_moves_with_a_log_from_the_beginning() -> None:
    """No other way but this one can: GenMig's old plan would have to stay for ever."""
    forever = stream("a", x="integer").window(None)
    old, new = forever.distinct().filter(LARGE), forever.filter(LARGE).distinct()
    engine, results = running(old, 21, is_logged=True)
    with pytest.raises(MigrationRefused, match="valid for ever"):
        engine.migrate(new.plan())
    migration = engine.migrate(new.plan(), "moving-states")
    feed(engine, 21, 60)
    assert migration.phase.value == "done"
    engine.close()
    assert verdict(normal_form(unmoved(old)), results)


def test_a_log_keeps_what_is_valid_and_no_more() -> None:
    """Of each stream what ends behind its last element's start; nothing remains of a query that is gone."""
    engine, results = running(LATE, 0, is_logged=True)
    for t in range(60):
        feed(engine, t, t + 1)
        came = [[(s, s + 10, row) for s, _, row in rows if s <= t] for rows in ROWS.values()]
        kept = [[e for e in stream if e[1] > stream[-1][0]] for stream in (*came, results) if stream]
        assert engine.size() - base_of(engine).size() == sum(map(len, kept))
    engine.remove()
    engine.add(LATE.plan())
    assert engine.size() == 0


def test_a_log_of_signs_is_refused() -> None:
    engine = Engine(signed_plan(A.distinct().plan()))
    with pytest.raises(
        PlanError, match="signed-time-window 10 gives positive and negative elements, of which"
    ):
        engine.keep_log()


def test_a_log_goes_on_where_windows_are_moved() -> None:
    """A swap makes another window: its log is complete when what came through the old one has expired."""
    raw = stream("a", x="integer")
    old, moved = raw.window(10).filter(LARGE), raw.filter(LARGE).window(10)
    engine, results = running(old, 21, is_logged=True)
    engine.migrate(moved.plan(), "swap")
    with pytest.raises(MigrationRefused, match="will be from 30 on"):
        engine.migrate(moved.filter(LARGE).plan(), "moving-states")
    feed(engine, 21, 31)
    migration = engine.migrate(moved.filter(LARGE).plan(), "moving-states")
    feed(engine, 31, 60)
    engine.close()
    assert migration.phase.value == "done"
    assert verdict(normal_form(unmoved(old)), results)


def test_a_window_that_others_share_has_a_log_for_one() -> None:
    engine, results = running(LATE, 10, is_logged=True)
    engine.add(A.distinct().plan(), name="other")
    feed(engine, 10, 21)
    engine.migrate(EARLY.plan(), "moving-states")
    engine.remove("other")
    feed(engine, 21, 60)
    engine.close()
    assert verdict(normal_form(unmoved(LATE)), results)


def test_it_can_be_aborted_until_the_slowest_input_has_come() -> None:
    engine, results = running(LATE, 21)
    migration = engine.migrate(EARLY.plan(), "moving-states")
    engine.push("a", [ROWS["a"][11]])
    migration.abort("not now")
    for t in range(21, 60):
        engine.push("b", [row for row in ROWS["b"] if row[0] == t])
    engine.push("a", ROWS["a"][12:])
    engine.close()
    assert migration.phase.value == "aborted"
    assert verdict(normal_form(unmoved(LATE)), results)


def test_what_it_is_going_to_cost_is_one_copy() -> None:
    """By hand: for one chronon, 0.5 + 1/3 elements in each; a at 12 to 20 and b at 12 to 18 are copied."""
    engine, _ = running(LATE, 21)
    predicted = prepare(host_of(engine), EARLY.plan(), STRATEGIES["moving-states"]).predict()
    assert predicted == Prediction("moving-states", 1, 8 + 1, 8 + 1)
    assert engine.migrate(EARLY.plan(), "auto").reason.split()[5] == "moving-states"


def test_boxes_do_not_show_what_is_valid() -> None:
    old, new = PlanBox(LATE.plan()), PlanBox(EARLY.plan())
    with pytest.raises(MigrationRefused, match="needs what a query's log or its operators keep"):
        migrate_box(old, new, find_strategy("moving-states"), [BEGINNING] * 2, [BEGINNING] * 2)


def test_a_log_of_a_query_of_signs_is_refused_at_once() -> None:
    """Nothing is kept then, and the query goes on."""
    results: list = []
    one, other = stream("a", u="integer").window(10), stream("b", v="integer").window(10)
    plan = one.join(other, on=[("u", "v")]).plan()
    signed = plan.map(
        lambda node: (
            Node(Physical("signed-time-window", node.operator), node.inputs) if node == other.node else node
        )
    )
    engine = Engine(signed, results.extend)
    with pytest.raises(PlanError, match="signed-time-window 10 gives positive and negative elements"):
        engine.keep_log()
    assert not engine.query().is_logged
    engine.push("a", [(0, 1, (1,))])
    engine.push("b", [(2, 3, (1,))])
    engine.close()
    assert results == [(2, 10, (1, 1))]
