"""Files that are read as a whole: scripts, plans, scenarios, studies."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path

from midstream.plans.values.errors import InputFileError
from midstream.plans.values.schema import suggest

MOST_BYTES = 1 << 20
"""The largest size of such a file in bytes; nobody writes a longer one by hand, and parsing takes seconds."""


def read_text(file: str | Path | Traversable, most: int = MOST_BYTES) -> str:
    """The text of a file in UTF-8, or of standard input for "-".

    Raises   InputFileError, naming the file and the reason, also if the file has more than `most` bytes.
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


def ready_made(folder: Traversable, suffixes: Iterable[str]) -> dict[str, Traversable]:
    """The files that come with Midstream in a folder, by name without suffix."""
    files = sorted(folder.iterdir(), key=lambda file: file.name) if folder.is_dir() else []
    return {Path(file.name).stem: file for file in files if Path(file.name).suffix in suffixes}


def find_text(
    what: str, name: str, ready: Mapping[str, Traversable], suffixes: tuple[str, ...]
) -> tuple[str, str]:
    """The location and text of a file, from its path or the name of a ready-made file.

    Raises   InputFileError.
    """
    file = Path(name)
    if file.suffix in suffixes or _exists(file):
        return str(file), read_text(file)
    if name in ready:
        return str(ready[name]), read_text(ready[name])
    raise InputFileError(
        f"{what} {name}: found no such file or name, expected a {suffixes[0]} file or one of "
        f"{', '.join(ready)}{suggest(name, ready)}",
        path=name,
    )


def _exists(file: Path) -> bool:
    """True if the file exists; a name that no file can have does not."""
    try:
        return file.exists()
    except (OSError, ValueError):
        return False


def _standard_input(most: int) -> bytes:
    if hasattr(sys.stdin, "buffer"):
        return sys.stdin.buffer.read(most)
    return sys.stdin.read(most).encode()  # the program has replaced standard input
