"""The command line: what it prints where, and its exit status."""

from __future__ import annotations

import importlib.metadata
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from midstream.cli import app, build
from midstream.plans.algebra.operators import Filter, TimeWindow
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.serialise import dumps, plan_from_json
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import MissingExtra


def invoke(*arguments: object, of: typer.Typer = app) -> Any:
    """Run a command in this process."""
    return CliRunner().invoke(of, list(map(str, arguments)))


def assert_refused(result: Any, message: str) -> None:
    """One message on stderr, nothing on stdout, no traceback, exit status 2."""
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with departures that often meet."""
    draw = random.Random(7)
    lines = ["dep_ts,origin,dest,carrier,flight,dep_delay_min"]
    for i in range(2000):
        airport = draw.choices(["EWR", "LGA", "JFK"], [5, 5, 1])[0]
        lines.append(f"{120 * i},{airport},{draw.choice('STUVWXYZ')},UA,{i},{draw.randint(-9, 99)}")
    tmp_path.joinpath("departures.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.fixture
def wrong_plan(data: Path) -> Path:
    """A file with a plan like that of the query over the departures, but without the punctual ones."""
    plan = plan_from_json(json.loads(invoke("demo", "--data", data, "--json").stdout)["plans"]["old"]["plan"])
    window = next(
        n for n in plan.nodes if isinstance(n.operator, TimeWindow) and "jfk.delay" in n.schema.names
    )
    late = Node(Filter((col("jfk.delay") > 5).expression), (window,))
    file = data / "wrong.json"
    file.write_text(dumps(plan.replace(window, late)))
    return file


def test_version() -> None:
    result = invoke("--version")
    assert result.exit_code == 0
    assert result.stdout == f"midstream {importlib.metadata.version('midstream')}\n"


def test_help_names_the_commands_and_what_they_take() -> None:
    result = invoke("--help")
    assert result.exit_code == 0
    assert {"demo", "study"} <= set(result.stdout.split())
    result = invoke("demo", "--help")
    assert result.exit_code == 0
    text = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)  # some CI systems make typer use colours
    for option in ("--data", "--json", "--seed", "--to"):
        assert option in text


@pytest.mark.parametrize("arguments", [[], ["dmeo"], ["demo", "--sead", "1"], ["demo", "--seed", "one"]])
def test_wrong_usage(arguments: list[str]) -> None:
    assert invoke(*arguments).exit_code == 2


def test_demo_prints_one_json_object(data: Path) -> None:
    result = invoke("demo", "--data", data, "--json")
    assert result.exit_code == 0
    assert result.stderr == ""
    report = json.loads(result.stdout)
    assert report["scenario"] == "departures"
    assert report["seed"] is None
    assert report["equivalent"] is True
    assert sum(report["elements"].values()) == 2000
    assert min(report["results"].values()) > 0
    assert report["intermediate_per_1000"]["after"] < report["intermediate_per_1000"]["before"]
    assert report["plans"]["new"]["cost"] < report["plans"]["old"]["cost"]


def test_demo_prints_text(data: Path) -> None:
    result = invoke("demo", "--data", data)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "└─ join" in result.stdout
    assert "Verified" in result.stdout


@pytest.mark.slow
def test_demo_without_data_takes_a_seed() -> None:
    result = invoke("demo", "--seed", 5, "--json")
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert (report["scenario"], report["seed"], report["equivalent"]) == ("auctions", 5, True)
    assert min(report["results"].values()) > 0
    assert report["intermediate_per_1000"]["after"] < report["intermediate_per_1000"]["after_without"]


def test_demo_says_no_when_the_results_differ(data: Path, wrong_plan: Path) -> None:
    result = invoke("demo", "--data", data, "--to", wrong_plan, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["equivalent"] is False
    result = invoke("demo", "--data", data, "--to", wrong_plan)
    assert result.exit_code == 1
    assert "WRONG" in result.stdout


def test_demo_moves_to_the_plan_that_it_is_given(data: Path, tmp_path: Path) -> None:
    plan = json.loads(invoke("demo", "--data", data, "--json").stdout)["plans"]["new"]["plan"]
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan))
    result = invoke("demo", "--data", data, "--to", file, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["plans"]["new"]["plan"] == plan


def test_bad_data_is_refused(tmp_path: Path) -> None:
    assert_refused(invoke("demo", "--data", tmp_path / "none"), "No such file or directory")
    assert_refused(invoke("demo", "--data", tmp_path), f"{tmp_path / 'departures.csv'}: No such file")
    file = tmp_path / "departures.csv"
    file.write_text("dep_ts,origin,dest,carrier,flight\n")
    assert_refused(invoke("demo", "--data", tmp_path), f"{file}, line 1, column dep_delay_min: found no such")
    file.write_text("dep_ts,origin,dest,carrier,flight,dep_delay_min\n9,EWR,X,UA,1,0\n8,EWR,X,UA,1,0\n")
    assert_refused(invoke("demo", "--data", tmp_path), "stream EWR: element")


def test_a_bad_plan_is_refused(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    assert_refused(invoke("demo", "--to", file), "plan.json: No such file")
    file.write_text("{}")
    assert_refused(invoke("demo", "--to", file), "plan.json: this is no plan")
    plan = json.loads(invoke("demo", "--data", data, "--json").stdout)["plans"]["old"]["plan"]
    file.write_text(json.dumps(plan))
    assert_refused(invoke("demo", "--to", file), "the new plan's output has the columns")


def test_a_seed_for_recorded_data_is_refused(data: Path) -> None:
    result = invoke("demo", "--data", data, "--seed", 1)
    assert result.exit_code == 2
    assert "no seed" in result.stderr


def test_errors_of_mounted_commands_are_reported_alike() -> None:
    study = typer.Typer()

    @study.command()
    def profile() -> None:
        raise MissingExtra("studies need PySpark: pip install 'midstream[spark]'")

    @study.command()
    def other() -> None:
        typer.echo("fine")

    mounted = build(sub_apps=(("study", study),))
    assert "study" in invoke("--help", of=mounted).stdout
    assert invoke("study", "other", of=mounted).stdout == "fine\n"
    assert_refused(invoke("study", "profile", of=mounted), "pip install 'midstream[spark]'")


def test_benchmarks_are_no_command() -> None:
    refused = invoke("bench")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "No such command 'bench'" in refused.stderr


def run(*arguments: object, **settings: Any) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    command = [sys.executable, "-m", "midstream.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **settings)


@pytest.mark.slow
def test_the_process_prints_json_and_exits(data: Path, wrong_plan: Path) -> None:
    done = run("demo", "--data", data, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["equivalent"] is True
    assert run("demo", "--data", data, "--to", wrong_plan).returncode == 1
    refused = run("demo", "--data", data / "none")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("midstream: ")
    assert "Traceback" not in refused.stderr


def test_the_console_script_is_this() -> None:
    (script,) = importlib.metadata.entry_points(group="console_scripts", name="midstream")
    assert script.value == "midstream_start:main"


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_progress_is_shown_on_a_terminal_only(data: Path) -> None:
    reader, writer = os.openpty()
    command = [sys.executable, "-m", "midstream.cli", "demo", "--data", str(data), "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=writer, env={**os.environ, "TERM": "xterm"}
    ) as process:
        os.close(writer)
        shown = b""
        try:
            while part := os.read(reader, 4096):
                shown += part
        except OSError:
            pass  # how the end of a pseudo-terminal is told on Linux
        assert process.stdout is not None
        report = json.loads(process.stdout.read())
    os.close(reader)
    assert process.returncode == 0
    assert report["equivalent"] is True
    assert b"elements" in shown
