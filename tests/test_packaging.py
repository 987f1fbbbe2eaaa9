"""What the distribution holds, and what importing it does.

Runs against an editable install and against an installed wheel; a test that reads the rooms' folders or
pyproject.toml is skipped where they are not next to the tests.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import setuptools

NOT_ROOMS = {"docs", "examples", "tests"}
UNSHIPPED = {"benchmarks"}
"""Rooms that are for a checkout of the repository only."""
HEAVY = {
    "duckdb",
    "hypothesis",
    "jinja2",
    "matplotlib",
    "pandas",
    "pyarrow",
    "pydantic",
    "pyspark",
    "pytest",
    "sqlalchemy",
    "yaml",
}

IMPORT_AND_REPORT = """
import importlib, json, sys
missing = {}
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing[name] = error.name
files = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
print(json.dumps({"missing": missing, "files": files}))
"""


def import_in_new_process(names: list[str], folder: Path) -> dict[str, dict[str, str | None]]:
    """Import the modules in a new interpreter; return what was not found and the file of what is loaded."""
    command = [sys.executable, "-c", IMPORT_AND_REPORT, *names]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report: dict[str, dict[str, str | None]] = json.loads(done.stdout.splitlines()[-1])
    return report


def rooms(root: Path) -> dict[str, Path]:
    """The folders of the repository that are the package, by its name or its subpackage's."""
    inits = {init.parent.name: init.parent for init in root.glob("*/__init__.py")}
    return {name: folder for name, folder in inits.items() if name not in NOT_ROOMS}


def test_midstream_links_to_every_other_room(source_tree: Path) -> None:
    folder = source_tree / "midstream"
    links = {link.name: str(link.readlink()) for link in folder.iterdir() if link.is_symlink()}
    assert links == {name: f"../{name}" for name in rooms(source_tree) if name != "midstream"}


def test_folders_with_python_files_are_packages(source_tree: Path) -> None:
    folders = {file.parent for room in rooms(source_tree).values() for file in room.rglob("*.py")}
    assert [str(f) for f in sorted(folders) if not (f / "__init__.py").is_file()] == []


def test_the_other_rooms_are_shipped(source_tree: Path, project: dict[str, Any]) -> None:
    find = project["tool"]["setuptools"]["packages"]["find"]
    found = setuptools.find_packages(str(source_tree), include=find["include"], exclude=find["exclude"])
    shipped = {name.split(".")[1] for name in found if "." in name}
    assert set(rooms(source_tree)) - shipped == UNSHIPPED | {"midstream"}
    assert shipped & UNSHIPPED == set()


def test_an_installed_package_has_no_benchmarks(root: Path, module_names: tuple[str, ...]) -> None:
    if (root / "midstream").is_dir():
        pytest.skip("the rooms are next to the tests: no wheel is installed")
    assert [name for name in module_names if UNSHIPPED & set(name.split(".")[1:2])] == []


def test_data_files_are_shipped(source_tree: Path, project: dict[str, Any]) -> None:
    patterns = project["tool"]["setuptools"]["package-data"]
    shipped = {
        file.resolve()
        for package, globs in patterns.items()
        for pattern in globs
        for file in source_tree.joinpath(*package.split(".")).glob(pattern)
    }
    data = {
        file
        for name, room in rooms(source_tree).items()
        for file in room.rglob("*")
        if file.is_file() and file.suffix not in {".py", ".pyc", ".md"} and name not in UNSHIPPED
    }
    assert {str(f.relative_to(source_tree)) for f in data - shipped} == set()
    assert source_tree / "midstream" / "py.typed" in shipped


def test_installed_package_is_typed() -> None:
    spec = importlib.util.find_spec("midstream")
    assert spec is not None
    assert spec.origin is not None
    assert (Path(spec.origin).parent / "py.typed").is_file()


def test_installed_metadata_is_that_of_the_project(project: dict[str, Any]) -> None:
    assert importlib.metadata.version("midstream") == project["project"]["version"]
    entry_points = importlib.metadata.distribution("midstream").entry_points
    assert {entry.name: entry.value for entry in entry_points} == project["project"]["scripts"]


@pytest.mark.slow
def test_every_module_is_loaded_once_and_as_midstream(module_names: tuple[str, ...], tmp_path: Path) -> None:
    report = import_in_new_process(list(module_names), tmp_path)
    loaded = report["files"]
    ours = {name: file for name, file in loaded.items() if name.partition(".")[0] == "midstream" and file}
    assert set(module_names) - set(ours) <= set(report["missing"])

    rooms = {name.split(".")[1] for name in module_names if name.count(".") >= 1}
    assert rooms & {name for name in loaded if "." not in name} - sys.stdlib_module_names == set()
    our_files = set(ours.values())
    assert {name for name, file in loaded.items() if file in our_files} == set(ours)


@pytest.mark.parametrize(
    "entry", ["midstream", "midstream.cli", "midstream.studies", "midstream.sampling", "midstream.boxes"]
)
def test_import_is_light(entry: str, tmp_path: Path) -> None:
    loaded = import_in_new_process([entry], tmp_path)["files"]
    assert entry in loaded
    assert HEAVY & {name.partition(".")[0] for name in loaded} == set()
