"""The demonstration installs the library without tools; after a setup nothing is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


def installs(root: Path, folder: Path, task: str, *made: str) -> list[str]:
    """The things that pip would install for a task, where the environment has some stamps."""
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(root / name, folder)
        os.utime(folder / name, (0, 0))
    for stamp in made:
        (folder / ".venv").mkdir(exist_ok=True)
        (folder / ".venv" / stamp).touch()
    done = subprocess.run(
        ["make", "--dry-run", task], cwd=folder, capture_output=True, text=True, check=True, env=plain()
    )
    commands = [line for line in done.stdout.splitlines() if "pip install" in line]
    return [command.rpartition(" ")[2].strip("'") for command in commands]


def plain() -> dict[str, str]:
    """The environment without what an outer make passes on."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}


ALL = ".[dev,spark,plot]"


def test_a_demonstration_needs_the_library_only(root: Path, tmp_path: Path) -> None:
    assert installs(root, tmp_path, "demo") == ["."]


@pytest.mark.parametrize("task", ["setup", "unit", "quick", "lint"])
def test_other_tasks_need_all(root: Path, tmp_path: Path, task: str) -> None:
    assert installs(root, tmp_path, task, ".library") == [ALL]


def test_what_is_there_is_not_installed_again(root: Path, tmp_path: Path) -> None:
    for task in ("demo", "setup", "unit"):
        assert installs(root, tmp_path, task, ".library", ".ready") == []


def test_a_setup_leaves_nothing_to_install_for_the_demonstration(root: Path, tmp_path: Path) -> None:
    """It makes both stamps."""
    installs(root, tmp_path, "setup")
    done = subprocess.run(
        ["make", "--dry-run", "setup"], cwd=tmp_path, capture_output=True, text=True, check=True, env=plain()
    )
    assert done.stdout.splitlines()[-1] == "touch .venv/.ready .venv/.library"
