"""Scenarios within budgets: queries that come, series and claims, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from simulated import scenario, stream

from midstream.plans.values.errors import InputFileError
from midstream.scenarios.trials.simulator.report import report_html, write_charts
from midstream.scenarios.trials.simulator.results import Run, Simulation
from midstream.scenarios.trials.simulator.scenario import Scenario
from midstream.scenarios.trials.simulator.simulating import simulate

WORKLOAD: dict[str, Any] = {
    "queries": 20,
    "windows": ["1 s", "3 s"],
    "granules": ["1 ms", "20 ms"],
    "rates": [1, 20],
    "streams": 8,
    "later": [{"at": "8 s", "until": "10 s", "every": "500 ms", "share": 0.05}, {"at": "14 s", "share": 0.5}],
}

CLAIMS = [
    "bytes(small) <= limit(small) throughout from 0 s to 14 s",
    "bytes(small) <= limit(small) throughout from 17 s to 19 s",
    "bytes(small) from 17 s to 19 s < bytes(large) from 17 s to 19 s",
    "precision(small) < precision(large) throughout from 15 s to 19 s",
    "queries(small) from 5 s to 8 s = 20",
    "queries(small) from 10 s to 14 s = 24",
    "queries(small) from 15 s to 19 s = 34",
    "predicted_bytes(large) <= target(large) throughout from 10 s to 19 s",
    "adjustments(small) >= 2",
    "forecast_error(large) <= 0.3",
]


def within(**changes: Any) -> Scenario:
    """Random queries within a small budget and a large one."""
    given = {
        "duration": "20 s",
        "streams": {},
        "plans": {},
        "migrations": [],
        "strategies": [],
        "workload": WORKLOAD,
        "budgets": {"small": {"memory": "550 kB"}, "large": {"memory": "1 MB", "reserve": 0.2}},
        "measures": {"every": "500 ms", "bytes": True},
    }
    return scenario(**(given | changes))


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    return simulate(within(claims=CLAIMS))


def test_all_that_is_claimed(simulation: Simulation) -> None:
    assert {one.claim: one.finding for one in simulation.claims} == dict.fromkeys(CLAIMS, "holds"), (
        simulation.claims
    )
    assert simulation.strategies == ("small", "large")


def test_a_claim_of_a_part_of_the_time_looks_at_no_other() -> None:
    claims = [
        f"queries({{}}) = {number} throughout from {since} s to {until} s"
        for number, since, until in ((20, 1, 7), (20, 7, 9), (34, 15, 19))
    ]
    found = simulate(within(budgets={"one": {"memory": "1 MB"}}, claims=[c.format("one") for c in claims]))
    assert [one.finding for one in found.claims] == ["holds", "does not hold", "holds"]


def test_equal_scenarios_give_equal_series() -> None:
    one, other = (
        only(simulate(within(batch=batch, budgets={"one": {"memory": "220 kB"}}))) for batch in (1, 7)
    )
    assert one.adjustments == other.adjustments
    assert one.totals.results == other.totals.results
    assert one.series.bytes == other.series.bytes


def only(simulation: Simulation) -> Run:
    (found,) = simulation.runs
    return found


def test_plans_of_a_scenario_are_queries_of_one_engine() -> None:
    """Without a workload; a lever of both is one."""
    sql = "SELECT DISTINCT k FROM A WINDOW(RANGE MIN 500 MILLISECONDS, MAX 4 SECONDS)"
    plans = {"all": {"sql": sql}, "some": {"sql": f"{sql} WHERE k > 3"}}
    found = simulate(
        within(
            workload=None,
            streams={"A": stream(50, high=99)},
            plans=plans,
            budgets={"one": {"memory": "12 kB"}},
        )
    )
    series = only(found).series
    assert set(series.queries) == {2}
    assert max(size for size in series.bytes[20:-1] if size is not None) <= 12_000
    assert only(found).adjustments[0].levers == 1


def test_the_report_shows_memory_beside_the_budget(simulation: Simulation, tmp_path: Path) -> None:
    page = report_html(simulation)
    assert "Memory within the budget" in page and "small: at most" in page
    write_charts(simulation, tmp_path)
    assert "without reserve" in (tmp_path / "budget.svg").read_text()
    data = json.loads(json.dumps(simulation.as_dict()))
    assert data["runs"][0]["series"]["limit"][0] == 550_000
    assert data["runs"][0]["adjustments"][0]["levers"] >= 1
    assert [one["level"] for one in data["runs"][1]["errors"]] == [1, 2, 3]


def test_without_bytes_claims_about_them_are_not_measured() -> None:
    claims = ["bytes(one) <= limit(one) throughout", "queries(one) >= 20 throughout"]
    measures = {"every": "1 s"}
    found = simulate(within(budgets={"one": {"memory": "1 MB"}}, claims=claims, measures=measures))
    assert [one.finding for one in found.claims] == ["not measured", "holds"]
    report_html(found)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"budgets": {}}, "workload: found no budgets, expected one at least"),
        ({"workload": None}, "streams and plans, one of each at least, or a workload"),
        ({"budgets": {"x": {}}}, "budgets.x: budget: found no limit, expected memory=, processor= or both"),
        ({"budgets": {"x": {"memory": "10 XB"}}}, r"found '10 XB' \(str\), expected bytes, such as"),
        (
            {"budgets": {"x": {"memory": 9, "reserve": 1.0}}},
            r"budget: reserve: found 1.0 \(float\), expected a share",
        ),
        ({"budgets": {"x": {"memory": 9, "rule": "best"}}}, "found 'best', expected"),
        ({"strategies": ["genmig"]}, "budgets.small: found a budget, expected none beside strategies"),
        ({"workload": WORKLOAD | {"windows": [9, 1]}}, "windows whose first number is above 0"),
        ({"workload": WORKLOAD | {"queries": 0}}, "workload.queries"),
        ({"workload": WORKLOAD | {"later": [{"at": 0, "every": 5, "share": 0.1}]}}, "both until and every"),
        (
            {"workload": WORKLOAD | {"later": [{"at": "30 s", "share": 0.1}]}},
            r"later\[0\].at: found 30000, expected less than the duration",
        ),
        ({"streams": {"s3": stream()}}, "streams.s3: found s3, which is a stream of the workload"),
        ({"claims": ["bytes(small) <= limit(small) throughout from 0 s to 250 ms"]}, "multiples of the grid"),
        ({"claims": ["bytes(smal) <= 9"]}, "one of"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputFileError, match=message):
        within(**changes)


def test_a_budget_that_is_not_enough_does_not_hold() -> None:
    """The claim would be found out: with half of the budget, the least settings take more."""
    made = within(claims=CLAIMS[:1])
    budgets = {**made.budgets, "small": made.budgets["small"].model_copy(update={"memory": "50 kB"})}
    found = simulate(replace(made, budgets=budgets))
    assert [one.finding for one in found.claims] == ["does not hold"]
