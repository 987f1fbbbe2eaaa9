"""How near replays of the autopilot come to the engine, and how good the settings are that they recommend:
the table of `midstream bench replays`.

A replay sees the first half of the time of recorded streams, and recommends settings. On the later half the
engine runs with all of them, and counts intermediate results; beside that is what a replay of that half says.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from heapq import merge
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from midstream.autopilot.settings import Settings
from midstream.benchmarks.options import BenchmarkError
from midstream.benchmarks.policies import CASES, case_of, require_data
from midstream.engine import Engine
from midstream.io.time_units import Clock
from midstream.optimizer import INTERMEDIATE
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.scenarios.policies.case import Case
from midstream.scenarios.policies.on_engine import plan_of
from midstream.scenarios.studies.declaration import RecordedStream, Study

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from midstream.scenarios.studies.policies.stage import Found
    from midstream.scenarios.studies.recording import Recording

NEAR = 0.1
"""By what share the engine may cost more or less than the replay says."""

GOOD = 1.05
"""What the recommended settings may cost, as a multiple of the best ones."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Some settings: what they cost on the first half by the replay, and on the later one by both."""

    setting: str
    seen: float
    engine: int
    replay: float
    engine_moves: int
    replay_moves: int

    @property
    def ratio(self) -> float | None:
        """Engine by replay; None where the replay says 0, and the engine something else."""
        if self.replay:
            return self.engine / self.replay
        return None if self.engine else 1.0

    @property
    def is_near(self) -> bool:
        """Whether the engine costs about what the replay says."""
        return self.ratio is not None and abs(self.ratio - 1) <= NEAR


@dataclass(frozen=True, slots=True)
class Replays:
    """All settings on one stream."""

    name: str
    strategy: str
    recommended: str
    settings: tuple[Compared, ...]

    @property
    def of_best(self) -> float | None:
        """What the recommended settings cost on the later half, as a multiple of the best ones there."""
        costs = {one.setting: one.engine for one in self.settings}
        least = min(costs.values())
        if least:
            return costs[self.recommended] / least
        return None if costs[self.recommended] else 1.0

    @property
    def is_good(self) -> bool:
        """Whether engine and replay are near each other, and the recommended settings near the best ones."""
        return all(one.is_near for one in self.settings) and (
            self.of_best is not None and self.of_best <= GOOD
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        rows = [{**asdict(one), "ratio": one.ratio} for one in self.settings]
        return {
            "name": self.name,
            "strategy": self.strategy,
            "recommended": self.recommended,
            "of_best": self.of_best,
            "good": self.is_good,
            "settings": rows,
        }


@dataclass(frozen=True, slots=True)
class ReplaysRun:
    """All streams."""

    seed: int
    found: tuple[Replays, ...]

    @property
    def is_good(self) -> bool:
        """Whether all are."""
        return all(one.is_good for one in self.found)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        found = [one.as_dict() for one in self.found]
        return {"format": "midstream-replays", "version": 1, "seed": self.seed, "streams": found}


def chosen_streams(names: str, data: Path | None) -> list[str]:
    """Cases of `bench policies`, and study files by their names.

    Raises   BenchmarkError for what is recorded, without data.
    """
    chosen = list(dict.fromkeys(name.strip() for name in names.split(",")))
    for name in chosen:
        require_data(name, data)
        if name not in CASES and not Path(name).suffix and name not in _packaged():
            expected = f"some of {', '.join([*CASES, *_packaged()])}, or study files"
            raise BenchmarkError(f"--cases: found {name!r}, expected {expected}", found=name)
    return chosen


def compare_replays(
    names: Sequence[str],
    data: Path | None,
    strategy: str,
    grid: Mapping[str, Settings],
    seed: int,
    master: str,
    tell: Callable[[int, int], object],
) -> ReplaysRun:
    """One stream after the other, in one Spark session."""
    from midstream.scenarios.studies.session import spark_session

    found = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        studies = [_study(name, data, seed, folder / str(i)) for i, name in enumerate(names)]
        spark = stack.enter_context(spark_session(master))
        for name, (study, plan) in zip(names, studies, strict=True):
            found.append(compared(spark, name, study, plan, strategy, grid))
            tell(len(found), len(names))
    return ReplaysRun(seed, tuple(found))


def compared(
    spark: SparkSession, name: str, study: Study, plan: Plan, strategy: str, grid: Mapping[str, Settings]
) -> Replays:
    """Replays of both halves of a study, and the engine on the later one.

    Raises   BenchmarkError where there is no time to be cut.
    """
    from midstream.scenarios.studies.policies.stage import policies
    from midstream.scenarios.studies.recording import open_recording

    def replayed(part: Study) -> tuple[Found, list[tuple[int, list[Arrival]]]]:
        with open_recording(spark, part, 1) as recording:
            found = policies(recording, part, plan, grid, objective=INTERMEDIATE, strategy=strategy)
            return found, list(instants(recording, part)) if part.since == middle else []

    with open_recording(spark, study, 1) as recording:
        starts = recording.starts
    middle = (starts.start + starts.stop) // 2
    if not starts or middle == starts.start:
        raise BenchmarkError(f"{name}: found no time that could be cut in two", found=name)
    (seen, _), (later, arrivals) = (
        replayed(replace(study, until=middle)),
        replayed(replace(study, since=middle)),
    )
    first, second = ({one.policy: one for one in found.judged} for found in (seen, later))
    rows = []
    for setting, settings in grid.items():
        spent, moves = flown_by_engine(plan, arrivals, settings, strategy)
        of = f"autopilot {setting}"
        rows.append(Compared(setting, first[of].total, spent, second[of].total, moves, second[of].moves))
    return Replays(name, strategy, seen.recommended, tuple(rows))


Arrival = tuple[int, str, tuple[Any, ...]]
"""When, on which stream, and what."""


def instants(recording: Recording, study: Study) -> Iterator[tuple[int, list[Arrival]]]:
    """All that starts, instant by instant; of equal times and streams in order of their values."""
    from midstream.scenarios.studies.recording import TIME

    def of_one(name: str) -> Iterator[Arrival]:
        for row in recording.frames[name].orderBy(*recording.frames[name].columns).toLocalIterator():
            yield row[TIME], name, tuple(row[f"c{i}"] for i in range(len(study.streams[name].columns)))

    for time, together in groupby(merge(*map(of_one, study.streams), key=itemgetter(0)), key=itemgetter(0)):
        yield time, list(together)


def flown_by_engine(
    plan: Plan, arrivals: Sequence[tuple[int, Sequence[Arrival]]], settings: Settings, strategy: str
) -> tuple[int, int]:
    """What the engine's autopilot costs, and how often it moves. Time comes to every instant on all streams
    at once, by heartbeats."""
    engine = Engine(logical_plan(plan))
    pilot = engine.autopilot(objective=INTERMEDIATE, settings=settings, strategy=strategy)
    streams = [source.stream for source in plan.sources]
    for time, together in arrivals:
        for stream in streams:
            engine.advance(stream, time)
        for _, stream, row in together:
            if stream in streams:
                engine.push(stream, [(time, time + 1, row)])
    engine.close()
    (summary,) = pilot.summary.values()
    return summary["spent"], summary.get("move", 0)


def show_replays(run: ReplaysRun, console: Console) -> None:
    """A table for each stream."""
    for one in run.found:
        best = "–" if one.of_best is None else f"{one.of_best:.3f}"
        title = f"{one.name}, by {one.strategy}: recommended is {one.recommended}, {best} × the best later on"
        table = Table(title=title, title_justify="left")
        table.add_column("settings", no_wrap=True)
        for heading in ("first half", "engine", "replay", "engine / replay", "moves", "by replay"):
            table.add_column(heading, justify="right")
        for row in one.settings:
            ratio = "–" if row.ratio is None else f"{row.ratio:.3f}"
            numbers = (f"{row.seen:,.0f}", f"{row.engine:,}", f"{row.replay:,.0f}", ratio)
            table.add_row(row.setting, *numbers, str(row.engine_moves), str(row.replay_moves))
        console.print(table)


def _packaged() -> list[str]:
    from midstream.scenarios.studies.run.reading import packaged

    return list(packaged())


def _study(name: str, data: Path | None, seed: int, folder: Path) -> tuple[Study, Plan]:
    """Declared streams and a query: of a study file, or of a case, whose streams are written to a folder."""
    if name in CASES:
        case = case_of(name, data, seed)
        return written(case, folder), plan_of(case, case.orders[0])
    from midstream.scenarios.studies.run.reading import load_study_file

    study = load_study_file(name, None if data is None else _within(data, name)).study
    if study.query is None:
        raise BenchmarkError(f"{name}: found no query, expected one", found=name)
    return study, study.query


def _within(data: Path, name: str) -> Path:
    """The folder of a recording among several, which has the name of its study file; else that folder."""
    inside = data / name
    return inside if inside.is_dir() else data


def written(case: Case, folder: Path) -> Study:
    """The streams of a case as files, declared."""
    folder.mkdir()
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
