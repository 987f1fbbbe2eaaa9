"""docs/simulator.md: its scenario runs, and it names everything that a scenario may have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from midstream.plans.values.errors import InputFileError
from midstream.scenarios.streams import stream_spec
from midstream.scenarios.trials.simulator.conditions import MEASURES
from midstream.scenarios.trials.simulator.results import OF_POLICIES
from midstream.scenarios.trials.simulator.scenario import parse_scenario
from midstream.scenarios.trials.simulator.scenario_policies import known_policies
from midstream.scenarios.trials.simulator.scenario_spec import (
    BudgetSpec,
    LaterQueriesSpec,
    MeasuresSpec,
    MigrationSpec,
    PolicySpec,
    ScenarioSpec,
    StrategySpec,
    WorkloadSpec,
)
from midstream.scenarios.trials.simulator.simulating import simulate


@pytest.fixture
def guide(root: Path) -> str:
    """The text."""
    file = root / "docs/simulator.md"
    if not file.is_file():
        pytest.skip("the documents are not next to the tests")
    return file.read_text(encoding="utf-8")


def test_the_scenario_runs(guide: str) -> None:
    text, _ = re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL)
    found = simulate(parse_scenario("guide.yaml", text, Path()))
    assert [
        (one.strategy, one.verdict) for one in found.compared if one.strategy in found.compared_strategies
    ] == [
        ("genmig", "equal"),
        ("genmig-reference-point", "equal"),
        ("parallel-track", "equal"),
    ]
    for one in found.runs:
        if one.strategy in found.compared_strategies:
            assert [move.asked for move in one.migrations] == [9000, 15_000]


@pytest.mark.slow
def test_policies_are_judged_as_is_told(guide: str) -> None:
    _, text = re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL)
    found = simulate(parse_scenario("my-streams.yaml", text, Path()))
    assert found.is_equal and found.unpriced is None
    assert [(one.claim, one.finding) for one in found.claims if one.finding != "holds"] == []
    assert found.policies == (
        *("clicks and orders first alone", "orders and payments first alone", "clairvoyant"),
        *("repeat last best", "eager autopilot", "hindsight"),
    )


def test_the_fault_is_the_one_that_is_told(guide: str) -> None:
    text, _ = re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL)
    (told,) = re.findall(r"```text\n(my\.yaml, line.*?)```", guide, re.DOTALL)
    with pytest.raises(InputFileError) as caught:
        parse_scenario("my.yaml", text.replace("item: {values: uniform", "item: {values: unifrom"), Path())
    assert str(caught.value).split() == told.split()


def test_budgets_are_read_as_told(guide: str) -> None:
    parts = [text for text in re.findall(r"```text\n(.*?)```", guide, re.DOTALL) if "memory:" in text]
    parts += [text for text in re.findall(r"```text\n(.*?)```", guide, re.DOTALL) if "workload:" in text]
    (claim,) = (line for line in guide.splitlines() if line.endswith("throughout from 60 s to 120 s"))
    text = f"name: told\nduration: 165 s\nmeasures: {{every: 3 s}}\n{''.join(parts)}claims:\n  - {claim}\n"
    scenario = parse_scenario("told.yaml", text, Path())
    assert len(scenario.queries) == 575 and len(scenario.budgets) == 2 and len(scenario.claims) == 1


def test_every_key_is_named(guide: str) -> None:
    specs = [getattr(stream_spec, name) for name in vars(stream_spec) if name[0].isupper()]
    models = [one for one in specs if isinstance(one, type) and issubclass(one, stream_spec.Strict)]
    assert len(models) > 10
    models += [ScenarioSpec, MigrationSpec, StrategySpec, PolicySpec, MeasuresSpec]
    for model in [*models, BudgetSpec, WorkloadSpec, LaterQueriesSpec]:
        for key in (field.alias or name for name, field in model.model_fields.items()):
            assert re.search(rf"`{key}`|\b{key}:", guide), f"{model.__name__}.{key}"
    for measure in (*MEASURES, *OF_POLICIES, *known_policies()):
        assert f"`{measure}`" in guide
