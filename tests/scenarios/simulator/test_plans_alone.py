"""Scenarios without migrations: each plan runs alone, and windows and granules may change meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from simulated import joined, scenario, stream
from typer.testing import CliRunner

from midstream.cli import app
from midstream.operators.engine.running.planner import physical_plan
from midstream.plans.values.errors import InputFileError
from midstream.scenarios.trials.simulator.results import Simulation
from midstream.scenarios.trials.simulator.scenario import Scenario
from midstream.scenarios.trials.simulator.simulating import simulate

JOIN = joined("A", "B", "C")
COUNT = {
    "sql": "SELECT COUNT(*) AS n FROM A WINDOW(RANGE MIN 1 SECOND, MAX 2 SECONDS) "
    "GRANULARITY(COARSEST 1 SECOND, FINEST 1 MILLISECOND)"
}


def alone(**changes: Any) -> Scenario:
    """A scenario of three streams in which nothing migrates."""
    return scenario(**{"plans": {"join": JOIN}, "migrations": [], "strategies": []} | changes)


def found(simulation: Simulation) -> dict[str, str]:
    """The verdicts by run."""
    return {one.strategy: one.verdict for one in simulation.compared}


def test_every_plan_runs_alone() -> None:
    other = {"sql": f"{JOIN['sql']} AND A.k > 3"}
    simulation = simulate(alone(plans={"join": JOIN, "some of it": other}))
    assert found(simulation) == {"join alone": "equal", "some of it alone": "equal"}
    assert simulation.compares_plans and not simulation.compared_strategies
    one, part = (run.totals.results for run in simulation.runs)
    assert 0 < part < one


def test_another_way_must_mean_the_same() -> None:
    other = {"sql": f"{JOIN['sql']} AND A.k > 3", "of": "join"}
    plans = {"join": JOIN, "signs": {"of": "join", "form": "signs"}, "less": other}
    simulation = simulate(alone(plans=plans))
    assert found(simulation) == {"join alone": "equal", "signs alone": "equal", "less alone": "different"}


def test_ways_name_forms_and_implementations() -> None:
    plans = {
        "join": JOIN,
        "loops": {"of": "join", "implementations": ["nested-loops-join"]},
        "signs": {"of": "join", "form": "signs"},
        "signed loops": {"of": "join", "form": "signs", "implementations": ["signed-nested-loops-join"]},
    }
    chosen = {name: str(physical_plan(plan)) for name, plan in alone(plans=plans).plans.items()}
    expected = ("hash-join", "nested-loops-join", "signed-hash-join", "signed-nested-loops-join")
    for (name, plan), operator in zip(chosen.items(), expected, strict=True):
        joins = [line.split("─ ")[-1].split()[0] for line in plan.splitlines() if "-join" in line]
        assert set(joins) == {operator}, name
    assert set(found(simulate(alone(plans=plans))).values()) == {"equal"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"plans": {"join": JOIN, "x": {}}}, "expected exactly one of sql, file and plan"),
        ({"plans": {"join": JOIN, "x": {"of": "jion"}}}, "found 'jion', expected one of join"),
        ({"plans": {"x": {"of": "join"}, "join": JOIN}}, "found 'join', expected one of"),
        (
            {"plans": {"join": JOIN, "x": {"of": "join"}, "y": {"of": "x"}}},
            "plans.y.of: found x, which is itself another way",
        ),
        (
            {"plans": {"join": JOIN, "x": {"of": "join", "implementations": ["hash-jion"]}}},
            "plans.x.implementations: found hash-jion, expected implementations of the plan's operators",
        ),
        ({"adjustments": [{"at": "1 s"}]}, "expected one of window, granule and share"),
        ({"adjustments": [{"at": "10 s", "window": 5}]}, "found 10000, expected less than the duration"),
        ({"adjustments": [{"at": "1 s", "window": 5, "stream": "D"}]}, "found 'D', expected one of A, B, C"),
        ({"adjustments": [{"at": "1 s", "granule": 5}]}, "found no granularity conversion to change in plan"),
        (
            {"migrations": [{"at": "5 s", "to": "join"}]},
            "strategies: found nothing, expected one at least",
        ),
        (
            {"strategies": ["genmig"], "adjustments": [{"at": "1 s", "window": 5}]},
            "expected none where strategies migrate",
        ),
        ({"claims": ["cpu(join) > 3"]}, "expected one of the runs join alone, not join"),
        ({"claims": ["state(join alone) from 1 s to 2 s > 3 throughout"]}, "either throughout or a part"),
        ({"claims": ["state(join alone) from 100 ms to 500 ms > 3"]}, "multiples of the grid, 500"),
        ({"claims": ["state(join alone) from 2 s to 1 s > 3"]}, "instants in order of time up to 10000"),
        ({"claims": ["latency_max(join alone) from 1 s to 2 s > 3"]}, "expected one of state, "),
    ],
)
def test_faults(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputFileError) as caught:
        alone(**changes)
    assert message in str(caught.value)


def test_windows_change() -> None:
    """20 elements a second: of two seconds, then of one in stream A alone, then of half a second in all."""
    changes = [{"at": "4 s", "window": "1 s", "stream": "A"}, {"at": "7 s", "window": "500 ms"}]
    claims = [
        "state(windows alone) from 3 s to 4 s = 80",
        "state(windows alone) from 6 s to 7 s = 60",
        "state(windows alone) from 9 s to 9500 ms = 20",
    ]
    bounded = "WINDOW(RANGE MIN 1 MILLISECOND, MAX 2 SECONDS)"
    product = {"sql": f"SELECT A.k FROM A {bounded}, B {bounded} WHERE A.k > B.k + 100"}
    simulation = simulate(alone(plans={"windows": product}, adjustments=changes, claims=claims))
    assert [one.measured for one in simulation.claims] == ["80 = 80", "60 = 60", "20 = 20"]
    assert simulation.holds


def test_granules_change() -> None:
    changes = [{"at": "4 s", "granule": "500 ms"}, {"at": "8 s", "granule": 1}]
    claims = [
        "elements(count alone) from 2 s to 4 s = 40",
        "results(count alone) from 2 s to 4 s = 40",  # equally many come and go
        "results(count alone) from 6 s to 8 s = 4",
    ]
    simulation = simulate(alone(plans={"count": COUNT}, adjustments=changes, claims=claims))
    assert simulation.holds, simulation.claims


def test_the_cost_model_is_asked_for_the_windows_of_each_time() -> None:
    streams = {name: stream(200, 50) for name in "ABC"}
    pair = {
        "sql": "SELECT A.k FROM A WINDOW(RANGE MIN 1 SECOND, MAX 2 SECONDS), "
        "B WINDOW(RANGE MIN 1 SECOND, MAX 2 SECONDS) WHERE A.k = B.k"
    }
    before, after = "(pair alone) from 3 s to 5 s", "(pair alone) from 8 s to 9 s"
    simulation = simulate(
        alone(
            streams=streams,
            plans={"pair": pair},
            adjustments=[{"at": "5 s", "window": "1 s"}],
            measures={"every": "500 ms", "predicted": "2 s"},
            claims=[
                f"state{before} = predicted_state{before} ± 3%",
                f"state{after} = predicted_state{after} ± 3%",
                f"2 * predicted_state{after} = predicted_state{before} ± 3%",
                f"results{after} = predicted_results{after} ± 15%",
                f"predicted_cpu{after} > 0",
            ],
        )
    )
    assert simulation.holds, simulation.claims
    without = simulate(alone(claims=["predicted_state(join alone) from 3 s to 5 s > 0"]))
    assert [one.finding for one in without.claims] == ["not measured"]


def test_throughout_is_every_bucket() -> None:
    claims = [
        "results(signs alone) <= results(join alone) throughout",
        "state(signs alone) >= state(join alone) throughout",
        "state(signs alone) > state(join alone) throughout",
    ]
    plans = {"join": JOIN, "signs": {"of": "join", "form": "signs"}}
    simulation = simulate(alone(plans=plans, claims=claims))
    assert [one.finding for one in simulation.claims] == ["holds", "holds", "does not hold"]


def command(folder: Path, *arguments: str) -> Result:
    file = folder / "alone.yaml"
    bounded = JOIN["sql"].replace("RANGE 2 SECONDS", "RANGE MIN 1 SECOND, MAX 2 SECONDS")
    changes = {"plans": {"join": {"sql": bounded}}, "adjustments": [{"at": "4 s", "window": "1 s"}]}
    file.write_text(alone(**changes).text)
    return CliRunner().invoke(app, ["simulate", str(file), *arguments])


def test_on_the_command_line(tmp_path: Path) -> None:
    done = command(tmp_path)
    assert done.exit_code == 0 and "join alone" in done.output
    refused = command(tmp_path, "--strategy", "genmig")
    assert refused.exit_code == 2
    assert "found a scenario without migrations" in refused.output


def test_the_report_shows_each_plan(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'midstream[plot]'")
    page, charts = tmp_path / "page.html", tmp_path / "charts"
    done = command(tmp_path, "--report", str(page), "--charts", str(charts))
    assert done.exit_code == 0, done.output
    drawn = {file.stem: file.read_text() for file in charts.iterdir()}
    assert set(drawn) == {"output", "state", "latency", "intermediate", "costs"}
    text = page.read_text()
    assert "join alone" in text and "Migrations" not in text
