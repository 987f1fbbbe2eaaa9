"""The law of migration, under any interleaving, at any moment, between any plans that mean the same:

the output of the migrated run equals that of the old plan alone, snapshot by snapshot, and is in order; and
the migration ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import event, given, target
from hypothesis import strategies as st

from midstream.engine import Engine
from midstream.migration.machine import Migration, Phase
from midstream.migration.report import report
from midstream.migration.strategies import STRATEGIES
from midstream.operators.plan_box import PlanBox
from midstream.optimizer.enumeration import neighbours, with_linked_joins
from midstream.plans.errors import MigrationRefused
from midstream.plans.plan import Plan
from midstream.plans.streams import FOREVER
from midstream.testing import Event, Workload, drive, is_ordered, plans, verdict, workloads


@dataclass(frozen=True)
class Scenario:
    """A workload, and after which events to migrate to which plan in which way."""

    workload: Workload
    moves: Sequence[tuple[int, Plan, str]]


@st.composite
def equivalents(draw: st.DrawFn, plan: Plan) -> Plan:
    """A plan that a random chain of rewrites leads to; the plan itself where no rule applies."""
    current = with_linked_joins(plan)
    for _ in range(draw(st.integers(0, 4))):
        found = list(neighbours(current))
        if not found:
            break
        current = draw(st.sampled_from(found))
    return current


@st.composite
def scenarios(draw: st.DrawFn, strategy: str = "genmig", moves: int = 1) -> Scenario:
    """Migrations at random moments; in some, elements are valid for ever, which refuses migrations that come
    after them."""
    preserving = strategy == "genmig-reference-point"
    forever = draw(st.integers(0, 4)) == 0
    workload = draw(workloads(plans(preserving=preserving, forever=forever), forever=forever))
    times = sorted(draw(st.lists(st.integers(0, len(workload.events)), min_size=moves, max_size=moves)))
    return Scenario(workload, [(at, draw(equivalents(workload.plan)), strategy) for at in times])


def migrated(scenario: Scenario) -> tuple[list, list[Migration], Engine]:
    """Run a scenario to the end of all streams."""
    results: list = []
    engine = Engine(scenario.workload.plan, results.extend)
    migrations: list[Migration] = []
    events: list[Event] = list(scenario.workload.events)
    for i in range(len(events) + 1):
        for at, plan, strategy in scenario.moves:
            if at == i:
                migrations += try_to_migrate(engine, plan, strategy)
        drive(engine, events[i : i + 1])
    engine.close()
    return results, migrations, engine


def try_to_migrate(engine: Engine, plan: Plan, strategy: str) -> list[Migration]:
    """Migrate, unless something is valid for ever; then the refusal must say so and leave the engine
    alone."""
    if FOREVER not in engine.input_max_ends():
        return [engine.migrate(plan, strategy)]
    box = engine.box
    with pytest.raises(MigrationRefused, match=r"valid for ever|reference-point"):
        engine.migrate(plan, strategy)
    assert engine.box is box
    return []


def check(scenario: Scenario) -> list[Migration]:
    """The law."""
    results, migrations, engine = migrated(scenario)
    outcome = verdict(scenario.workload.specified(), results)
    assert outcome, str(outcome)
    assert is_ordered(results)
    assert all(isinstance(t, int) or t == FOREVER for start, end, _ in results for t in (start, end))
    for migration in migrations:
        assert migration.phase is Phase.DONE
        assert migration.old is None
        assert report(migration).unmatched == 0
    assert isinstance(engine.box, PlanBox)
    assert engine.box.size() == 0
    return migrations


@given(scenarios("genmig"))
def test_genmig(scenario: Scenario) -> None:
    """I6: GenMig, any plan."""
    for migration in check(scenario):
        event(f"both plans gave results: {min(migration.origins().old, migration.origins().new) > 0}")
        target(migration.origins().fused)


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
    mixed = Scenario(scenario.workload, moves)
    try:
        check(mixed)
    except MigrationRefused as refusal:
        assert "reference-point" in str(refusal)


@given(scenarios("genmig"))
def test_progress_is_a_promise_during_a_migration(scenario: Scenario) -> None:
    """I2 holds for a migration as for any box, and the split time does not show in its progress."""
    promised = [float("-inf")]

    def sink(batch: list) -> None:
        assert all(start >= promised[-1] for start, _, _ in batch)

    engine = Engine(scenario.workload.plan, sink)
    for i, happening in enumerate(scenario.workload.events):
        for at, plan, strategy in scenario.moves:
            if at == i:
                try_to_migrate(engine, plan, strategy)
        progress = engine.box.progress()
        assert progress >= promised[-1]
        if isinstance(engine.box, Migration):
            assert isinstance(progress, int) or progress in (FOREVER, -FOREVER)
            assert engine.box.size() == len(list(engine.box.state()))
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
    moved, old, new = Engine(workload.plan, results.extend), Engine(workload.plan), Engine(plan)
    for i, happening in enumerate(workload.events):
        if at == i:
            try_to_migrate(moved, plan, "genmig")
        for engine in (moved, old, new):
            drive(engine, [happening])
        assert moved.box.progress() >= min(old.box.progress(), new.box.progress())


def test_the_strategies_are_those_listed() -> None:
    """A strategy without a test of the law would go unnoticed."""
    assert set(STRATEGIES) == {"genmig", "genmig-reference-point"}


def test_unknown_strategy() -> None:
    from midstream.plans.builder import stream

    plan = stream("s", x="integer").window(5).plan()
    with pytest.raises(MigrationRefused, match="no strategy genmik; did you mean genmig"):
        Engine(plan).migrate(plan, "genmik")
