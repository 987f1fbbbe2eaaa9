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

NOT_ROOMS = {"benchmarks", "docs", "examples", "tests"}
HEAVY = {
    "duckdb",
    "hypothesis",
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


def listed_packages(project: dict[str, Any]) -> dict[str, str]:
    """Map each package that pyproject.toml lists to its folder."""
    setuptools = project["tool"]["setuptools"]
    return {package: setuptools["package-dir"].get(package, "") for package in setuptools["packages"]}


def python_folders(root: Path) -> list[Path]:
    """Return every folder, relative to the root, that holds Python files and belongs to a room."""
    rooms = {init.parent for init in root.glob("*/__init__.py")} - {root / name for name in NOT_ROOMS}
    return sorted({file.parent.relative_to(root) for room in rooms for file in room.rglob("*.py")})


def test_packages_are_the_folders_with_an_init(source_tree: Path, project: dict[str, Any]) -> None:
    found = {}
    for folder in python_folders(source_tree):
        dotted = ".".join(folder.parts)
        found[dotted if folder.parts[0] == "midstream" else f"midstream.{dotted}"] = folder.as_posix()
    assert listed_packages(project) == found


def test_package_dir_maps_nothing_else(project: dict[str, Any]) -> None:
    setuptools = project["tool"]["setuptools"]
    assert list(setuptools["package-dir"]) == setuptools["packages"]


def test_folders_with_python_files_are_packages(source_tree: Path) -> None:
    folders = python_folders(source_tree)
    assert [str(f) for f in folders if not (source_tree / f / "__init__.py").is_file()] == []


def test_data_files_are_shipped(source_tree: Path, project: dict[str, Any]) -> None:
    folders = listed_packages(project)
    patterns = project["tool"]["setuptools"]["package-data"]
    shipped = {
        file
        for package, globs in patterns.items()
        for pattern in globs
        for file in (source_tree / folders[package]).glob(pattern)
    }
    rooms = {folder.partition("/")[0] for folder in folders.values()}
    data = {
        file
        for room in rooms
        for file in (source_tree / room).rglob("*")
        if file.is_file() and file.suffix not in {".py", ".pyc", ".md"}
    }
    assert {str(f.relative_to(source_tree)) for f in data - shipped} == set()
    assert source_tree / "midstream" / "py.typed" in shipped


def test_listed_packages_are_installed(project: dict[str, Any]) -> None:
    assert [p for p in listed_packages(project) if importlib.util.find_spec(p) is None] == []


def test_installed_package_is_typed() -> None:
    spec = importlib.util.find_spec("midstream")
    assert spec is not None
    assert spec.origin is not None
    assert (Path(spec.origin).parent / "py.typed").is_file()


def test_installed_metadata_is_that_of_the_project(project: dict[str, Any]) -> None:
    assert importlib.metadata.version("midstream") == project["project"]["version"]
    entry_points = importlib.metadata.distribution("midstream").entry_points
    assert {entry.name: entry.value for entry in entry_points} == project["project"]["scripts"]


def test_every_module_is_loaded_once_and_as_midstream(module_names: tuple[str, ...], tmp_path: Path) -> None:
    report = import_in_new_process(list(module_names), tmp_path)
    loaded = report["files"]
    ours = {name: file for name, file in loaded.items() if name.partition(".")[0] == "midstream" and file}
    assert set(module_names) - set(ours) <= set(report["missing"])

    rooms = {name.split(".")[1] for name in module_names if name.count(".") >= 1}
    assert rooms & {name for name in loaded if "." not in name} - sys.stdlib_module_names == set()
    our_files = set(ours.values())
    assert {name for name, file in loaded.items() if file in our_files} == set(ours)


@pytest.mark.parametrize("entry", ["midstream", "midstream.cli"])
def test_import_is_light(entry: str, tmp_path: Path) -> None:
    loaded = import_in_new_process([entry], tmp_path)["files"]
    assert entry in loaded
    assert HEAVY & {name.partition(".")[0] for name in loaded} == set()


def test_links_for_type_checkers_are_complete(source_tree: Path, project: dict[str, Any]) -> None:
    facade = {f.name for f in (source_tree / "midstream").iterdir() if f.name != "__pycache__"}
    wanted = {name: f"../../../midstream/{name}" for name in facade}
    wanted |= {
        folder: f"../../../{folder}"
        for folder in listed_packages(project).values()
        if "/" not in folder and folder != "midstream"
    }
    links = source_tree / "tests" / "typing" / "midstream"
    found = {f.name: str(f.readlink()) if f.is_symlink() else "not a link" for f in links.iterdir()}
    assert found == wanted, "run `make links`"
