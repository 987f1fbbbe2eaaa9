"""Functions from generated source, which debuggers and tracebacks find."""

from __future__ import annotations

import linecache
from functools import lru_cache
from itertools import count
from types import CodeType
from typing import Any
from weakref import finalize

TOO_DEEP = (SyntaxError, MemoryError, RecursionError)
"""What compiling raises where source nests too deeply."""

_numbers = count(1)


def define(source: str, name: str, names: dict[str, Any], title: str) -> Any:
    """The function that the source defines under a name; `names` are what it finds outside of it, and are
    given it as well. The title is for people who meet the source in a debugger.

    Raises   One of TOO_DEEP where it nests too deeply.
    """
    exec(_titled(source, title), names)
    return names[name]


@lru_cache(maxsize=1024)
def _titled(source: str, title: str) -> CodeType:
    """Equal source is the same code: plans come again, as when one moves there and back, and code that has
    run is known to the interpreter, which takes a fraction of the time for it."""
    filename = f"<midstream {title}, {next(_numbers)}>"
    code = _renamed(_compiled(source), filename)
    linecache.cache[filename] = len(source), None, source.splitlines(keepends=True), filename
    finalize(code, linecache.cache.pop, filename, None).atexit = False
    return code


@lru_cache(maxsize=1024)
def _compiled(source: str) -> CodeType:
    """What queries of one shape over many streams have in common: compiling takes most of the time."""
    return compile(source, "<midstream>", "exec")


def _renamed(code: CodeType, filename: str) -> CodeType:
    inner = (_renamed(one, filename) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(co_filename=filename, co_consts=tuple(inner))
