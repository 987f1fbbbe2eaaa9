"""Growth of a study's cost with its data: `python -m midstream.benchmarks studies`.

It runs in a warm session on two cores with a heap of 2 GB.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from midstream.benchmarks.options import BenchmarkError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TIMES, MOST = 4, 4.8
"""TIMES times the data may cost at most MOST times as much."""

STAGES = ("ingest", "profile", "what-if")

HEAP = "2g"
BUCKETS, WINDOW = 200, 2

SECONDS = 1000
"""The duration of the streams for a million elements; it grows with more of them."""

UNIFORM, SKEWED = "{values: uniform, low: 1, high: 2000}", "{values: zipf, n: 2000}"
KEYS = {"a": UNIFORM, "b": UNIFORM, "c": SKEWED}
"""The three streams, with the distributions of their keys."""

RECORDED = "recorded"
"""The folder of the streams as they arrive, out of order by up to two seconds, for `ingest`."""


def described(seconds: int, rate: float) -> str:
    """The description of the streams, for `study generate`."""
    streams = [
        f"  {name}: {{columns: {{k: {key}}}, arrivals: {{process: poisson, rate: {rate}}}, "
        "disorder: 2 s, slack: 2 s}"
        for name, key in KEYS.items()
    ]
    return "\n".join(["unit: seconds", f"duration: {seconds} s", "streams:", *streams])


def declared(folder: str) -> str:
    """The script of the study of the streams in a folder."""
    streams = [
        f"CREATE STREAM {name}(start BIGINT, k INTEGER NOT NULL) "
        f"SOURCE file('{folder}{'/' + name if folder.endswith(RECORDED) else ''}') "
        "ORDERED BY start TIME_UNIT 's';"
        for name in KEYS
    ]
    windows = ", ".join(f"{name} WINDOW(RANGE {WINDOW} SECONDS)" for name in KEYS)
    return "\n".join([*streams, f"SELECT a.k FROM {windows} WHERE a.k = b.k AND b.k = c.k"])


CHILD = """
import sys
from midstream.benchmarks.studies import measured_here
folder, *counts = sys.argv[1:]
measured_here(folder, *map(int, counts))
"""


@dataclass(frozen=True, slots=True)
class Taken:
    """Time and memory of a study.

    seconds         by stage, CPU seconds of all processes
    java, workers   the largest memory so far of Java, and of all Python workers together, in bytes
    """

    elements: int
    seconds: Mapping[str, float]
    java: int
    workers: int


@dataclass(frozen=True, slots=True)
class StudiesRun:
    """Studies of some elements, and of four times as many."""

    once: Taken
    more: Taken

    def growth(self, stage: str) -> float:
        """Time of a stage with more elements / its time with fewer."""
        return self.more.seconds[stage] / self.once.seconds[stage]

    @property
    def is_good(self) -> bool:
        """True if every stage keeps its limit."""
        return all(self.growth(stage) <= MOST for stage in STAGES)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        growth = {stage: self.growth(stage) for stage in STAGES}
        return {"runs": [asdict(self.once), asdict(self.more)], "growth": growth, "is_good": self.is_good}


def measure_studies(elements: int, advance: Callable[[int, int | None], object]) -> StudiesRun:
    """Ingest, profile and price `elements` elements, and four times as many, in a process of their own.

    Raises   BenchmarkError where there is no /proc, or where the process fails.
    """
    if not Path("/proc/self/stat").exists():
        raise BenchmarkError("studies: found no /proc, expected Linux, which tells what processes take")
    environment = {**os.environ, "SPARK_DRIVER_MEMORY": HEAP}
    with TemporaryDirectory() as folder, TemporaryFile("w+") as errors:
        # The first study warms up the session.
        counts = max(1, elements // 10), elements, TIMES * elements
        command = [sys.executable, "-c", CHILD, folder, *map(str, counts)]
        found = []
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as child:
            assert child.stdout is not None
            for number, line in enumerate(child.stdout, 1):
                found.append(Taken(**json.loads(line)))
                advance(number, len(counts))
        errors.seek(0)
        told = errors.read().strip().splitlines()[-1:]
    if child.returncode:
        raise BenchmarkError(f"studies: found {' '.join(told)}, expected studies that end")
    _, once, more = found
    return StudiesRun(once, more)


def measured_here(folder: str, *counts: int) -> None:
    """Print time and memory of studies of `counts` elements, in one session: a line of JSON for each."""
    from midstream.scenarios.spark.session import spark_session

    with spark_session("local[2]") as spark:
        for number, count in enumerate(counts):
            print(json.dumps(asdict(_taken(spark, Path(folder, str(number)), count))), flush=True)


def _taken(spark: SparkSession, place: Path, count: int) -> Taken:
    from midstream.scenarios.recordings.recording import open_recording
    from midstream.scenarios.stages.generate.generate import generate_arrivals
    from midstream.scenarios.stages.generate.generate_command import streams_of
    from midstream.scenarios.stages.ingest.ingest import ingest
    from midstream.scenarios.stages.profile.report import profile_summary
    from midstream.scenarios.stages.profile.stream_profile import profile
    from midstream.scenarios.stages.what_if.stage import what_if
    from midstream.scenarios.streams.recorded.script import load_feeds, load_study

    seconds = max(BUCKETS, SECONDS * count // 1_000_000)
    streams, raw, sorted_ = (place / name for name in ("streams.yaml", "raw.sql", "study.sql"))
    place.mkdir()
    streams.write_text(described(seconds, count / 3 / seconds), encoding="utf-8")
    raw.write_text(declared(str(place / RECORDED)), encoding="utf-8")
    sorted_.write_text(declared(str(place / "streams")), encoding="utf-8")
    made = generate_arrivals(spark, streams_of(str(streams), count, 1)[0], place / RECORDED)
    at = [processor_seconds()]
    ingest(spark, load_feeds(str(raw))[1], place / "streams")
    at.append(processor_seconds())
    study = load_study(str(sorted_))
    assert study.query is not None
    with open_recording(spark, study, seconds // BUCKETS) as recording:
        with profile(recording, study) as found:
            profile_summary(study, found, 0)
        at.append(processor_seconds())
        with what_if(recording, study, study.query) as priced:
            assert priced.switching_costs
    at.append(processor_seconds())
    taken = (after - before for before, after in pairwise(at))
    return Taken(sum(made.values()), dict(zip(STAGES, taken, strict=True)), *peaks())


def processor_seconds() -> float:
    """CPU seconds of this process and all below it, with those that have ended."""
    ticks = sum(sum(map(int, fields[11:15])) for _, fields in _family())
    return ticks / os.sysconf("SC_CLK_TCK")


def peaks() -> tuple[int, int]:
    """The largest memory of Java, and of all Python processes below this one together, in bytes."""
    java = workers = 0
    for process, _ in _family():
        try:
            lines = (process / "status").read_text().splitlines()
        except OSError:  # it has ended meanwhile
            continue
        status = dict(line.split(":", 1) for line in lines if ":" in line)
        most = 1024 * int(status.get("VmHWM", "0 kB").split()[0])
        if status["Name"].strip() == "java":
            java += most
        elif process.name != str(os.getpid()):
            workers += most
    return java, workers


def _family() -> list[tuple[Path, list[str]]]:
    """This process and all below it: its folder in /proc, and the fields of `stat` behind its name."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            _, _, rest = (process / "stat").read_text().rpartition(")")
        except OSError:
            continue
        found[process.name] = process, rest.split()
    inside = {str(os.getpid())}
    while more := {name for name, (_, fields) in found.items() if fields[1] in inside} - inside:
        inside |= more
    return [found[name] for name in sorted(inside) if name in found]


def show_studies(run: StudiesRun, console: Console) -> None:
    """Print CPU seconds, growth and memory."""
    table = Table("elements", *STAGES, "Java", "workers")
    for one in (run.once, run.more):
        seconds = (f"{taken:.1f} s" for taken in one.seconds.values())
        table.add_row(
            f"{one.elements:,}", *seconds, f"{one.java / 2**30:.1f} GB", f"{one.workers / 2**30:.1f} GB"
        )
    table.add_row("", *(f"{run.growth(stage):.1f} ×" for stage in STAGES), "", "")
    console.print(table)
    console.print(f"Four times the data may take {MOST:g} times as much.", highlight=False)
