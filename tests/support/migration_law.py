"""The law of migration as functions: scenarios at random, and what must hold of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from hypothesis import strategies as st
from inside import box_of, input_max_ends

from midstream.arrivals import interleave
from midstream.engine import Engine
from midstream.migration.changes import around
from midstream.migration.machine import Migration, Phase
from midstream.migration.report import report
from midstream.migration.trace import SAMPLES
from midstream.migration.transition import Transition
from midstream.operators.base.box import Box, driver
from midstream.operators.base.walk import Take
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import input_nodes, logical_plan
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Time
from midstream.testing import (
    WHOLE,
    Event,
    Workload,
    drive,
    is_ordered,
    plans,
    verdict,
    workloads,
)
from midstream.testing.families import carried_out, equations, pairs
from midstream.testing.law import is_bounded, is_preserving, vouched
from midstream.testing.rephrasing import STATEFUL, STATELESS, rephrased


@dataclass(frozen=True)
class Scenario:
    """A workload, after which events to migrate to which plan in which way, after which to abort the how
    manieth migration, and how many events the new plan of each stands."""

    workload: Workload
    moves: Sequence[tuple[int, Plan, str]]
    whole: bool = False
    aborts: Sequence[tuple[int, int]] = ()
    stands: Sequence[int] = ()
    is_logged: bool = False


ONE_COLUMN = [stream(name, {u: "integer"}, intervals=True) for name, u in zip("abc", "uuv", strict=True)]
"""Streams for `equations`."""

SLOW = "it is too slow"
"""Why migrations are aborted."""


class Brittle:
    """A Box that fails on one of its events, as long as the migration to it moves."""

    def __init__(self, box: Box, migration: Migration, stands: int) -> None:
        self._box = box
        self._migration = migration
        self._left = stands

    @property
    def successor(self) -> Box | None:
        """It is out of danger once the old plan is gone."""
        return None if self._migration.phase is Phase.MOVING else self._box

    def push(self, port: int, batch: Batch) -> list[Batch]:
        self._stand()
        return self._box.push(port, batch)

    def advance(self, port: int, time: Time) -> list[Batch]:
        self._stand()
        return self._box.advance(port, time)

    def process(self, port: int, batch: Batch, progress: Time) -> list[Batch]:
        self._stand()
        return driver(self._box).process(port, batch, progress)

    def _stand(self) -> None:
        if not self._left and self._migration.phase is Phase.MOVING:
            raise ZeroDivisionError("it stands no more")
        self._left -= 1

    def __getattr__(self, name: str) -> Any:
        return getattr(self._box, name)


@st.composite
def equivalents(draw: st.DrawFn, plan: Plan, *, preserving: bool = False) -> Plan:
    """A plan that means the same, seldom the plan itself; `preserving` brings no operators with state."""
    if draw(st.integers(0, 7)) == 0:
        return logical_plan(plan)
    return draw(rephrased(plan, STATELESS if preserving else STATEFUL))


@st.composite
def scenarios(draw: st.DrawFn, strategy: str = "genmig", moves: int = 1) -> Scenario:
    """Migrations at random moments; in some, elements are valid for ever, which refuses migrations that come
    after them."""
    preserving = strategy == "genmig-reference-point"
    forever = draw(st.integers(0, 4)) == 0
    if preserving:
        old = draw(plans(preserving=True, forever=forever, windows=True, relations=True))
        others = [draw(equivalents(old, preserving=True)) for _ in range(moves)]
    elif draw(st.booleans()):
        old, new = draw(pairs(forever))
        others = [draw(carried_out((new, old)[i % 2])) for i in range(moves)]
    else:
        old = draw(plans(forever=forever, **(WHOLE if draw(st.booleans()) else {})))
        others = [draw(carried_out(draw(equivalents(old)))) for _ in range(moves)]
    first = old if preserving else draw(carried_out(old))
    workload = draw(workloads(st.just(first), forever=forever))
    times = sorted(draw(st.lists(st.integers(0, len(workload.events)), min_size=moves, max_size=moves)))
    found = [(at, plan, strategy) for at, plan in zip(times, others, strict=True)]
    return Scenario(workload, found, draw(st.booleans()))


def migrated(scenario: Scenario) -> tuple[list, list[Transition], Engine]:
    """Run a scenario to the end of all streams."""
    results: list = []
    engine = engine_for(scenario.workload, results.extend)
    if scenario.is_logged:
        assert engine.keep_log() == BEGINNING
    migrations: list[Transition] = []
    events: list[Event] = list(scenario.workload.events)

    for i in range(len(events) + 1):
        for at, plan, strategy in scenario.moves:
            if at == i:
                found = try_to_migrate(engine, plan, strategy, scenario.whole)
                migrations += found
                for part in (part for migration in found for part in migration.parts):
                    if len(migrations) <= len(scenario.stands) and part.phase is Phase.MOVING:
                        part.backlog.adopt(Brittle(part.new, part, scenario.stands[len(migrations) - 1]))
        for at, number in scenario.aborts:
            if at == i and number < len(migrations) and migrations[number].phase is Phase.MOVING:
                abort(migrations[number])
        drive(engine, events[i : i + 1])
    engine.close()
    return results, migrations, engine


def abort(migration: Transition) -> None:
    """Abort, unless a later migration has made it a part of what it is to replace."""
    try:
        migration.abort(SLOW)
    except MigrationRefused as refusal:
        assert "a later migration has begun" in str(refusal)


def engine_for(workload: Workload, sink: Take | None = None) -> Engine:
    """An engine that runs a workload's plan over its relations."""
    return Engine(workload.plan, sink, relations=workload.relations)


def ask(engine: Engine, plan: Plan, strategy: str, query: str | None = None, **how: Any) -> Transition:
    """Migrate: all that is tried at random goes through here. The plans mean the same by how they were made,
    which the normal form need not see."""
    return vouched(engine, plan, strategy, query, **how)


def try_to_migrate(engine: Engine, plan: Plan, strategy: str, whole: bool = False) -> list[Transition]:
    """Migrate, unless something is valid for ever, a relation forbids it, or windows or, with swap, something
    stateful differ; then the refusal must say so and leave the engine alone.

    What is allowed of whole plans must not be refused of parts of them; the other way round it may be.
    """
    is_allowed = is_bounded(engine.plan) and is_bounded(plan) and FOREVER not in input_max_ends(engine)
    is_allowed &= set(input_nodes(logical_plan(plan))) == set(input_nodes(logical_plan(engine.plan)))
    running = engine.query().physical
    preserves = is_preserving(running) and not engine.query().is_exchanged
    preserves = preserves and is_preserving(around(plan, running))
    must = {
        "genmig": is_allowed,
        "genmig-end-timestamp": is_allowed,
        "genmig-reference-point": is_allowed and preserves,
        "moving-states": is_allowed,
        "auto": is_allowed,
    }.get(strategy, False)
    if strategy == "moving-states":
        # Of what both plans arrange below a window there is no log.
        must &= engine.query().is_logged and set(input_nodes(plan)) == set(input_nodes(engine.plan))
    may = not whole or strategy not in ("genmig", "genmig-reference-point") or must
    physical, meant = engine.query().physical, engine.plan
    try:
        migrations = [ask(engine, plan, strategy, replace_all=whole)]
    except MigrationRefused as refusal:
        assert not must, refusal
        assert re.search(
            r"valid for ever|reference-point|rows of a relation|differ below|swap|parallel track|(a|no) log",
            str(refusal),
        )
        assert engine.query().physical is physical
        assert engine.plan is meant
        return []
    assert may
    return migrations


def check(scenario: Scenario) -> list[Transition]:
    """The law."""
    results, migrations, engine = migrated(scenario)
    outcome = verdict(scenario.workload.specified(), results)
    assert outcome, str(outcome)
    assert is_ordered(results)
    assert all(isinstance(t, int) or abs(t) == FOREVER for start, end, _ in results for t in (start, end))
    for number, migration in enumerate(migrations):
        assert number < len(scenario.stands) or migration.failure is None, migration.failure
        found = report(migration)
        is_aborted = found.phase == "aborted"
        assert is_aborted or migration.phase is Phase.DONE
        assert is_aborted == (migration.failure is not None or migration.reason == SLOW)
        assert all(part.old is None for part in migration.parts)
        assert found.unmatched == 0
        assert found.peak_held <= found.held_bound
        assert len(migration.trace) <= (SAMPLES + 4) * len(migration.parts)
        assert all(part.trace[-1].phase == part.phase.value for part in migration.parts)
    assert not engine.query().is_exchanged
    assert isinstance(box_of(engine), PlanBox)
    assert box_of(engine).size() == 0
    return migrations


@st.composite
def dense(draw: st.DrawFn, number: int) -> Scenario:
    """An early migration by one of the equations, amid elements that are often equal and meet often."""
    old, new = (query.plan() for query in equations(*ONE_COLUMN)[number])
    if draw(st.booleans()):
        old, new = new, old
    steps = st.tuples(st.integers(0, 2), st.integers(1, 8), st.tuples(st.integers(0, 1)))
    streams: dict = {}
    for source in old.sources:
        drawn = draw(st.lists(steps, min_size=12, max_size=20))
        starts = accumulate(gap for gap, _, _ in drawn)
        streams[source.stream] = [(t, t + n, row) for t, (_, n, row) in zip(starts, drawn, strict=True)]
    events: list[Event] = [("push", name, batch) for name, batch in interleave(streams, batch_size=1)]
    workload = Workload(draw(carried_out(old)), streams, events)
    return Scenario(workload, [(draw(st.integers(0, 8)), draw(carried_out(new)), "genmig")], True)
