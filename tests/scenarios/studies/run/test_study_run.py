"""`midstream study run` from CSV to the page; a run that is killed and one that is not give the same."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic", reason="needs pydantic: pip install 'midstream[simulate]'")
pytest.importorskip("jinja2", reason="needs jinja2: pip install 'midstream[spark]'")
pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'midstream[plot]'")

from pages import Page
from typer.testing import CliRunner

from midstream.cli import app
from midstream.scenarios.stages.run.run_log import RunLog

from .conftest import write_small

pytestmark = pytest.mark.spark

STAGES = ["ingest", "profile", "what-if"]
COMMAND = [
    sys.executable,
    "-m",
    "midstream.cli",
    "study",
    "run",
    "study.yaml",
    "--out",
    "out",
    "--master",
    "local[1]",
]


@pytest.fixture(scope="module")
def here(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with a whole run in the session of all tests, and what was printed."""
    folder = tmp_path_factory.mktemp("here")
    file = write_small(folder)
    done = CliRunner().invoke(app, ["study", "run", str(file), "--out", str(folder / "out")])
    assert done.exit_code == 0, done.output
    return folder, done.output


@pytest.fixture(scope="module")
def killed(quick_java: None, spark: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """The same, begun in a process of its own, on one core, which was killed; what that process said on
    stderr, and what was printed when the run was finished."""
    folder = tmp_path_factory.mktemp("killed")
    file = write_small(folder)
    with (folder / "stderr").open("w") as stderr:
        first = subprocess.Popen(COMMAND, cwd=folder, stderr=stderr, start_new_session=True)
        log, begun = RunLog(folder / "out"), time.monotonic()
        while "profile" not in [line["stage"] for line in log.lines()]:
            assert first.poll() is None and time.monotonic() - begun < 300
            time.sleep(0.05)
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
    done = CliRunner().invoke(app, ["study", "run", str(file), "--out", str(folder / "out")])
    assert done.exit_code == 0, done.output
    return folder, (folder / "stderr").read_text(), done.output


def found(folder: Path) -> dict[str, Any]:
    """What the stages found, and the rows that they wrote."""
    import pyarrow.dataset as ds

    def rows(name: str) -> list[dict[str, Any]]:
        table = ds.dataset(folder / "out" / name, partitioning="hive").to_table().to_pylist()
        return sorted(table, key=lambda row: [str(value) for value in row.values()])

    records = {
        name: json.loads((folder / "out" / "stages" / f"{name}.json").read_text(encoding="utf-8"))
        for name in STAGES
    }
    return {
        **{name: (record["summary"], record["drawn"]) for name, record in records.items()},
        **{
            name: rows(name) for name in ("profile/streams", "profile/pairs", "what-if/costs", "what-if/best")
        },
    }


def test_killed_and_started_again_gives_the_same(
    here: tuple[Path, str], killed: tuple[Path, str, str]
) -> None:
    assert found(killed[0]) == found(here[0])
    told = [(line["stage"], line["status"]) for line in RunLog(killed[0] / "out").lines()]
    assert told == [
        *[("ingest", "started"), ("ingest", "done"), ("profile", "started")],
        *[("ingest", "unchanged"), ("profile", "started"), ("profile", "done")],
        *[("what-if", "started"), ("what-if", "done")],
    ]
    assert not list((killed[0] / "out").rglob("*unfinished*"))


def test_stderr_holds_nothing_of_spark(killed: tuple[Path, str, str]) -> None:
    assert killed[1] == ""


def test_the_log_counts_rows(here: tuple[Path, str]) -> None:
    done = RunLog(here[0] / "out").last_done()
    rows = {name: (line["rows_in"], line["rows_out"]) for name, line in done.items()}
    assert rows == {"ingest": (600, 600), "profile": (600, 36), "what-if": (600, 288)}
    assert all(line["seconds"] > 0 and line["versions"]["pyspark"] for line in done.values())


def test_what_is_printed_fits_80_columns(here: tuple[Path, str], killed: tuple[Path, str, str]) -> None:
    for text in (here[1], killed[2]):
        lines = text.splitlines()
        assert all(len(line) <= 80 for line in lines[:-1]), text
        assert lines[0] == "Three houses"
        assert re.search(r"^ingest +\w+ +600 +600$", text, re.M)
        assert "Run (B ⋈ C) ⋈ A, and do not change it while it runs" in text
        assert lines[-1].endswith("report.html")


def test_without_java_nothing_is_written(tmp_path: Path) -> None:
    write_small(tmp_path)
    environment = {**os.environ, "JAVA_HOME": str(tmp_path)}
    done = subprocess.run(COMMAND, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "found no java at JAVA_HOME" in done.stderr and "expected Java 17 or newer" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_second_run_finds_all_done(here: tuple[Path, str]) -> None:
    study, out = str(here[0] / "study.yaml"), str(here[0] / "out")
    again = CliRunner().invoke(app, ["study", "run", study, "--out", out, "--json"])
    assert again.exit_code == 0, again.output
    stages = json.loads(again.output)["stages"]
    assert {name: one["status"] for name, one in stages.items()} == dict.fromkeys(STAGES, "unchanged")


def test_the_page_needs_nothing_else_and_begins_with_advice(here: tuple[Path, str]) -> None:
    text = (here[0] / "out" / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    page.check_it_needs_nothing_else()
    assert not re.search(r"@import|url\((?!#)|https?://(?!www\.w3\.org)", text)
    words = page.text
    places = [words.index(part) for part in ("Recommendation", "What arrives", "Run log")]
    assert places == sorted(places)
    assert "Best orders by processing" in words and "C: 200 elements" in words
    assert "prefers-color-scheme: dark" in text and 'name="viewport"' in text
    drawn = "".join(re.findall(r"<svg.*?</svg>", text, re.DOTALL))
    assert drawn and re.findall(r"#[0-9a-f]{6}\b", drawn) == [], "colours of its own would not be seen"
    # On a small screen only tables and texts that are scrolled are wider than the page.
    assert text.count('<div class="wide">') == text.count("<table>")
