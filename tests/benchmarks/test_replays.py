"""`midstream bench replays`: what it says, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from midstream.benchmarks.commands import app
from midstream.benchmarks.options import BenchmarkError
from midstream.benchmarks.replays import Compared, Replays, ReplaysRun, chosen_streams, show_replays


def row(setting: str, engine: int, replay: float) -> Compared:
    return Compared(setting, 9.0, engine, replay, 2, 2)


@pytest.mark.parametrize(
    ("engine", "replay", "is_near"),
    [(100, 100.0, True), (109, 100.0, True), (112, 100.0, False), (88, 100.0, False), (0, 0.0, True)],
)
def test_near_is_within_a_tenth(engine: int, replay: float, is_near: bool) -> None:
    assert row("mine", engine, replay).is_near == is_near
    assert not row("mine", 3, 0.0).is_near


def test_what_is_recommended_is_measured_by_what_the_engine_counts() -> None:
    rows = row("careful", 106, 106.0), row("balanced", 100, 100.0)
    found = Replays("packets", "auto", "careful", rows)
    assert found.of_best == 1.06 and not found.is_good
    assert Replays("packets", "auto", "balanced", rows).is_good
    assert Replays("packets", "auto", "careful", (row("careful", 0, 0.0),)).of_best == 1.0
    assert (
        Replays("packets", "auto", "careful", (row("careful", 3, 3.0), row("eager", 0, 0.0))).of_best is None
    )


def test_the_table_says_all() -> None:
    run = ReplaysRun(1, (Replays("packets", "auto", "careful", (row("careful", 106, 100.0),)),))
    console = Console(width=120, record=True)
    show_replays(run, console)
    told = console.export_text()
    assert "packets, by auto: recommended is careful, 1.000 × the best later on" in told
    assert "1.060" in told
    assert json.loads(json.dumps(run.as_dict()))["streams"][0]["settings"][0]["ratio"] == 1.06


def test_what_there_is_not_is_refused(tmp_path: Path) -> None:
    assert chosen_streams("flips-8, packets, mine.yaml, splus_net_packet", tmp_path) == [
        "flips-8",
        "packets",
        "mine.yaml",
        "splus_net_packet",
    ]
    with pytest.raises(BenchmarkError, match="packets, which is recorded"):
        chosen_streams("packets", None)
    with pytest.raises(BenchmarkError, match="found 'flops', expected some of roads"):
        chosen_streams("flops", tmp_path)
    done = CliRunner().invoke(app, ["replays", "--cases", "flips-8", "--grid", "eagre"])
    assert done.exit_code != 0
