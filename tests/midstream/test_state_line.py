"""The line of state: what it shows, what it leaves out, and how it stands below what is printed."""

from __future__ import annotations

import fcntl
import json
import os
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.console.state_line import State, state_line

NUMBERS = st.integers(0, 10**12)


def split(line: str) -> list[str]:
    return line.split("   ") if line else []


@given(
    state=st.builds(
        State,
        NUMBERS,
        total=NUMBERS | st.none(),
        results=NUMBERS | st.none(),
        at=st.sampled_from(("", "12", "2026-11-28T19:00:15.100000")),
    ),
    rate=st.none() | st.floats(0, 1e9),
    memory=st.none() | NUMBERS,
    width=st.integers(0, 160),
)
def test_parts_are_whole_and_the_least_go_first(
    state: State, rate: float | None, memory: int | None, width: int
) -> None:
    full, line = split(state_line(state, rate, memory, 1000)), state_line(state, rate, memory, width)
    assert len(line) <= width
    assert [part for part in full if part in split(line)] == split(line)
    if width >= len("   ".join(full)):
        assert split(line) == full
    if line:
        assert split(line)[0] == f"{state.done:,} elements"
    missing = [part for part in full if part not in split(line)]
    if missing and memory is not None:
        assert f"{memory / 1e6:,.0f} MB" in missing


def screen(shown: str, width: int) -> list[str]:
    """The lines that a terminal shows in the end, of characters that return and begin lines."""
    lines, column = [""], 0
    for character in shown:
        if character == "\n":
            lines.append("")
        elif character != "\r":
            assert column < width, "it wraps"
            lines[-1] = lines[-1].ljust(column)[:column] + character + lines[-1][column + 1 :]
        column = 0 if character in "\r\n" else column + 1
    return [line.rstrip() for line in lines]


SCRIPT = """
SET time_unit = 'ms'; CREATE STREAM s(ts INT, x INT) ORDERED BY ts SOURCE stdin('csv');
SELECT x FROM s WINDOW(RANGE 5);
"""


def run_on_terminal(folder: Path, width: int, *options: str) -> tuple[str, str]:
    """Run over rows that come slowly, on a terminal; its characters while rows come, and those at the end."""
    (folder / "q.sql").write_text(SCRIPT)
    reader, writer = os.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-m", "midstream.cli", "run", "q.sql", *options],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=writer,
        stderr=writer,
        env={**os.environ, "TERM": "xterm"},
    ) as process:
        os.close(writer)
        assert process.stdin is not None
        process.stdin.write(b"ts,x\n")
        shown = b""
        for part in (range(1000, 1020), range(1020, 1040)):
            process.stdin.write(b"".join(b"%d,%d\n" % (t, t) for t in part))
            process.stdin.flush()
            while b"%d results" % (part.stop - 1000) not in shown:
                shown += os.read(reader, 1 << 16)
        during = shown
        process.stdin.close()
        try:
            while some := os.read(reader, 1 << 16):
                shown += some
        except OSError:  # the other end is closed
            pass
    os.close(reader)
    assert process.returncode == 0
    return during.decode(), shown.decode()


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
@pytest.mark.parametrize("width", [80, pytest.param(160, marks=pytest.mark.slow)])
def test_results_on_the_screen_stand_above_the_line(width: int, tmp_path: Path) -> None:
    during, whole = run_on_terminal(tmp_path, width)
    last = screen(during, width)[-1]
    assert last.startswith("40 elements   ") and "   40 results   at 1039" in last
    assert len(last) < width and "left" not in last
    *results, end = screen(whole, width)
    assert [json.loads(line)["row"]["x"] for line in results] == list(range(1000, 1040))
    assert end == ""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_while_results_go_to_a_file_the_line_is_alone_and_goes_in_the_end(tmp_path: Path) -> None:
    during, whole = run_on_terminal(tmp_path, 80, "--output", "out.jsonl")
    assert "   40 results   at 1039   " in screen(during, 80)[-1]
    assert screen(whole, 80) == ["40 elements, 40 results of query_1", ""]
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 40


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_beside_a_pipe_there_is_no_line() -> None:
    """Who reads from it may print on the same terminal."""
    reader, writer = os.openpty()
    code = (
        "import time; from midstream.console.state_line import *\n"
        "with showing(beside_results=True) as show: show(State); time.sleep(0.5)"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=writer, check=True)
    os.close(writer)
    with pytest.raises(OSError, match="Input/output"):
        assert os.read(reader, 100) == b"", done.stdout
    os.close(reader)
