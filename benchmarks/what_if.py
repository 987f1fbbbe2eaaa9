"""Time of a what-if study, with Spark's start and without: `python -m midstream.benchmarks what-if`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import time
from typing import Any

from rich.console import Console
from rich.table import Table

from midstream.benchmarks.options import BenchmarkError


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of what-if study, and the limits of its median time, in seconds.

    is_whole    True prices all plans in hindsight and from the past, and bills turns with the cost of
                migrating; otherwise all plans are priced in hindsight alone
    cold        with Spark's start
    warm        in a warm session
    """

    name: str
    is_whole: bool
    cold: float
    warm: float


KINDS = (
    Kind("prices in hindsight alone", False, 12.0, 3.0),
    Kind("with the past and migrations", True, 18.0, 6.0),
)

CHILD = """
import json, sys, time
begun = time.time()
from midstream.benchmarks.what_if import timed_runs
print(json.dumps(timed_runs(begun, sys.argv[1], int(sys.argv[2]), sys.argv[3] == "True")))
"""


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of each repetition, in a process of its own, and in one warm session."""

    cold: Sequence[float]
    warm: Sequence[float]

    def are_within(self, kind: Kind) -> bool:
        """True if the medians are within the limits."""
        return median(self.cold) <= kind.cold and median(self.warm) <= kind.warm


@dataclass(frozen=True, slots=True)
class WhatIfRun:
    """The times of each kind."""

    times: Mapping[Kind, Times]

    @property
    def is_good(self) -> bool:
        """True if all times are within their limits."""
        return all(times.are_within(kind) for kind, times in self.times.items())

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        studies = [
            {"study": kind.name, "with_start": list(times.cold), "warm": list(times.warm)}
            for kind, times in self.times.items()
        ]
        return {"studies": studies, "is_good": self.is_good}


def timed_runs(begun: float, data: str, warm: int, is_whole: bool) -> list[float]:
    """The seconds of the first run, since `begun`, and of `warm` more runs in the same session."""
    from midstream.scenarios.recordings.recording import open_recording
    from midstream.scenarios.spark.session import spark_session
    from midstream.scenarios.stages.base.command_options import is_small
    from midstream.scenarios.stages.what_if.stage import what_if
    from midstream.scenarios.streams.recorded.script import load_study

    study = load_study("nycflights13", data)
    assert study.query is not None
    times = []
    with spark_session("local[2]", is_small=is_small(study)) as spark:
        for run in range(warm + 1):
            since = time() if run else begun
            with (
                open_recording(spark, study, study.clock.chronons("3h")) as recording,
                what_if(recording, study, study.query, knows_past=is_whole) as found,
            ):
                assert len(found.plans) == 12
                assert all(prices.totals for prices in found.prices)
                assert not is_whole or found.switching_costs
            times.append(time() - since)
    return times


WARMING = 3
"""The number of runs before those that count as warm, while Java compiles."""


def measure_what_if(data: Path, repetitions: int, advance: Callable[[int, int | None], object]) -> WhatIfRun:
    """Measure each kind in turn, each time in a process of its own; the last ones go on with warm runs.

    Raises   BenchmarkError where a process fails.
    """
    cold: dict[Kind, list[float]] = {kind: [] for kind in KINDS}
    warm: dict[Kind, list[float]] = {kind: [] for kind in KINDS}
    for repetition in range(1, repetitions + 1):
        for number, kind in enumerate(KINDS, 1):
            more = WARMING + repetitions if repetition == repetitions else 0
            first, *later = _in_process(data, more, kind)
            cold[kind].append(first)
            warm[kind] += later[WARMING:]
            advance((repetition - 1) * len(KINDS) + number, repetitions * len(KINDS))
    return WhatIfRun({kind: Times(cold[kind], warm[kind]) for kind in KINDS})


def _in_process(data: Path, warm: int, kind: Kind) -> list[float]:
    command = [sys.executable, "-c", CHILD, str(data), str(warm), str(kind.is_whole)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        told = done.stderr.strip().splitlines()[-1:]
        raise BenchmarkError(f"what-if: found {' '.join(told)}, expected a study that ends", found=data)
    return [float(number) for number in json.loads(done.stdout.splitlines()[-1])]


def show_what_if_run(run: WhatIfRun, console: Console) -> None:
    """Print the medians beside their limits."""
    table = Table("a what-if study", "", "median", "most", "at most")
    for kind, found in run.times.items():
        for how, times, mark in (
            ("with Spark's start", found.cold, kind.cold),
            ("in a warm session", found.warm, kind.warm),
        ):
            table.add_row(kind.name, how, f"{median(times):.1f} s", f"{max(times):.1f} s", f"{mark:g} s")
    console.print(table)
