"""Formats and packings of files of rows, by the ends of their names."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from glob import glob, has_magic
from pathlib import Path

FORMATS: Mapping[str, str] = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
}
"""The formats of files, by the ends of their names."""

UNFINISHED = ".unfinished"
"""The end of the name of a file that is being written, behind its later name; also with a number."""

VALIDITY = ("start", "end")
"""The columns of results in files, before those of the row."""

PACKED = (".gz", ".zst")
"""Ends of packed files of lines, behind the end that tells the format."""

KNOWN = f"one of {', '.join(FORMATS)}; all but the last also with {' or '.join(PACKED)}"
"""The known ends, for messages."""


def file_format(name: str | os.PathLike[str]) -> str | None:
    """The format of a file, by its name; None if the name tells none.

    >>> file_format("bids.csv.zst"), file_format("bids.JSONL"), file_format("bids.parquet.gz")
    ('csv', 'jsonl', None)
    >>> file_format("results.csv.gz.unfinished-2")
    'csv'
    """
    suffixes = [suffix.lower() for suffix in Path(_finished(name)).suffixes]
    is_packed = suffixes[-1:] and suffixes[-1] in PACKED
    found = FORMATS.get("".join((suffixes[:-1] if is_packed else suffixes)[-1:]))
    return None if is_packed and found == "parquet" else found


def packing(name: str | os.PathLike[str]) -> str | None:
    """The packing of a file of lines, by its name; None if it is not packed."""
    suffix = Path(_finished(name)).suffix.lower()
    return suffix if suffix in PACKED else None


def files_of(pattern: str) -> list[str]:
    """The files that a path or a pattern such as bids-*.csv names, in order of name; [] if there are none.

    A path without `*`, `?` and `[`, or of an existing file, names itself.
    """
    if not has_magic(pattern) or Path(pattern).exists():
        return [pattern]
    return sorted(path for path in glob(pattern, recursive=True) if not Path(path).is_dir())


def _finished(name: str | os.PathLike[str]) -> str:
    """The later name of an unfinished file; other names stay."""
    return re.sub(rf"{re.escape(UNFINISHED)}(-\d+)?$", "", os.fspath(name))
