"""No module needs itself: neither when it is imported nor when one of its functions runs.

Import-linter (`make layers`) holds what rooms may import. It compares neighbours; here all modules are one
graph, and what is imported inside functions counts as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import networkx as nx
import pytest


def modules() -> dict[str, Path]:
    """The files of the package by the names of their modules."""
    spec = find_spec("midstream")
    assert spec is not None and spec.origin is not None
    found: dict[str, Path] = {}

    def walk(folder: Path, package: str) -> None:
        for path in folder.iterdir():
            if path.name == "__init__.py":
                found[package] = path
            elif path.suffix == ".py":
                found[f"{package}.{path.stem}"] = path
            elif (path / "__init__.py").is_file():
                walk(path, f"{package}.{path.name}")

    walk(Path(spec.origin).parent, "midstream")
    return found


def imports(source: str, names: set[str]) -> Iterator[str]:
    """The modules among `names` that a source imports wherever, but for what only type checkers read."""
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            waiting += node.orelse
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, "a module is to be imported by its full name"
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name for name in full if name in names)
            if node.module in names and not names.issuperset(full):
                yield node.module
        waiting += ast.iter_child_nodes(node)


def cycles(graph: nx.DiGraph[str]) -> set[frozenset[str]]:
    """The sets of modules each of which needs all others."""
    needed = nx.strongly_connected_components(graph)
    loops = {frozenset({name}) for name in nx.nodes_with_selfloops(graph)}
    return loops | {frozenset(part) for part in needed if len(part) > 1}


def test_no_modules_import_each_other() -> None:
    files = modules()
    graph: nx.DiGraph[str] = nx.DiGraph()
    for name, path in files.items():
        needed = imports(path.read_text(encoding="utf-8"), set(files))
        graph.add_edges_from((name, other) for other in needed)
    assert graph.number_of_nodes() > 300, "most of the package has not been seen"
    assert cycles(graph) == set()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import p.b", ["p.b"]),
        ("from p import b", ["p.b"]),
        ("from p import b, name", ["p.b", "p"]),
        ("from p.b import name", ["p.b"]),
        ("def f():\n    from p.b import name", ["p.b"]),
        ("if TYPE_CHECKING:\n    from p.b import name\nelse:\n    import p.c", ["p.c"]),
        ("import typing\nif typing.TYPE_CHECKING:\n    from p.b import name", []),
        ("import os\nfrom os.path import join", []),
    ],
)
def test_imports_are_seen_wherever_they_stand(source: str, expected: list[str]) -> None:
    assert list(imports(source, {"p", "p.b", "p.c"})) == expected


def test_cycles_are_seen() -> None:
    graph: nx.DiGraph[str] = nx.DiGraph([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("e", "e")])
    assert cycles(graph) == {frozenset("abc"), frozenset("e")}
