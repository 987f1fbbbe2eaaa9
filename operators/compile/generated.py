"""Functions from generated source."""

from __future__ import annotations

from functools import lru_cache
from types import CodeType
from typing import Any


def define(source: str, name: str, names: dict[str, Any]) -> Any:
    """The function that the source defines under a name; `names` are what it finds outside of it, and are
    given it as well.

    Raises   What compiling raises: SyntaxError, MemoryError or RecursionError where it nests too deeply.
    """
    exec(_compiled(source), names)
    return names[name]


@lru_cache(maxsize=1024)
def _compiled(source: str) -> CodeType:
    """Equal source is the same code: plans come again, as when one moves there and back, and code that has
    run is known to the interpreter, which takes a fraction of the time for it."""
    return compile(source, "<generated>", "exec")
