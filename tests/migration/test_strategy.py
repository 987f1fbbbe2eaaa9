"""A strategy is a file: one of somebody else's, in the table, is a way to migrate as ours are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from unittest.mock import patch

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from migration_law import Scenario, check, scenarios

import midstream as ms
from midstream.migration.fork import fork
from midstream.migration.fuse import Fuse
from midstream.migration.machine import Migration, Phase
from midstream.migration.migrate import Prepared, migrate_box, prepare, require_possible
from midstream.migration.preconditions import require_intervals, require_of_operators, require_reducible
from midstream.migration.split_time import behind_inputs
from midstream.migration.strategies import STRATEGIES
from midstream.migration.strategy import Edit, Part, Strategy, Subplan
from midstream.operators.base.box import Box
from midstream.operators.engine.graph.host import Host
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import Time


@dataclass(frozen=True, slots=True)
class LateStrategy(Strategy):
    """GenMig, some chronons later than need be."""

    name: str = "late"
    chronons: int = 3

    def check(self, part: Subplan) -> None:
        """As for GenMig; inputs are streams of intervals."""
        require_of_operators(part.change, require_reducible)
        require_intervals(part.change.inputs)

    def plan(self, part: Part) -> Edit:
        """A later split time is as good."""
        return Edit(part, behind_inputs(part.box, part.max_ends) + self.chronons)

    def begin(self, edit: Edit, new: Box, reached: Sequence[Time]) -> Migration:
        """A fork at each input, a fuse at each output."""
        forks = [fork(edit.split) for _ in new.inputs]
        joiners = [Fuse(edit.split) for _ in new.outputs]
        return Migration(edit.part.box, new, edit.split, reached, forks, joiners)


ADDED = patch.dict(STRATEGIES, {"late": LateStrategy()})  # type: ignore[arg-type]


@pytest.mark.parametrize("strategy", [*STRATEGIES])
@given(data=st.data(), is_logged=st.booleans())
def test_the_law_by_each(strategy: str, data: st.DataObject, is_logged: bool) -> None:
    """I37: whatever is in the table. What is refused can be told without planning: whatever the plans, and at
    any moment, `require_possible` refuses what `prepare` does."""

    def refused(host: Host, plan: Plan, chosen: Strategy, query: str) -> str | None:
        try:
            require_possible(host, plan, chosen, query)
        except MigrationRefused as refusal:
            return str(refusal)
        return None

    def prepared(host: Host, plan: Plan, chosen: Strategy, query: str, replace_all: bool = False) -> Prepared:
        told = None if chosen.name == "auto" or replace_all else refused(host, plan, chosen, query)
        try:
            found = prepare(host, plan, chosen, query, replace_all=replace_all)
        except MigrationRefused as refusal:
            assert chosen.name == "auto" or replace_all or told == str(refusal), (
                "require_possible told something else"
            )
            event(f"{chosen.name} refused")
            raise
        assert told is None, "require_possible refuses more than prepare"
        event(f"{chosen.name} prepared")
        return found

    scenario = data.draw(scenarios(strategy))
    with patch("midstream.migration.transition.prepare", prepared):
        for migration in check(replace(scenario, is_logged=is_logged)):
            event(f"{strategy} {migration.phase.value}")


@given(scenarios("late"))
def test_the_law_by_one_of_somebody_else(scenario: Scenario) -> None:
    with ADDED:
        for migration in check(scenario):
            event(migration.phase.value)


@given(scenarios("auto"))
def test_it_is_compared_with_others(scenario: Scenario) -> None:
    with ADDED:
        for migration in check(scenario):
            assert "; late " in migration.reason


@ADDED
def test_it_is_asked_for_by_name_and_may_have_options() -> None:
    s = ms.stream("s", x="integer").window(10)
    engine = ms.Engine(s.filter(ms.col("x") > 3).distinct())
    engine.push("s", ms.chronons([(0, (4,))]))
    assert engine.migrate(s.distinct().filter(ms.col("x") > 3), "late").split == 13.5
    with pytest.raises(ms.MigrationRefused, match="no strategy lat; did you mean late"):
        engine.migrate(s.distinct(), "lat")
    later = replace(LateStrategy(), chronons=5)
    plan = ms.stream("s", {"x": "integer"}, intervals=True).distinct().plan()
    migration, _ = migrate_box(PlanBox(plan), PlanBox(plan), later, [10], [0])
    assert (migration.split, migration.phase) == (15.5, Phase.MOVING)
