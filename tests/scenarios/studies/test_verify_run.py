"""The output of a run against Spark SQL: what the engine gives is accepted, what is not right is refused."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import midstream as ms
from midstream.driving import run
from midstream.io.sinks.csv_sink import CsvSink
from midstream.io.sinks.json_sink import JsonSink
from midstream.io.sinks.parquet_sink import ParquetSink
from midstream.plans.values.streams import Element
from midstream.scenarios.stages.commands import app
from midstream.scenarios.stages.verify_run.spark_sql import InstantGrid, SparkSql
from midstream.scenarios.streams.recorded.script import load_study

A, B = (
    ms.stream(name, k="integer", v="float?", w="string").alias(name).window(size)
    for name, size in (("a", 40), ("b", 25))
)
ON = [("a.k", "b.k")]
K, V, W, J = ms.col("a.k"), ms.col("a.v"), ms.col("a.w"), ms.col("b.k")
RAW = ms.stream("a", k="integer", v="float?", w="string").alias("a")
AS = A.select("a.k", "a.w")
BS = B.select("b.k", "b.w").rename({"b.k": "a.k", "b.w": "a.w"})


def together(*queries: ms.Stream) -> ms.Stream:
    """All rows of some queries with equal types, each with the number of its query."""
    names = queries[0].schema.names
    tagged = [
        query.select(q=number, **{f"c{i}": ms.col(name) for i, name in enumerate(query.schema.names)})
        for number, query in enumerate(queries)
    ]
    assert all(len(query.schema.names) == len(names) for query in queries)
    return tagged[0].union(*tagged[1:])


GROUPED = A.join(B, on=ON).group_by("a.k", "b.w")

STREAMS = """
CREATE STREAM a(t BIGINT, k INTEGER NOT NULL, v REAL, w TEXT NOT NULL) SOURCE jsonl('a.jsonl')
  ORDERED BY t TIME_UNIT 's';
CREATE STREAM b(t BIGINT, k INTEGER NOT NULL, v REAL, w TEXT NOT NULL) SOURCE jsonl('b.jsonl')
  ORDERED BY t TIME_UNIT 's';
"""
JOIN = "SELECT * FROM a WINDOW(RANGE 40 SECONDS) JOIN b WINDOW(RANGE 25 SECONDS) ON a.k = b.k;"
SEVERAL = """
SELECT w FROM b;
SELECT a.w, b.v FROM a [RANGE 40 SECONDS], b [RANGE 25 SECONDS] WHERE a.k = b.k;
"""

QUERIES = {
    "a join": A.join(B, on=ON),
    "sets": together(
        AS.union(BS).distinct(),
        AS.difference(BS),
        AS.strict_difference(BS),
        AS.intersection(BS),
        AS.max_union(BS),
        A.semi_join(B, on=ON).select("a.k", "a.w"),
        A.anti_join(B, on=K.eq(J) & (ms.col("b.v") > V)).select("a.k", "a.w"),
        A.filter(~(V > 0.5) | V.is_null() & (W.eq("x{y}") | W.eq("é'"))).select("a.k", "a.w"),
        A.select(k=K + 0, w=ms.case((V > 1.0, "x"), (V.is_null(), "é'"), default="")),
        RAW.filter(K > 1).window(30, slide=10).select("a.k", "a.w"),
        RAW.filter(K > 2).select("a.k", "a.w"),
        RAW.window(None).group_by("a.w").aggregate(n=ms.count()).select("n", "a.w"),
    ),
    "groups": GROUPED.aggregate(
        n=ms.count(),
        m=ms.count("a.v"),
        s=ms.sum_("a.v"),
        t=ms.sum_("b.k"),
        x=ms.max_("a.w"),
        d=ms.count_distinct("a.v"),
        a=ms.avg("a.v"),
        b=ms.functions.stddev_pop("a.v"),
        c=ms.functions.var_samp("b.v"),
        q=ms.min_(V / K),
        u=ms.max_((V + 0.1) * 3.0),
        y=ms.min_(K * 2 - 7),
    ),
    "one group": B.aggregate(n=ms.count(), s=ms.avg("b.v")),
}

CODE = ("spark.sql.codegen.wholeStage", "spark.sql.adaptive.enabled")

RIGHT = ("sets", "groups")


@pytest.fixture(autouse=True)
def no_generated_code(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each query runs once: Java that Spark would generate for it takes longer than to run it."""
    if "spark" not in request.fixturenames:
        yield
        return
    conf = request.getfixturevalue("spark").conf
    for name in CODE:
        conf.set(name, "false")
    yield
    for name in CODE:
        conf.unset(name)


@pytest.fixture(scope="module")
def inputs() -> dict[str, list[Element]]:
    draw = random.Random(5)
    made: dict[str, list[Element]] = {}
    for name in "ab":
        times = sorted(draw.randrange(-100, 500) for _ in range(70))
        made[name] = [
            (
                t,
                t + 1,
                (draw.randrange(4), draw.choice((None, 0.1, 0.7, 2.5)), draw.choice(("x{y}", "é'", ""))),
            )
            for t in times
        ]
    return made


@pytest.fixture(scope="module")
def folder(inputs: dict[str, list[Element]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("runs")
    (found / "study.sql").write_text(STREAMS + JOIN)
    for name, elements in inputs.items():
        lines = [json.dumps({"t": t, "k": k, "v": v, "w": w}) for t, _, (k, v, w) in elements]
        (found / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return found


def results_of(plan: ms.Plan, inputs: dict[str, list[Element]]) -> list[Element]:
    names = {one.stream for one in plan.sources}
    return run(plan, {name: elements for name, elements in inputs.items() if name in names})


def written(path: Path, plan: ms.Plan, results: Sequence[Element]) -> str:
    kind = {".csv": CsvSink, ".jsonl": JsonSink, ".parquet": ParquetSink}[path.suffix]
    with kind(str(path), plan.schema) as sink:
        sink.write(list(results))
    return str(path)


@pytest.fixture(scope="module")
def recorded(spark: Any, folder: Path) -> Iterator[tuple[Any, Any]]:
    """The inputs as Spark reads them, and their declaration."""
    from midstream.scenarios.recordings.recording import open_recording

    study = load_study(str(folder / "study.sql"), folder)
    with open_recording(spark, study, 1) as recording:
        yield recording, study


def checked(recorded: tuple[Any, Any], plan: ms.Plan, path: str, **more: int) -> Any:
    from midstream.scenarios.stages.verify_run.recorded_run import check_run, read_results

    recording, study = recorded
    found = read_results(recording.spark, path, plan.schema)
    return check_run(recording, study, plan, found, **{"sample": 20, "instants": 30, "seed": 1, **more})


@pytest.mark.spark
@pytest.mark.parametrize("name", RIGHT)
def test_what_the_engine_gives_is_right(
    name: str, spark: Any, recorded: tuple[Any, Any], inputs: dict[str, list[Element]], tmp_path: Path
) -> None:
    plan = QUERIES[name].plan()
    results = results_of(plan, inputs)
    check = checked(recorded, plan, written(tmp_path / "results.jsonl", plan, results))
    assert check.is_right, check.examples
    assert check.rows > 10


def one_deleted(results: list[Element], at: int) -> list[Element]:
    return results[:at] + results[at + 1 :]


def one_doubled(results: list[Element], at: int) -> list[Element]:
    return [*results[: at + 1], *results[at:]]


def one_shifted(results: list[Element], at: int) -> list[Element]:
    start, end, row = results[at]
    return sorted([*one_deleted(results, at), (start + 1, end + 1, row)], key=lambda element: element[0])


@pytest.mark.spark
@pytest.mark.parametrize(
    ("change", "suffix"),
    [(one_doubled, ".csv"), (one_shifted, ".parquet")],
)
def test_one_wrong_row_is_refused(
    change: Callable[[list[Element], int], list[Element]],
    suffix: str,
    spark: Any,
    recorded: tuple[Any, Any],
    inputs: dict[str, list[Element]],
    tmp_path: Path,
) -> None:
    """All elements are in the sample, so that no row escapes."""
    plan = QUERIES["a join"].plan()
    results = results_of(plan, inputs)
    at = random.Random(suffix).randrange(len(results))
    path = written(tmp_path / f"results{suffix}", plan, change(results, at))
    check = checked(recorded, plan, path, sample=2_000)
    assert not check.is_right
    assert check.surplus
    assert (check.missing > 0) is (change is one_shifted)
    row = dict(zip(plan.schema.names, results[at][2], strict=True))
    assert row in [one["expected"] or one["recorded"] for one in check.examples]


@pytest.mark.spark
def test_floats_differ_by_little_at_most(
    spark: Any, recorded: tuple[Any, Any], inputs: dict[str, list[Element]], tmp_path: Path
) -> None:
    """What is as wide as rounding is accepted, in the test above."""
    plan = QUERIES["one group"].plan()
    results = [
        (start, end, (n, None if s is None else s * (1 + (1e-8 if start > 100 else 1e-11))))
        for start, end, (n, s) in results_of(plan, inputs)
    ]
    check = checked(recorded, plan, written(tmp_path / "results.parquet", plan, results))
    assert check.differing > 0
    assert (check.missing, check.surplus) == (0, 0)
    assert all(one["at"] > 100 for one in check.examples)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (RAW.last(3), "count window 3"),
        (A.aggregate(m=ms.median("a.v")), "median"),
        (A.filter((K % 2).eq(0)), "%"),
        (A.istream(), "istream"),
    ],
)
def test_what_spark_sql_cannot_express_is_named(query: ms.Stream, found: str) -> None:
    with pytest.raises(ms.PlanError, match=f"{found}.*, which Spark SQL does not express"):
        SparkSql(InstantGrid(0, 9, 1)).of(query.plan())


def invoke(*given: str) -> Result:
    return CliRunner().invoke(app, ["verify-run", *given])


@pytest.mark.spark(fast=True)
def test_the_command(spark: Any, folder: Path, inputs: dict[str, list[Element]], tmp_path: Path) -> None:
    from midstream.scenarios.stages.verify_run.recorded_run import RunCheck
    from midstream.scenarios.stages.verify_run.verify_run_command import _told

    script = tmp_path / "script.sql"
    script.write_text(STREAMS + SEVERAL)
    query = load_study(str(script), query="query_2").query
    assert query is not None
    right = written(tmp_path / "right.jsonl", query, results_of(query, inputs))
    told = invoke(str(script), right, "--query", "query_2", "--data", str(folder))
    assert (told.exit_code, "agrees with Spark SQL" in told.stdout) == (0, True), told.output
    study = str(folder / "study.sql")
    query = load_study(study).query
    assert query is not None
    wrong = written(tmp_path / "wrong.jsonl", query, one_deleted(results_of(query, inputs), 40))
    told = invoke(study, wrong, "--data", str(folder), "--sample", "2000", "--json")
    assert told.exit_code == 1
    found = json.loads(told.stdout)
    assert found["missing"] > 0
    text = _told(wrong, RunCheck(**{key: value for key, value in found.items() if key != "is_right"}))
    assert f"{found['missing']:,} missing" in text


@pytest.mark.spark
@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("r.txt", "", "expected a file of results that ends in .csv"),
        ("none.csv", None, "none.csv: found no such file"),
        ("r.csv", "start,end\n1,2\n", "found no column a.k"),
        ("r.jsonl", '{"start": 1, "end": "x"}\n', "r.jsonl: found the line"),
        (
            "r.jsonl",
            '{"start": 5, "end": 5, "row": {"a.k": 1, "a.v": 1, "a.w": "", "b.k": 1, "b.v": 1, "b.w": ""}}\n',
            "found a result from 5 to 5",
        ),
        ("r.jsonl", '{"start": 1, "end": 2, "row": {"a.k": 1}}\n', "column a.w: found nothing"),
    ],
)
def test_bad_results_are_told(name: str, text: str | None, message: str, spark: Any, tmp_path: Path) -> None:
    from midstream.scenarios.stages.verify_run.recorded_run import read_results

    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(ms.MidstreamError) as told:
        read_results(spark, str(tmp_path / name), QUERIES["a join"].plan().schema)
    assert message in str(told.value)


def test_the_page_names_options_that_there_are(root: Path) -> None:
    page = root / "docs" / "studies.md"
    if not page.exists():
        pytest.skip("the documents are not next to the tests")
    section = (
        page.read_text(encoding="utf-8").partition("## Verifying a recorded run")[2].partition("\n## ")[0]
    )
    options = set(re.findall(r"--[a-z]+", section))
    assert (
        {"--plan", "--query", "--sample", "--instants"}
        <= options
        <= set(re.findall(r"--[a-z]+", invoke("--help").stdout))
    )
