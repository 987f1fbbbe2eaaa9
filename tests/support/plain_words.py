"""Lint of plain words: first lines of docstrings, public names, and names of classes.

    python tests/support/plain_words.py plans/sql migration

lists the faults of some folders, by default of the whole product.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("plans", "operators", "optimizer", "migration", "autopilot", "scenarios", "midstream", "benchmarks")

RIDDLES = re.compile(r"(What|Whether|Who|How|Until|The same)\b")
"""First words that hide the thing a docstring is about."""

SECOND_SENTENCE = re.compile(r"[^.][.?!] +[A-Z`(]")

PRONOUNS = re.compile(
    "found|given|told|one|other|known|kept|rest|meant|ways|whole|wish|crew|course|turns|flight"
)
"""Names that say nothing to a newcomer."""

EXCEPTIONS: dict[str, str] = {
    "midstream/io/ingested.py: other": "The key of manifests that exist: rows of other streams.",
}
"""Names that stay, as `path: name`, with the reason; at most 20."""

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def files(folders: Iterable[str] = ROOMS) -> Iterator[Path]:
    """Python files of some folders of the repository, without what folders link to."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not any(parent.is_symlink() for parent in path.parents):
                yield path


def faults(path: Path) -> Iterator[str]:
    """Faults of a file, as `path:line: fault`, except those in EXCEPTIONS."""
    shown = path.relative_to(ROOT)
    tree = ast.parse(path.read_text())
    if PRONOUNS.fullmatch(path.stem):
        yield f"{shown}:1: the module is called {path.stem}"
    for line, text in _docstrings(tree):
        yield from (f"{shown}:{line}: {fault}" for fault in _first_line_faults(text))
    for line, name in _public_names(tree):
        if PRONOUNS.fullmatch(name) and f"{shown}: {name}" not in EXCEPTIONS:
            yield f"{shown}:{line}: a public name is {name}"


def repeated_classes(room: str) -> Iterator[str]:
    """Names of public classes that stand more than once in a room, with their files."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in files([room]):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(ROOT)))
    for name, paths in sorted(places.items()):
        if len(paths) > 1 and f"{room}: {name}" not in EXCEPTIONS:
            yield f"{room}: class {name} stands in {', '.join(paths)}"


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Docstrings of the module, its classes, functions and attributes, by line."""
    for node in ast.walk(tree):
        body = node.body if isinstance(node, ast.Module | Definition) else []
        for before, statement in zip([None, *body], body, strict=False):
            is_attribute = isinstance(before, ast.Assign | ast.AnnAssign)
            if (
                (before is None or is_attribute)
                and isinstance(statement, ast.Expr)
                and isinstance(statement.value, ast.Constant)
                and isinstance(statement.value.value, str)
            ):
                yield statement.lineno, statement.value.value


def _first_line_faults(text: str) -> Iterator[str]:
    first, _, after = text.strip().partition("\n")
    if word := RIDDLES.match(first):
        yield f"the first line begins with {word[1]}"
    if after and not after.startswith("\n"):
        yield "the first line does not end its sentence"
    elif not first.endswith((".", "?", "!", ":")):
        yield "the first line does not end with a full stop"
    elif SECOND_SENTENCE.search(first):
        yield "the first line holds more than one sentence"


def _public_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Names of public classes, functions, their parameters, and fields of classes and modules."""
    scopes: list[ast.Module | ast.ClassDef] = [tree]
    while scopes:
        scope = scopes.pop()
        for node in scope.body:
            if isinstance(node, Definition) and (not node.name.startswith("_") or node.name == "__init__"):
                yield node.lineno, node.name
                if isinstance(node, ast.ClassDef):
                    scopes.append(node)
                else:
                    yield from _parameters(node, is_method=isinstance(scope, ast.ClassDef))
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                yield node.lineno, node.target.id
            elif isinstance(node, ast.Assign):
                yield from ((node.lineno, one.id) for one in node.targets if isinstance(one, ast.Name))


def _parameters(
    function: ast.FunctionDef | ast.AsyncFunctionDef, *, is_method: bool
) -> Iterator[tuple[int, str]]:
    """Names of a function's parameters. A method may take `other`, as `Stream.join` and Python's operators
    do."""
    arguments = function.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if not (is_method and argument.arg == "other"):
            yield argument.lineno, argument.arg


def main(folders: Iterable[str]) -> int:
    """Print all faults; the exit status says if there were any."""
    folders = list(folders) or ROOMS
    lines = [fault for path in files(folders) for fault in faults(path)]
    lines += (fault for room in folders if room in ROOMS for fault in repeated_classes(room))
    print("\n".join(lines))
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
