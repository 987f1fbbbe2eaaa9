"""What a user would write instead: all contenders give the same, each in a process of its own."""

from __future__ import annotations

import gc
import json
from dataclasses import replace
from typing import Any

import pytest
from typer.testing import CliRunner

from midstream.benchmarks import arrival_contests
from midstream.benchmarks.arrival_contests import BYTEWAX, MIDSTREAM, Figures, measure
from midstream.benchmarks.arrivals import ARRIVALS, ArrivalItem, draw
from midstream.benchmarks.commands import app
from midstream.benchmarks.contenders import BY_HAND
from midstream.benchmarks.peers import installed
from midstream.operators.engine.garbage_collection import THRESHOLDS

NAMES = [BY_HAND, *([BYTEWAX] if installed()[BYTEWAX] else []), MIDSTREAM]

items = pytest.mark.parametrize("item", ARRIVALS, ids=lambda item: item.name)


def invoke(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["arrivals", *map(str, arguments)])


@items
@pytest.mark.parametrize("batch_size", [1, 700])
def test_all_contenders_give_the_same(
    item: ArrivalItem, batch_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrival_contests, "CHECKED", 3_000)
    assert arrival_contests._difference(item, NAMES, batch_size, seed=3) is None


@pytest.mark.parametrize("item", [item for item in ARRIVALS if item.window > 1], ids=lambda item: item.name)
def test_a_contender_that_is_wrong_is_found(item: ArrivalItem, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our window is a tenth longer."""
    monkeypatch.setattr(arrival_contests, "CHECKED", 50_000 if item.window > 1000 else 5_000)
    wrong = replace(item, plan=lambda window: item.plan(window * 11 // 10))
    assert arrival_contests._difference(wrong, [BY_HAND, MIDSTREAM], 100, seed=1) is not None


def test_keys_are_skewed() -> None:
    """The most frequent of ten thousand comes in a seventh of the elements, as Zipf's law has it."""
    keys = [element[2][0] for _, element in draw(1, 20_000, seed=1)]
    assert 0.13 < keys.count(0) / len(keys) < 0.17
    assert 1_000 < len(set(keys)) < 10_000


@pytest.mark.parametrize("collector", arrival_contests.COLLECTORS)
def test_the_collector_is_as_it_was_afterwards(collector: str) -> None:
    before = gc.isenabled(), gc.get_threshold()
    assert before[1] != THRESHOLDS
    assert measure("group-count", MIDSTREAM, 500, 100, collector, seed=1).results > 500
    assert (gc.isenabled(), gc.get_threshold()) == before


@pytest.mark.slow
def test_the_peak_of_a_process_is_not_that_of_the_one_that_started_it() -> None:
    ballast = b"x" * 2**28
    figures = arrival_contests._alone("filter-map", MIDSTREAM, 1_000, 100, "on", seed=1)
    assert figures.peak is None or 2**20 < figures.peak < len(ballast)


@pytest.mark.slow
def test_the_command_prints_a_table_or_json() -> None:
    small = ("--elements", 300, "--repetitions", 1, "--items", "filter-map", "--no-peers")
    shown = invoke(*small, "--collector", "off")
    assert shown.exit_code == 0, shown.output
    assert "filter-map" in shown.stdout
    assert "the results are the same" in shown.stdout
    facts = json.loads(invoke(*small, "--collector", "on", "--json").stdout)
    assert facts["equal"] is True
    assert [one["contender"] for one in facts["items"]] == [BY_HAND, MIDSTREAM]
    assert {one["results"] for one in facts["items"]} == {facts["items"][0]["results"]}


def test_results_that_differ_make_the_exit_status_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrival_contests, "_difference", lambda *_: "midstream: another result")
    monkeypatch.setattr(arrival_contests, "_alone", lambda *_: Figures(1.0, 1, None, None))
    result = invoke("--items", "join", "--no-peers", "--repetitions", 1)
    assert result.exit_code == 1
    assert "join: midstream: another result" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--items", "jion"), "--items: found 'jion'; did you mean join?"),
        (("--collector", "of"), "--collector: found 'of'"),
        (("--elements", "0"), "--elements: found 0, expected a positive integer"),
    ],
)
def test_bad_options_are_refused(arguments: tuple[str, ...], message: str) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
