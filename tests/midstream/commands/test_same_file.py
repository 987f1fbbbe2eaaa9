"""No command overwrites what it reads, and no two of its outputs share a file, whatever they are called."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from midstream.cli import app

SCRIPT = "CREATE STREAM bid(ts TIMESTAMP, x INT) ORDERED BY ts TIME_UNIT ms;\nSELECT x FROM bid WHERE x > 0"
ROWS = "ts,x\n1,7\n2,bad\n3,8\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a script, and rows for it."""
    monkeypatch.chdir(tmp_path)
    Path("q.sql").write_text(SCRIPT)
    Path("same.csv").write_text(ROWS)
    Path("elsewhere").mkdir()
    return tmp_path


def run(*arguments: object, command: str = "run") -> Result:
    """Run a command over the rows, in this process."""
    at = ("--at", 2, "--to", "q.sql") if command == "migrate" else ()
    return CliRunner().invoke(app, [command, "q.sql", *map(str, (*at, *arguments))])


def linked(name: str) -> str:
    os.symlink("same.csv", name)
    return name


def linked_hard(name: str) -> str:
    os.link("same.csv", name)
    return name


NAMES: dict[str, Callable[[], str]] = {
    "its own name": lambda: "same.csv",
    "a relative path": lambda: "elsewhere/../same.csv",
    "an absolute path": lambda: str(Path("same.csv").resolve()),
    "a link": lambda: linked("link.csv"),
    "a hard link": lambda: linked_hard("hard.csv"),
    "a link to the folder": lambda: (os.symlink("..", "elsewhere/up"), "elsewhere/up/same.csv")[1],
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("option", ["--output", "--dead-letters"])
@pytest.mark.parametrize("command", ["run", "migrate"])
def test_an_input_is_not_overwritten(command: str, option: str, name: str) -> None:
    other = NAMES[name]()
    result = run("--source", "bid=same.csv", option, other, command=command)
    assert (result.exit_code, result.stdout) == (2, "")
    expected = f"midstream: {option}: found {other}, which --source bid reads; expected another file\n"
    assert result.stderr == expected
    assert Path("same.csv").read_text() == ROWS


def test_nor_is_a_source_that_the_script_names() -> None:
    Path("q.sql").write_text(SCRIPT.replace("ORDERED", "SOURCE csv('same.csv') ORDERED"))
    result = run("--output", "same.csv")
    assert "--output: found same.csv, which SOURCE of bid reads" in result.stderr
    assert Path("same.csv").read_text() == ROWS


@pytest.mark.parametrize(
    ("option", "file", "use"),
    [("--dead-letters", "q.sql", "SCRIPT"), ("--output", "f.py", "--functions")],
)
def test_nor_are_the_other_files_of_a_command(option: str, file: str, use: str) -> None:
    Path("f.py").write_text("def register(catalog): pass\n")
    before = Path(file).read_text()
    result = run("--source", "bid=same.csv", "--functions", "f.py", "--format", "csv", option, file)
    assert f"{option}: found {file}, which {use} reads" in result.stderr
    assert Path(file).read_text() == before


def test_a_new_plan_is_not_overwritten() -> None:
    Path("new.sql").write_text("SELECT x FROM bid WHERE x > 0")
    arguments = ("migrate", "q.sql", "--source", "bid=same.csv", "--at", "2", "--to", "new.sql")
    result = CliRunner().invoke(app, [*arguments, "--trace", "new.sql"])
    assert "--trace: found new.sql, which --to reads" in result.stderr
    assert Path("new.sql").read_text() == "SELECT x FROM bid WHERE x > 0"


@pytest.mark.parametrize("other", ["out.jsonl", "./out.jsonl", "elsewhere/../out.jsonl", "link.jsonl"])
@pytest.mark.parametrize("is_there", [False, True])
def test_results_and_dead_letters_have_a_file_each(is_there: bool, other: str) -> None:
    if is_there:
        Path("out.jsonl").write_text("before\n")
    os.symlink("out.jsonl", "link.jsonl")
    result = run("--source", "bid=same.csv", "--output", "out.jsonl", "--dead-letters", other)
    assert result.exit_code == 2
    assert f"--dead-letters: found {Path(other)}, which --output writes" in result.stderr
    assert Path("out.jsonl").exists() == is_there
    assert not is_there or Path("out.jsonl").read_text() == "before\n"


def test_standard_output_takes_one_of_them() -> None:
    result = run("--source", "bid=same.csv", "--dead-letters", "-")
    assert "--dead-letters: found standard output, which --output writes" in result.stderr
    result = run("--source", "bid=same.csv", "--dead-letters", "-", "--output", "out.jsonl")
    assert result.exit_code == 0
    assert '"reason": "column x: found \'bad\', expected integer' in result.stdout
    assert len(Path("out.jsonl").read_text().splitlines()) == 2


def test_a_file_for_each_of_several_queries_may_be_an_input() -> None:
    Path("q.sql").write_text(f"{SCRIPT}; SELECT x FROM bid")
    os.rename("same.csv", "out.query_2.csv")
    result = run("--source", "bid=out.query_2.csv", "--output", "out.csv")
    assert "--output: found out.query_2.csv, which --source bid reads" in result.stderr
    assert Path("out.query_2.csv").read_text() == ROWS


@pytest.mark.parametrize("name", ["bid", "BID"])
@pytest.mark.parametrize("other", ["other.csv", "same.csv"])
def test_a_stream_has_one_source(other: str, name: str) -> None:
    result = run("--source", "bid=same.csv", "--source", f"{name}={other}")
    assert result.exit_code == 2
    assert result.stderr == f"midstream: --source bid: found same.csv and {other}, expected one source\n"


def test_generated_streams_are_those_without_a_source() -> None:
    Path("same.csv").write_text("ts,x\n1,7\n")
    for order in (("nexmark", "bid=same.csv"), ("bid=same.csv", "nexmark")):
        result = run("--source", order[0], "--source", order[1])
        assert result.stdout == '{"start": 1, "end": 2, "row": {"x": 7}}\n', result.stderr


def test_standard_input_is_read_once() -> None:
    both = "CREATE STREAM other(ts TIMESTAMP, x INT) ORDERED BY ts TIME_UNIT ms;\n" + SCRIPT
    Path("q.sql").write_text(both)
    result = run("--source", "bid=-", "--source", "other=-")
    assert result.exit_code == 2
    assert "found standard input, which --source" in result.stderr


def test_devices_may_have_several_uses() -> None:
    arguments = ("--source", "bid=same.csv", "--output", "/dev/null", "--dead-letters", "/dev/null")
    assert run(*arguments).exit_code == 0


def test_drawings_are_not_what_they_are_drawn_from() -> None:
    result = CliRunner().invoke(app, ["explain", "q.sql", "--svg", "q.sql"])
    assert "--svg: found q.sql, which SCRIPT reads" in result.stderr
    result = CliRunner().invoke(app, ["explain", "q.sql", "--svg", "q.svg", "--dot", "./q.svg"])
    assert "--dot: found q.svg, which --svg writes" in result.stderr
    assert Path("q.sql").read_text() == SCRIPT
