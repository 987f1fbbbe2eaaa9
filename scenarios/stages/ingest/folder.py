"""The folder of ingested streams: one writer at a time, and a run that counts only once it is complete.

    manifest.json               lists what counts; replaced in one step, at the end of a run
    run-0001/STREAM/*.parquet   canonical files
    run-0001/quarantine/*.json  rows that did not fit

A run is made in a folder `.….unfinished`, which gets its name, and then its place in the manifest. Files that
no manifest names belong to an interrupted run, and the next run removes them.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from midstream.io.file_formats import UNFINISHED
from midstream.io.ingested import MANIFEST, is_ingested, read_manifest
from midstream.plans.values.errors import InputFileError, MidstreamError

RUN = "run-"


@contextmanager
def only_process(folder: Path, occupant: str) -> Iterator[None]:
    """Keep other processes out of a folder, and make the folder if it is missing.

    Raises   MidstreamError, calling the other process `occupant`, while there is one; InputFileError where
             there cannot be such a folder.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY)  # who holds it loses it when it ends, however it ends
    except OSError as error:
        raise InputFileError(f"{error.filename or folder}: {error.strerror or error}", path=folder) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise MidstreamError(f"{folder}: found another {occupant}, expected none") from None
        yield
    finally:
        os.close(lock)


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder, and remove what an interrupted one left there.

    Raises   MidstreamError while another process writes there, or where the folder holds something else.
    """
    try:
        with only_process(folder, "run that writes there"):
            _require_own(folder)
            _remove_unnamed(folder)
            yield
    except OSError as error:
        raise InputFileError(f"{error.filename or folder}: {error.strerror or error}", path=folder) from error


@contextmanager
def new_run(folder: Path) -> Iterator[Path]:
    """A folder for a run's files, removed at the end of the block unless the run has got its name."""
    place = folder / f".{token_hex(4)}{UNFINISHED}"
    place.mkdir()
    try:
        yield place
    except KeyboardInterrupt as interruption:
        interruption.add_note(f"{folder} holds what it held before")
        raise
    finally:
        shutil.rmtree(place, ignore_errors=True)


def next_name(folder: Path) -> str:
    """The name of the next run."""
    runs = read_manifest(folder).runs if is_ingested(folder) else ()
    return f"{RUN}{1 + len(runs):04}"


def named_run(place: Path, name: str) -> None:
    """Give a run its name, after writing its files to disk: a manifest must not outlive what it names."""
    for file in [place, *place.rglob("*")]:
        descriptor = os.open(file, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    place.rename(place.with_name(name))


def _require_own(folder: Path) -> None:
    others = [one.name for one in folder.iterdir() if not _is_ours(one.name)]
    if others:
        raise MidstreamError(
            f"{folder}: found {sorted(others)[0]}, expected a new folder, or one that ingest has made"
        )


def _is_ours(name: str) -> bool:
    return name == MANIFEST or name.startswith(RUN) or (name.startswith(".") and UNFINISHED in name)


def _remove_unnamed(folder: Path) -> None:
    named = {run.folder for run in read_manifest(folder).runs} if is_ingested(folder) else set()
    for one in folder.iterdir():
        if one.name != MANIFEST and one.name not in named:
            shutil.rmtree(one) if one.is_dir() else one.unlink()
