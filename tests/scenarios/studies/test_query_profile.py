"""Profiles are what DuckDB counts; as statistics, they lead to the plan that what-if finds cheapest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midstream.io.time_units import Clock
from midstream.optimizer import optimize
from midstream.optimizer.statistics_file import read_statistics
from midstream.plans.algebra.builder import stream
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.schema import Schema
from midstream.scenarios.streams.recorded.declaration import RecordedStream, Study
from midstream.scenarios.streams.recorded.script import load_study

from .conftest import reversed_settings, rows, write_study

duckdb = pytest.importorskip("duckdb", reason="profiles are compared with DuckDB")
pytestmark = pytest.mark.spark

SCHEMA = Schema.of(k="integer?", x="integer")
BUCKET, WINDOWS = 20, (7, 12)
Row = tuple[int, int | None, int]

elements = st.lists(
    st.tuples(st.integers(-25, 45), st.sampled_from([None, 1, 2, 3, 1]), st.integers(0, 5)), max_size=40
)


def study_of() -> Study:
    """Two streams, one of them filtered, that are joined on k and by a range of x."""
    streams = {
        name: RecordedStream(name, name, "csv", "t", {}, SCHEMA, window)
        for name, window in zip("ab", WINDOWS, strict=True)
    }
    a, b = (stream(name, SCHEMA) for name in "ab")
    left, right = a.filter(a["x"] > 1).alias("a").window(WINDOWS[0]), b.alias("b").window(WINDOWS[1])
    query = left.join(right, on=col("a.k").eq(col("b.k")) & (col("a.x") <= col("b.x")))
    return Study("s", "s", Clock("s"), streams, query.filter(col("b.x") < 4).plan())


def database(lists: dict[str, list[Row]]) -> Any:
    known = duckdb.connect()
    for name, of in lists.items():
        known.execute(f"CREATE TABLE {name} (t BIGINT, k BIGINT, x BIGINT)")
        if of:
            known.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", of)
    return known


START = f"t - ((t % {BUCKET}) + {BUCKET}) % {BUCKET}"
PAIRS = f"""FROM a, b WHERE a.x > 1 AND a.t < b.t + {WINDOWS[1]} AND b.t < a.t + {WINDOWS[0]}"""


@settings(max_examples=2, deadline=None)
@given(left=elements.filter(bool), right=elements)
def test_counts_are_those_of_duckdb(spark: Any, left: list[Row], right: list[Row]) -> None:
    from midstream.scenarios.recordings.recording import Recording, StreamTotals
    from midstream.scenarios.stages.profile.stream_profile import profile

    study, lists = study_of(), {"a": left, "b": right}
    frames = {
        name: spark.createDataFrame(of, "time long, c0 long, c1 long").repartition(3)
        for name, of in lists.items()
    }
    starts = {name: [start for start, *_ in of] for name, of in lists.items()}
    totals = {
        name: StreamTotals(len(of), min(of, default=None), max(of, default=None), 1)
        for name, of in starts.items()
    }
    with reversed_settings(spark), profile(Recording(spark, frames, totals, BUCKET), study) as found:
        by_stream, by_pair = rows(found.by_stream, "start", "stream"), rows(found.by_pair, "start")
        assert found.asked is not None
        by_column = rows(found.asked.by_column, "start", "stream", "column")
        asked, (pair,) = found.asked, found.pairs
    known = database(lists)

    def one(text: str) -> tuple[Any, ...]:
        return tuple(known.execute(text).fetchone())

    for row in by_stream:
        within = f"FROM {row['stream']} WHERE {START} = {row['start']}"
        assert (row["count"],) == one(f"SELECT count(*) {within}")
        cells = f"SELECT t - ((t % 2) + 2) % 2, count(*) AS n {within} GROUP BY ALL"
        (squares,) = one(f"SELECT coalesce(sum(n * n), 0) FROM ({cells})")
        n = row["count"]
        expected = None if not n else (10 * squares - n * n) / (9 * n)
        assert row["dispersion"] == (None if expected is None else pytest.approx(expected))
    latest = START.replace("t", "greatest(a.t, b.t)")
    for row in by_pair:
        within = f"{PAIRS} AND {latest} = {row['start']}"
        counts = one(f"SELECT count(*), count(*) FILTER (a.k = b.k) {within}")
        assert (row["overlapping"], row["matched"]) == counts
    passing = {"a": "x > 1", "b": "true"}
    told = {(row["start"], row["stream"]): row for row in by_column}
    for name, condition in passing.items():
        for (start,) in known.execute(f"SELECT DISTINCT {START} FROM {name} WHERE {condition}").fetchall():
            within = f"FROM {name} WHERE {condition} AND {START} = {start} AND k IS NOT NULL"
            counts = known.execute(
                f"SELECT k, count(*) AS n {within} GROUP BY k ORDER BY n DESC, k"
            ).fetchall()
            row = told.pop((start, name), None)
            if not counts:
                assert row is None
                continue
            assert row is not None
            assert (row["known"], row["distinct"]) == (sum(n for _, n in counts), len(counts))
            assert [(int(one["value"]), one["count"]) for one in row["heavy"]] == counts
    assert not told

    # All elements were drawn, so that samples tell exactly what is true.
    shares = {str(one.condition): one.share for one in asked.predicates}
    (overlapping, matched) = one(f"SELECT count(*), count(*) FILTER (a.k = b.k) {PAIRS}")
    assert (pair.overlapping, pair.matched) == (overlapping, matched)
    for condition, sql in (("a.k = b.k", "a.k = b.k"), ("a.x <= b.x", "a.x <= b.x")):
        if overlapping:
            (expected,) = one(f"SELECT count(*) FILTER ({sql}) / count(*) {PAIRS}")
            assert shares[condition].value == pytest.approx(expected)
    assert shares["x > 1"].value == one("SELECT count(*) FILTER (x > 1) / count(*) FROM a")[0]
    if right:
        assert shares["b.x < 4"].value == one("SELECT count(*) FILTER (x < 4) / count(*) FROM b")[0]


COLUMNS = "k INTEGER, m INTEGER"
QUERY = """
    SELECT a.k FROM b WINDOW(RANGE 20 SECONDS), c WINDOW(RANGE 20 SECONDS), a WINDOW(RANGE 20 SECONDS)
    WHERE b.m = c.m AND a.k = b.k
"""


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three streams over 300 s: a and b seldom agree on k, b and c often on m."""
    streams = {
        "a": [(t, {"k": t % 40}) for t in range(0, 300, 2)],
        "b": [(t, {"k": t % 29, "m": t % 2}) for t in range(1, 300, 2)],
        "c": [(t, {"m": 1}) for t in range(0, 300, 3)],
    }
    return write_study(tmp_path_factory.mktemp("steady"), streams, COLUMNS, QUERY)


def test_the_artefact_leads_to_the_plan_that_what_if_finds_cheapest(
    spark: Any, steady: Path, tmp_path: Path
) -> None:
    from midstream.scenarios.recordings.orders import group_by_order
    from midstream.scenarios.recordings.recording import open_recording
    from midstream.scenarios.stages.profile.stats_files import write_bucket_stats, write_stats
    from midstream.scenarios.stages.profile.stream_profile import profile
    from midstream.scenarios.stages.what_if.stage import what_if

    study = load_study(str(steady))
    assert study.query is not None
    with open_recording(spark, study, 100) as recording:
        with profile(recording, study) as found:
            assert found.asked is not None
            write_stats(found.asked.statistics, tmp_path / "seen.json")
            write_bucket_stats(found.asked.by_bucket, tmp_path / "each")
        with what_if(recording, study, study.query) as priced:
            best = priced.prices[0].totals[0].order.label
    assert best == "(a ⋈ b) ⋈ c" != group_by_order([study.query])[0].label
    files = [tmp_path / "seen.json", *(tmp_path / "each" / f"{start}.json" for start in (0, 100, 200))]
    for file in files:
        known = read_statistics(file, [study.query])
        assert group_by_order([optimize(study.query, known).plan])[0].label == best
    assert sorted(tmp_path.iterdir()) == [tmp_path / "each", tmp_path / "seen.json"]
    told = json.loads(files[0].read_text(encoding="utf-8"))
    assert {name: (one["d"], one["l"]) for name, one in told["streams"].items()} == {
        "a": (2.0, 1.0),
        "b": (2.0, 1.0),
        "c": (3.0, 1.0),
    }
    assert set(told["selectivities"]) == {"a.k = b.k", "b.m = c.m"}


ROWS_PER_CASE = {
    "one element": {"a": [(5, {"k": 1})], "b": [], "c": []},
    "all at one instant": {
        "a": [(7, {"k": 1})] * 3,
        "b": [(7, {"k": 1, "m": 2})] * 4,
        "c": [(7, {"m": 2})] * 5,
    },
}


def test_few_elements_and_files_that_are_torn(spark: Any, steady: Path, tmp_path: Path) -> None:
    from midstream.scenarios.recordings.recording import open_recording
    from midstream.scenarios.stages.profile.stats_files import write_stats
    from midstream.scenarios.stages.profile.stream_profile import profile

    for name, streams in ROWS_PER_CASE.items():
        (tmp_path / name).mkdir()
        study = load_study(str(write_study(tmp_path / name, streams, COLUMNS, QUERY)))
        with open_recording(spark, study, 100) as recording, profile(recording, study) as found:
            counts = {pair.on: (pair.overlapping, pair.matched) for pair in found.pairs}
            assert found.asked is not None
            if name == "one element":
                assert set(counts.values()) == {(0, 0)}
                continue
            assert counts == {"b.k = a.k": (12, 12), "b.m = c.m": (20, 20), "": (15, 15)}
            known = [(one.elements, one.distinct) for one in found.asked.columns]
            assert known == [(4, 1), (4, 1), (5, 1), (3, 1)]
            write_stats(found.asked.statistics, tmp_path / "seen.json")
            assert study.query is not None
            assert read_statistics(tmp_path / "seen.json", [study.query]).selectivities

    torn = tmp_path / "torn.parquet"
    pq = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    pq.write_table(pa.table({name: list(range(5000)) for name in "tkm"}), torn, compression="none")
    content = bytearray(torn.read_bytes())
    content[4:30_000] = b"\xff" * (30_000 - 4)  # the footer is whole
    torn.write_bytes(content)
    text = steady.read_text(encoding="utf-8").replace(
        f"jsonl('{steady.parent}/a/*.jsonl')", f"parquet('{torn}')"
    )
    (tmp_path / "torn.sql").write_text(text, encoding="utf-8")
    study = load_study(str(tmp_path / "torn.sql"))
    with (
        pytest.raises(InputFileError, match=r"torn\.parquet"),
        open_recording(spark, study, 100) as recording,
        profile(recording, study),
    ):
        pass
