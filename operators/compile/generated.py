"""Functions from generated source that debuggers and tracebacks can show."""

from __future__ import annotations

import linecache
from functools import lru_cache
from itertools import count
from types import CodeType
from typing import Any
from weakref import finalize

TOO_DEEP = (SyntaxError, MemoryError, RecursionError)
"""The exceptions of compiling source that nests too deeply."""

LATEST = 128
"""The number of sources whose code is kept while nothing runs it: plans come again, but not all of them."""

_numbers = count(1)


def define(source: str, name: str, names: dict[str, Any], title: str) -> Any:
    """Compile a function from source, and return it.

    `name` is the function's name in the source. `names` holds its global names, and gets the function as
    well. The title is for people who see the source in a debugger.

    Raises   One of TOO_DEEP where it nests too deeply.
    """
    exec(_titled(source, title), names)
    return names[name]


@lru_cache(maxsize=LATEST)
def _titled(source: str, title: str) -> CodeType:
    """The code of some source, the same object for equal source.

    Plans come again, for example when a query moves there and back. Code that has run before is specialised
    by the interpreter, and takes a fraction of the time.
    """
    filename = f"<midstream {title}, {next(_numbers)}>"
    code = _renamed(_compiled(source), filename)
    linecache.cache[filename] = len(source), None, source.splitlines(keepends=True), filename
    finalize(code, linecache.cache.pop, filename, None).atexit = False
    return code


@lru_cache(maxsize=LATEST)
def _compiled(source: str) -> CodeType:
    """The compiled source, shared by queries of one shape, as compiling takes most of the time."""
    return compile(source, "<midstream>", "exec")


def _renamed(code: CodeType, filename: str) -> CodeType:
    inner = (_renamed(item, filename) if isinstance(item, CodeType) else item for item in code.co_consts)
    return code.replace(co_filename=filename, co_consts=tuple(inner))
