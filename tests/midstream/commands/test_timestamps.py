"""What timestamps of files mean, and how times are written: nothing about them is guessed in silence."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from midstream.cli import app
from midstream.commands.times import Times
from midstream.plans.values.snapshots import equivalent
from midstream.plans.values.streams import BEGINNING, FOREVER
from midstream.plans.values.units import TimeUnit

STREAM = "CREATE STREAM s(ts TIMESTAMP, x INT) ORDERED BY ts"
SELECT = "SELECT x FROM s WINDOW(RANGE 2 SECONDS)"
SCRIPT = f"{STREAM};\n{SELECT}"


def invoke(*arguments: object, stdin: str | None = None) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, list(map(str, arguments)), input=stdin)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(rows: str, *arguments: object, script: str = SCRIPT) -> Result:
    """Run a script over rows of CSV."""
    Path("s.csv").write_text(f"ts,x\n{rows}")
    Path("s.sql").write_text(script)
    return invoke("run", "s.sql", "--source", "s=s.csv", *arguments)


def times(result: Result) -> list[tuple[Any, Any]]:
    """Start and end of each result."""
    assert result.exit_code == 0, result.output
    return [(line["start"], line["end"]) for line in map(json.loads, result.stdout.splitlines())]


@pytest.mark.parametrize(
    ("unit", "per_second"),
    [
        ("milliseconds", 10**3),
        *(
            pytest.param(unit, per_second, marks=pytest.mark.slow)
            for unit, per_second in (("seconds", 1), ("microseconds", 10**6), ("nanoseconds", 10**9))
        ),
    ],
)
def test_integers_without_a_unit_are_refused_with_what_they_look_like(unit: str, per_second: int) -> None:
    first, last = 1_356_999_120 * per_second, 1_356_999_180 * per_second
    rows = f"{last},1\n{first},2\n"
    result = run(rows)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "midstream: s.csv, line 2, column ts: found an integer as timestamp, and nothing says what it "
        f"counts; values from {first} to {last} look like {unit} since 1970, from 2013-01-01T00:12:00 to "
        f"2013-01-01T00:13:00, expected SET time_unit = '{unit}' at the script's beginning, or TIME_UNIT "
        f"'{unit}' behind the declaration\n"
    )
    # That is no row that could be left out.
    assert run(rows, "--dead-letters", "dead.jsonl").exit_code == 2
    for script, option in (
        (f"SET time_unit = '{unit}'; {SCRIPT}", ()),
        (f"{STREAM} TIME_UNIT '{unit}'; {SELECT}", ()),
        (SCRIPT, ("--time-unit", unit)),
    ):
        found = times(run(f"{first},2\n{last},1\n", *option, script=script))
        assert found == [(t, t + 2 * per_second) for t in (first, last)]


def test_small_integers_tell_nothing() -> None:
    result = run("5,1\n")
    assert "values such as 5 do not tell what they count, expected SET time_unit = 'seconds'" in result.stderr
    assert "or whatever they count" in result.stderr


def written_as(form: str, name: str, instants: list[Any]) -> str:
    """A file of timestamps, which are datetimes or texts or integers."""
    file = f"{name}.{form}"
    if form == "parquet":
        pq.write_table(pa.table({"ts": pa.array(instants), "x": pa.array(range(len(instants)))}), file)
    elif form == "csv":
        Path(file).write_text("ts,x\n" + "".join(f"{t},{x}\n" for x, t in enumerate(instants)))
    else:
        lines = (json.dumps({"ts": t, "x": x}, default=str) + "\n" for x, t in enumerate(instants))
        Path(file).write_text("".join(lines))
    return file


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_integers_are_refused_in_every_format(form: str) -> None:
    Path("s.sql").write_text(SCRIPT)
    result = invoke("run", "s.sql", "--source", f"s={written_as(form, 's', [1_356_999_120])}")
    assert result.exit_code == 2 and "look like seconds since 1970" in result.stderr.replace(
        " such as", ""
    ), result
    mixed = written_as("csv", "mixed", ["2013-01-01T00:00:00", 1_356_999_120])
    result = invoke("run", "s.sql", "--source", f"s={mixed}")
    assert result.exit_code == 2 and "mixed.csv, line 3, column ts: found an integer" in result.stderr


def test_integers_are_refused_in_columns_of_rows_too() -> None:
    Path("s.csv").write_text("ts,at,x\n2013-01-01,,1\n2013-01-02,1356999120,1\n")
    Path("s.sql").write_text(
        "CREATE STREAM s(ts TIMESTAMP, at TIMESTAMP, x INT) ORDERED BY ts; SELECT at FROM s"
    )
    result = invoke("run", "s.sql", "--source", "s=s.csv")
    assert (
        result.exit_code == 2 and "s.csv, line 3, column at: found an integer as timestamp" in result.stderr
    )


def test_integers_are_refused_in_relations() -> None:
    Path("r.csv").write_text("k,since,until\n1,1356999120,\n")
    Path("s.sql").write_text(
        f"{STREAM}; CREATE RELATION r(k INT, since TIMESTAMP, until TIMESTAMP) VALID FROM since TO until"
        " SOURCE csv('r.csv') {}; SELECT x FROM s, r WHERE x = k".format("")
    )
    written_as("csv", "s", ["2013-01-01T00:12:00"])
    result = invoke("run", "s.sql", "--source", "s=s.csv")
    assert result.exit_code == 2
    assert (
        "r.csv, line 2, column since: found '1356999120', expected a date or a date with a time"
        in result.stderr
    )
    Path("s.sql").write_text(Path("s.sql").read_text().replace(" ; SELECT", " TIME_UNIT 'seconds'; SELECT"))
    Path("s.csv").write_text("ts,x\n2013-01-01T00:11:59.999999,1\n2013-01-01T00:12:00,1\n")
    assert times(invoke("run", "s.sql", "--source", "s=s.csv")) == [
        ("2013-01-01T00:12:00.000000", "2013-01-01T00:12:00.000001")
    ]


PANDAS = "2013-01-01 05:17:00.123456"


@pytest.mark.parametrize(
    "text",
    [PANDAS, PANDAS.replace(" ", "T"), f"{PANDAS}Z", f"{PANDAS}+00:00", "2013-01-01 06:47:00.123456+01:30"],
)
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_dates_need_no_unit_and_keep_microseconds(text: str, form: str) -> None:
    Path("s.sql").write_text(SCRIPT)
    result = invoke("run", "s.sql", "--source", f"s={written_as(form, 's', [text])}")
    assert times(result) == [("2013-01-01T05:17:00.123456", "2013-01-01T05:17:02.123456")]
    assert result.stderr == ""


def test_parquet_timestamps_need_no_unit_either() -> None:
    Path("s.sql").write_text(SCRIPT)
    written_as("parquet", "s", [datetime(2013, 1, 1, 5, 17, 0, 123456)])
    assert times(invoke("run", "s.sql", "--source", "s=s.parquet")) == [
        ("2013-01-01T05:17:00.123456", "2013-01-01T05:17:02.123456")
    ]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("output", ["-", "out.csv"])
def test_what_a_coarser_unit_cuts_off_is_told_once(form: str, output: str) -> None:
    start = datetime(2013, 1, 1, tzinfo=UTC)
    file = written_as(form, "s", [start + timedelta(milliseconds=500 * i) for i in range(5000)])
    Path("s.sql").write_text(f"SET time_unit = 'seconds'; {SCRIPT}")
    result = invoke("run", "s.sql", "--source", f"s={file}", "--output", output)
    assert result.exit_code == 0
    assert result.stderr.splitlines()[-1] == (
        "note: 2,500 timestamps of s such as 2013-01-01T00:00:00.5 were cut to seconds, "
        "which time is counted in"
    )
    assert result.stderr.count("note") == 1
    if output == "-":
        assert times(result)[:3] == [
            ("2013-01-01T00:00:00", "2013-01-01T00:00:02"),
            ("2013-01-01T00:00:00", "2013-01-01T00:00:02"),
            ("2013-01-01T00:00:01", "2013-01-01T00:00:03"),
        ]


def test_what_is_cut_off_counts_once_where_a_batch_is_read_again() -> None:
    rows = "2013-01-01T00:00:00.5,1\n2013-01-01T00:00:01.5,no\n2013-01-01T00:00:02.5,3\n"
    result = run(rows, "--dead-letters", "dead.jsonl", script=f"SET time_unit = 's'; {SCRIPT}")
    assert "note: 3 timestamps of s" in result.stderr


def test_streams_of_several_units_meet() -> None:
    Path("s.sql").write_text(
        "CREATE STREAM a(ts TIMESTAMP, x INT) ORDERED BY ts TIME_UNIT 'seconds';\n"
        "CREATE STREAM b(ts TIMESTAMP, x INT) ORDERED BY ts TIME_UNIT 'milliseconds';\n"
        "SELECT a.x FROM a WINDOW(RANGE 2), b WINDOW(RANGE 500) WHERE a.x = b.x"
    )
    Path("a.csv").write_text("ts,x\n10,1\n20,2\n")
    Path("b.csv").write_text("ts,x\n9000,1\n11900,1\n20001,2\n")
    sources = ("--source", "a=a.csv", "--source", "b=b.csv")
    assert times(invoke("run", "s.sql", *sources)) == [(11_900, 12_000), (20_001, 20_501)]
    Path("b.csv").write_text("ts,x\n1970-01-01T00:00:11.9,1\n")
    assert times(invoke("run", "s.sql", *sources, "--times", "integer")) == [(11_900, 12_000)]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("wish", [None, "iso", "integer"])
@pytest.mark.parametrize("is_iso", [False, True])
def test_times_are_written_as_the_input_has_them_or_as_is_wished(
    form: str, wish: str | None, is_iso: bool
) -> None:
    rows = "1970-01-01 00:01:40,7\n" if is_iso else "100,7\n"
    wished = () if wish is None else ("--times", wish)
    result = run(rows, "--output", f"out.{form}", *wished, script=f"SET time_unit = 'seconds'; {SCRIPT}")
    assert result.exit_code == 0, result.stderr
    expected: tuple[Any, Any] = (100, 102)
    if wish == "iso" or (wish is None and is_iso):
        expected = ("1970-01-01T00:01:40", "1970-01-01T00:01:42")
    if form == "jsonl":
        found: Any = json.loads(Path("out.jsonl").read_text())
        assert (found["start"], found["end"]) == expected
    elif form == "csv":
        assert Path("out.csv").read_text() == f"start,end,x\n{expected[0]},{expected[1]},7\n"
    else:
        table = pq.read_table("out.parquet").to_pylist()
        read: Callable[[str], Any] = datetime.fromisoformat
        assert table == [
            {
                name: read(t) if isinstance(t, str) else t
                for name, t in zip(("start", "end"), expected, strict=True)
            }
            | {"x": 7}
        ]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_file_of_no_results_is_one_nevertheless(form: str) -> None:
    Path("s.csv").write_text("ts,x\n")
    assert run("", "--output", f"out.{form}").exit_code == 0
    if form == "parquet":
        assert pq.read_table("out.parquet").num_rows == 0


@pytest.mark.parametrize(
    "unit",
    [
        "microseconds",
        *(
            pytest.param(unit, marks=pytest.mark.slow)
            for unit in ("nanoseconds", "milliseconds", "seconds", "minutes", "days")
        ),
    ],
)
def test_results_read_back_are_the_same_stream(unit: str) -> None:
    rows = "".join(
        f"{day},{i}\n" for i, day in enumerate(("1904-02-29", "1969-12-31T23:59:59.999999999", "2000-02-29"))
    )
    script = f"SET time_unit = '{unit}'; {STREAM}; SELECT x FROM s WINDOW(RANGE 10 DAYS)"
    last = f"{script.partition(';')[0]}; {STREAM}; SELECT x FROM s [RANGE UNBOUNDED]"
    for text in (script, last):
        assert run(rows, "--output", "first.jsonl", script=text).exit_code == 0
        Path("again.sql").write_text(
            f"{script.partition(';')[0]}; CREATE STREAM r(x INT) SOURCE elements('first.jsonl');"
            "SELECT x FROM r"
        )
        assert invoke("run", "again.sql", "--output", "second.jsonl").exit_code == 0
        assert Path("second.jsonl").read_text() == Path("first.jsonl").read_text() != ""
        iso = invoke("run", "again.sql", "--times", "integer", "--output", "third.jsonl")
        assert iso.exit_code == 0
        Path("again.sql").write_text(Path("again.sql").read_text().replace("first", "third"))
        assert invoke("run", "again.sql", "--times", "iso").stdout == Path("first.jsonl").read_text()


def test_results_as_integers_need_a_unit_too() -> None:
    assert run("100,7\n", "--output", "out.jsonl", script=f"SET time_unit = 's'; {SCRIPT}").exit_code == 0
    Path("r.sql").write_text("CREATE STREAM r(x INT) SOURCE elements('out.jsonl'); SELECT x FROM r")
    result = invoke("run", "r.sql")
    assert (
        result.exit_code == 2
        and "out.jsonl, line 1, column start: found an integer as timestamp" in result.stderr
    )


DATED = "2013-01-01T00:00:10,1\n2013-01-01T00:00:13,2\n2013-01-01T00:00:08,3\n"


def test_a_slack_has_a_unit() -> None:
    late = run(DATED)
    assert late.exit_code == 2
    assert late.stderr == (
        "midstream: s.csv, line 4: found a row of 2013-01-01T00:00:08.000000 behind one of "
        "2013-01-01T00:00:13.000000, expected rows in order of time; --slack 5s would take it, "
        "--dead-letters FILE sets such rows aside\n"
    )
    for slack in ("5s", "5 seconds", "5000ms", "1m"):
        assert len(times(run(DATED, "--slack", slack))) == 3
    assert "expected rows at most 4s late; --slack 5s would" in run(DATED, "--slack", "4s").stderr
    for slack, message in (
        ("5", "nothing says what a number alone counts"),
        ("-5s", "found '-5s', expected at least 0"),
        ("5 fortnights", "expected a whole number with a unit, such as 90s or 2 minutes"),
    ):
        refused = run(DATED, "--slack", slack)
        assert refused.exit_code == 2 and message in " ".join(refused.stderr.replace("│", " ").split())
    assert run(DATED, "--slack", "0").exit_code == 2
    for script in (f"SET time_unit = 's'; {SCRIPT}", f"{STREAM} TIME_UNIT 's'; {SELECT}"):
        in_seconds = run("10,1\n13,2\n8,3\n", "--slack", 5, script=script)
        assert times(in_seconds) == [(8, 10), (10, 12), (13, 15)]
    too_fine = run("10,1\n", "--slack", "5ms", script=f"SET time_unit = 's'; {SCRIPT}")
    assert too_fine.exit_code == 2


LINES = {
    "csv": 'ts,x\n10,1\n\n"1\n3",9\n13,2\n8,3\n',
    "jsonl": '{"ts": 10, "x": 1}\n\n{"ts": 13, "x": 2}\n{"ts": 8, "x": 3}\n',
}


@pytest.mark.parametrize(("form", "number"), [("csv", 7), ("jsonl", 4), ("parquet", 3)])
@pytest.mark.parametrize("command", ["run", "migrate"])
def test_late_rows_have_file_and_line(form: str, number: int, command: str) -> None:
    if form == "parquet":
        written_as(form, "s", [10, 13, 8])
    else:
        Path(f"s.{form}").write_text(LINES[form])
    Path("s.sql").write_text(f"SET time_unit = 's'; {SCRIPT}")
    arguments = (command, "s.sql", "--source", f"s=s.{form}", *(("--at", 9) if command == "migrate" else ()))
    word = "row" if form == "parquet" else "line"
    if form != "csv":
        result = invoke(*arguments)
        assert result.exit_code == 2
        assert f"midstream: s.{form}, {word} {number}: found a row of 8 behind one of 13, " in result.stderr
    result = invoke(*arguments, "--dead-letters", "dead.jsonl")
    assert result.exit_code == 0, result.output
    letters = list(map(json.loads, Path("dead.jsonl").read_text().splitlines()))
    assert (letters[-1]["source"], letters[-1]["line"]) == (f"s.{form}", number)


@pytest.mark.parametrize("size", [1, 1023, 1024, 5000])
def test_a_late_row_far_behind_has_its_line(size: int) -> None:
    result = run("".join(f"{t},1\n" for t in range(size)) + "-1,2\n", script=f"SET time_unit = 's'; {SCRIPT}")
    assert f"s.csv, line {size + 2}: found a row of -1 behind one of {size - 1}, " in result.stderr


def test_migrations_tell_instants_as_the_input_has_them() -> None:
    rows = "".join(f"2013-01-01T00:00:{second:02d},1\n" for second in range(60))
    parts = ("s [RANGE 2 SECONDS] a", "s [RANGE 3 SECONDS] b")
    query = "SELECT a.x FROM {}, {} WHERE a.x = b.x"
    run(rows, script=f"{STREAM}; {query.format(*parts)}")
    Path("new.sql").write_text(query.format(*reversed(parts)))
    arguments = (
        "migrate",
        "s.sql",
        "--source",
        "s=s.csv",
        "--at",
        "2013-01-01T00:00:30",
        "--output",
        "out.jsonl",
    )
    arguments = (*arguments, "--to", "new.sql")
    result = invoke(*arguments)
    assert result.exit_code == 0, result.output
    assert "migrated at 2013-01-01T00:00:30.000000 by genmig" in result.stderr
    assert "split time    2013-01-01T00:00:3" in result.stderr
    assert re.search("  duration      [0-9]+us in application time", result.stderr)
    found = json.loads(invoke(*arguments, "--json").stdout)
    assert (found["at"], found["time_unit"]) == ("2013-01-01T00:00:30.000000", "microseconds")
    assert found["split_time"].startswith("2013-01-01T00:00:3")
    as_integers = json.loads(invoke(*arguments, "--json", "--times", "integer").stdout)
    assert as_integers["at"] == 1_356_998_430_000_000
    refused = invoke(*arguments[:5], 30, *arguments[6:])
    assert refused.exit_code == 2
    assert "nothing says what an integer counts" in " ".join(refused.stderr.replace("│", " ").split())
    late = invoke(*arguments[:5], "2014-01-01", *arguments[6:])
    assert "time 2014-01-01T00:00:00.000000 was not reached: the last element starts at 2013" in late.stderr


def test_migrations_tell_what_was_cut_off() -> None:
    run("2013-01-01T00:00:00.5,1\n2013-01-02,1\n", script=f"SET time_unit = 's'; {SCRIPT}")
    result = invoke("migrate", "s.sql", "--source", "s=s.csv", "--at", "2013-01-01T00:00:01", "--to", "s.sql")
    assert "note: 1 timestamp of s such as 2013-01-01T00:00:00.5 was cut to seconds" in result.stderr


@pytest.mark.parametrize("command", ["run", "migrate", "explain"])
def test_a_grouping_without_a_window_is_noted(command: str) -> None:
    rows = "2013-01-01,1\n2013-01-02,1\n"
    note = run(rows, script=f"{STREAM}; SELECT x, COUNT(*) AS n FROM s GROUP BY x").stderr
    assert note == (
        "note: s.sql: the grouping sees rows of s at their own timestamp only, as there is no window; write "
        "s WINDOW(RANGE …), or s WINDOW(NOW) if that is meant\n"
    )
    arguments = ("--source", "s=s.csv") if command != "explain" else ()
    result = invoke(command, "s.sql", *arguments, *(("--at", "2013-01-02") if command == "migrate" else ()))
    assert result.exit_code == 0 and note in result.stderr
    both = run(
        rows,
        "--output",
        "o.csv",
        script=f"{STREAM}; SELECT x, COUNT(*) AS n FROM s GROUP BY x; SELECT DISTINCT x FROM s",
    )
    assert "note: s.sql, query_1: the grouping" in both.stderr
    assert "note: s.sql, query_2: the DISTINCT" in both.stderr


def test_explain_says_what_time_is_counted_in() -> None:
    Path("s.sql").write_text(SCRIPT)
    assert "time is counted in microseconds\n" in invoke("explain", "s.sql").stdout
    assert "time is counted in seconds\n" in invoke("explain", "s.sql", "--time-unit", "s").stdout
    (found,) = json.loads(invoke("explain", "s.sql", "--json").stdout).values()
    assert found["time_unit"] == "microseconds"


def test_differences_between_runs_tell_instants() -> None:
    difference = equivalent([(1_356_998_400, 1_356_998_401, "a")], [])
    shown = Times(TimeUnit.of("seconds"), "iso", [])
    assert difference.text(shown.instant).endswith(
        "'a' in [2013-01-01T00:00:00, 2013-01-01T00:00:01): 1 times on the left, 0 on the right"
    )
    assert str(difference).endswith("'a' in [1356998400, 1356998401): 1 times on the left, 0 on the right")
    for_ever = equivalent([], [(BEGINNING, FOREVER, "a")])
    assert "'a' in [-inf, for ever" in for_ever.text(shown.instant)


def test_late_rows_in_dead_letters_tell_instants() -> None:
    assert run(DATED, "--dead-letters", "dead.jsonl").exit_code == 0
    assert json.loads(Path("dead.jsonl").read_text())["reason"] == (
        "found a row of 2013-01-01T00:00:08.000000 behind one of 2013-01-01T00:00:13.000000, "
        "expected rows in order of time"
    )
