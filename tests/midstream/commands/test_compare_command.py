"""`midstream compare`: files are equal if their results have the same snapshots, however they are written."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from midstream.cli import app
from midstream.commands.result_differences import differences, differing
from midstream.io.sinks.sinks import open_sink
from midstream.io.sources.result_files import read_results
from midstream.plans.values.instants import nanoseconds
from midstream.plans.values.schema import Schema
from midstream.plans.values.snapshots import equivalent
from midstream.plans.values.streams import BEGINNING, FOREVER, Element
from midstream.plans.values.units import TimeUnit

SECONDS = TimeUnit.of("seconds")
SCHEMA = Schema.of(item="integer?", price="float?", name="string?", sold="boolean?")
FORMATS = ("jsonl", "csv", "parquet")
ROWS = st.tuples(
    st.none() | st.integers(-3, 3),
    st.none() | st.sampled_from([0.5, 1.0, 0.30000000000000004]),
    st.none() | st.sampled_from(["a", "lamp, old", 'a "b"', "zwei\nzeilen", "\u2028"]),
    st.none() | st.booleans(),
)
STARTS = st.integers(0, 20)


@st.composite
def elements(draw: st.DrawFn) -> list[Element]:
    found = [
        (start, start + length, row)
        for start, length, row in draw(
            st.lists(st.tuples(STARTS, st.integers(1, 9) | st.just(FOREVER), ROWS))
        )
    ]
    return sorted(found, key=lambda element: element[0])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def invoke(*arguments: object, text: str | None = None) -> Result:
    return CliRunner().invoke(app, ["compare", *map(str, arguments)], input=text)


def line(start: object, end: object, query: str | None = None, **row: object) -> str:
    return (
        json.dumps({**({} if query is None else {"query": query}), "start": start, "end": end, "row": row})
        + "\n"
    )


def write(path: str, *lines: str) -> str:
    Path(path).write_text("".join(lines))
    return path


def written(path: str, results: list[Element], schema: Schema = SCHEMA, **options: Any) -> str:
    with open_sink(path, schema, **options) as sink:
        sink.write(results)
    return path


@pytest.mark.parametrize("left", FORMATS)
@pytest.mark.parametrize("right", FORMATS)
@given(results=elements(), other=elements())
def test_formats_and_snapshots_decide_alike(
    left: str, right: str, results: list[Element], other: list[Element]
) -> None:
    """Files in two formats are equal exactly if the streams are; texts that are numbers are not drawn."""
    pytest.importorskip("pyarrow")
    first = read_results(written(f"left.{left}", results))
    for stream in (results, other):
        second = read_results(written(f"right.{right}", stream))
        (found,) = differences(first, second, ("left", "right")) or [None]
        assert (found is None or found.is_equal) == bool(equivalent(results, stream))
        if found is not None:
            assert found.counts == (len(results), len(stream))
            assert len(found.differences) == len(equivalent(results, stream).differences)


@given(elements(), st.randoms(use_true_random=False))
def test_the_order_of_lines_and_cuts_do_not_count(results: list[Element], random: Any) -> None:
    cut: list[Element] = []
    for start, end, row in results:
        middle = random.randint(start, start + 9)
        cut += [(start, middle, row), (middle, end, row)] if start < middle < end else [(start, end, row)]
    random.shuffle(cut)
    assert not differing(results, cut)


def test_equal() -> None:
    left = write("a.jsonl", line(1, 9, x=1, y=None), line(2, None, x=2, y="b"))
    right = write("b.jsonl", line(5, 9, y=None, x=1), line(2, None, x=2, y="b"), line(1, 5, x=1, y=None))
    result = invoke(left, right)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "equal: 2 results in a.jsonl, 3 in b.jsonl\n"


def test_different_says_where() -> None:
    left = write("a.jsonl", line(1, 9, x=1), line(3, 5, x=2), line(3, 5, x=2))
    right = write("b.jsonl", line(1, 7, x=1), line(3, 5, x=2))
    result = invoke(left, right)
    assert (result.exit_code, result.stderr) == (1, "")
    assert result.stdout.splitlines() == [
        "different from 3 on: 3 results in a.jsonl, 2 in b.jsonl",
        '  [3, 5): {"x": 2} 2 times in a.jsonl, 1 in b.jsonl',
        '  [7, 9): {"x": 1} 1 times in a.jsonl, 0 in b.jsonl',
    ]
    shown = json.loads(invoke(left, right, "--json").stdout)
    assert (shown["equal"], shown["files"]) == (False, [left, right])
    (query,) = shown["queries"]
    assert query["differences"][0] == {"start": 3, "end": 5, "row": {"x": 2}, "times": [2, 1]}
    assert (query["query"], query["results"], query["missing_columns"]) == (None, [3, 2], [[], []])


def test_many_differences_are_cut_off_in_text_only() -> None:
    left = write("a.jsonl", *(line(t, t + 1, x=t) for t in range(30)))
    right = write("b.jsonl", line(100, None, x=1))
    result = invoke(left, right)
    assert result.stdout.splitlines()[-1] == "  and 21 more"
    assert len(json.loads(invoke(left, right, "--json").stdout)["queries"][0]["differences"]) == 31


@pytest.mark.parametrize(
    ("value", "other", "is_equal"),
    [
        (0.1 + 0.2, 0.3, True),
        (1e20, 1e20 * (1 + 1e-12), True),
        (0.3, 0.3001, False),
        (5.0, 5, True),
        (5.0, 5.000000000001, True),
        (10**12, 10**12 + 1, False),
        (10**400, 1.0, False),
        (True, 1, False),
        (True, "true", False),
        (0, None, False),
        ("7", 7, False),
        ([1, 2], [1, 2], True),
        ([1, 2], [2, 1], False),
        ({"a": 1}, {"a": 1}, True),
    ],
)
def test_floats_are_equal_up_to_rounding_and_other_values_exactly(
    value: object, other: object, is_equal: bool
) -> None:
    left, right = write("a.jsonl", line(1, 9, x=value)), write("b.jsonl", line(1, 9, x=other))
    for first, second in ((left, right), (right, left)):
        result = invoke(first, second)
        assert result.exit_code == (0 if is_equal else 1), result.output


def test_rounded_values_count_together() -> None:
    """One value on the left is two on the right, each for a part of the time."""
    near = 0.1 + 0.2
    assert not differing([(1, 9, (0.3, "a"))], [(1, 5, (near, "a")), (5, 9, (0.3, "a"))])
    (found,) = differing([(1, 9, (0.3,))], [(1, 9, (near,)), (5, 9, (0.3,))])
    assert (found.start, found.end, found.left, found.right) == (5, 9, 1, 2)


def test_columns_are_compared_by_name_and_missing_ones_are_told() -> None:
    left, right = write("a.jsonl", line(1, 9, x=1, y=2)), write("b.jsonl", line(1, 9, x=1, z=3))
    result = invoke(left, right)
    assert result.exit_code == 1
    assert result.stdout.splitlines()[1:] == ["  a.jsonl has no column z", "  b.jsonl has no column y"]
    assert json.loads(invoke(left, right, "--json").stdout)["queries"][0]["missing_columns"] == [["z"], ["y"]]


def test_several_queries_are_compared_by_name() -> None:
    one, two = line(1, 9, "one", x=1), line(1, 9, "two", y=1)
    assert invoke(write("a.jsonl", one, two), write("b.jsonl", two, one)).exit_code == 0
    result = invoke("a.jsonl", write("c.jsonl", one, line(1, 8, "two", y=1)))
    assert result.exit_code == 1
    assert result.stdout.startswith(
        "one: equal: 1 results in a.jsonl, 1 in c.jsonl\ntwo: different from 8 on: "
    )
    result = invoke("a.jsonl", write("d.jsonl", one))
    assert "two: different from 1 on: 1 results in a.jsonl, 0 in d.jsonl" in result.stdout
    assert invoke(write("e.jsonl", line(1, 9, x=1)), "d.jsonl").exit_code == 0
    assert invoke("e.jsonl", "a.jsonl").exit_code == 1


def test_nothing_equals_nothing() -> None:
    empty = write("a.jsonl")
    assert invoke(empty, empty).exit_code == 0
    assert invoke(empty, write("b.csv", "start,end,x\n")).exit_code == 0
    assert invoke(empty, write("c.jsonl", line(1, 2, "q", x=1))).exit_code == 1


def test_dates_are_times_and_no_integers() -> None:
    start = nanoseconds("2013-01-01T05:17:00") // 10**9
    results: list[Element] = [(BEGINNING, start, (1,)), (start, FOREVER, (2,))]
    schema = Schema.of(x="integer")
    iso = written("a.jsonl", results, schema, times=lambda: SECONDS)
    assert invoke(iso, written("a.csv", results, schema, times=lambda: SECONDS)).exit_code == 0
    result = invoke(iso, write("b.jsonl", line("2013-01-01T05:17:00.5", None, x=2)))
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0].startswith("different from the beginning on: ")
    assert "[2013-01-01T05:17:00, 2013-01-01T05:17:00.5): " in result.stdout
    refused = invoke(iso, written("c.jsonl", results, schema))
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "c.jsonl: found integers as times, expected dates as in a.jsonl" in refused.stderr


def test_parquet_has_dates(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    start = nanoseconds("2013-01-01T05:17:00") // 10**9
    results: list[Element] = [(start, FOREVER, (2,))]
    schema = Schema.of(x="integer")
    parquet = written("a.parquet", results, schema, times=lambda: SECONDS)
    assert invoke(parquet, written("a.jsonl", results, schema, times=lambda: SECONDS)).exit_code == 0


def test_packed_files_and_standard_input() -> None:
    text = line(1, 9, x=1)
    with gzip.open("a.jsonl.gz", "wt") as file:
        file.write(text)
    assert invoke("a.jsonl.gz", "-", text=text).exit_code == 0
    assert invoke("-", "a.jsonl.gz", text=line(1, 9, x=2)).exit_code == 1
    refused = invoke("-", "-")
    assert (refused.exit_code, refused.stderr) == (
        2,
        "midstream: both files are standard input; name a file for one of them\n",
    )


def test_a_pipe_has_json_lines() -> None:
    write("a.jsonl", line(1, 9, x=1))
    os.mkfifo("pipe")
    command = [sys.executable, "-m", "midstream.cli", "compare", "a.jsonl", "pipe"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        Path("pipe").write_text(line(1, 9, x=1))
        assert process.wait() == 0


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("b.jsonl", "x\n", "b.jsonl, line 1: found Expecting value"),
        ("b.jsonl", line(1, 2, x=1) + "[]\n", "b.jsonl, line 2: found []"),
        ("b.jsonl", '{"start": 1, "row": {}}\n', "b.jsonl, line 1, column end: "),
        (
            "b.jsonl",
            line(2, 2, x=1),
            "b.jsonl, line 1, column end: found 2, expected a time after",
        ),
        ("b.jsonl", line(1.5, 2, x=1), "column start: found 1.5, expected an integer"),
        ("b.jsonl", line("soon", None, x=1), "column start: found 'soon', expected a date"),
        ("b.jsonl", line(1, 2, x=1) + line(1, 2, y=1), "b.jsonl, line 2, column row: "),
        ("b.jsonl", '{"start": 1, "end": 2, "row": {"x": 1, "x": 2}}\n', "several keys of a name"),
        ("b.jsonl", '{"start": 1, "end": 2, "row": 7}\n', "column row: found 7, expected a JSON object"),
        (
            "b.csv",
            "x,y\n1,2\n",
            "b.csv, line 1: found columns x, y, expected start, end and those of the row",
        ),
        ("b.csv", "", "b.csv, line 1: found columns none"),
        ("b.csv", "start,end,x\n1,2\n", "b.csv, line 2: found 2 fields, expected 3"),
        ("b.csv", 'start,end,x\n1,2,3\n7,8,"\n', "b.csv, line 3: found "),
        ("b.csv", "start,end,x,x\n", "expected each of them once"),
        ("b.parquet", "nothing", "b.parquet: found no readable Parquet file"),
        ("b.txt", "", "b.txt: found no suffix of a known format"),
    ],
)
def test_what_is_no_result_is_bad_input(name: str, text: str, message: str) -> None:
    if name == "b.parquet":
        pytest.importorskip("pyarrow")
    write(name, text)
    result = invoke(write("a.jsonl", line(1, 9, x=1)), name)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_what_a_run_writes_is_compared(tmp_path: Path) -> None:
    write("s.csv", "ts,x\n1,7\n3,8\n")
    write(
        "q.sql",
        "CREATE STREAM s(ts TIMESTAMP, x INT) ORDERED BY ts TIME_UNIT ms; "
        "SELECT x FROM s WINDOW(RANGE 5); SELECT COUNT(*) AS n FROM s WINDOW(RANGE 5)",
    )
    for name in ("a.jsonl", "b.csv"):
        run = CliRunner().invoke(app, ["run", "q.sql", "--source", "s=s.csv", "--output", name])
        assert run.exit_code == 0, run.output
    for query in ("query_1", "query_2"):
        assert invoke(f"a.{query}.jsonl", f"b.{query}.csv").exit_code == 0
    assert invoke("a.query_1.jsonl", "b.query_2.csv").exit_code == 1
