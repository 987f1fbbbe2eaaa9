"""What a start loads: modules are counted, not seconds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from midstream.cli import app
from midstream.commands.calibrate_command import default_place
from midstream.console.options import STRATEGY_NAMES
from midstream.migration import STRATEGIES
from midstream.optimizer.cost.calibration import Profile
from midstream.optimizer.cost.units import UnitCosts

LARGE = {"networkx", "numpy", "sortedcontainers", "sqlglot", "pydantic"}
LISTING = "print(*sorted(sys.modules), file=sys.stderr)"
COMMANDS = sorted(command.callback.__name__ for command in app.registered_commands if command.callback)


def loaded(program: str) -> set[str]:
    """The modules that a program in a new process has loaded at its end."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{program}\n{LISTING}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


def loaded_by(*arguments: str) -> set[str]:
    """The modules that a call of the command line has loaded at its end."""
    return loaded(
        f"import contextlib, io, midstream_start\nsys.argv = ['midstream', *{arguments}]\n"
        "with contextlib.suppress(SystemExit):\n    midstream_start.main()"
    )


def test_importing_the_package_loads_no_room() -> None:
    names = {name for name in loaded("import midstream") if name.partition(".")[0] in {"midstream", *LARGE}}
    assert names == {
        "midstream",
        "midstream.plans",
        "midstream.plans.values",
        "midstream.plans.values.lazy_names",
    }


def test_reading_a_name_loads_what_it_needs() -> None:
    names = loaded("import midstream as ms\nms.chronons, ms.MidstreamError, ms.Answer")
    assert not {"networkx", "sqlglot", "midstream.engine", "midstream.optimizer"} & names
    assert "sqlglot" not in loaded("import midstream as ms\nms.Engine(ms.stream('s', x='integer').window(3))")


@pytest.mark.parametrize(
    "arguments", [("--version",), ("--help",), *((name, "--help") for name in (*COMMANDS, "study"))]
)
def test_help_and_version_load_no_plan_and_no_engine(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    default_place().parent.mkdir()
    default_place().write_text(Profile(UnitCosts(), "", "", 0.0).dumps())
    names = loaded_by(*arguments)
    # Typer itself checks what stands in front of a command by pydantic.
    assert sorted(LARGE & names) in ([[], ["pydantic"]] if arguments[0].startswith("-") else [[]])
    assert not {"midstream.engine", "midstream.plans.algebra", "midstream.optimizer"} & names
    assert len({name for name in names if name.startswith("midstream.")}) <= 60


def test_help_names_every_strategy() -> None:
    assert ", ".join(STRATEGIES) == STRATEGY_NAMES


def test_several_threads_may_read_the_first_name() -> None:
    program = """
import midstream as ms
from threading import Barrier, Thread
names = ["Engine", "sql", "optimize", "run", "autopilot", "Engine", "sample", "stream"]
barrier, read = Barrier(len(names)), []
def get(name):
    barrier.wait()
    read.append((name, getattr(ms, name)))
threads = [Thread(target=get, args=(name,)) for name in names]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(read) == len(names) and all(value is getattr(ms, name) for name, value in read)
"""
    assert "midstream.engine" in loaded(program)
