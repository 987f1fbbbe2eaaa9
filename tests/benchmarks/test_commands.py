"""The commands: what they print where, and their exit status."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from comparing import compared
from typer.testing import CliRunner

from midstream.benchmarks import commands, contests, memory
from midstream.benchmarks.commands import app
from midstream.benchmarks.item import workload
from midstream.benchmarks.items import ITEMS
from midstream.benchmarks.measuring import ItemResult
from midstream.benchmarks.memory import SHORTEST, MemorySample

SMALL = ("--elements", 400, "--repetitions", 2, "--no-peers")


def invoke(*arguments: object) -> Any:
    """Run `python -m midstream.benchmarks` in this process."""
    return CliRunner().invoke(app, list(map(str, arguments)))


def assert_refused(result: Any, *messages: str) -> None:
    """One message on stderr, nothing on stdout, exit status 2."""
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    for message in messages:
        assert message in result.stderr


@pytest.fixture
def wrong_join(monkeypatch: pytest.MonkeyPatch) -> None:
    """A join of which Midstream is given another plan than it should."""
    item = ITEMS[0]
    wrong = replace(item, plan=lambda window: item.plan(window + 1))

    def measured_here(
        asked: object, windows: Sequence[int], elements: int, seed: int, sizes: Sequence[int], *_: object
    ) -> list[ItemResult]:
        return [compared(workload(wrong, elements, seed, windows[0]), seed, sizes)]

    monkeypatch.setattr(contests, "measure", measured_here)


@pytest.mark.slow
def test_json_has_everything() -> None:
    result = invoke(*SMALL, "--window", 20, "--json", "--seed", 3)
    assert (result.exit_code, result.stderr) == (0, "")
    report = json.loads(result.stdout)
    assert (report["equal"], report["seed"], report["repetitions"]) == (True, 3, 2)
    assert report["peers"] == {"bytewax": None, "streamz": None}
    assert report["left_out"] == {"bytewax": "not asked for", "streamz": "not asked for"}
    assert [item["item"] for item in report["items"]] == [item.name for item in ITEMS]
    for item in report["items"]:
        assert item["elements"] == 400
        assert item["results"] > 0
        assert [(one["contender"], one["batch_size"]) for one in item["measured"]] == [
            (name, size) for size in (1, 64, 1024) for name in ("by hand", "midstream")
        ]
        for one in item["measured"]:
            assert (len(one["seconds"]), one["ordered"], one["problem"]) == (2, True, None)
            for figure in (one["elements_per_second"], one["of_by_hand"]):
                assert 0 < figure["min"] <= figure["median"] <= figure["max"]
            if one["contender"] == "by hand":
                assert set(one["of_by_hand"].values()) == {1.0}


def test_the_table_has_a_line_for_each_item_and_size() -> None:
    result = invoke(*SMALL, "--items", "join,distinct", "--batch-sizes", "1,64")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = [line.split() for line in result.stdout.splitlines()]
    (join,) = (i for i, words in enumerate(lines) if words[:2] == ["join", "1"])
    assert lines[join + 1][0] == "64"
    assert any(words[:2] == ["distinct", "1"] for words in lines)
    assert "bytewax: not asked for." in result.stdout
    assert "Verified" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_a_peer_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "installed", lambda: {"bytewax": None, "streamz": None})
    result = invoke(*SMALL[:4], "--items", "join", "--batch-sizes", 64)
    assert result.exit_code == 0
    assert 'bytewax: not installed; pip install "midstream[peers]".' in result.stdout


@pytest.mark.slow
def test_windows_are_compared() -> None:
    result = invoke("--items", "join,filter-map", "--window", "10,40", "--batch-sizes", 64, *SMALL, "--json")
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert [(item["item"], item["window"]) for item in report["items"]] == [
        ("join", 10),
        ("join", 40),
        ("filter-map", None),
    ]
    assert [
        (other["item"], other["first_window"], other["window"], other["contender"], other["batch_size"])
        for other in report["windows"]
    ] == [("join", 10, 40, "by hand", 64), ("join", 10, 40, "midstream", 64)]
    for i, other in enumerate(report["windows"]):
        pairs = zip(*(item["measured"][i]["seconds"] for item in report["items"][:2]), strict=True)
        assert other["of_first_window"]["median"] == median(a / b for a, b in pairs)
    result = invoke("--items", "join", "--window", "10,40", "--batch-sizes", "1,64", *SMALL)
    words = [line.split() for line in result.stdout.splitlines()]
    assert [line[0] for line in words if line].count("10") == 1
    assert [line[:3] for line in words if line[:2] == ["join", "40"]] == [
        ["join", "40", "1"],
        ["join", "40", "64"],
    ]


def test_streams_are_long_enough_for_the_windows_that_are_given() -> None:
    item = ITEMS[0]
    assert commands._default_elements(item, (1000, 100_000), quick=True) == 600_000
    assert commands._default_elements(item, (1000,), quick=False) == 100_000
    assert commands._default_elements(item, (None,), quick=True) == 20_000


def test_quick_measures_less() -> None:
    result = invoke("--quick", "--items", "filter-map", "--batch-sizes", 1024, "--no-peers", "--json")
    report = json.loads(result.stdout)
    assert report["repetitions"] == 2
    assert report["items"][0]["elements"] == 20_000


@pytest.mark.slow
def test_the_answer_goes_to_a_file_too(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    result = invoke(*SMALL, "--items", "join", "--output", file)
    assert result.exit_code == 0
    assert "Verified" in result.stdout
    assert json.loads(file.read_text())["equal"] is True


@pytest.mark.slow
@pytest.mark.parametrize(("name", "magic"), [("chart.png", b"\x89PNG"), ("chart.svg", b"<?xml")])
def test_a_chart_is_drawn(tmp_path: Path, name: str, magic: bytes) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'midstream[plot]'")
    file = tmp_path / name
    result = invoke(*SMALL, "--items", "join,distinct", "--window", "10,20", "--chart", file)
    assert result.exit_code == 0
    assert file.read_bytes().startswith(magic)


def test_results_that_differ_are_shown(wrong_join: None) -> None:
    arguments = (*SMALL, "--items", "join", "--window", 20, "--batch-sizes", 64)
    result = invoke(*arguments)
    assert result.exit_code == 1
    assert "WRONG" in result.stdout
    assert "join, midstream, batches of 64: by hand on the left" in " ".join(result.stdout.split())
    assert "on the right" in result.stdout
    result = invoke(*arguments, "--json")
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert report["equal"] is report["items"][0]["equal"] is False
    by_hand, ours = report["items"][0]["measured"]
    assert by_hand["problem"] is None
    assert "not equivalent" in ours["problem"]


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        (("--items", "jion"), ("--items: found 'jion'; did you mean join?", "max-avg")),
        (("--items", ""), ("--items: found ''",)),
        (("--batch-sizes", "1,0"), ("--batch-sizes: found '0', expected positive integers",)),
        (("--batch-sizes", "1,x"), ("--batch-sizes: found 'x'",)),
        (("--batch-sizes", "-1"), ("--batch-sizes: found '-1'",)),
        (("--window", "10,"), ("--window: found ''",)),
        (("--elements", "0"), ("--elements: found 0",)),
        (("--repetitions", "-2"), ("--repetitions: found -2",)),
        (("--chart", "chart.pdf"), ("chart.pdf: expected a chart's name to end in .png or .svg",)),
        (("--chart", "none/chart.png"), ("there is no folder none",)),
        (("--output", "none/figures.json"), ("there is no folder none",)),
        (("--output", "."), ("this is a folder",)),
        (("--quick", "memory"), ("found an option (quick) before memory",)),
        (("memory", "--elements", "10"), ("--elements: found 10, expected 40000 or more",)),
    ],
)
def test_bad_options_are_refused(
    arguments: tuple[str, ...],
    messages: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(commands, "ELEMENTS", 400)  # so that what is not refused ends soon
    monkeypatch.setattr(memory, "watch", lambda elements, seed, progress: pytest.fail("not refused"))
    assert_refused(invoke(*arguments), *messages)


def test_a_chart_needs_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("midstream.io.requirements.find_spec", lambda name: None)
    result = invoke("--items", "join", "--chart", tmp_path / "chart.png")
    assert_refused(result, "found no matplotlib", 'pip install "midstream[plot]"')


def test_memory_is_watched(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'midstream[plot]'")
    chart, file = tmp_path / "memory.png", tmp_path / "memory.json"
    result = invoke("memory", "--elements", SHORTEST, "--chart", chart, "--output", file, "--json")
    report = json.loads(result.stdout)
    assert result.exit_code == (0 if report["flat"] else 1)
    assert report == json.loads(file.read_text())
    assert report["elements"] == SHORTEST
    assert report["state_elements"]["flat"] is True
    assert len(report["samples"]) == 20
    assert chart.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("is_flat", [True, False])
def test_the_verdict_on_memory_is_the_exit_status(is_flat: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    values = (5, 10, 10, 10 if is_flat else 20)
    run = memory.MemoryRun(4, 1, 1, tuple(MemorySample(i, 2**20 * v, v) for i, v in enumerate(values)))
    monkeypatch.setattr(memory, "watch", lambda elements, seed, progress: run)
    result = invoke("memory")
    assert result.exit_code == (0 if is_flat else 1)
    assert ("Both stay flat." if is_flat else "It GROWS.") in result.stdout
    assert "10.0 MiB in the first half" in result.stdout
