"""`midstream sql` and `midstream init`: queries over files that nobody declared."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from midstream.cli import app
from midstream.io.sinks.arrow_sink import ArrowSink
from midstream.io.sinks.table_sink import LINES, TableSink
from midstream.io.sniffing import samples
from midstream.plans.sql.catalog import Catalog
from midstream.plans.values.schema import Schema

pytest.importorskip("duckdb")
ORDERS = "at;country\n2026-11-27 10:00;DE\n2026-11-27 10:03;FR\n2026-11-27 10:08;DE\n"
COUNT = "SELECT country, COUNT(*) AS n FROM {} WINDOW(RANGE 10 MINUTES) GROUP BY country"
RESULTS = [
    ("10:00:00", "10:08:00", "DE", 1),
    ("10:03:00", "10:13:00", "FR", 1),
    ("10:08:00", "10:10:00", "DE", 2),
    ("10:10:00", "10:18:00", "DE", 1),
]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("orders.csv").write_text(ORDERS)


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def read(lines: str) -> list[tuple[str, str, str, int]]:
    found = [json.loads(line) for line in lines.splitlines()]
    return [(one["start"][11:19], one["end"][11:19], *one["row"].values()) for one in found]


def test_a_query_over_a_file() -> None:
    result = invoke("sql", COUNT.format("'orders.csv'"))
    assert result.exit_code == 0 and read(result.stdout) == RESULTS
    notes = result.stderr.splitlines()
    assert len(notes) == 3 and all(note.startswith("note: orders.csv: ") for note in notes)


def test_the_same_query_in_a_script() -> None:
    Path("q.sql").write_text(COUNT.format("read_csv('orders.csv', delim = ';')"))
    result = invoke("run", "q.sql", "--output", "results.jsonl")
    assert result.exit_code == 0 and read(Path("results.jsonl").read_text()) == RESULTS
    assert "3 elements, 4 results of query_1" in result.stderr


def test_a_declaration_reads_the_same_as_the_file() -> None:
    result = invoke("init", "orders.csv", "--output", "shop.sql")
    assert result.exit_code == 0 and len(result.stderr.splitlines()) == 3
    script = Path("shop.sql").read_text()
    assert list(_streams(script)) == ["orders"]
    Path("shop.sql").write_text(script + COUNT.format("orders"))
    result = invoke("run", "shop.sql")
    assert result.stderr == "" and read(result.stdout) == RESULTS


def _streams(script: str) -> dict[str, object]:
    catalog = Catalog(None)
    catalog.execute(script)
    return dict(catalog.streams)


def test_declarations_of_several_files() -> None:
    Path("orders.jsonl").write_text('{"ts": 1700000000, "n": 5}\n')
    Path("b.csv").write_text("ts,n\n1970-01-02,5\n")
    result = invoke("init", "orders.csv", "orders.jsonl", "b*.csv")
    assert list(_streams(result.stdout)) == ["orders", "orders_2", "b"]
    assert "TIME_UNIT 'seconds'" in result.stdout


def test_no_command_overwrites_a_file_that_it_reads() -> None:
    for arguments in (
        ["init", "orders.csv", "--output", "orders.csv"],
        ["init", "*.csv", "--output", "orders.csv"],
        ["sql", "SELECT country FROM '*.csv'", "--output", "orders.csv"],
    ):
        result = invoke(*arguments)
        assert result.exit_code == 2 and "expected another file" in result.stderr
    assert Path("orders.csv").read_text() == ORDERS


def test_options_of_run() -> None:
    Path("bad.csv").write_text("at,n\n2026-11-27,1\n2026-11-28,x\n2026-11-29,3\n")
    Path("f.py").write_text(
        "def register(catalog):\n    catalog.add_function('twice', lambda n: n * 2, 'integer')\n"
    )
    result = invoke(
        "sql",
        "SELECT twice(n) AS n FROM read_csv('bad.csv', types = 'n INT')",
        *("--dead-letters", "dead.jsonl", "--functions", "f.py", "--rows", "3", "--times", "integer"),
        *("--format", "csv"),
    )
    assert result.exit_code == 0
    assert [line.split(",")[2] for line in result.stdout.splitlines()] == ["n", "2", "6"]
    assert json.loads(Path("dead.jsonl").read_text())["line"] == 3


def test_a_row_of_another_type_is_refused_with_its_line_and_a_remedy() -> None:
    Path("late.csv").write_text("at,n\n2026-11-27,1\n2026-11-28,x\n")
    result = invoke("sql", "SELECT n FROM read_csv('late.csv', types = 'n INT')")
    assert result.exit_code == 2
    *_, error, advice = result.stderr.splitlines()
    assert error == "midstream: late.csv, line 3, column n: found 'x', expected integer, or nothing"
    assert "FROM read_csv('late.csv', time = 'at', types = 'n TEXT') says another one" in advice
    Path("late.sql").write_text(
        "CREATE STREAM s(at DATE, n INT) SOURCE csv('late.csv') ORDERED BY at; SELECT n FROM s"
    )
    result = invoke("run", "late.sql")
    assert "says another one" not in result.stderr and result.exit_code == 2


def test_a_row_without_a_time_can_only_be_set_aside() -> None:
    Path("gap.csv").write_text("at,n\n2026-11-27,1\n,2\n")
    result = invoke("sql", "SELECT n FROM 'gap.csv'")
    *_, error, advice = result.stderr.splitlines()
    assert error.startswith(
        "midstream: gap.csv, line 3, column at: found nothing, expected a date in ISO 8601"
    )
    assert advice == "midstream: --dead-letters FILE of midstream sql sets such rows aside"


def test_an_object_that_lacks_a_key_late() -> None:
    for name, text in (("a", '{"at": "2026-11-27", "n": 1}\n'), ("b", '{"at": "2026-11-28"}\n')):
        Path(f"{name}.jsonl").write_text(text)
    result = invoke("sql", "SELECT n FROM '?.jsonl'")
    *_, error, advice = result.stderr.splitlines()
    assert error.startswith("midstream: b.jsonl, line 1, column n: found no such column")
    assert "FROM read_json('?.jsonl', time = 'at', sparse = true) reads it as NULL" in advice
    result = invoke("sql", "SELECT n FROM read_json('?.jsonl', sparse = true)")
    assert [json.loads(line)["row"]["n"] for line in result.stdout.splitlines()] == [1, None]


def test_a_script_is_for_run() -> None:
    result = invoke("sql", "q.sql")
    assert result.exit_code == 2 and "midstream run q.sql" in result.stderr


def test_refusals_have_status_2() -> None:
    for query, message in (
        ("SELECT n FROM 'none.csv'", "SQL, line 1, column 15: none.csv: found no such file"),
        ("CREATE STREAM s(a INT)", "SQL: found no query, expected a SELECT"),
        ("SELECT n FROM 'orders.csv'", "there is no column n"),
    ):
        result = invoke("sql", query)
        assert result.exit_code == 2 and message in result.stderr


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_binary_formats(form: str) -> None:
    pa = pytest.importorskip("pyarrow")
    result = invoke("sql", COUNT.format("'orders.csv'"), "--output", f"results.{form}")
    assert result.exit_code == 0, result.stderr
    if form == "arrow":
        with pa.ipc.open_stream(f"results.{form}") as reader:
            table = reader.read_all()
    else:
        import pyarrow.parquet as pq

        table = pq.read_table(f"results.{form}")
    found = [
        (str(one["start"])[11:19], str(one["end"])[11:19], one["country"], one["n"])
        for one in table.to_pylist()
    ]
    assert found == RESULTS


def test_arrow_on_standard_output() -> None:
    pa = pytest.importorskip("pyarrow")
    result = invoke("sql", "SELECT country FROM 'orders.csv'", "--format", "arrow")
    with pa.ipc.open_stream(result.stdout_bytes) as reader:
        assert reader.read_all()["country"].to_pylist() == ["DE", "FR", "DE"]


def test_arrow_hands_over_rows_at_once(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    with ArrowSink(str(tmp_path / "a"), Schema.of(n="integer")) as sink:
        sink.write([(1, 2, (7,))])
        sink.flush()
        reader = pa.ipc.open_stream((tmp_path / "a").read_bytes())
        assert reader.read_next_batch().to_pylist() == [{"start": 1, "end": 2, "n": 7}]


def test_a_table_in_a_pipe() -> None:
    result = invoke("sql", COUNT.format("'orders.csv'"), "--format", "table")
    header, rule, *rows, caption = result.stdout.splitlines()
    assert header.split() == ["start", "end", "country", "n"] and set(rule) == {"─"}
    assert [tuple(row.split()[2:]) for row in rows] == [(country, str(n)) for *_, country, n in RESULTS]
    assert caption == "4 results"


def test_a_long_table_shows_its_last_rows(tmp_path: Path) -> None:
    with TableSink(str(tmp_path / "t"), Schema.of(n="integer", ok="boolean", text="string?")) as sink:
        sink.write([(t, t + 1, (t, True, None)) for t in range(LINES + 5)])
        sink.write([(99, float("inf"), (7, False, "[red]ä"))])
    lines = (tmp_path / "t").read_text().splitlines()
    assert lines[2].split() == ["6", "7", "6", "true"]
    assert lines[-2].split() == ["99", "7", "false", "[red]ä"]
    assert lines[-1] == f"{LINES + 6} results, of which the last {LINES} are shown; --format jsonl has all"


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_a_table_on_a_terminal() -> None:
    reader, writer = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "midstream.cli", "sql", COUNT.format("'orders.csv'")],
        stdout=writer,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120", "LINES": "40"},
    ) as running:
        os.close(writer)
        shown = b""
        try:
            while some := os.read(reader, 1 << 16):
                shown += some
        except OSError:  # the other end is closed
            pass
    os.close(reader)
    assert running.returncode == 0
    assert "country" in shown.decode() and "4 results" in shown.decode() and '{"start"' not in shown.decode()


def test_nothing_heavy_is_loaded_without_need() -> None:
    code = "import sys, midstream; assert not {'duckdb', 'pyarrow', 'pandas', 'rich'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_init_tells_the_first_row_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "SIZE", 1 << 15)
    rows = "".join(f"{1767225600 + i},{10000 + i}\n" for i in range(6000))
    Path("late.csv").write_text(f"ts,zip\n{rows}1767400000,00042\n")
    result = invoke("init", "late.csv")
    assert result.exit_code == 0 and "zip BIGINT" in result.stdout
    *_, note = result.stderr.splitlines()
    assert note.startswith("note: late.csv, line 6002, column zip: found '00042', expected integer")
    assert len(invoke("init", "orders.csv").stderr.splitlines()) == 3


def test_init_takes_calls_with_options_and_advises_them() -> None:
    Path("days.csv").write_text("date,time,v\n2026-01-01,08:15:00,1\n2026-01-01,08:16:00,2\n")
    refused = invoke("init", "days.csv")
    assert refused.exit_code == 2 and refused.stdout == ""
    call = "read_csv('days.csv', time_of_day = 'time')"
    other = "read_csv('days.csv', time = 'date')"
    assert f'in place of days.csv, midstream init takes "{call}" or "{other}"' in refused.stderr
    result = invoke("init", call, "orders.csv", "--output", "days.sql")
    assert result.exit_code == 0 and "time_of_day = 'time'" in Path("days.sql").read_text()
    assert list(_streams(Path("days.sql").read_text())) == ["days", "orders"]


def test_init_refuses_what_is_no_file_of_its_own() -> None:
    for argument, found in (
        ("read_csv('orders.csv') JOIN read_csv('b.csv')", "found JOIN read_csv('b.csv') behind"),
        ("read_csv('orders.csv', delim = ';'", "FILES, line 1"),
        ("read_csv('orders.csv', delimiter = ';')", "delimiter"),
    ):
        result = invoke("init", argument)
        assert result.exit_code == 2 and found in result.stderr
    assert invoke("init", "read_csv('orders.csv')", "--output", "orders.csv").exit_code == 2


def test_init_tells_a_key_that_its_declaration_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "SIZE", 1 << 12)
    row = '{"at": "2026-11-27", "n": 1}\n'
    Path("late.jsonl").write_text(row * 5000 + '{"at": "2026-11-27", "n": 1, "it\'s": 2.5}\n')
    note = invoke("init", "late.jsonl").stderr.splitlines()[-1]
    assert note.startswith("note: late.jsonl, line 5001, column it's: found a column that the file's")
    (call,) = shlex.split(note.partition("midstream init takes ")[2])
    result = invoke("init", call)
    assert """"it's" DOUBLE""" in result.stdout
    assert not any("lacks" in line for line in result.stderr.splitlines())
