"""Moving states: the new plan begins with what is still valid, by a log or by the state of joins."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from migration_law import Scenario, check, scenarios

from midstream.engine import Engine
from midstream.migration.auto import Prediction
from midstream.migration.report import report
from midstream.migration.strategies import STRATEGIES, find_strategy, migrate_box, prepare
from midstream.operators.plan_box import PlanBox
from midstream.operators.signs import signed_plan
from midstream.plans.aggregates import count
from midstream.plans.builder import Stream, stream
from midstream.plans.errors import MigrationRefused, PlanError
from midstream.plans.expressions import col
from midstream.plans.plan import Plan
from midstream.plans.properties import logical
from midstream.plans.streams import BEGINNING, FOREVER, chronons
from midstream.testing import implemented, plans, verdict, workloads


@given(scenarios("moving-states"))
def test_the_law_with_a_log(scenario: Scenario) -> None:
    """I45: any plan, at any moment."""
    for migration in check(replace(scenario, is_logged=True)):
        event(f"copied: {any(part.peak_new for part in migration.parts)}")
        event(f"fused: {migration.origins().fused > 0}")


@given(scenarios("genmig", moves=3), st.data())
def test_the_law_among_others_with_a_log(scenario: Scenario, data: st.DataObject) -> None:
    """One after the other, and within each other."""
    kinds = st.sampled_from(("moving-states", "moving-states", "genmig", "swap", "auto"))
    moves = [(at, plan, data.draw(kinds)) for at, plan, _ in scenario.moves]
    last = len(scenario.workload.events)
    aborts = [(data.draw(st.integers(at, last)), i) for i, (at, _, _) in enumerate(scenario.moves)]
    wanted = aborts[: data.draw(st.integers(0, 2))]
    check(replace(scenario, moves=moves, is_logged=True, aborts=wanted))
