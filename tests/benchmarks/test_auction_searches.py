"""The benchmark of searches by every rule times all queries, by what an engine has seen of their streams."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from midstream.benchmarks import auction_searches
from midstream.benchmarks.auction_searches import (
    MARK,
    AuctionFigures,
    AuctionsRun,
    measure_auctions,
    run_query,
    show_auctions,
)
from midstream.benchmarks.commands import app

QUICK = AuctionFigures("q1", 0.001, 0.9 * MARK, 2, 1.0)
SLOW = AuctionFigures("q2", 0.001, MARK, 2, 1.0)


def test_every_query_that_is_asked_for_is_measured() -> None:
    told: list[tuple[int, int]] = []
    run = measure_auctions(lambda done, total: told.append((done, total)), [3, 9])
    assert told == [(1, 2), (2, 2)]
    assert [one.query for one in run.queries] == ["q3", "q9"]
    assert all(one.gain >= 1 and one.considered > 1 for one in run.queries)


@pytest.mark.parametrize("number", [1, 3, 10])
def test_statistics_are_of_auctions_that_were_run(number: int) -> None:
    _, engine = run_query(number)
    for known in engine.statistics().streams.values():
        assert known.sample is not None
        assert known.sample.rows


@pytest.mark.parametrize(("slow", "is_good"), [((), True), ((SLOW,), False)])
def test_the_verdict(
    slow: tuple[AuctionFigures, ...], is_good: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = AuctionsRun((QUICK, *slow))
    console = Console(width=120, record=True)
    show_auctions(run, console)
    assert console.export_text().endswith(
        "by every rule: kept.\n" if is_good else "by every rule: not kept.\n"
    )
    monkeypatch.setattr(auction_searches, "measure_auctions", lambda *_: run)
    done = CliRunner().invoke(app, ["auctions", "--output", str(tmp_path / "auctions.json")])
    assert done.exit_code == (0 if is_good else 1)
    assert json.loads((tmp_path / "auctions.json").read_text())["good"] is is_good
