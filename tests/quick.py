"""Run the tests that are nearest to the files that changed, for less than a minute.

    make quick              changes since the branch left main, committed or not
    make quick BASE=HEAD    changes that are not committed

A test file that imports a changed file is one step away, one that imports what imports it two; each folder of
the same name brings it a step nearer. Files run in this order, with few examples and without Spark. Those for
which no time is left are named.
"""

from __future__ import annotations

import argparse
import ast
import functools
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("plans", "operators", "optimizer", "migration", "autopilot", "scenarios", "benchmarks")
ROOTS = {"midstream": "midstream", **{room: f"midstream.{room}" for room in ROOMS}}
"""The import name of what lies in a folder."""
OTHERS = {
    ".md": ("tests/test_documents.py", "tests/test_doctests.py", "tests/test_rooms.py"),
    ".toml": ("tests/test_packaging.py",),
    "Makefile": ("tests/test_packaging.py",),
}
"""Tests of files that nobody imports, by suffix or name."""
SECONDS = 45
"""After these, no further test begins."""


def changed_files(base: str) -> list[str]:
    """What differs from where the branch left its base, and what git does not know yet."""
    fork = _git("merge-base", base, "HEAD")
    found = [*_git("diff", "--name-only", *fork), *_git("ls-files", "--others", "--exclude-standard")]
    return sorted({name for name in found if (ROOT / name).is_file()})


def _git(*command: str) -> list[str]:
    ran = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=True)
    return ran.stdout.split()


def sources() -> dict[str, str]:
    """Every Python file by its import name; test files by their path."""
    found = {}
    for folder, name in (*ROOTS.items(), ("tests", ""), ("examples", "")):
        for directory, below, files in os.walk(ROOT / folder):  # links to rooms are not followed
            below[:] = [one for one in below if one != "__pycache__"]
            for file in files:
                path = Path(directory, file).relative_to(ROOT)
                if path.suffix == ".py":
                    inner = path.relative_to(folder).with_suffix("").parts
                    if folder == "tests":
                        inner = inner[1:] if inner[0] in ("support", "fuzz") else (path.as_posix(),)
                    parts = [*filter(None, [name]), *(part for part in inner if part != "__init__")]
                    found[".".join(parts)] = path.as_posix()
    return found


def imported(path: str, files: dict[str, str]) -> Iterator[str]:
    """The files that a file imports, `conftest.py` of its folders among them; what a package hands on counts
    as imported from where it is."""
    for folder in Path(path).parents if path.startswith("tests/") else ():
        if (ROOT / folder / "conftest.py").is_file():
            yield (folder / "conftest.py").as_posix()
    for module, name in _imports(path):
        place = files.get(f"{module}.{name}") or files.get(module)
        if place is not None and place.endswith("__init__.py") and path != place:
            handed = {known: source for source, known in _imports(place)}
            place = files.get(handed.get(name, module), place)
        if place is not None:
            yield place


@functools.cache
def _imports(path: str) -> list[tuple[str, str]]:
    """Modules, and the names that are imported from them."""
    found: list[tuple[str, str]] = []
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found += [(node.module, alias.name) for alias in node.names]
    return found


def nearest(changed: Iterable[str], files: dict[str, str]) -> dict[str, list[str]]:
    """For each file that reaches a changed one by imports, the nearest first, the way to it."""
    readers: dict[str, list[str]] = {}
    for path in files.values():
        for other in set(imported(path, files)):
            readers.setdefault(other, []).append(path)
    ways = {path: [path] for path in changed}
    for path in (queue := list(ways)):
        for reader in sorted(readers.get(path, [])):
            if reader not in ways:
                ways[reader] = [reader, *ways[path]]
                queue.append(reader)
    return ways


def tests_of(changed: list[str], files: dict[str, str]) -> dict[str, str]:
    """What pytest is to run, and why, in this order."""
    names = {path: name for name, path in files.items()}
    found = {}
    for path in changed:
        if path.startswith(ROOMS) and path in names:
            found[f"tests/test_doctests.py::test_module[{names[path]}]"] = f"the examples of {path}"
        for test in OTHERS.get(Path(path).suffix, OTHERS.get(path, ())):
            found[test] = f"{path} changed"
        if path not in names and path.startswith("tests/"):
            found |= {test: f"next to {path}" for test in files.values() if _is_above(test, path)}
    folders = {folder for path in changed for folder in Path(path).parts[:-1]}

    def distance(found: tuple[str, list[str]]) -> int:
        return len(found[1]) - len(folders.intersection(Path(found[0]).parts[1:-1]))

    for path, way in sorted(nearest(changed, files).items(), key=distance):
        if Path(path).name.startswith("test_"):
            found.setdefault(path, " -> ".join(way[1:]) or "it changed")
    return found


def _is_above(test: str, path: str) -> bool:
    return Path(test).name.startswith("test_") and Path(test).parent in Path(path).parents[:2]


class Clock:
    """Lets no test begin when the time is over."""

    def __init__(self) -> None:
        self.end = time.monotonic() + SECONDS
        self.left_out: dict[str, None] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Leave a test out by saying that it has been taken care of."""
        if time.monotonic() < self.end:
            return None
        self.left_out[item.nodeid.partition("::")[0]] = None
        return True


def main() -> int:
    """Choose, say why, and run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    sys.path.remove(str(Path(__file__).parent))  # it holds tests of midstream in a folder of that name
    parser.add_argument("--base", default="main", help="what the changes are counted from")
    parser.add_argument("--most", type=int, default=40, help="how many test files are loaded at most")
    options, rest = parser.parse_known_args()
    clock = Clock()
    changed = changed_files(options.base)
    if not changed:
        print(f"Nothing has changed since {options.base}.")
        return 0
    print("Changed:", *changed, sep="\n  ")
    chosen = tests_of(changed, sources())
    most = list(chosen)[: options.most]
    print("Tests, the nearest first:", *(f"{test}\n      {chosen[test]}" for test in most), sep="\n  ")
    code = pytest.main(["-q", "-m", "not spark", *rest, *most], plugins=[clock]) if most else 0
    left = [*clock.left_out, *list(chosen)[options.most :]]
    if left:
        print("No time was left for all tests of", *left[:8], "..." if left[8:] else "", sep="\n  ")
        print(f"These are {len(left)} files; make unit runs all.")
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
