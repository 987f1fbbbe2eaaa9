"""Spark sessions, and small recorded streams.

Only one session can be alive in a process. What is to be compared with another master is therefore computed
there before the session of all other tests starts, or in another process. That process comes first: it
leaves an archive of Spark's classes, with which all later ones start.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.script import load_study

REVERSED = {
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.session.timeZone": "Asia/Kathmandu",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}
"""Settings of a session that are unlike those of our own."""


@contextmanager
def reversed_settings(spark: Any, more: Mapping[str, str] = {}) -> Iterator[None]:
    """A block with these settings and more, which are still there at its end."""
    others = {**REVERSED, **more}
    before = {name: spark.conf.get(name) for name in others}
    for name, value in others.items():
        spark.conf.set(name, value)
    try:
        yield
        assert {name: spark.conf.get(name) for name in others} == others
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


Rows = Sequence[tuple[int, Mapping[str, Any]]]


def write_study(folder: Path, streams: Mapping[str, Rows], columns: str, query: str = "") -> Path:
    """A script, and for each stream a folder with four JSON Lines files: Spark reads it in parts.

    columns    of every stream, in SQL, besides t, its time in seconds
    """
    declared = []
    for name, rows in streams.items():
        part = folder / name
        part.mkdir()
        for i in range(4):
            lines = [json.dumps({"t": time, **row}) for time, row in rows[i::4]]
            (part / f"{i}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        declared.append(
            f"CREATE STREAM {name}(t BIGINT, {columns}) SOURCE jsonl('{part}/*.jsonl') "
            "ORDERED BY t TIME_UNIT 's';\n"
        )
    file = folder / "study.sql"
    file.write_text("".join(declared) + query, encoding="utf-8")
    return file


@pytest.fixture(scope="session")
def drifting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of three random streams with an empty stretch; most values of k agree early, most of m late."""
    draw = random.Random(7)
    streams: dict[str, Rows] = {}
    for name in "abc":
        times = sorted(draw.sample([*range(-500, 700), *range(1300, 2500)], 400))
        streams[name] = [
            (t, {"k": draw.randrange(2 if t < 700 else 9), "m": draw.choice("xy" if t > 700 else "uvwxyz")})
            for t in times
        ]
    query = """
        SELECT   a.k, COUNT(*) AS count
        FROM     a WINDOW(RANGE 40 SECONDS), b WINDOW(RANGE 40 SECONDS), c WINDOW(RANGE 40 SECONDS)
        WHERE    a.k = b.k AND b.m = c.m
        GROUP BY a.k
    """
    return write_study(tmp_path_factory.mktemp("drifting"), streams, "k INTEGER NOT NULL, m TEXT", query)


def what_if_all(spark: Any, file: Path, bucket: int) -> dict[str, Any]:
    """All that a what-if study finds, as plain data."""
    from midstream.scenarios.recordings.recording import open_recording
    from midstream.scenarios.stages.what_if.stage import what_if

    study = load_study(str(file))
    assert study.query is not None
    with (
        open_recording(spark, study, bucket) as recording,
        what_if(recording, study, study.query, OBJECTIVES) as found,
    ):
        return what_if_data(study, found)


def what_if_data(study: Study, found: Any) -> dict[str, Any]:
    from midstream.scenarios.stages.what_if.report import what_if_summary
    from midstream.scenarios.stages.what_if.writing import best_table

    return {
        "summary": what_if_summary(study, found, 3),
        "costs": rows(found.costs, "objective", "start", "plan"),
        "best": best_table(found).to_pylist(),
        "courses": [one.dumps() for both in found.courses.values() for one in both],
    }


OBJECTIVES = ("processing", "memory")


@pytest.fixture(scope="session")
def found_folder(found_here: tuple[Any, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which what was found here is written."""
    return tmp_path_factory.getbasetemp() / FOUND


FOUND = "found-here"


@pytest.fixture(scope="session")
def found_here(spark: Any, drifting: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """The profile and the what-if study of the drifting streams, by the functions that are for everybody, in
    the session of all tests. Whether it is as it was is tested here."""
    from midstream import studies

    before, folder = settings(spark), tmp_path_factory.mktemp(FOUND, numbered=False)
    profile = studies.profile(spark, drifting, bucket="100s", output=folder)
    priced = studies.what_if(spark, drifting, bucket="100s", objective=OBJECTIVES, output=folder)
    assert settings(spark) == before
    assert keeps_nothing(spark)
    assert (folder / "profile.json").is_file()
    return profile, priced


@pytest.fixture(scope="session")
def profile_here(found_here: tuple[Any, Any], drifting: Path) -> dict[str, Any]:
    """All that the profile found, as plain data."""
    from midstream.scenarios.stages.profile.report import profile_summary

    found = found_here[0].value
    return {
        "summary": profile_summary(load_study(str(drifting)), found, 3),
        "streams": rows(found.by_stream, "start", "stream"),
        "pairs": rows(found.by_pair, "start", "pair"),
    }


@pytest.fixture(scope="session")
def what_if_here(found_here: tuple[Any, Any], drifting: Path) -> dict[str, Any]:
    return what_if_data(load_study(str(drifting)), found_here[1].value)


def settings(spark: Any) -> dict[str, str]:
    return dict(spark.conf.getAll)


def keeps_nothing(spark: Any) -> bool:
    """Whether nothing is in a session's memory."""
    return bool(spark._jsparkSession.sharedState().cacheManager().isEmpty())


def rows(frame: Any, *order: str) -> list[dict[str, Any]]:
    """The rows of a data frame, sorted."""
    return [row.asDict() for row in frame.orderBy(*order).collect()]


@pytest.fixture(scope="session")
def quick_java() -> Iterator[None]:
    """Java that compiles as little as it can: each test runs its code for the first time. What it has
    compiled it keeps: the session of all tests would fill the 48 MB that there are else many times."""
    options = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=512m -XX:+UseSerialGC"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", options)
        yield


COMMANDS: Mapping[str, tuple[str, ...]] = {
    "profile": ("--bucket", "100s", "--rows", "3", "--output", "found"),
    "what-if": (
        *("--bucket", "100s", "--rows", "3", "--output", "found"),
        *("--objective", "processing", "--objective", "memory"),
    ),
    "charts": (
        *("--bucket", "400s", "--parts", "2", "--along", "rate(a)", "--no-pictures"),
        *("--output", "charts"),
    ),
    "policies": ("--grid", "balanced", "--output", "policies"),
    "simulate": ("--slice", "300s", "--slices", "1", "--strategies", "genmig", "--output", "simulate"),
}
"""Commands that write into a folder below the present one, with options that make them quick."""

HALF_WAY = {"profile": 18, "what-if": 9, "charts": 7, "policies": 12, "simulate": 5}
"""So many of its Spark jobs, about a half, a command begins before an executor is killed."""


BETWEEN = "-- next --"
RUN = f"""
import sys
from midstream.scenarios.stages.commands import app
from midstream.scenarios.spark.session import spark_session
def run(name, options, *more):
    app([name, sys.argv[1], *options, *more], standalone_mode=False)
run("profile", {COMMANDS["profile"]}, "--master", "local[1]")
print({BETWEEN!r}, flush=True)
with spark_session("local[1]"):  # which the command uses, and leaves alone
    run("what-if", {COMMANDS["what-if"]}, "--json")
"""


@pytest.fixture(scope="session")
def on_one_core(
    quick_java: None, drifting: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str, str]:
    """A folder with what the first two commands wrote on one core, in a process of their own, and what each
    printed."""
    pytest.importorskip("matplotlib")
    from midstream.scenarios.spark.class_archive import archive_options

    folder = tmp_path_factory.mktemp("on_one_core")
    command = [sys.executable, "-c", RUN, str(drifting)]
    leaves_archive = bool(archive_options())
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")  # nothing of what Spark says of itself
    until = time.monotonic() + 60
    # Java writes it when the process is gone.
    while leaves_archive and "SharedArchiveFile" not in str(archive_options()) and time.monotonic() < until:
        time.sleep(0.1)
    profile, what_if = done.stdout.split(f"{BETWEEN}\n")
    return folder / "found", profile, what_if


MORE = ("charts", "policies", "simulate")
"""The commands that are compared with those of one core in one process."""


def write(name: str, file: Path) -> None:
    """Have a command write what it finds into the present folder, in the session that there is."""
    from midstream.scenarios.stages.commands import app

    result = CliRunner().invoke(app, [name, str(file), *COMMANDS[name]])
    assert (result.exit_code, result.stderr) == (0, ""), result.output


@pytest.fixture(scope="session")
def written_by_executors(
    on_one_core: tuple[Path, str, str], drifting: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder with what commands write where executors are processes of their own, of which one is killed
    half-way through each."""
    from midstream.scenarios.spark import session
    from midstream.scenarios.spark.class_archive import archive_options

    from .executors_killed import IMPATIENT, one_killed

    # Executors are on this machine, so their workers may import Midstream once, too.
    here = {**session.FORKED, "spark.executor.extraJavaOptions": " ".join(archive_options())}
    folder = tmp_path_factory.mktemp("executors")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(session, "SETTINGS", {**session.SETTINGS, **here, **IMPATIENT})
        with session.spark_session("local-cluster[2,1,1024]") as spark:
            for name in COMMANDS:
                with one_killed(spark, after=HALF_WAY[name]):
                    write(name, drifting)
    return folder


@pytest.fixture(scope="session")
def written_on_one_core(
    on_one_core: tuple[Path, str, str], drifting: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder with what commands write on one core: the first two in another process, the others here."""
    from midstream.scenarios.spark.session import spark_session

    folder = on_one_core[0].parent
    with pytest.MonkeyPatch.context() as patch, spark_session("local[1]"):
        patch.chdir(folder)
        for name in MORE:
            write(name, drifting)
    return folder


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest, quick_java: None) -> Iterator[Any]:
    """The session of all other tests. What is found on other masters is computed before, if a test asks."""
    from midstream.scenarios.spark.session import spark_session

    asked = {name for item in request.session.items for name in getattr(item, "fixturenames", ())}
    for name in ("on_one_core", "written_by_executors", "written_on_one_core"):
        if name in asked:
            request.getfixturevalue(name)
    with spark_session("local[2]") as session:
        yield session
