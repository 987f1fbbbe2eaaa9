"""The benchmark from file to file compares like with like, and says what it found."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from midstream.benchmarks import files
from midstream.benchmarks.commands import app
from midstream.benchmarks.files import MARK, FilesRun, by_hand, measure_files, show_files
from midstream.benchmarks.memory import Halves

GOOD = FilesRun(1000, 500, (1.0, 2.0, 3.0), (2.0, 4.0, 6.0), Halves(100, 100), True)


def test_a_small_run_is_equal() -> None:
    told: list[tuple[int, int]] = []
    run = measure_files(3_000, 2, 5, lambda done, total: told.append((done, total)))
    assert run.is_equal
    assert 0 < run.results < run.rows == 3_000
    assert len(run.by_hand) == len(run.ours) == 2
    assert min(*run.by_hand, *run.ours) > 0
    assert told == [(1, 2), (2, 2)]
    assert measure_files(3_000, 1, 5).results == run.results != measure_files(3_000, 1, 6).results


def test_the_loop_by_hand_filters(tmp_path: Path) -> None:
    given, target = tmp_path / "given.csv", tmp_path / "target.csv"
    given.write_text('at,item,price,buyer\n3,7,500.0,a\n4,8,500.5,"b,c"\n')
    assert by_hand(given, target) == 1
    with target.open(newline="") as lines:
        assert list(csv.reader(lines)) == [
            ["start", "end", "item", "price", "buyer"],
            ["4", "5", "8", "500.5", "b,c"],
        ]


@pytest.mark.parametrize("wrong", ["price > 501", "price >= 0", "price > 500 AND item <> 3"])
def test_results_that_differ_are_found(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "SCRIPT", files.SCRIPT.replace("price > 500", wrong))
    run = measure_files(3_000, 1, 1)
    assert not run.is_equal
    assert not run.is_good


def test_a_result_that_is_missing_at_the_end_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = files._query

    def shorter(given: Path, target: Path, samples: list[int]) -> None:
        whole(given, target, samples)
        target.write_text("".join(target.read_text().splitlines(keepends=True)[:-1]))

    monkeypatch.setattr(files, "_query", shorter)
    assert not measure_files(1_000, 1, 1).is_equal


@pytest.mark.parametrize(
    ("changes", "is_good"),
    [
        ({}, True),
        ({"is_equal": False}, False),
        ({"memory": None}, True),
        ({"memory": Halves(100, 200)}, False),
        ({"memory": Halves(200, 100)}, True),
        ({"by_hand": (MARK,), "ours": (1.0,)}, True),
        ({"by_hand": (0.9 * MARK,), "ours": (1.0,)}, False),
        ({"by_hand": (1.0, 1.0, 0.1), "ours": (1.0, 1.0, 1.0)}, True),
        ({"by_hand": (1.0, 0.1, 0.1), "ours": (1.0, 1.0, 1.0)}, False),
    ],
)
def test_verdicts(changes: dict[str, Any], is_good: bool) -> None:
    assert replace(GOOD, **changes).is_good is is_good


def test_the_ratio_is_the_median_of_all_repetitions() -> None:
    run = replace(GOOD, by_hand=(1.0, 3.0, 1.0), ours=(2.0, 2.0, 1.0))
    assert run.ratios == (0.5, 1.5, 1.0)
    assert run.ratio == 1.0


@pytest.mark.parametrize("memory", [None, Halves(100, 100)])
@pytest.mark.parametrize("is_equal", [True, False])
def test_what_is_shown_and_written(memory: Halves | None, is_equal: bool) -> None:
    run = replace(GOOD, memory=memory, is_equal=is_equal)
    console = Console(record=True, width=200)
    show_files(run, console)
    text = console.export_text()
    assert "1,000 rows of CSV filtered to 500" in text
    assert "0.50 of it (0.50–0.50; the mark is 0.33)" in text
    assert ("The results are the same." in text) is is_equal
    assert ("The results differ." in text) is not is_equal
    assert ("Memory: at most" in text) is (memory is not None)
    report = json.loads(json.dumps(run.as_dict()))
    assert (report["rows"], report["results"], report["ratio"]) == (1000, 500, 0.5)
    assert report["equal"] is is_equal
    assert (report["memory_bytes"] is None) is (memory is None)


def invoke(*arguments: object) -> Any:
    """Run `python -m midstream.benchmarks files` in this process."""
    return CliRunner().invoke(app, ["files", *map(str, arguments)])


@pytest.mark.parametrize("is_equal", [True, False])
def test_the_verdict_is_the_exit_status(is_equal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int, int]] = []

    def measured(rows: int, repetitions: int, seed: int, progress: object) -> FilesRun:
        asked.append((rows, repetitions, seed))
        return replace(GOOD, is_equal=is_equal)

    monkeypatch.setattr(files, "measure_files", measured)
    result = invoke("--rows", 1000, "--repetitions", 3, "--seed", 4)
    assert result.exit_code == (0 if is_equal else 1)
    assert ("The results are the same." in result.stdout) is is_equal
    assert asked == [(1000, 3, 4)]


def test_the_answer_goes_to_a_file_too(tmp_path: Path) -> None:
    output = tmp_path / "files.json"
    result = invoke("--rows", 2000, "--repetitions", 1, "--json", "--output", output)
    report = json.loads(result.stdout)
    assert report == json.loads(output.read_text())
    assert report["equal"] is True
    assert (report["rows"], len(report["seconds"]), len(report["seconds_by_hand"])) == (2000, 1, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rows", 0), "--rows: found 0"),
        (("--repetitions", 0), "--repetitions: found 0"),
        (("--output", "none/files.json"), "there is no folder none"),
    ],
)
def test_bad_options_are_refused(
    arguments: tuple[object, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files, "measure_files", lambda *_: pytest.fail("not refused"))
    result = invoke(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
