"""GenMig over signed streams: old and new plans of either form, in any mixture."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from migration_law import Scenario, arranged, check, equivalents

from midstream.engine import Engine
from midstream.migration.report import report
from midstream.migration.signed import signed_fork
from midstream.operators.planner import form
from midstream.operators.signs import signed_plan
from midstream.plans.builder import Stream, stream
from midstream.plans.errors import MigrationRefused
from midstream.plans.expressions import col
from midstream.plans.plan import Plan
from midstream.plans.snapshots import normal_form
from midstream.plans.streams import chronons
from midstream.testing import implemented, plans, verdict, workloads


@st.composite
def carried_out(draw: st.DrawFn, plan: Plan, at_least_one: bool = False) -> Plan:
    """The plan in signs, in intervals, or in a mixture; windows may be of either form."""
    kind = draw(st.integers(0 if at_least_one else -1, 2))
    if kind == 2 and draw(st.booleans()):
        plan = draw(arranged(plan))
    return plan if kind < 0 else draw(implemented(plan)) if kind else signed_plan(plan)


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


@given(scenarios(1))
def test_the_law(scenario: Scenario) -> None:
    """I46: plans of positives and negatives."""
    for migration in check(scenario):
        event(f"parts: {bool(migration.parts)}")
        event(f"fused: {migration.origins().fused > 0}")


@given(scenarios(2))
def test_the_law_of_two(scenario: Scenario) -> None:
    """One after the other, and within each other."""
    check(scenario)
