"""docs/study-guide.md: its commands print what it says, and it names everything that a file may have."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic", reason="needs pydantic: pip install 'midstream[simulate]'")

from typer.testing import CliRunner

from midstream.cli import app
from midstream.plans.values.errors import InputFileError
from midstream.scenarios.stages.run.reading import StudySpec, parse_study_file
from midstream.scenarios.stages.run.stages import STAGES


@pytest.fixture
def guide(root: Path) -> str:
    """The text."""
    file = root / "docs/study-guide.md"
    if not file.is_file():
        pytest.skip("the documents are not next to the tests")
    return file.read_text(encoding="utf-8")


def write_files(guide: str, folder: Path) -> None:
    """Write the files that the guide shows; the first line is a comment with the name."""
    for text in [*blocks(guide, "yaml"), *blocks(guide, "sql")]:
        (folder / text.partition("\n")[0].lstrip("#- ")).write_text(text, encoding="utf-8")


def blocks(guide: str, kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", guide, re.DOTALL)


@pytest.mark.spark
def test_the_commands_print_what_is_told(
    guide: str,
    spark: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("jinja2", reason="needs jinja2: pip install 'midstream[spark]'")
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'midstream[plot]'")
    monkeypatch.chdir(tmp_path)
    write_files(guide, Path())
    told = [text.removeprefix("$ midstream ") for text in blocks(guide, "text") if text.startswith("$ ")]
    assert len(told) == 2
    for text in told:
        command, _, expected = text.partition("\n")
        done = CliRunner().invoke(app, shlex.split(command))
        assert done.exit_code == 0, (done.output, done.exception)
        assert lines(done.output) == lines(expected)
    assert (tmp_path / "found" / "policies" / "autopilot.json").is_file()
    assert "Let the autopilot decide" in (tmp_path / "found" / "report.html").read_text(encoding="utf-8")
    (script,) = blocks(guide, "python spark")
    capsys.readouterr()
    exec(compile(script, "docs/study-guide.md", "exec"), {"spark": spark})
    assert capsys.readouterr().out.startswith("Let the autopilot decide")


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


def test_without_java_it_says_so(guide: str, tmp_path: Path) -> None:
    (expected,) = [text for text in blocks(guide, "text") if "found no java" in text]
    write_files(guide, tmp_path)
    environment = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"}
    command = [sys.executable, "-m", "midstream.cli", "study", "run", "study.yaml", "--out", "found"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**environment, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (2, expected)


def test_a_fault_is_told_as_the_guide_says(guide: str, tmp_path: Path) -> None:
    (_, text) = blocks(guide, "yaml")
    (told,) = re.findall(r"`(study\.yaml, line .*?)`", guide, re.DOTALL)
    with pytest.raises(InputFileError) as caught:
        parse_study_file("study.yaml", text.replace("profile:", "profil:"), Path())
    first, _, last = " ".join(told.split()).partition(" … ")
    assert str(caught.value).startswith(first) and str(caught.value).endswith(last)


def test_every_key_is_named(guide: str) -> None:
    for name, field in StudySpec.model_fields.items():
        assert f"`{field.alias or name}`" in guide
    for stage in STAGES.values():
        (row,) = re.findall(rf"^\| `{stage.name}` \|.*$", guide, re.M)
        for name, field in stage.options.model_fields.items():
            assert f"`{field.alias or name}`" in row, f"{stage.name}: {name}"


def test_it_says_that_live_queries_do_not_run_on_spark(guide: str) -> None:
    assert "Live queries do not run on Spark yet" in " ".join(guide.split())
