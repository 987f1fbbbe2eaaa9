"""What a study's replay says of an autopilot is what the engine counts that flies with the same settings."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from midstream.autopilot.settings import BALANCED, CAREFUL
from midstream.io.time_units import Clock
from midstream.scenarios.streams.recorded.declaration import RecordedStream, Study
from midstream.scenarios.trials.policies.case import Case
from midstream.scenarios.trials.policies.generated import FEW, MANY, Phase, generated
from midstream.scenarios.trials.policies.on_engine import fly, plan_of

pytestmark = pytest.mark.spark


def test_the_engine_counts_what_the_replay_says(spark: Any, tmp_path: Path) -> None:
    from midstream.scenarios.recordings.recording import open_recording
    from midstream.scenarios.stages.policies.stage import policies

    case = generated("turns", [Phase(5, values=(MANY, FEW)), Phase(5, values=(FEW, MANY))] * 2, 4)
    # Of equal times, elements come to a replay in order of their values.
    case = replace(case, streams={name: sorted(rows) for name, rows in case.streams.items()})
    plan, study = plan_of(case, case.orders[0]), written(case, tmp_path)
    grid = {"careful": CAREFUL, "balanced": BALANCED}
    with open_recording(spark, study, 1) as recording:
        replayed = policies(recording, study, plan, grid, strategy="auto")
    found = {one.policy: one for one in replayed.judged}
    for name, settings in grid.items():
        flight = fly(case, case.orders[0], "moving-states", settings)
        of = found[f"autopilot {name}"]
        assert (of.total, of.moves) == (flight.total, flight.moves)
    assert found["autopilot balanced"].moves > 0


def written(case: Case, folder: Path) -> Study:
    """The streams of a case as files, declared."""
    sources = {source.stream: source for source in plan_of(case, case.orders[0]).sources}
    streams = {}
    for name, rows in case.streams.items():
        path, columns = folder / f"{name}.csv", sources[name].columns
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["t", *columns.names])
            writer.writerows([time, *row] for time, row in rows)
        streams[name] = RecordedStream(name, str(path), "csv", "t", {}, columns, case.window)
    return Study(case.name, case.name, Clock("s"), streams, None)
