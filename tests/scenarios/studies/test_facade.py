"""`from midstream import studies`: the stages in anybody's session, classic or Connect, left as it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean, variance
from typing import Any

import pytest

from midstream import studies
from midstream.plans.values.errors import ArgumentError, InputFileError, MidstreamError, MissingExtra

from .conftest import keeps_nothing, settings

CONNECT = """
import json, sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote("local[2]").getOrCreate()
from midstream import studies
study, folder = sys.argv[1:]
profile = studies.profile(spark, study, bucket="100s")
priced = studies.what_if(spark, study, bucket="100s", objective=["processing", "memory"])
read = studies.ingest(spark, study, folder)
rows = [profile.value.by_stream.count(), priced.value.costs.count()]
taken = {name: [one["rows"], one["first"], one["last"]] for name, one in read.summary["streams"].items()}
print(json.dumps([profile.summary, priced.summary, taken, rows]))
spark.range(1).count()  # the session is still there
"""

IN_ZIP = """
import sys
zipped, libraries = sys.argv[1:]
sys.path[:] = [zipped, *(path for path in sys.path if "site-packages" not in path), libraries]
import midstream
from midstream.scenarios.stages.what_if.candidates import unpack
from importlib import resources
assert midstream.__file__.startswith(zipped), midstream.__file__
assert (resources.files("midstream.scenarios.reports") / "page.css").is_file()
"""


@pytest.fixture(scope="module")
def found(
    spark: Any, found_here: tuple[Any, Any], drifting: Path, tmp_path_factory: pytest.TempPathFactory
) -> list[Any]:
    """What studies find in the session of all tests; whether it is as it was is tested here."""
    profile, priced = found_here
    before, folder = settings(spark), tmp_path_factory.mktemp("facade")
    read = studies.ingest(spark, drifting, folder / "streams")
    assert settings(spark) == before
    assert keeps_nothing(spark)
    assert "3 orders" in priced._repr_html_()
    rows = [profile.value.by_stream.count(), priced.value.costs.count()]
    taken = {name: [one["rows"], one["first"], one["last"]] for name, one in read.summary["streams"].items()}
    return [profile.summary, priced.summary, taken, rows]


@pytest.mark.spark(fast=True)
def test_what_is_found(found: list[Any]) -> None:
    profile, priced, read, rows = found
    assert [stream["count"] for stream in profile["streams"]] == [400] * 3
    assert rows == [3 * profile["buckets"], 2 * priced["plans"] * priced["buckets"]]
    assert {name: count for name, (count, _, _) in read.items()} == {"a": 400, "b": 400, "c": 400}


@pytest.mark.spark(fast=True)
def test_how_much_rates_vary_is_that_of_a_loop(found_here: tuple[Any, Any], drifting: Path) -> None:
    """The variance of the numbers of elements in ten cells of a bucket, by their mean."""
    counts = {name: Counter(t // 10 for t in recorded_times(drifting, name)) for name in "abc"}
    for row in found_here[0].value.by_stream.collect():
        first = row["start"] // 10
        cells = [counts[row["stream"]][cell] for cell in range(first, first + 10)]
        expected = variance(cells) / fmean(cells) if any(cells) else None
        assert row["dispersion"] == (None if expected is None else pytest.approx(expected))


def recorded_times(study: Path, stream: str) -> list[int]:
    """The timestamps of a recorded stream."""
    files = (study.parent / stream).glob("*.jsonl")
    return [json.loads(line)["t"] for file in files for line in file.read_text().splitlines()]


@pytest.mark.spark
def test_connect_finds_the_same(found: list[Any], quick_java: None, drifting: Path, tmp_path: Path) -> None:
    for library in ("grpc", "grpc_status", "zstandard"):
        if find_spec(library) is None:
            pytest.skip(f"needs {library}: pip install 'midstream[spark-connect]'")
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-c", CONNECT, str(drifting), str(tmp_path / "streams")]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(json.dumps(found))


@pytest.mark.spark(fast=True)
def test_migrations_are_verified_in_a_session(spark: Any) -> None:
    found = studies.verify(spark, cases=5, seed=1, strategies=["genmig"])
    assert found.value.number("counted") >= 5
    assert found.value.broken == []


def test_what_is_wrong_is_told_before_spark_is_asked(drifting: Path, tmp_path: Path) -> None:
    nobody: Any = None
    with pytest.raises(ArgumentError, match="bucket: found '3 parsecs', expected a whole number with a unit"):
        studies.profile(nobody, drifting, bucket="3 parsecs")
    with pytest.raises(InputFileError, match="no such file or name"):
        studies.what_if(nobody, "nycflights")
    with pytest.raises(ArgumentError, match="expected a whole number with a unit"):
        studies.ingest(nobody, drifting, tmp_path, slack="soon")
    with pytest.raises(ArgumentError, match="strategies: found teleport, expected some of"):
        studies.verify(nobody, strategies=["teleport"])


def test_the_package_can_be_sent(tmp_path: Path) -> None:
    """All of it is in the zip, and works from there."""
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'midstream[arrow]'")
    pytest.importorskip("pyspark", reason="needs pyspark: pip install 'midstream[spark]'")
    from midstream.scenarios.spark.executors import packed

    libraries = Path(pa.__file__).parent.parent
    command = [sys.executable, "-I", "-S", "-c", IN_ZIP, str(packed()), str(libraries)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


class Executors:
    """A session of another machine, whose executors say that they have this and that."""

    def __init__(self, *found: dict[str, Any]) -> None:
        self.found = found
        self.sent: list[str] = []

    def addArtifacts(self, path: str, *, pyfile: bool) -> None:
        assert pyfile
        self.sent.append(path)


HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.fixture
def executors(monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("pyspark", reason="needs pyspark: pip install 'midstream[spark]'")
    from midstream.scenarios.spark import executors

    monkeypatch.setattr(executors, "_is_here", lambda spark: False)
    monkeypatch.setattr(executors, "_look", lambda spark: spark.found)
    return executors


def has(midstream: str | None, missing: list[str], python: str = HERE) -> dict[str, Any]:
    return {"midstream": midstream, "missing": missing, "python": python}


def test_executors_without_the_package_get_it_once(executors: Any) -> None:
    one = Executors(has(None, []), has("0.1.0", []))
    executors.require_executors(one)
    executors.require_executors(one)
    assert one.sent == [str(executors.packed())]


def test_executors_that_have_it_get_nothing(executors: Any) -> None:
    one = Executors(has(executors.version("midstream"), []))
    executors.require_executors(one)
    assert one.sent == []


@pytest.mark.parametrize(
    ("found", "error", "message"),
    [
        (has(None, ["networkx", "pyarrow"]), MissingExtra, "executors: found no networkx, pyarrow, expected"),
        (has("0.0.1", []), MidstreamError, r"executors: found midstream 0\.0\.1, expected .* as here"),
        (has(None, [], "2.7"), MidstreamError, r"executors: found python 2\.7, expected"),
    ],
)
def test_what_executors_lack_is_named(
    found: dict[str, Any], error: type[Exception], message: str, executors: Any
) -> None:
    one = Executors(has(None, []), found)
    with pytest.raises(error, match=message):
        executors.require_executors(one)
    assert one.sent == []


def test_what_is_needed_is_what_the_package_declares(executors: Any) -> None:
    assert {"networkx", "sortedcontainers", "sqlglot", "pyarrow"} <= {*executors.needed()}
    assert all(find_spec(name) is not None for name in executors.needed())
    assert executors._having(["nothing-of-the-kind", "json"])(0) == json.dumps(
        {
            "midstream": executors.version("midstream"),
            "missing": ["nothing-of-the-kind"],
            "python": HERE,
        },
        sort_keys=True,
    )
