"""A stage is declared once: what its fields say is what its command and its function in Python take."""

from __future__ import annotations

import subprocess
import sys
from inspect import cleandoc
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

pytest.importorskip("pydantic", reason="needs pydantic: pip install 'midstream[spark]'")

from midstream import studies
from midstream.cli import app
from midstream.plans.values.errors import ArgumentError, MissingExtra
from midstream.scenarios.reports.contents import Report, Table
from midstream.scenarios.reports.terminal import show_report
from midstream.scenarios.stages import commands
from midstream.scenarios.stages.run import stage_command
from midstream.scenarios.stages.run.stages import STAGES

STUDY = """
CREATE STREAM s(t BIGINT, k INTEGER NOT NULL) SOURCE csv('s.csv') ORDERED BY t TIME_UNIT 's';
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "s.csv").write_text("t,k\n1,2\n")
    (tmp_path / "study.sql").write_text(STUDY)
    return tmp_path / "study.sql"


@pytest.mark.parametrize("stage", STAGES.values(), ids=lambda stage: stage.name)
def test_each_option_has_one_help_text(stage) -> None:
    for name, field in stage.options.model_fields.items():
        assert field.description and field.description.endswith("."), name


def test_declarations_load_no_spark() -> None:
    """A study file is checked, and help is shown, without it."""
    code = "import sys, midstream.scenarios.stages.run.stages; print('pyspark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_the_list_of_commands_shows_the_first_paragraph_of_each_stage() -> None:
    """The commands know them without loading the stages, which need pydantic."""
    lines = {name: " ".join(cleandoc(stage.help).split("\n\n")[0].split()) for name, stage in STAGES.items()}
    assert lines == commands.STAGES
    shown = " ".join(CliRunner().invoke(commands.app, ["--help"], env={"COLUMNS": "200"}).stdout.split())
    assert all(f"│ {name} {line} │" in shown for name, line in lines.items())


@pytest.mark.parametrize("name", commands.STAGES)
def test_the_command_has_the_options_and_their_help(name: str) -> None:
    result = CliRunner().invoke(commands.app, [name, "--help"], env={"COLUMNS": "250", "TERM": "dumb"})
    text = " ".join(result.stdout.split())
    for field in STAGES[name].options.model_fields.values():
        assert f"--{field.alias}" in text
        assert field.description is not None
        assert field.description.split(".")[0] in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": "many"}, "rows: found 'many', expected a whole number"),
        ({"rows": -1}, "rows: found -1, expected 0 or more"),
        ({"row": 1}, r"profile: found option row, expected one of window, rows; did you mean rows\?"),
        ({}, "window: found none, expected how long an element is valid, as there is no query"),
        ({"window": "soon"}, "window: found 'soon', expected a"),
    ],
)
def test_a_wrong_option_in_python(options: dict, message: str, study: Path) -> None:
    with pytest.raises(ArgumentError, match=message):
        studies.profile(None, study, **options)  # type: ignore[arg-type]


def test_a_window_beside_that_of_a_query(study: Path) -> None:
    study.write_text(STUDY + "SELECT k FROM s WINDOW(RANGE 9 SECONDS)")
    with pytest.raises(ArgumentError, match="window: found 5s, expected none, as the query has windows"):
        studies.profile(None, study, window="5s")  # type: ignore[arg-type]


def test_a_wrong_option_of_the_command(study: Path) -> None:
    result = CliRunner().invoke(commands.app, ["profile", str(study), "--rows", "-1"])
    assert result.exit_code == 2
    assert "--rows" in result.stderr


TABLE = Table("Bids", ("item", "first", "second"), [("lamp", "1", "22"), ("chair", "333", "4")], note="All.")


@pytest.mark.parametrize("width", [15, 30])
def test_a_table_that_is_too_wide_is_printed_in_parts(width: int) -> None:
    printed = StringIO()
    report = Report(["A fact."], ["An advice."], [TABLE])
    show_report("Title", report, Console(file=printed, width=width))
    lines = [line.rstrip() for line in printed.getvalue().splitlines()]
    assert lines[:3] == ["Title", "• An advice.", "A fact."] and lines[-1] == "All."
    assert all(len(line) <= width for line in lines)
    assert sum(line.startswith("item") for line in lines) == (2 if width == 15 else 1)
    cells = " ".join(lines).split()
    assert all(cells.count(cell) == 1 for row in TABLE.rows for cell in row[1:])


def test_without_spark_random_migrations_name_the_other_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def require_spark() -> None:
        raise MissingExtra("found no pyspark")

    monkeypatch.setattr(stage_command, "require_spark", require_spark)
    done = CliRunner().invoke(app, ["study", "verify", "--cases", "1"])
    assert done.exit_code == 2
    assert "found no pyspark; or --master none: this process alone" in " ".join(done.stderr.split())
