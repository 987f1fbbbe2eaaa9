"""The benchmark of many queries measures what it says, and judges it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from midstream.benchmarks import queries
from midstream.benchmarks.commands import app
from midstream.benchmarks.queries import Cost, QueriesRun, measure_queries, query, show_queries
from midstream.plans.equivalence.prover import same_meaning

EVEN = (Cost(10, 1.0, 4.0, 0.5), Cost(100, 1.0, 4.0, 0.5))
GOOD = QueriesRun(EVEN, EVEN, ((1e-6, 1e-6), (1e-6, 2e-6), (2e-6, 2e-6)), 1e-3, True)


def test_a_small_run_is_right() -> None:
    told: list[tuple[int, int]] = []
    run = measure_queries([10, 5], lambda done, total: told.append((done, total)))
    assert run.is_right
    assert [cost.queries for cost in run.separate] == [cost.queries for cost in run.shared] == [5, 10]
    assert min(c.add for c in run.separate) > min(c.remove for c in run.separate) > 0
    assert told == [(done, 5) for done in range(1, 6)]
    assert json.loads(json.dumps(run.as_dict()))["right"] is True


@pytest.mark.parametrize("is_shared", [False, True])
@pytest.mark.parametrize("number", range(5))
def test_a_query_is_migrated_to_another_plan_that_means_the_same(number: int, is_shared: bool) -> None:
    before, after = query(number, is_shared=is_shared)
    assert before != after
    assert same_meaning(before.root, after.root)
    assert query(number + 5, is_shared=is_shared)[0] != before


def test_results_that_differ_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "_alone", lambda plan, arrived: [])
    assert not measure_queries([5]).is_right


@pytest.mark.parametrize(
    ("changes", "is_good"),
    [
        ({}, True),
        ({"is_right": False}, False),
        ({"push": ((1.0, 2.0),)}, True),
        ({"push": ((1.0, 2.1),)}, False),
        ({"push": ((1.0, 1.0), (1.0, 9.0), (1.0, 1.0))}, True),
        ({"shared": (EVEN[0], Cost(100, 2.1, 4.0, 0.5))}, False),
        ({"separate": (EVEN[0], Cost(100, 1.0, 8.1, 0.5))}, False),
        ({"separate": (EVEN[0], Cost(100, 1.0, 4.0, 1.1))}, False),
        ({"separate": (EVEN[0], Cost(100, 2.0, 8.0, 1.0))}, True),
    ],
)
def test_verdicts(changes: dict[str, Any], is_good: bool) -> None:
    assert replace(GOOD, **changes).is_good is is_good


def test_what_is_shown() -> None:
    console = Console(record=True, width=200)
    show_queries(GOOD, console)
    text = console.export_text()
    assert "of their own" in text
    assert "1.00 times as long (the mark is 2.0)" in text
    assert "Migrations changed no result." in text


@pytest.mark.parametrize("is_right", [True, False])
def test_the_verdict_is_the_exit_status(is_right: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, ...]] = []

    def measured(sizes: tuple[int, ...], progress: object) -> QueriesRun:
        asked.append(sizes)
        return replace(GOOD, is_right=is_right)

    monkeypatch.setattr(queries, "measure_queries", measured)
    result = CliRunner().invoke(app, ["queries", "--sizes", "10,100"])
    assert result.exit_code == (0 if is_right else 1)
    assert asked == [(10, 100)]


def test_the_answer_goes_to_a_file_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "measure_queries", lambda *_: GOOD)
    output = tmp_path / "queries.json"
    result = CliRunner().invoke(app, ["queries", "--json", "--output", str(output)])
    assert json.loads(result.stdout) == json.loads(output.read_text()) == GOOD.as_dict()


def test_bad_sizes_are_refused() -> None:
    result = CliRunner().invoke(app, ["queries", "--sizes", "10,none"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--sizes: found 'none'" in result.stderr
