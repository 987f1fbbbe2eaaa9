"""`midstream run` and `midstream explain` as processes and commands: endless sources, functions of users, all
that is refused, and what is drawn."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from midstream.cli import app
from midstream.scenarios.streams.nexmark.scripts import SCRIPTS

LIMIT = 60
"""After how many seconds a process that hangs is ended."""

ONE = "SET time_unit = 'ms'; CREATE STREAM s(ts TIMESTAMP, x INT) ORDERED BY ts;\nSELECT x FROM s"


def invoke(*arguments: object, stdin: str | None = None) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, list(map(str, arguments)), input=stdin)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a script, and rows for it."""
    monkeypatch.chdir(tmp_path)
    Path("s.sql").write_text(ONE)
    Path("s.csv").write_text("ts,x\n1,7\n2,8\n")
    return tmp_path


@contextmanager
def process(*arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    """The command line in a process of its own, which is ended if it hangs."""
    command = [sys.executable, "-m", "midstream.cli", *map(str, arguments)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as running:
        timer = threading.Timer(LIMIT, running.kill)
        timer.start()
        try:
            yield running
        finally:
            timer.cancel()
            if running.poll() is None:
                running.kill()


def finished(running: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Exit status and what was written to stderr."""
    assert running.stderr is not None
    error = running.stderr.read().decode()
    return running.wait(), error


def test_an_endless_source_has_results_before_its_end(folder: Path) -> None:
    with process("run", "s.sql", "--source", "s=-") as running:
        assert running.stdin is not None and running.stdout is not None
        for t in (1, 2):
            running.stdin.write(b'{"ts": %d, "x": 7}\n{"ts": %d' % (10 * t, 10 * t + 1))
            running.stdin.flush()
            assert json.loads(running.stdout.readline()) == {
                "start": 10 * t,
                "end": 10 * t + 1,
                "row": {"x": 7},
            }
            running.stdin.write(b', "x": null}\n')
            running.stdin.flush()
            assert json.loads(running.stdout.readline())["row"] == {"x": None}
        running.stdin.close()
        assert running.stdout.read() == b""
        assert finished(running) == (0, "")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_two_endless_sources_are_read_at_the_same_time(folder: Path) -> None:
    os.mkfifo("t.jsonl")
    Path("two.sql").write_text(
        "SET time_unit = 'ms';\nCREATE STREAM s(ts TIMESTAMP, x INT) ORDERED BY ts;\n"
        "CREATE STREAM t(ts TIMESTAMP, x INT) ORDERED BY ts;\n"
        "SELECT x FROM s UNION ALL SELECT x FROM t"
    )
    with process("run", "two.sql", "--source", "s=-", "--source", "t=t.jsonl") as running:
        assert running.stdin is not None and running.stdout is not None
        with open("t.jsonl", "wb", buffering=0) as other:
            running.stdin.write(b'{"ts": 5, "x": 1}\n')
            running.stdin.flush()
            other.write(b'{"ts": 3, "x": 2}\n{"ts": 9, "x": 3}\n')
            found = [json.loads(running.stdout.readline())["row"]["x"] for _ in range(2)]
            assert found == [2, 1]
            # One of them goes wrong while the other one is still open.
            running.stdin.write(b'{"ts": 6, "x": "one"}\n')
            running.stdin.flush()
            status, error = finished(running)
    assert (status, error) == (
        2,
        "midstream: stdin, line 2, column x: found 'one', expected integer, or null\n",
    )


JOINED = (
    "SET time_unit = 'ms';\nCREATE STREAM s(ts TIMESTAMP, x INT) ORDERED BY ts;\n"
    "CREATE STREAM t(ts TIMESTAMP, x INT) ORDERED BY ts;\n"
    "SELECT s.x FROM s WINDOW(RANGE 5) AS s JOIN t WINDOW(RANGE 5) AS t ON s.x = t.x"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "number", "status"),
    [
        ("1,7\n2,8\n", signal.SIGINT, 130),
        ("1,7\n2,8\n", signal.SIGTERM, 130),
        ("1,7\n2,none\n", None, 2),
        ("5,7\n2,8\n", None, 2),
    ],
    ids=["interrupted", "terminated", "a bad row", "a late row"],
)
def test_an_early_end_beside_an_open_standard_input_is_no_abort(
    rows: str, number: signal.Signals | None, status: int, folder: Path
) -> None:
    Path("two.sql").write_text(JOINED)
    Path("t.csv").write_text("ts,x\n" + rows)
    with process(
        "run", "two.sql", "--source", "s=-", "--source", "t=t.csv", "--output", "o.jsonl"
    ) as running:
        assert running.stdin is not None
        running.stdin.write(b'{"ts": 1, "x": 7}\n')
        running.stdin.flush()
        if number is not None:
            deadline = time.monotonic() + LIMIT
            while not list(folder.glob("*.unfinished")) and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(0.3)  # until the sources are being read
            running.send_signal(number)
        found, error = finished(running)
    assert found == status, error
    assert "Fatal" not in error


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 5])
def test_a_reader_that_goes_away_ends_the_run(number: int) -> None:
    with process("run", SCRIPTS[number]) as running:
        assert running.stdout is not None
        line = json.loads(running.stdout.readline())
        assert set(line) == {"start", "end", "row"}
        running.stdout.close()
        assert finished(running) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_complete_lines(number: signal.Signals, folder: Path) -> None:
    output = folder / "out.jsonl"
    with process("run", SCRIPTS[1], "--output", output) as running:
        deadline = time.monotonic() + LIMIT
        while (
            not any(one.stat().st_size for one in folder.glob("*.unfinished")) and time.monotonic() < deadline
        ):
            time.sleep(0.05)
        running.send_signal(number)
        status, error = finished(running)
    assert status == 130
    text = (folder / "out.jsonl.unfinished").read_text()
    assert text.endswith("\n")
    assert all(json.loads(line)["row"] for line in text.splitlines())
    count = f"{len(text.splitlines()):,} results of query_1"
    first, so_far, kept = error.splitlines()
    assert first == "midstream: interrupted"
    assert so_far.startswith("midstream: so far ") and so_far.endswith(f" elements, {count}")
    assert kept == f"midstream: {output}.unfinished holds {count}"
    assert sorted(one.name for one in folder.iterdir()) == ["out.jsonl.unfinished", "s.csv", "s.sql"]


def test_results_can_be_read_while_a_run_goes_on(folder: Path) -> None:
    """In whole lines, as soon as they are ready; the file gets its name at the end."""
    growing = folder / "o.jsonl.unfinished"
    with process("run", "s.sql", "--source", "s=-", "--output", "o.jsonl") as running:
        assert running.stdin is not None
        for count in (1, 2, 3):
            running.stdin.write(b'{"ts": %d, "x": 7}\n' % count)
            running.stdin.flush()
            deadline = time.monotonic() + LIMIT
            lines: list[str] = []
            while len(lines) < count and time.monotonic() < deadline:
                lines = growing.read_text().splitlines(keepends=True) if growing.exists() else []
                assert all(json.loads(line) and line.endswith("\n") for line in lines)
                time.sleep(0.02)
            assert len(lines) == count
            assert not Path("o.jsonl").exists()
        running.stdin.close()
        assert running.wait(LIMIT) == 0
    assert not growing.exists()
    assert len(Path("o.jsonl").read_text().splitlines()) == 3


def test_what_an_earlier_run_has_left_stays_and_is_told(folder: Path) -> None:
    Path("o.csv.unfinished").write_text("left")
    result = invoke("run", "s.sql", "--source", "s=s.csv", "--output", "o.csv")
    assert result.exit_code == 0
    assert result.stderr.startswith(
        "note: o.csv.unfinished is of an earlier command, or of one that still runs; this one writes to "
        "o.csv.unfinished-2\n"
    )
    assert Path("o.csv").exists() and Path("o.csv.unfinished").read_text() == "left"
    assert not Path("o.csv.unfinished-2").exists()


def test_a_run_that_waits_for_rows_can_be_interrupted(folder: Path) -> None:
    with process("run", "s.sql", "--source", "s=-") as running:
        assert running.stdin is not None and running.stdout is not None
        running.stdin.write(b'{"ts": 1, "x": 7}\n')
        running.stdin.flush()
        running.stdout.readline()
        running.send_signal(signal.SIGINT)
        status, error = finished(running)
    assert status == 130
    first, so_far = error.splitlines()
    assert first == "midstream: interrupted"
    # It may come before the last row is counted.
    assert re.fullmatch("midstream: so far [01] elements, [01] results of query_1", so_far)


FUNCTIONS = """
from midstream.functions import UserAggregate


def register(catalog):
    catalog.add_function("twice", lambda x: 2 * x, "integer")
    catalog.add_function("known", lambda x: x is not None, "boolean", strict=False)
    catalog.add_function("boom", lambda x: 1 // (x - 7), "integer")
    catalog.add_function("liar", lambda x: "seven", "integer")
    catalog.add_function("nothing", lambda x: None, "integer")
    catalog.add_aggregate(UserAggregate("product", lambda x: x, lambda a, b: a * b, lambda a: a))
    catalog.add_aggregate(UserAggregate("broken", lambda x: x, lambda a, b: a + {}, lambda a: a))
"""


def with_functions(text: str, query: str) -> Result:
    """Run a query with a file of functions."""
    Path("f.py").write_text(text)
    Path("f.sql").write_text(ONE.replace("SELECT x", f"SELECT {query} AS x"))
    return invoke("run", "f.sql", "--source", "s=s.csv", "--functions", "f.py")


def test_functions_of_a_file(folder: Path) -> None:
    Path("s.csv").write_text("ts,x\n1,7\n2,\n")
    result = with_functions(FUNCTIONS, "twice(x)")
    assert result.exit_code == 0, result.stderr
    assert [json.loads(line)["row"]["x"] for line in result.stdout.splitlines()] == [14, None]
    result = with_functions(FUNCTIONS, "known(x)")
    assert [json.loads(line)["row"]["x"] for line in result.stdout.splitlines()] == [True, False]
    result = with_functions(FUNCTIONS, "product(x)")
    assert [json.loads(line)["row"]["x"] for line in result.stdout.splitlines()] == [7, None]


def assert_refused(result: Result, message: str) -> None:
    """A message on stderr, no results, no traceback, exit status 2."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert message in " ".join(result.stderr.replace("│", " ").split()), result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_no_row_ends_a_run_or_writes_what_is_no_number(folder: Path, suffix: str) -> None:
    """A user's function may give NaN; a sum may overflow, and recovers when what was too large has left."""
    Path("functions.py").write_text(
        "def register(catalog):\n"
        "    catalog.add_function('odd', lambda x: float('nan') if x > 1 else x / 2, 'float')\n"
    )
    Path("n.sql").write_text(
        "SET time_unit = 'ms'; CREATE STREAM n(ts TIMESTAMP, x REAL) ORDERED BY ts;\n"
        "SELECT sum(x) AS total, max(x * 10 - x * 10) AS none, max(odd(x)) AS odd FROM n WINDOW(RANGE 2)"
    )
    Path("n.csv").write_text("ts,x\n1,1e308\n2,1e308\n3,1\n9,1\n")
    result = invoke(
        "run", "n.sql", "--source", "n=n.csv", "--functions", "functions.py", "--output", f"out.{suffix}"
    )
    assert result.exit_code == 0, result.output
    written = Path(f"out.{suffix}").read_text()
    assert not re.search("nan|inf", written, re.IGNORECASE)
    if suffix == "jsonl":
        rows = [tuple(json.loads(line)["row"].values()) for line in written.splitlines()]
        assert rows == [
            (1e308, None, None),
            (None, None, None),
            (1e308, 0.0, 0.5),
            (1.0, 0.0, 0.5),
            (1.0, 0.0, 0.5),
        ]


@pytest.mark.parametrize(
    ("text", "query", "message"),
    [
        ("x = 1", "x", "midstream: f.py: found no function register(catalog)"),
        ("register = 1", "x", "midstream: f.py: found no function register(catalog)"),
        ("\n1 / 0", "x", "midstream: f.py, line 2: ZeroDivisionError: division by zero"),
        (
            "def register(catalog):\n    catalog.add_fun('f')",
            "x",
            "midstream: f.py, line 2: AttributeError: Catalog has no attribute add_fun",
        ),
        ("def register(:", "x", "midstream: f.py: SyntaxError"),
        (
            "def register(catalog):\n    catalog.add_function('Max', max)",
            "x",
            "midstream: Max is a built-in aggregate; give yours another name",
        ),
        (
            FUNCTIONS,
            "boom(x)",
            "midstream: function boom: ZeroDivisionError: integer division or modulo by zero",
        ),
        (FUNCTIONS, "liar(x)", "midstream: function liar: found 'seven', expected integer"),
        (FUNCTIONS, "nothing(x)", "midstream: function nothing: found None, expected integer"),
        (FUNCTIONS, "twice(x, x)", "midstream: function twice: TypeError"),
        (FUNCTIONS, "twicer(x)", "there is no function twicer; did you mean twice?"),
    ],
)
def test_functions_that_cannot_be(folder: Path, text: str, query: str, message: str) -> None:
    assert_refused(with_functions(text, query), message)


def test_an_aggregate_that_raises(folder: Path) -> None:
    Path("f.py").write_text(FUNCTIONS)
    Path("f.sql").write_text(ONE.replace("SELECT x FROM s", "SELECT broken(x) FROM s WINDOW(RANGE 9)"))
    result = invoke("run", "f.sql", "--source", "s=s.csv", "--functions", "f.py", "--output", "out.csv")
    assert_refused(result, "midstream: function broken: TypeError: unsupported operand")


def test_a_file_of_functions_that_is_not_there(folder: Path) -> None:
    result = invoke("run", "s.sql", "--source", "s=s.csv", "--functions", "none.py")
    assert_refused(result, "midstream: none.py: No such file or directory")


@pytest.mark.slow
@pytest.mark.parametrize("number", SCRIPTS)
def test_the_auction_queries_run_on_generated_events(number: int) -> None:
    first, second = (invoke("run", SCRIPTS[number], "--source", "nexmark", "--rows", 3000) for _ in range(2))
    assert (first.exit_code, first.stderr) == (0, "")
    assert first.stdout == second.stdout
    assert all(json.loads(line)["row"] for line in first.stdout.splitlines())
    if number in (1, 4, 8, 10, 11):  # in the others, nothing happens so soon
        assert first.stdout


def test_generated_events_have_a_seed_and_may_be_anyones(folder: Path) -> None:
    script = "CREATE STREAM b(ts TIMESTAMP, item INT, price REAL) {} ORDERED BY ts; SELECT * FROM b"

    def rows(clause: str, *arguments: object) -> str:
        Path("b.sql").write_text(script.format(clause))
        result = invoke("run", "b.sql", "--rows", 200, *arguments)
        assert result.exit_code == 0, result.stderr
        return result.stdout

    assert (
        rows("SOURCE nexmark('bid')") == rows("SOURCE nexmark('bid', 1)") != rows("SOURCE nexmark('bid', 2)")
    )
    Path("b.sql").write_text(script.format("SOURCE nexmark('bids')"))
    assert_refused(invoke("run", "b.sql"), "the generator has no stream bids; did you mean bid?")
    Path("b.sql").write_text(script.format("SOURCE nexmark(7)"))
    assert_refused(invoke("run", "b.sql"), "expected nexmark('stream') or nexmark('stream', seed)")
    Path("b.sql").write_text("SET time_unit = 'minutes'; " + script.format("SOURCE nexmark('bid')"))
    assert_refused(invoke("run", "b.sql"), "found time in minutes, expected seconds")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("s.sql",), "midstream: stream s: found no source, expected SOURCE in its declaration, or a path"),
        (
            ("s.sql", "--source", "ss=s.csv"),
            "--source ss=…: the script declares no stream or relation ss; did",
        ),
        (("s.sql", "--source", "s="), "found 's=', expected NAME=PATH, or nexmark"),
        (("s.sql", "--source", "s.csv"), "found 's.csv', expected NAME=PATH, or nexmark"),
        (("s.sql", "--source", "s=s.txt"), "midstream: s.txt: found no suffix of a known format"),
        (("s.sql", "--source", "s=t.csv"), "midstream: t.csv: No such file or directory"),
        (("t.sql",), "midstream: t.sql: No such file or directory"),
        ((".",), "midstream: .: Is a directory"),
        (("binary.sql",), "midstream: binary.sql: found bytes that are no UTF-8, expected text"),
        (("none.sql",), "midstream: none.sql: found no query, expected a SELECT"),
        (("kind.sql",), "source cvs('s.csv'): found no such kind of source"),
        (("wrong.sql",), "midstream: wrong.sql, line 2, column 8: there is no column y"),
        (("s.sql", "--source", "s=s.csv", "--output", "out.txt"), "midstream: out.txt: found no suffix of a"),
        (("s.sql", "--source", "s=s.csv", "--output", "none/out.csv"), "none/out.csv: No such file or dir"),
        (("s.sql", "--source", "s=s.csv", "--format", "xml"), "found the format 'xml', expected one of csv"),
        (("s.sql", "--source", "s=s.csv", "--dead-letters", "none/d"), "dead letters, none/d: No such file"),
        (("s.sql", "--time-unit", "moons"), "found the time unit 'moons', expected one of nanoseconds"),
        (("s.sql", "--rows", "-1"), "Invalid value for '--rows'"),
    ],
)
def test_wrong_inputs_of_a_run(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    Path("binary.sql").write_bytes(b"SELECT \xff")
    Path("none.sql").write_text(ONE.partition(";")[0])
    Path("kind.sql").write_text(ONE.replace("ORDERED", "SOURCE cvs('s.csv') ORDERED"))
    Path("wrong.sql").write_text(ONE.replace("SELECT x", "SELECT y"))
    assert_refused(invoke("run", *arguments), message)


def test_rows_of_the_same_time_at_a_count_window_have_a_place(folder: Path) -> None:
    Path("s.csv").write_text("ts,x\n1,7\n1,8\n")
    Path("s.sql").write_text(f"{ONE} WINDOW(ROWS 5)")
    result = invoke("run", "s.sql", "--source", "s=s.csv")
    assert_refused(
        result, "s.sql, line 2, column 24: CountWindow: found two rows at 1, expected one; write TIES BY"
    )
    assert result.stderr.splitlines()[1:] == [
        "  SELECT x FROM s WINDOW(ROWS 5)",
        "                         ^^^^^^",
    ]


def test_the_place_of_a_tie_is_that_of_a_window_that_met_it(folder: Path) -> None:
    Path("s.csv").write_text("ts,x\n1,7\n1,7\n")
    create = ONE.partition("\n")[0]
    derived = f"{create}\nCREATE STREAM d AS\nSELECT x FROM s WINDOW(PARTITION BY x ROWS 5);\nSELECT x FROM d"
    Path("s.sql").write_text(derived)
    assert_refused(
        invoke("run", "s.sql", "--source", "s=s.csv"), "s.sql, line 3, column 24: PartitionedWindow"
    )
    other = "SELECT x FROM s WINDOW(PARTITION BY x ROWS 2 TIES BY ARRIVAL) UNION ALL "
    Path("s.sql").write_text(derived.replace("SELECT x FROM d", f"{other} SELECT x FROM d"))
    assert_refused(
        invoke("run", "s.sql", "--source", "s=s.csv"), "s.sql, line 3, column 24: PartitionedWindow"
    )
    assert "expected one; write TIES BY ARRIVAL" in invoke("run", "s.sql", "--source", "s=s.csv").stderr
    Path("s.sql").write_text(derived + " UNION ALL SELECT x FROM s WINDOW(PARTITION BY x ROWS 2)")
    assert_refused(
        invoke("run", "s.sql", "--source", "s=s.csv"), "expected one, here or in another such window"
    )


def test_explain_tells_every_stage(folder: Path) -> None:
    result = invoke("explain", SCRIPTS[5], "--all")
    assert (result.exit_code, result.stderr) == (0, "")
    shown = json.loads(invoke("explain", SCRIPTS[5], "--json").stdout)
    assert list(shown) == ["query_1"]
    stages = shown["query_1"]["stages"]
    assert [stages[0]["name"], stages[-1]["name"]] == ["logical plan", "physical plan"]
    for stage in stages:
        assert f"{stage['name']}: {stage['reason']}" in result.stdout
        assert all(below < node["id"] for node in stage["nodes"] for below in node["inputs"])
    assert all(node["implementation"] is None for node in stages[0]["nodes"])
    assert any(node["implementation"] for node in stages[-1]["nodes"])
    assert len(invoke("explain", SCRIPTS[5], "--all", "--no-notes").stdout) < len(result.stdout)
    short = invoke("explain", SCRIPTS[5]).stdout
    assert len(short.splitlines()) <= 30
    assert short.endswith("\n--all shows every rewriting, and the facts about each operator\n")


def test_explain_draws_the_plan_that_is_asked_for(folder: Path) -> None:
    texts: dict[str, str] = {}
    for stage in ("physical", "logical", "1"):
        result = invoke("explain", SCRIPTS[5], "--svg", "q.svg", "--dot", "q.dot", "--stage", stage)
        assert result.exit_code == 0, result.stderr
        root = ElementTree.parse("q.svg").getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        words = " ".join(root.itertext())
        assert "closedauction" in words.lower()
        drawn = Path("q.dot").read_text()
        assert drawn.startswith("digraph") and drawn.count("{") == drawn.count("}")
        assert drawn.count("->") >= 8
        texts[stage] = drawn
    assert texts["logical"] == texts["1"] != texts["physical"]


@pytest.mark.parametrize("stage", ["0", "99", "-1", "last", "1.0", "²", ""])
def test_a_stage_that_there_is_not(folder: Path, stage: str) -> None:
    result = invoke("explain", SCRIPTS[1], "--svg", "q.svg", f"--stage={stage}")
    assert result.exit_code == 2
    assert f"--stage: found {stage!r}, expected physical, logical or a number from 1 to 2" in result.stderr
    assert not Path("q.svg").exists()


def test_explain_several_queries(folder: Path) -> None:
    Path("s.sql").write_text(f"{ONE}; SELECT COUNT(*) FROM s WINDOW(RANGE 5)")
    result = invoke("explain", "s.sql")
    assert result.exit_code == 0
    assert (
        result.stdout.index("query_1\n") < result.stdout.index("query_2\n") < result.stdout.index("count(*)")
    )
    assert list(json.loads(invoke("explain", "s.sql", "--json").stdout)) == ["query_1", "query_2"]
    for more in ((), ("--alternatives", 2)):
        result = invoke("explain", "s.sql", "--svg", "q.svg", "--dot", "q.dot", *more)
        assert result.exit_code == 0, result.output
        for name in ("query_1", "query_2"):
            assert ("count" in Path(f"q.{name}.dot").read_text()) is (name == "query_2")
            ElementTree.parse(f"q.{name}.svg")
            Path(f"q.{name}.svg").unlink()
        refused = invoke("explain", "s.sql", "--svg", "-", *more)
        assert_refused(
            refused, "--svg: found 2 queries, expected one to draw to -; in a name such as plan.svg"
        )
    Path("q.query_2.svg").write_text(Path("s.sql").read_text())
    result = invoke("explain", "q.query_2.svg", "--svg", "q.svg")
    assert_refused(result, "--svg: found q.query_2.svg, which SCRIPT reads")


@pytest.mark.parametrize("name", ["plan.png", "plan.PDF", "plan.svg.gz"])
def test_a_drawing_is_no_other_kind_of_picture(name: str, folder: Path) -> None:
    assert_refused(invoke("explain", "s.sql", "--svg", name), f"--svg: found {name}, expected a file in .svg")
    assert not Path(name).exists()


def test_explain_needs_no_source_and_knows_functions(folder: Path) -> None:
    Path("f.py").write_text(FUNCTIONS)
    Path("f.sql").write_text(ONE.replace("SELECT x", "SELECT twice(x)"))
    result = invoke("explain", "f.sql", "--functions", "f.py")
    assert result.exit_code == 0
    assert "twice(x)" in result.stdout
    assert_refused(invoke("explain", "f.sql"), "there is no function twice")


def test_a_drawing_that_cannot_be_written(folder: Path) -> None:
    result = invoke("explain", "s.sql", "--svg", "none/q.svg")
    assert (result.exit_code, result.stderr) == (2, "midstream: none/q.svg: No such file or directory\n")


def plans(result: Result) -> Any:
    """The stages that explain prints as JSON."""
    return json.loads(result.stdout)["query_1"]["stages"]


def test_explain_shows_windows_in_the_unit_of_time(folder: Path) -> None:
    Path("s.sql").write_text(ONE.partition("; ")[2] + " WINDOW(RANGE 1 HOUR)")
    for unit, size in (("seconds", 3600), ("hours", 1)):
        texts = [
            node["text"]
            for node in plans(invoke("explain", "s.sql", "--json", "--time-unit", unit))[0]["nodes"]
        ]
        assert f"window {size}" in texts
