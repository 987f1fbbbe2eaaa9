"""`auto` takes the applicable strategy with the smallest predicted overhead, and says why."""

from __future__ import annotations

import pytest
from hypothesis import event, given
from inside import box_of, host_of
from migration_law import Scenario, check, scenarios

from midstream.engine import Engine
from midstream.migration.auto import Prediction, cheapest, rate
from midstream.migration.machine import Migration
from midstream.migration.migrate import migrate_box, prepare
from midstream.migration.report import report
from midstream.migration.strategies import STRATEGIES
from midstream.migration.swap import Swap
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.observations import Observation
from midstream.plans.values.streams import BEGINNING, chronons


@given(scenarios("auto"))
def test_the_law(scenario: Scenario) -> None:
    """Whatever it takes; and it is applicable wherever genmig is."""
    for migration in check(scenario):
        assert all(isinstance(part, Migration) for part in migration.parts)
        assert migration.reason.startswith("smallest predicted overhead in elements: ")
        event(migration.reason.split()[5])


A, B = stream("a", x="integer").window(10), stream("b", y="integer").window(10)
DEAR = col("x") > 5
ON = [("x", "y")]


def running(query: Stream) -> Engine:
    engine = Engine(query.plan())
    for name, step in (("a", 2), ("b", 5)):
        if name in engine.streams:
            engine.push(name, chronons([(t, (t % 9,)) for t in range(0, 21, step)]))
    return engine


def test_a_stateless_change_is_swapped() -> None:
    migration = running(A.filter(DEAR)).migrate(A.filter(DEAR).filter(DEAR).plan(), "auto")
    assert [type(part) for part in migration.parts] == [Swap]
    assert migration.reason.startswith("smallest predicted overhead in elements: swap 0 (0 chronons); ")


def test_a_join_is_moved_with_its_state() -> None:
    """By hand: 0.5 + 0.2 elements in a chronon, for 11 chronons, up to behind the end of the last element;
    the state has the same end, because that element is kept. To copy what is kept, twice counted, takes less,
    and one chronon."""
    pairs, early = A.join(B, on=ON).filter(DEAR), A.filter(DEAR).join(B, on=ON)
    engine = running(pairs)
    kept = box_of(engine).size()
    predicted = prepare(host_of(engine), early.plan(), STRATEGIES["genmig"]).predict()
    assert predicted == Prediction("genmig", 11, kept + 8, 16)
    migration = engine.migrate(early.plan(), "auto")
    assert [type(part) for part in migration.parts] == [Migration]
    assert migration.reason == (
        f"smallest predicted overhead in elements: moving-states {2 * kept + 2} (1 chronons); "
        f"genmig-reference-point {kept + 16} (11 chronons); "
        f"genmig-end-timestamp {kept + 24} (11 chronons); genmig {kept + 24} (11 chronons); "
        f"parallel-track {kept + 45} (21 chronons); swap refused: "
        "swap would lose the state of join x = y of the old plan, which the other plan does not have in the "
        "same place; use genmig"
    )
    assert report(migration).duration == 1


def test_an_earlier_split_time_wins() -> None:
    """The filter has dropped all but one of the elements that the inputs' ends count."""
    early = A.filter(DEAR).distinct().join(B, on=ON)
    engine = Engine(early.plan())
    engine.push("a", chronons([(0, (7,)), *((t, (0,)) for t in range(1, 9))]))
    engine.advance("b", 8)
    migration = engine.migrate(A.distinct().filter(DEAR).join(B, on=ON).plan(), "auto")
    assert [type(part) for part in migration.parts] == [Migration]
    assert migration.reason.split()[5] == "genmig-end-timestamp"
    assert report(migration).split_time == 11
    assert "; genmig " in migration.reason


def test_where_none_is_applicable_all_reasons_are_told() -> None:
    engine = running(A.filter(DEAR))
    with pytest.raises(MigrationRefused) as refusal:
        engine.migrate(stream("a", x="integer").window(11).filter(DEAR).plan(), "auto")
    text = str(refusal.value)
    assert text.startswith("no strategy is applicable: swap: the windows on the way to the output out differ")
    assert (
        "; genmig-reference-point, genmig-end-timestamp, genmig, parallel-track, moving-states: the plans"
        in text
    )


def test_a_reason_that_all_have_is_told_once() -> None:
    both = A.join(B, on=ON, columns=["x"])
    with pytest.raises(MigrationRefused, match=r"^no strategy is applicable: the plans have "):
        running(both).migrate(A.plan(), "auto", unproved="accept")


def test_the_first_of_equals_is_taken_and_the_caller_s_own_choice_has_no_reason() -> None:
    one, other = Prediction("one", 5, 3, 4), Prediction("other", 5, 4, 3)
    assert cheapest([one, other], {})[0] is one
    assert cheapest([other, one], {})[0] is other
    migration = running(A.filter(DEAR)).migrate(A.filter(DEAR).plan(), replace_all=True)
    assert [type(part) for part in migration.parts] == [Migration]
    assert migration.reason == ""


@pytest.mark.parametrize(("split", "now"), [(10.5, 11), (BEGINNING, 3), (10.5, BEGINNING)])
def test_a_split_time_that_is_reached_costs_nothing(split: float, now: float) -> None:
    assert Prediction.of("x", split=split, now=now, rate=9.0, old_state=9, steps=2).overhead == 0


def test_a_rate_needs_two_starts() -> None:
    assert rate([Observation(1, 4, 9, [(3, 9, ())]), Observation(2, 4, 9, [(3, 9, ())] * 2)]) == 0.0


def test_of_boxes_it_is_the_earlier_split_time() -> None:
    """Of two, that behind what the state answers for."""
    old = PlanBox(A.filter(DEAR).plan(), [A.node])
    old.push(0, [(3, 90, (1,))])
    migration, _ = migrate_box(old, PlanBox(old.plan, [A.node]), STRATEGIES["auto"], [90], [3])
    assert migration.split == BEGINNING, "the filter keeps nothing"
