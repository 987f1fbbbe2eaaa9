"""`python -m midstream.benchmarks autopilot`: what is promised, and whether it is kept."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from midstream.benchmarks import autopilot
from midstream.benchmarks.autopilot import (
    AIMS,
    CASES,
    Aim,
    PilotRun,
    chosen_cases,
    measure_autopilot,
    show_autopilot,
)
from midstream.benchmarks.commands import app
from midstream.benchmarks.options import BenchmarkError
from midstream.scenarios.trials.policies.case import Case, one_key

RUN = PilotRun("roads", 1, ("a", "b"), "auto", 30, 20, 10, 40.0, 2, None, 0.5)


def by_hand(*_: Any) -> Case:
    """a and b meet at 2 and at 11; b and c, and a and c, at 3 alone. Buckets begin at 1, 6 and 11."""
    return one_key("by hand", 5, 5, {"a": [(1, 1), (11, 1)], "b": [(2, 1), (10, 1)], "c": [(3, 1)]})


@pytest.mark.parametrize(
    ("aim", "first", "allowed", "moves"),
    [
        (Aim(), "ab", None, None),
        (Aim(auto=3, genmig=5), "ab", 3, None),
        (Aim("hindsight", auto=3), "ab", 3, None),
        (Aim(auto=3, with_first=True), "ab", 4, None),
        (Aim(auto=3, with_first=True), "ac", 3, None),
        (Aim(auto=3, below_fixed=True), "ab", 0, None),
        (Aim(once=True), "ab", None, 1),
        (Aim(once=True), "ac", None, 0),
    ],
)
def test_what_is_allowed(
    aim: Aim, first: str, allowed: int | None, moves: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The best fixed order gives 1 result, as the best order of each bucket does; a and b give 2."""
    monkeypatch.setattr(autopilot, "case_of", by_hand)
    monkeypatch.setattr(autopilot, "AIMS", {"by hand": aim})
    one = autopilot.run_autopilot("by hand", None, 1, (first[0], first[1]), "auto")
    assert (one.fixed, one.hindsight, one.allowed, one.allowed_moves) == (1, 1, allowed, moves)


def test_each_first_order_flies_by_each_strategy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(autopilot, "case_of", by_hand)
    monkeypatch.setattr(autopilot, "AIMS", {"by hand": Aim(seeds=2)})
    run = measure_autopilot(["by hand"], None, 7, 1)
    assert [(one.seed, "".join(one.first), one.by) for one in run.runs] == [
        (seed, order, by) for seed in (7, 8) for order in ("ab", "ac", "bc") for by in ("auto", "genmig")
    ]
    assert {one.cost for one in run.runs} == {1, 2} and run.is_good


@pytest.mark.parametrize(
    ("change", "good"),
    [
        ({}, True),
        ({"cost": 41}, False),
        ({"cost": 41, "allowed": None}, True),
        ({"moves": 1, "allowed_moves": 1}, True),
        ({"moves": 2, "allowed_moves": 1}, False),
    ],
)
def test_a_promise_is_kept_or_not(change: dict[str, Any], good: bool) -> None:
    assert replace(RUN, **change).is_good is good


def test_the_run_that_comes_nearest_to_its_aim_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    # As wide as columns may become.
    long = replace(RUN, case="selectivity-flip", by="genmig", cost=29_876, allowed=38_686.0, fixed=30_271)
    runs = [
        *[partial(replace, long)] * 40,
        partial(replace, RUN, cost=3),
        partial(replace, RUN, cost=39, moves=1),
        partial(replace, RUN, case="periodic-100", by="genmig", cost=41),
    ]
    monkeypatch.setattr(autopilot, "all_runs", lambda *_: runs)
    told: list[tuple[int, int]] = []
    run = measure_autopilot([], None, 1, 2, lambda done, total: told.append((done, total)))
    console = Console(file=io.StringIO(), width=80)
    show_autopilot(run, console)
    lines = [" ".join(line.split()) for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    assert "roads auto 39 40 1.95 3.90 2 2/2" in lines
    assert "periodic-100 genmig 41 40 2.05 4.10 2 0/1" in lines
    assert "selectivity-flip genmig 29,876 38,686 0.99 2987.60 2 40/40" in lines
    assert lines[-1] == "Every promise: not kept."
    assert told == [(done, 43) for done in range(1, 44)]


def test_every_case_has_an_aim() -> None:
    assert set(AIMS) == set(CASES)


@pytest.mark.parametrize(("cost", "status"), [(40, 0), (41, 1)])
def test_the_exit_status_tells(
    cost: int, status: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(autopilot, "all_runs", lambda *_: [partial(replace, RUN, cost=cost)])
    file = tmp_path / "found.json"
    result = CliRunner().invoke(app, ["autopilot", "--cases", "rate-burst", "--output", str(file)])
    assert result.exit_code == status, result.output
    told = json.loads(file.read_text(encoding="utf-8"))
    assert (told["format"], told["good"], told["runs"][0]["good"]) == (
        "midstream-autopilot",
        status == 0,
        status == 0,
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--cases", "rate-brust"], "found 'rate-brust', expected some of roads"),
        (["--workers", "0"], "--workers: found 0, expected a positive integer"),
    ],
)
def test_bad_input_is_told(options: list[str], told: str) -> None:
    result = CliRunner().invoke(app, ["autopilot", *options])
    assert result.exit_code == 2
    assert told in result.stderr


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ("rate-brust", "found 'rate-brust', expected some of roads"),
        ("roads", "found roads, which is recorded; expected its folder"),
    ],
)
def test_a_case_that_is_not_there_is_refused(names: str, told: str) -> None:
    with pytest.raises(BenchmarkError, match=told):
        chosen_cases(names, None)
