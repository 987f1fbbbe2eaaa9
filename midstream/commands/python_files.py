"""Users' Python files; an error in their code is reported by file and line, without a long traceback."""

from __future__ import annotations

import runpy
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from midstream.io.new_file import is_special
from midstream.io.text_file import read_text
from midstream.plans.values.errors import InputFileError, MidstreamError


def definitions(path: Path) -> dict[str, Any]:
    """Run a file and return its definitions.

    Raises   InputFileError where it cannot be read; MidstreamError, with the line, where it fails.
    """
    # Python would wait for the writer of a pipe, and read an endless device for ever.
    if is_special(path):
        raise InputFileError(f"{path}: found a pipe or a device, expected a file", path=path)
    read_text(path)
    with running(path):
        return runpy.run_path(str(path))


@contextmanager
def running(path: Path) -> Iterator[None]:
    """Run code of a file in a block; its errors name the file and the line."""
    try:
        yield
    except MidstreamError:
        raise
    except OSError as error:
        raise InputFileError(f"{path}: {error.strerror or error}", path=path) from error
    except Exception as error:
        line = _line_in(path, error)
        raise MidstreamError(f"{path}{line}: {type(error).__name__}: {error}") from error


def _line_in(path: Path, error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return f", line {lines[-1]}" if lines else ""
