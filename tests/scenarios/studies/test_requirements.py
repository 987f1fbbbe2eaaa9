"""What is missing is said before anything starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from midstream.io import requirements
from midstream.plans.values.errors import MissingExtra
from midstream.scenarios.stages.commands import app

COMMANDS = [
    ["profile", "nycflights13"],
    ["what-if", "nycflights13"],
    ["verify"],
    ["verify-run", "nycflights13", "r.csv"],
]


def fake_java(folder: Path, report: str) -> None:
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{report}' >&2\n")
    program.chmod(0o755)


@pytest.fixture(autouse=True)
def libraries_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "find_spec", lambda name: object())


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_no_java(command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    result = CliRunner().invoke(app, command)
    assert isinstance(result.exception, MissingExtra)
    assert "found no java on PATH, expected Java 17 or newer" in str(result.exception)
    assert "openjdk-17-jre-headless" in str(result.exception)


def test_java_home_comes_before_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(MissingExtra, match="found no java at JAVA_HOME"):
        requirements.require_java()


def test_old_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path, 'java version "1.8.0_402"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(MissingExtra, match=r"found Java 8 at JAVA_HOME, .*, expected Java 17 or newer"):
        requirements.require_java()


@pytest.mark.parametrize(
    "report", ['openjdk version "17.0.15" 2025-04-15', 'openjdk version "25" 2025-09-16']
)
def test_new_java(report: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path, report)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    requirements.require_java()


def test_a_program_that_is_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path, "hello")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(MissingExtra, match="found no java"):
        requirements.require_java()


def test_missing_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "find_spec", lambda name: None if name == "pyarrow" else object())
    result = CliRunner().invoke(app, COMMANDS[0])
    assert isinstance(result.exception, MissingExtra)
    assert str(result.exception).endswith(
        'found no pyarrow, which this needs; install: pip install "midstream[spark]"'
    )


def test_matplotlib_is_missed_only_where_pictures_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requirements, "find_spec", lambda name: None if name == "matplotlib" else object())
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))  # so that the next obstacle is Java
    output = ["--output", str(tmp_path / "found")]
    for options, message in [
        ([], "found no java"),
        ([*output, "--no-pictures"], "found no java"),
        (output, r"midstream\[plot\]"),
    ]:
        result = CliRunner().invoke(app, [*COMMANDS[1], *options])
        with pytest.raises(MissingExtra, match=message):
            assert result.exception is not None
            raise result.exception
    assert not (tmp_path / "found").exists()


@pytest.mark.slow
def test_commands_import_nothing_heavy(tmp_path: Path) -> None:
    code = "import sys, midstream.scenarios.stages.commands; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert loaded & {"pyspark", "pyarrow", "pandas", "matplotlib"} == set()


@pytest.mark.slow
def test_the_command_line_exits_with_2(tmp_path: Path) -> None:
    cli = pytest.importorskip("midstream.cli")
    if "study" not in dict(cli.SUB_APPS):
        pytest.skip("midstream.cli does not offer `study`")
    environment = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"} | {
        "PATH": str(tmp_path)
    }
    command = [sys.executable, "-m", "midstream.cli", "study", "profile", "nycflights13"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "expected Java 17 or newer" in done.stderr or "midstream[spark]" in done.stderr
    assert done.stdout == ""
