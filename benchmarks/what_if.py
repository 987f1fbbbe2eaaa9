"""How long a what-if study takes, with Spark's start and in a warm session: `midstream bench what-if`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import time
from typing import Any

from rich.console import Console
from rich.table import Table

from midstream.benchmarks.options import BenchmarkError

COLD, WARM = 18.0, 6.0
"""How many seconds it may take in the median, with Spark's start and in a warm session: all plans priced in
hindsight and by what was known before, turns billed with the cost of migrating."""

PLANS_COLD, PLANS_WARM = 12.0, 3.0
"""How many for the prices in hindsight alone; told beside, as a study has all in one pass."""

CHILD = """
import json, sys, time
begun = time.time()
from midstream.benchmarks.what_if import timed_runs
print(json.dumps(timed_runs(begun, sys.argv[1], int(sys.argv[2]))))
"""


@dataclass(frozen=True, slots=True)
class WhatIfRun:
    """Seconds of each repetition: in a process of its own, and in one warm session."""

    cold: Sequence[float]
    warm: Sequence[float]

    @property
    def is_good(self) -> bool:
        """Whether the medians are within their marks."""
        return median(self.cold) <= COLD and median(self.warm) <= WARM

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"with_start": list(self.cold), "warm": list(self.warm), "is_good": self.is_good}


def timed_runs(begun: float, data: str, warm: int) -> list[float]:
    """The seconds of the first run, since `begun`, and of some more in the same session."""
    from midstream.scenarios.studies.declaration import load_study
    from midstream.scenarios.studies.recording import open_recording
    from midstream.scenarios.studies.session import spark_session
    from midstream.scenarios.studies.what_if.stage import what_if

    study = load_study("nycflights13", data)
    assert study.query is not None
    times = []
    with spark_session("local[2]") as spark:
        for run in range(warm + 1):
            since = time() if run else begun
            with (
                open_recording(spark, study, study.clock.chronons("3h")) as recording,
                what_if(recording, study, study.query) as found,
            ):
                assert len(found.plans) == 12
                assert all(prices.totals for prices in found.prices)
                assert found.turns
            times.append(time() - since)
    return times


WARMING = 3
"""So many runs come before those that count as warm: Java compiles while they run."""


def measure_what_if(data: Path, repetitions: int, advance: Callable[[int, int | None], object]) -> WhatIfRun:
    """Each time in a process of its own; the last one goes on with warm runs.

    Raises   BenchmarkError where a process fails.
    """
    cold: list[float] = []
    warm: list[float] = []
    for repetition in range(1, repetitions + 1):
        first, *later = _in_process(data, WARMING + repetitions if repetition == repetitions else 0)
        cold.append(first)
        warm += later[WARMING:]
        advance(repetition, repetitions)
    return WhatIfRun(cold, warm)


def _in_process(data: Path, warm: int) -> list[float]:
    command = [sys.executable, "-c", CHILD, str(data), str(warm)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        told = done.stderr.strip().splitlines()[-1:]
        raise BenchmarkError(f"what-if: found {' '.join(told)}, expected a study that ends", found=data)
    return [float(number) for number in json.loads(done.stdout.splitlines()[-1])]


def show_what_if_run(run: WhatIfRun, console: Console) -> None:
    """Medians beside their marks."""
    table = Table("a what-if study", "median", "most", "at most", "prices in hindsight alone")
    for name, times, mark, plans in (
        ("with Spark's start", run.cold, COLD, PLANS_COLD),
        ("in a warm session", run.warm, WARM, PLANS_WARM),
    ):
        table.add_row(name, f"{median(times):.1f} s", f"{max(times):.1f} s", f"{mark:g} s", f"{plans:g} s")
    console.print(table)
