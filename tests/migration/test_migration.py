"""The law of migration, under any interleaving, at any moment, between any plans that mean the same:

the output of the migrated run equals that of the old plan alone, snapshot by snapshot, and is in order; and
the migration ends.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import event, given, settings, target
from hypothesis import strategies as st
from inside import box_of
from migration_law import (
    ONE_COLUMN,
    Scenario,
    check,
    dense,
    engine_for,
    equations,
    scenarios,
    try_to_migrate,
)

from midstream.engine import Engine
from midstream.migration.machine import Phase
from midstream.migration.strategies import STRATEGIES
from midstream.migration.transition import Transition
from midstream.plans.algebra.builder import stream
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import FOREVER
from midstream.testing import (
    drive,
)


@given(scenarios("genmig"))
def test_genmig(scenario: Scenario) -> None:
    """I6: GenMig, any plan."""
    for migration in check(scenario):
        event(f"both plans gave results: {min(migration.origins().old, migration.origins().new) > 0}")
        target(migration.origins().fused)


@settings(max_examples=settings.default.max_examples // 2)
@pytest.mark.parametrize("number", range(len(equations(*ONE_COLUMN))))
@given(data=st.data())
def test_genmig_by_an_equation(number: int, data: st.DataObject) -> None:
    """I6 for the operators that compare two streams, each by what it is equal to."""
    for migration in check(data.draw(dense(number))):
        event(f"fused: {min(migration.origins().fused, 3)}")


@given(scenarios("genmig-reference-point"))
def test_reference_point(scenario: Scenario) -> None:
    """I7: the reference-point method, plans of filters, maps, unions and joins."""
    check(scenario)


@given(scenarios("genmig", moves=2))
def test_two_migrations(scenario: Scenario) -> None:
    """I8: a second migration, after the first or while it is under way."""
    check(scenario)


@given(scenarios("genmig", moves=3), st.data())
def test_migrations_of_different_kinds(scenario: Scenario, data: st.DataObject) -> None:
    """Chains may mix strategies where each is allowed."""
    moves = []
    for at, plan, _ in scenario.moves:
        strategy = data.draw(st.sampled_from(sorted(STRATEGIES)))
        moves.append((at, plan, strategy))
    check(Scenario(scenario.workload, moves))


@given(scenarios("genmig"))
def test_progress_is_a_promise_during_a_migration(scenario: Scenario) -> None:
    """I2 holds for a migration as for any box, and the split time does not show in its progress."""
    promised = [float("-inf")]

    def sink(batch: list) -> None:
        assert all(start >= promised[-1] for start, _, _ in batch)

    engine = engine_for(scenario.workload, sink)
    migrations: list[Transition] = []
    for i, happening in enumerate(scenario.workload.events):
        for at, plan, strategy in scenario.moves:
            if at == i:
                migrations += try_to_migrate(engine, plan, strategy, scenario.whole)
        progress = box_of(engine).progress()
        assert progress >= promised[-1]
        assert isinstance(progress, int) or progress in (FOREVER, -FOREVER)
        for part in (part for migration in migrations for part in migration.parts):
            event(f"the part is {part.phase.value}")
            for told in map(part.progress, range(len(part.outputs))):
                assert isinstance(told, int) or told in (FOREVER, -FOREVER)
            assert part.size() == len(list(part.state()))
        promised.append(progress)
        drive(engine, [happening])


@given(scenarios("genmig"))
def test_no_result_comes_later_than_the_slower_plan_gives_it(scenario: Scenario) -> None:
    """I9: after every event, what has come out covers all that both plans, run alone, have given by then.

    Compared are the snapshots before the instant up to which both have given everything.
    """
    workload = scenario.workload
    ((at, plan, _),) = scenario.moves
    results: list = []
    moved, old = engine_for(workload, results.extend), engine_for(workload)
    new = engine_for(replace(workload, plan=plan))
    for i, happening in enumerate(workload.events):
        if at == i:
            try_to_migrate(moved, plan, "genmig")
        for engine in (moved, old, new):
            drive(engine, [happening])
        assert box_of(moved).progress() >= min(box_of(old).progress(), box_of(new).progress())


@given(scenarios("genmig", moves=2), st.data())
def test_a_migration_that_moves_can_be_aborted(scenario: Scenario, data: st.DataObject) -> None:
    """I40: at any moment, of any kind, also one within another; then the run is that of the old plan."""
    moves = [(at, plan, data.draw(st.sampled_from(sorted(STRATEGIES)))) for at, plan, _ in scenario.moves]
    last = len(scenario.workload.events)
    aborts = [
        (at + data.draw(st.integers(0, min(6, last - at))), i) for i, (at, _, _) in enumerate(scenario.moves)
    ]
    wanted = aborts[: data.draw(st.integers(1, 2))] if data.draw(st.booleans()) else aborts[1:]
    for migration in check(replace(scenario, moves=moves, aborts=wanted)):
        event(f"{type(migration).__name__} {migration.phase.value}")


@given(scenarios("genmig", moves=2), st.data())
def test_a_new_plan_that_fails_gives_way_to_the_old_one(scenario: Scenario, data: st.DataObject) -> None:
    """I41: nothing of the event in which it fails is lost."""
    kinds = st.sampled_from(("genmig", "genmig-end-timestamp", "parallel-track"))
    moves = [(at, plan, data.draw(kinds)) for at, plan, _ in scenario.moves]
    stands = data.draw(st.lists(st.integers(0, 6), min_size=2, max_size=2))
    for migration in check(replace(scenario, moves=moves, stands=stands)):
        event(f"{type(migration).__name__} failed: {migration.failure is not None}")
        if migration.failure is not None:
            assert migration.reason == "the new plan failed: ZeroDivisionError: it stands no more"


@given(scenarios("genmig"), st.sampled_from(("genmig", "genmig-end-timestamp", "genmig-reference-point")))
def test_results_come_when_the_old_plan_gives_them(scenario: Scenario, strategy: str) -> None:
    """I42: as long as a migration moves, the very same elements have come as without it."""
    ((at, plan, _),) = scenario.moves
    moved: list = []
    unmoved: list = []
    one, other = engine_for(scenario.workload, moved.extend), engine_for(scenario.workload, unmoved.extend)
    migrations: list[Transition] = []
    for i, happening in enumerate(scenario.workload.events):
        if at == i:
            migrations = try_to_migrate(one, plan, strategy)
        drive(one, [happening])
        drive(other, [happening])
        if any(migration.phase is not Phase.MOVING for migration in migrations):
            break
        # A single output is never ahead of all inputs.
        assert Counter(moved) == Counter(unmoved)


def test_unknown_strategy() -> None:
    plan = stream("s", x="integer").window(5).plan()
    with pytest.raises(MigrationRefused, match="no strategy genmik; did you mean genmig"):
        Engine(plan).migrate(plan, "genmik")
