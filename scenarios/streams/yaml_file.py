"""YAML with places: the data of a file and their lines.

Scalars are read as YAML 1.2 reads them: only `true` and `false` are booleans; digits with underscores, dates,
`yes`, `no` and `on` are text, and are refused where no text is expected. Keys must be different; a key is a
text or a whole number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import yaml

from midstream.plans.values.errors import InputFileError

Path = tuple[str | int, ...]
"""Keys and positions, from the top of the file."""


@dataclass(frozen=True, slots=True)
class Document:
    """The data of a file, and the line of every part of it."""

    file: str
    data: Any
    lines: Mapping[Path, int]

    def line(self, path: Path) -> int:
        """The line of a part, or of the nearest part around it."""
        while path not in self.lines:
            path = path[:-1]
        return self.lines[path]

    def error(self, path: Path, message: str) -> InputFileError:
        """An error about a part, with its place."""
        key = dotted(path)
        line = self.line(path)
        place = f"{self.file}, line {line}" + (f", {key}" if key else "")
        return InputFileError(f"{place}: {message}", path=self.file, line=line, key=key)

    @contextmanager
    def errors_at(self, path: Path, *kinds: type[Exception], before: str = "") -> Iterator[None]:
        """Turn errors of some kinds in the block into errors of a part; `before` begins their messages."""
        try:
            yield
        except kinds as error:
            raise self.error(path, f"{before}{error}") from error


def dotted(path: Path) -> str:
    """A place as text.

    >>> dotted(("streams", "A", "idle", 0, "until"))
    'streams.A.idle[0].until'
    """
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(".")


class _Loader(yaml.SafeLoader):
    """Reads scalars by the core schema of YAML 1.2."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012


for tag, pattern, first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+", list("-+0123456789")),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", list("-+.0123456789")),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(rf"^(?:{pattern})$"), first)


DEEPEST = 50
"""The largest depth of lists and mappings in a file."""

MOST_PARTS = 100_000
"""The largest number of lists, mappings and scalars in a file, with each use of an alias counted.

With nine levels of nine aliases, a file of half a kilobyte has half a billion.
"""

SCALARS: Mapping[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": lambda text: text.lower() == "true",
    "null": lambda text: None,
}
"""Conversions of scalars to values, by kind."""


def read_yaml(file: str, text: str, expected: str = "a scenario") -> Document:
    """Read a file's text.

    Raises   InputFileError, with the line, for invalid YAML, a repeated key, a tag, a circle, parts nested
             deeper than DEEPEST, and aliases that stand for more than MOST_PARTS parts in all.
    """
    lines: dict[Path, int] = {}
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 1
        raise InputFileError(
            f"{file}, line {line}: found no YAML: {error.problem or error.context}", path=file, line=line
        ) from error
    except (yaml.YAMLError, ValueError) as error:
        raise InputFileError(f"{file}: found no YAML: {error}", path=file) from error
    except RecursionError as error:
        raise InputFileError(
            f"{file}: found parts nested too deeply, expected at most {DEEPEST} levels", path=file
        ) from error
    if root is None:
        raise InputFileError(f"{file}: found an empty file, expected {expected}", path=file)
    reader = _Reader(file, lines)
    return Document(file, reader.value(root, ()), lines)


class _Reader:
    """Converts nodes to plain data."""

    def __init__(self, file: str, lines: dict[Path, int]) -> None:
        self._file = file
        self._lines = lines
        self._around: list[yaml.Node] = []
        self._count = 0

    def value(self, node: yaml.Node, path: Path) -> Any:
        self._lines[path] = node.start_mark.line + 1
        if any(node is one for one in self._around):
            raise self._fault(path, "found an alias of what it is part of, expected no circle")
        if len(self._around) >= DEEPEST:
            raise self._fault(
                path, f"found parts nested {DEEPEST + 1} levels deep, expected at most {DEEPEST}"
            )
        self._count += 1
        if self._count > MOST_PARTS:
            raise self._fault(
                path, f"found more than {MOST_PARTS:,} parts, with those of aliases, expected at most so many"
            )
        self._around.append(node)
        try:
            if isinstance(node, yaml.ScalarNode):
                return self._scalar(node, path)
            if node.tag not in ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"):
                raise self._fault(path, f"found the tag {node.tag}, expected none")
            if isinstance(node, yaml.MappingNode):
                return self._mapping(node, path)
            return [self.value(child, (*path, i)) for i, child in enumerate(node.value)]
        finally:
            self._around.pop()

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str | int, Any]:
        found: dict[str | int, Any] = {}
        for key_node, child in node.value:
            key = self.value(key_node, path) if isinstance(key_node, yaml.ScalarNode) else None
            line = key_node.start_mark.line + 1
            if not isinstance(key, str | int) or isinstance(key, bool):
                shown = key_node.value if isinstance(key_node, yaml.ScalarNode) else "a list or a mapping"
                raise self._fault(path, f"found the key {shown}, expected a text; put it in quotes", line)
            if key in found:
                first = self._lines[*path, key]
                raise self._fault(
                    (*path, key), f"found the key a second time, the first is in line {first}", line
                )
            found[key] = self.value(child, (*path, key))
            self._lines[*path, key] = line
        self._lines[path] = node.start_mark.line + 1
        return found

    def _scalar(self, node: yaml.ScalarNode, path: Path) -> Any:
        kind, text = node.tag.rpartition(":")[2], str(node.value)
        try:
            return SCALARS[kind](text)
        except (KeyError, ValueError):
            if text.lstrip("+-").isdigit():  # Python reads no longer ones
                raise self._fault(path, f"found a number of {len(text)} digits, expected fewer") from None
            raise self._fault(path, f"found the tag {node.tag}, expected none") from None

    def _fault(self, path: Path, message: str, line: int | None = None) -> InputFileError:
        if line is not None:
            self._lines[path] = line
        return Document(self._file, None, {(): 1, **self._lines}).error(path, message)
