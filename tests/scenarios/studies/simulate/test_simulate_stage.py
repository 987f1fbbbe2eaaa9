"""What executors find on slices is what a process alone finds; wrong calls are refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

import midstream as ms
from midstream import studies
from midstream.cli import app
from midstream.optimizer.cost.calibration import Profile
from midstream.plans.values.errors import ArgumentError, MidstreamError
from midstream.scenarios.stages.simulate.grid import Row, RunGrid, slices
from midstream.scenarios.stages.simulate.making import grid_of, other_orders
from midstream.scenarios.stages.simulate.running import SliceRun, run_slice
from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.script import load_study

from ..conftest import reversed_settings

LENGTH, NUMBER = 300, 3
"""The first slice starts with the first element; one lies where there are none."""


@pytest.fixture
def study(drifting: Path) -> Study:
    return load_study(str(drifting))


def grid(study: Study, **more: Any) -> RunGrid:
    assert study.query is not None
    made = grid_of(
        study,
        study.query,
        other_orders(study.query),
        strategies=("genmig", "moving-states"),
        seeds=range(1, 3),
    )
    return replace(made, **more)


def recorded(study: Study) -> list[Row]:
    found = []
    for name, stream in study.streams.items():
        for file in Path(stream.path).parent.glob("*.jsonl"):
            for line in file.read_text().splitlines():
                row = json.loads(line)
                found.append((row["t"], name, (row["k"], row["m"])))
    return sorted(found)


def machine_free(runs: Any) -> list[SliceRun]:
    found = [replace(run, cpu=0.0, cpu_stayed=0.0) for run in runs]
    return sorted(found, key=lambda run: (run.slice, run.seed, run.at, run.to, run.strategy))


@pytest.mark.spark(fast=True)
def test_slices_on_executors(
    spark: Any, study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.parquet as pq

    from midstream.scenarios.recordings.recording import open_recording
    from midstream.scenarios.stages.simulate import jobs
    from midstream.scenarios.stages.simulate.stage import simulate

    asked = grid(study)
    result = studies.simulate(
        spark, study, slice="300s", slices=NUMBER, strategies=asked.strategies, seeds=2, output=tmp_path
    )
    found, summary = result.value, result.summary
    with open_recording(spark, study, LENGTH) as recording:
        with pytest.raises(ArgumentError, match="found a length of 40 s, expected more than the longest"):
            simulate(recording, study, asked, 40, NUMBER)
        with monkeypatch.context() as patch:
            patch.setattr(jobs, "MOST_ELEMENTS", 100)
            with pytest.raises(
                MidstreamError, match=r"slice from .* to .*: found \d+ elements, expected 100"
            ):
                simulate(recording, study, asked, LENGTH, NUMBER)
        with reversed_settings(spark, {"spark.sql.execution.arrow.maxRecordsPerBatch": "7"}):
            mutated = replace(
                asked, mutant="results-at-the-split-time", strategies=("moving-states",), seeds=range(1)
            )
            wrong = simulate(recording, study, mutated, LENGTH, NUMBER)

    rows = recorded(study)
    parts = slices(rows[0][0], rows[-1][0], LENGTH, NUMBER)
    inside = {part: [row for row in rows if part.start <= row[0] < part.end] for part in parts}
    expected, mutants = (
        [
            run
            for part in parts
            for seed in one.seeds
            if inside[part]
            for run in run_slice(part, inside[part], seed, one)
        ]
        for one in (asked, mutated)
    )
    assert machine_free(found.runs) == machine_free(expected)
    assert machine_free(wrong.runs) == machine_free(mutants)
    assert found.slices == parts and not found.wrong and found.profile is not None
    assert wrong.wrong and {run.slice for run in wrong.wrong} <= {part.start for part in parts}

    assert summary["runs"] == len(found.runs) and not summary["wrong"]
    assert {file.name for file in tmp_path.iterdir()} == {"runs", "costs.json", "simulate.json"}
    table = pq.read_table(tmp_path / "runs" / "runs.parquet").to_pylist()
    assert [SliceRun(**row) for row in table] == list(found.runs)
    assert Profile.read(tmp_path / "costs.json").units.factors == found.profile.units.factors
    total = found.totals[0]
    assert (total.strategy, total.moved + total.unfinished) == ("genmig", 2 * (len(parts) - found.empty))
    assert total.duration is not None and 36 <= total.duration <= 44


def invoke(*given: str) -> Any:
    return CliRunner().invoke(app, ["study", "simulate", *given], env={"COLUMNS": "200"})


def refused(*given: str) -> str:
    result = invoke(*given)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    return str(result.stderr)


def test_wrong_calls(drifting: Path, study: Study, tmp_path: Path) -> None:
    file = str(drifting)
    assert "expected some of" in refused(file, "--strategies", "genmig,luck")
    assert "--mutant" in refused(file, "--mutant", "nothing-at-all")
    assert "--slice" in refused(file, "--slice", "soon")
    assert "expected 1.0 or less" in refused(file, "--at", "1.5")
    other = tmp_path / "other.json"
    other.write_text(ms.dumps(ms.stream("a", k="integer").window(40).plan()))
    assert f"{other}: " in refused(file, "--to", str(other))


def test_another_output_ends_with_1(drifting: Path, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Spark: what was found is told, with the slice, and the exit status says no."""
    pytest.importorskip("pyspark", reason="needs PySpark: pip install 'midstream[spark]'")
    from contextlib import nullcontext

    from midstream.scenarios.recordings import recording
    from midstream.scenarios.spark import session
    from midstream.scenarios.stages.run import stage_command
    from midstream.scenarios.stages.simulate import stage

    asked = grid(study, mutant="results-at-the-split-time", strategies=("moving-states",))
    rows = recorded(study)
    parts = slices(rows[0][0], rows[-1][0], LENGTH, 1)
    runs = [run for seed in range(5) for run in run_slice(parts[0], rows[:200], seed, asked)]
    monkeypatch.setattr(stage_command, "require_spark", lambda: None)
    monkeypatch.setattr(session, "spark_session", lambda *_, **__: nullcontext(object()))
    opened = SimpleNamespace(totals={})
    monkeypatch.setattr(recording, "open_recording", lambda *_: nullcontext(opened))
    for kept, status in ((runs, 1), ([run for run in runs if run.is_right], 0)):
        found = stage.Simulated(parts, 0, tuple(kept), None)
        monkeypatch.setattr(stage, "simulate", lambda *_, found=found: found)
        result = invoke(str(drifting), "--slice", "300s")
        assert result.exit_code == status, result.output
        told = f"slice from {study.clock.show(parts[0].start)}"
        assert (told in result.stdout) == bool(status)
