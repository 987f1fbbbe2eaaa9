"""Options of commands about recorded streams, and checks of what is read and written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from midstream.io.distinct_files import Use, require_distinct_files
from midstream.plans.values.errors import InputFileError, MidstreamError

if TYPE_CHECKING:
    from midstream.scenarios.streams.recorded.declaration import Study

STUDY = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        help="The script (.sql) that declares the streams and the query, or the name of a ready-made one.",
    ),
]
DATA = Annotated[
    Path | None,
    typer.Option(help="The folder to which the script's paths are relative; by default the working folder."),
]
PLAN = Annotated[Path | None, typer.Option(help="A JSON file with the plan; by default the declared query.")]
QUERY = Annotated[str | None, typer.Option(help="The name of the query in a script with several.")]
SINCE = Annotated[
    str | None, typer.Option("--from", help="Only what starts then or later: a date, or a chronon.")
]
UNTIL = Annotated[str | None, typer.Option("--until", help="Only what starts before.")]
BUCKET = Annotated[str, typer.Option(help="How long a time bucket is, in s, m, h or d, for example 3h.")]
MASTER = Annotated[
    str, typer.Option(help="Where Spark runs: local[2], local[*], or the address of a cluster.")
]
FOLDER = Annotated[Path | None, typer.Option(help="A folder for the results.")]

SMALL = 4 << 20
"""The most bytes of small files: some 10,000 rows of a CSV file, or some 100,000 that were ingested."""


def require_files_apart(name: str, study: Study, writes: Sequence[Use], others: Sequence[Use] = ()) -> None:
    """Raise MidstreamError where a path to be replaced is also read, or holds a path that is read."""
    reads: list[Use] = [("STUDY", name), *others]
    reads += [(f"stream {stream.name}", _before_wildcards(stream.path)) for stream in study.streams.values()]
    require_distinct_files(reads, writes)
    for use, path in reads:
        for written, replaced in writes:
            if Path(replaced).resolve() in Path(path).resolve().parents:
                raise MidstreamError(f"{written}: found {replaced}, which holds what {use} reads: {path}")


def require_outside(reads: Sequence[str], output: Path) -> None:
    """Raise MidstreamError where a folder that is added to is, or holds, or lies in, a path that is read."""
    written = output.resolve()
    for path in reads:
        read = Path(_before_wildcards(path)).resolve()
        if written == read or written in read.parents or read in written.parents:
            raise MidstreamError(f"--output: found {output}, which holds what is read, or lies in it: {path}")


def _before_wildcards(pattern: str) -> str:
    """The part of a pattern of files before its first wildcard."""
    return re.split(r"[*?\[{]", pattern)[0]


def make_folder(folder: Path) -> None:
    """Make a folder for results, unless it is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputFileError(f"{folder}: {error.strerror or error}", path=folder) from error


def is_small(study: Study) -> bool:
    """True if a study reads streams whose files are small together; false for URLs."""
    from midstream.scenarios.streams.recorded.input_files import input_files

    if not study.streams:
        return False
    try:
        files = {file for stream in study.streams.values() for file in input_files(stream.path)}
    except InputFileError:  # what is wrong with them is told where they are read
        return False
    return sum(file.size for file in files) <= SMALL
