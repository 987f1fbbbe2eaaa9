"""Files that are read as a whole: scripts, plans, scenarios, studies."""

from __future__ import annotations

import sys
from importlib.resources.abc import Traversable
from pathlib import Path

from midstream.plans.values.errors import InputFileError

MOST_BYTES = 1 << 20
"""How long such a file may be. Nobody writes a longer one by hand, and parsers take seconds for it."""


def read_text(file: str | Path | Traversable, most: int = MOST_BYTES) -> str:
    """The text of a file, in UTF-8, or of standard input for "-".

    Raises   InputFileError, naming the file and the reason, also for one of more than `most` bytes.
    """
    name = "standard input" if file == "-" else str(file)
    try:
        if file == "-":
            data = _standard_input(most + 1)
        else:
            with (Path(file) if isinstance(file, str) else file).open("rb") as opened:
                data = opened.read(most + 1)
        if len(data) > most:
            raise InputFileError(f"{name}: found more than {most:,} bytes, expected fewer", path=name)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputFileError(f"{name}: found bytes that are no UTF-8, expected text", path=name) from error
    except OSError as error:
        raise InputFileError(f"{name}: {error.strerror or error}", path=name) from error


def exists(file: Path) -> bool:
    """Whether there is such a file; a name that no file can have is none."""
    try:
        return file.exists()
    except (OSError, ValueError):
        return False


def _standard_input(most: int) -> bytes:
    if hasattr(sys.stdin, "buffer"):
        return sys.stdin.buffer.read(most)
    return sys.stdin.read(most).encode()  # something that a program put in its place
