"""`midstream calibrate`, and commands that price by its profile."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from midstream.cli import app
from midstream.commands.calibrate_command import default_place
from midstream.optimizer.cost.calibration import Profile
from midstream.optimizer.cost.units import UnitCosts, unit_costs, units_in_use
from midstream.scenarios.trials.costs import calibrating

QUERY = """
CREATE STREAM s (ts INTEGER, x INTEGER) ORDERED BY ts;
SELECT x FROM s WINDOW(RANGE 60) WHERE x > 1;
"""


@pytest.fixture(autouse=True)
def configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config"


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two operators tell as much as all here."""
    some = {name: calibrating.QUERIES[name] for name in ("filter", "hash-join")}
    monkeypatch.setattr(calibrating, "QUERIES", some)


def explained(*options: str) -> float:
    """What the plan costs by `midstream explain`."""
    found = CliRunner().invoke(app, [*options, "explain", "-", "--time-unit", "s", "--json"], input=QUERY)
    assert found.exit_code == 0, found.output
    return float(json.loads(found.stdout)["query_1"]["stages"][0]["cost"])


def test_the_profile_is_kept_where_all_commands_find_it(configuration: Path) -> None:
    before = explained()
    found = CliRunner().invoke(app, ["calibrate", "--quick"])
    assert found.exit_code == 0, found.output
    assert default_place() == configuration / "midstream" / "costs.json"
    assert "hash_join" in found.stdout and "Median error of what is held out" in found.stdout
    profile = Profile.read(default_place())
    assert profile.machine == calibrating.machine()
    assert explained() != before
    assert units_in_use() == UnitCosts()  # not beyond the command


def test_a_profile_that_is_named_comes_first(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    dear = Profile(unit_costs({"predicate": 1e6}), "", "", 0.0)
    file.write_text(dear.dumps())
    assert explained("--costs", str(file)) > 1e5


def test_json(tmp_path: Path) -> None:
    file = tmp_path / "costs.json"
    found = CliRunner().invoke(app, ["calibrate", "--quick", "--json", "--output", str(file)])
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout) == json.loads(file.read_text())
    assert not default_place().exists()


def test_what_is_no_profile_is_bad_input(tmp_path: Path) -> None:
    file = tmp_path / "costs.json"
    file.write_text("{}")
    found = CliRunner().invoke(app, ["--costs", str(file), "explain", "-"], input=QUERY)
    assert found.exit_code == 2


def test_of_an_outdated_profile_in_the_default_place_a_note_tells_that_defaults_hold(
    configuration: Path, tmp_path: Path
) -> None:
    """So that what has run goes on after an upgrade. A file that is named is refused."""
    before = explained()
    outdated = json.loads(Profile(unit_costs({"predicate": 1e6}), "", "", 0.0).dumps()) | {
        "midstream_costs": 1
    }
    for file in (default_place(), tmp_path / "named.json"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(outdated))
    assert explained() == before
    found = CliRunner().invoke(app, ["explain", "-", "--time-unit", "s"], input=QUERY)
    assert "note: " in found.stderr and "version 1" in found.stderr and "default costs hold" in found.stderr
    refused = CliRunner().invoke(app, ["--costs", str(file), "explain", "-", "--time-unit", "s"], input=QUERY)
    assert refused.exit_code == 2 and "version 1" in refused.stderr
    assert CliRunner().invoke(app, ["calibrate", "--quick"]).exit_code == 0
    assert Profile.read(default_place())
