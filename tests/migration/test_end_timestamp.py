"""GenMig with the split time behind what the old plan still answers for (thesis, 29.4.2)."""

from __future__ import annotations

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from migration_law import ONE_COLUMN, Scenario, check, dense, equations, scenarios

from midstream.engine import Engine
from midstream.migration.machine import Phase
from midstream.migration.report import MigrationReport, report
from midstream.migration.split_time import last_instant
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, chronons

NAME = "genmig-end-timestamp"


@given(scenarios(NAME))
def test_any_plan(scenario: Scenario) -> None:
    """I6, though the old plan ends earlier."""
    for migration in check(scenario):
        event(f"both plans gave results: {min(migration.origins().old, migration.origins().new) > 0}")


@settings(max_examples=settings.default.max_examples // 3)
@pytest.mark.parametrize("number", range(len(equations(*ONE_COLUMN))))
@given(data=st.data())
def test_by_an_equation(number: int, data: st.DataObject) -> None:
    """The operators that compare two streams: what they drop must not matter behind the split time."""
    dense_one = data.draw(dense(number))
    check(Scenario(dense_one.workload, [(at, plan, NAME) for at, plan, _ in dense_one.moves]))


@given(scenarios(NAME, moves=3))
def test_one_within_another(scenario: Scenario) -> None:
    """I8: the old plan is itself a migration."""
    check(scenario)


A = stream("a", x="integer", intervals=True)
B = stream("b", y="integer", intervals=True)
DEAR = col("x") > 5


def moved(
    old: Stream, new: Stream, before: dict[str, list[Element]], strategy: str
) -> tuple[MigrationReport, Engine, list[Element]]:
    results: list[Element] = []
    engine = Engine(old.plan(), results.extend)
    for name, elements in before.items():
        engine.push(name, elements)
    return report(engine.migrate(new.plan(), strategy, replace_all=True)), engine, results


def test_what_the_plan_dropped_does_not_hold_up_the_split_time() -> None:
    """Only [2, 9) passes the filter below the join, but [1, 100) has entered the plan."""
    pairs = A.join(B, on=[("x", "y")]).filter(DEAR)
    early = A.filter(DEAR).join(B, on=[("x", "y")])
    before = {"a": [(1, 100, (0,)), (2, 9, (7,))], "b": [(3, 5, (7,))]}
    split, engine, results = moved(early, pairs, before, NAME)
    assert split.split_time == 10
    assert moved(early, pairs, before, "genmig")[0].split_time == 101
    engine.push("a", [(8, 40, (7,))])
    engine.push("b", [(8, 30, (7,))])
    engine.close()
    assert results == [(3, 5, (7, 7)), (8, 9, (7, 7)), (8, 30, (7, 7))]


def test_what_the_plan_has_given_out_in_full_does_not_either() -> None:
    """A stateless plan keeps nothing: the new one takes over at once, and [1, 100) is not doubled."""
    split, engine, results = moved(A.filter(DEAR), A.filter(DEAR), {"a": [(1, 100, (7,))]}, NAME)
    assert (split.phase, split.duration) == ("done", None)
    engine.push("a", [(4, 30, (8,))])
    assert results == [(1, 100, (7,)), (4, 30, (8,))]


def test_a_result_that_waits_for_its_turn_is_part_of_the_state() -> None:
    """[5, 90) waits in the union, and would have no other half if the plan were to end earlier."""
    both = A.union(B.rename({"y": "x"}))
    split, engine, results = moved(both, both, {"a": [(5, 90, (7,))], "b": [(1, 3, (8,))]}, NAME)
    assert split.split_time == 91
    engine.close()
    assert results == [(1, 3, (8,)), (5, 90, (7,))]


def test_it_is_never_behind_the_inputs_ends() -> None:
    """A group under construction does not tell its end; the inputs' ends bound it."""
    counted = PlanBox(A.aggregate(n=count()).plan())
    counted.push(0, [(1, 8, (7,)), (2, 6, (7,))])
    assert last_instant(counted, [8]) == 8
    assert last_instant(counted, [FOREVER]) <= FOREVER
    assert last_instant(PlanBox(A.plan()), [8]) == BEGINNING


def test_a_row_of_a_relation_does_not_count_for_longer_than_the_inputs() -> None:
    """The row is kept for ever, but matters only together with elements of the stream."""
    terms = relation("terms", x="integer").rename({"x": "z"})
    priced = stream("a", x="integer").window(5).join(terms, on=[("x", "z")])
    results: list[Element] = []
    engine = Engine(priced.plan(), results.extend, relations={"terms": [(BEGINNING, FOREVER, (7,))]})
    engine.push("a", list(chronons([(1, (7,))])))
    migration = engine.migrate(priced.plan(), NAME, replace_all=True)
    engine.push("a", list(chronons([(3, (7,)), (9, (7,))])))
    assert migration.phase is Phase.DONE
    assert results == [(1, 6, (7, 7)), (3, 8, (7, 7)), (9, 14, (7, 7))]
    assert report(migration).split_time == 7


def test_what_is_valid_for_ever_is_refused_with_the_operator_that_keeps_it() -> None:
    engine = Engine(A.join(B, on=[("x", "y")]).plan())
    engine.push("a", [(1, FOREVER, (7,))])
    physical = engine.query().physical
    with pytest.raises(MigrationRefused) as refusal:
        engine.migrate(A.join(B, on=[("x", "y")]).plan(), NAME, replace_all=True)
    assert str(refusal.value) == (
        "join x = y keeps an element that is valid for ever, so that the running plan has no last instant; "
        "put a finite window on the input"
    )
    assert refusal.value.operator == "join x = y"
    assert engine.query().physical is physical


def test_what_is_valid_for_ever_but_dropped_is_no_obstacle() -> None:
    early = A.filter(DEAR).join(B, on=[("x", "y")])
    split, _, _ = moved(early, early, {"a": [(1, FOREVER, (0,)), (2, 9, (7,))], "b": [(3, 4, (7,))]}, NAME)
    assert split.split_time == 10
