"""Write what became of migrations on slices."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from midstream.io.new_file import write_file
from midstream.scenarios.studies.report import Summary
from midstream.scenarios.studies.simulate.jobs import RUNS
from midstream.scenarios.studies.simulate.stage import Simulated
from midstream.scenarios.studies.writing import new_folder, write_json

SIMULATE = ("runs", "costs.json", "simulate.json")
"""What `write_simulate` replaces in a folder."""


def write_simulate(found: Simulated, summary: Summary, folder: Path) -> None:
    """`runs` (Parquet, one row a run), `costs.json`, which `--costs` and `Profile.read` take, and
    `simulate.json`."""
    with new_folder(folder / "runs") as place:
        table = pa.Table.from_pylist([asdict(run) for run in found.runs], schema=RUNS)
        pq.write_table(table, place / "runs.parquet")
    (folder / "costs.json").unlink(missing_ok=True)
    if found.profile is not None:
        write_file(folder / "costs.json", json.dumps(found.profile.to_json(), indent=2) + "\n")
    write_json(summary, folder / "simulate.json")
