"""`midstream simulate`: exit status, files, and what is said about bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from simulated import VOUCHED, described, joined, other_meaning
from typer.testing import CliRunner

from midstream.cli import app
from midstream.io import requirements


def simulate(*arguments: object) -> Any:
    """Run the command in this process, on a wide terminal."""
    return CliRunner().invoke(app, ["simulate", *map(str, arguments)], env={"COLUMNS": "200"})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A scenario in a file."""
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(described(), sort_keys=False))
    return path


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """A scenario whose new plan means something else."""
    plans = {"old": joined("A", "B", "C"), "new": other_meaning()}
    path = tmp_path / "wrong.yaml"
    path.write_text(yaml.safe_dump(described(plans=plans, migrations=VOUCHED), sort_keys=False))
    return path


def test_equal_results_are_status_0(file: Path) -> None:
    done = simulate(file)
    assert done.exit_code == 0, done.output
    heading, *rows = [line.split() for line in done.stdout.splitlines() if line.strip()]
    assert heading[:2] == ["small,", "seed"]
    texts = [" ".join(row) for row in rows]
    for name in ("without migration", "new alone", "genmig"):
        assert any(text.startswith(f"{name} ✓ equal") for text in texts)
    (row,) = (text for text in texts if text.startswith("genmig ✓ equal"))
    assert " 2 s " in row, "the duration of the migration"


def test_different_results_are_status_1_and_are_told(wrong: Path) -> None:
    done = simulate(wrong)
    assert done.exit_code == 1
    assert "genmig, repetition 1: results differ from those without migration" in done.stdout
    assert ": 0 times on the left, " in done.stdout


@pytest.mark.parametrize(
    ("claim", "status", "finding"),
    [
        ("duration(genmig) = 2 s", 0, "holds"),
        ("duration(genmig) < 2 s", 1, "does not hold"),
        ("peak_state(new alone) >= 0", 0, "holds"),
    ],
)
def test_claims_are_told_and_decide_the_status(tmp_path: Path, claim: str, status: int, finding: str) -> None:
    path, json_file = tmp_path / "claims.yaml", tmp_path / "all.json"
    path.write_text(yaml.safe_dump(described(claims=[claim]), sort_keys=False))
    done = simulate(path, "--json", json_file)
    assert done.exit_code == status
    (row,) = [line for line in done.stdout.splitlines() if line.strip().startswith(claim)]
    assert row.strip().endswith(f" {finding}")
    found = json.loads(json_file.read_text())
    assert found["holds"] is (status == 0)
    assert [(one["claim"], one["finding"]) for one in found["claims"]] == [(claim, finding)]


def test_a_strategy_of_the_scenario_is_taken_by_its_name_there(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    own = [{"name": "parallel-track", "ordered": False, "as": "overtaking"}, "genmig"]
    path.write_text(yaml.safe_dump(described(strategies=own), sort_keys=False))
    done = simulate(path, "--strategy", "overtaking", "--strategy", "swap")
    assert done.exit_code == 0
    rows = [line.split() for line in done.stdout.splitlines() if line.strip()]
    verdicts = {row[0]: row[2] for row in rows if row[0] in ("overtaking", "swap") and row[1] in "✓–"}
    assert verdicts == {"overtaking": "unordered", "swap": "refused"}
    assert "overtaking, repetition 1: results overtake each other, as the scenario lets them" in done.stdout


def test_charts_are_written_to_a_folder_that_is_there(file: Path, tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("kept")
    assert simulate(file, "--quick", "--charts", tmp_path).exit_code == 0
    assert (tmp_path / "output.svg").exists()
    assert (tmp_path / "other.txt").read_text() == "kept"


def test_charts_do_not_go_to_a_file(file: Path, tmp_path: Path) -> None:
    (tmp_path / "charts").write_text("a file")
    outcome = simulate(file, "--quick", "--charts", tmp_path / "charts")
    assert outcome.exit_code == 2
    assert "this is a file, expected a folder" in outcome.output


def test_charts_are_written(file: Path, tmp_path: Path) -> None:
    assert simulate(file, "--quick", "--charts", tmp_path / "charts").exit_code == 0
    names = {"output", "state", "latency", "intermediate", "costs"}
    assert {one.stem for one in (tmp_path / "charts").iterdir()} == names
    for one in (tmp_path / "charts").iterdir():
        assert "<svg" in one.read_text() and "var(--" not in one.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["FILE", "--strategy", "gnmig"], "--strategy: found 'gnmig', expected one of"),
        (["FILE", "--strategy", "gnmig"], "did you mean genmig?"),
        (["FILE", "--repetitions", "0"], "--repetitions: found 0, expected 1 or more"),
        (["FILE", "--report", "gone/report.html"], "there is no folder gone"),
        (["FILE", "--json", "gone/all.json"], "there is no folder gone"),
        (["gone.yaml"], "gone.yaml: No such file or directory"),
        (["nothing-like-it"], "scenario nothing-like-it: found no such file or name"),
        ([], "found nothing, expected a file or a name"),
    ],
)
def test_bad_input_is_status_2(file: Path, arguments: list[str], message: str) -> None:
    done = simulate(*(str(file) if one == "FILE" else one for one in arguments))
    assert done.exit_code == 2
    assert done.stdout == ""
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_faulty_file_is_status_2(tmp_path: Path) -> None:
    path = tmp_path / "faulty.yaml"
    path.write_text("name: x\nduration: ten\n")
    done = simulate(path)
    assert done.exit_code == 2
    assert f"{path}, line 2, duration: found 'ten'" in done.stderr


def test_options_go_before_the_file(file: Path, tmp_path: Path) -> None:
    json_file = tmp_path / "all.json"
    options = ["--strategy", "swap", "--strategy", "genmig", "--repetitions", 2, "--seed", 7]
    assert simulate(file, *options, "--json", json_file).exit_code == 0
    found = json.loads(json_file.read_text())
    assert (found["seed"], found["repetitions"], found["equal"]) == (7, 2, True)
    assert [(run["strategy"], run["seed"]) for run in found["runs"]] == [
        (strategy, seed) for seed in (7, 8) for strategy in ("none", "new alone", "swap", "genmig")
    ]
    assert [one["verdict"] for one in found["compared"]] == ["equal", "equal", "refused", "equal"]


def test_a_first_look_is_one_repetition(file: Path, tmp_path: Path) -> None:
    json_file = tmp_path / "all.json"
    assert simulate(file, "--quick", "--repetitions", 5, "--json", json_file).exit_code == 0
    found = json.loads(json_file.read_text())
    assert found["repetitions"] == 1
    assert found["runs"][0]["totals"]["elements"] == 600


def test_the_report_is_written(file: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    assert simulate(file, "--quick", "--report", report).exit_code == 0
    assert report.read_text().startswith("<!doctype html>")


def test_ready_made_scenarios_are_listed() -> None:
    done = simulate("--list")
    assert done.exit_code == 0
    names = [line.split()[0] for line in done.stdout.splitlines()]
    assert "chapter-30" in names
    assert names == sorted(names)
    assert all(len(line.split()) > 1 for line in done.stdout.splitlines()), "each has a line about it"


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    monkeypatch.setattr(requirements, "find_spec", lambda module: None)
    done = simulate(file)
    assert done.exit_code == 2
    assert (
        'found no pydantic, PyYAML, which simulations need; install: pip install "midstream[simulate]"'
        in done.stderr
    )


def test_recorded_streams_are_in_the_folder_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("t,k\n" + "".join(f"{t},{t % 3}\n" for t in range(10)))
    trace = {"process": "trace", "path": "a.csv", "time": "t", "unit": "s"}
    recorded = {"columns": {"k": {"values": "recorded", "type": "integer"}}, "arrivals": trace}
    streams = {**described()["streams"], "A": recorded}
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(described(streams=streams)))
    assert simulate(tmp_path / "s.yaml").exit_code == 2
    assert simulate(tmp_path / "s.yaml", "--data", tmp_path / "data").exit_code == 0


@pytest.mark.slow
def test_nothing_is_loaded_before_it_is_needed() -> None:
    program = "import midstream.cli, sys; print({'pydantic', 'yaml', 'matplotlib'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
