"""The documents are true: what they point to exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
DOCUMENTS = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs")


def pages(root: Path) -> list[Path]:
    found = [root / name for name in DOCUMENTS]
    if not all(path.exists() for path in found):
        pytest.skip("the documents are not next to the tests")
    found += [page for room in root.glob("*/__init__.py") for page in room.parent.rglob("README.md")]
    return [page for path in found for page in ([path] if path.is_file() else sorted(path.rglob("*.md")))]


def test_links_lead_somewhere(root: Path) -> None:
    if not (root / "plans").exists():
        pytest.skip("the documents link to the source tree, which is not next to the tests")
    broken = [
        f"{page.relative_to(root)}: {target}"
        for page in pages(root)
        for target in LINK.findall(page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert broken == []


def test_every_invariant_names_tests_that_exist(root: Path) -> None:
    rows = [
        line
        for line in (root / "docs/invariants.md").read_text(encoding="utf-8").splitlines()
        if "| I" in line
    ]
    assert len(rows) >= 10
    for row in rows:
        named = TEST.findall(row)
        assert named, row
        for file, test in named:
            tree = ast.parse((root / file).read_text(encoding="utf-8"))
            functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
            assert test in functions, f"{file}::{test}"


def test_the_first_program_is_short(root: Path) -> None:
    if not (root / "README.md").exists():
        pytest.skip("README.md is not next to the tests")
    program = re.search(r"```python\n(.*?)```", (root / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert program is not None
    assert len(program[1].splitlines()) <= 25
