"""Write the findings of studies: Parquet files, sorted and in few folders, and summaries as JSON."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

from pyspark.sql import DataFrame

from midstream.io.file_formats import UNFINISHED
from midstream.io.new_file import write_file
from midstream.plans.values.artefacts import artefact_text
from midstream.plans.values.errors import InputFileError
from midstream.scenarios.spark.sorted_files import write_sorted_files


def write_table(frame: DataFrame, folder: Path, apart: Sequence[str], order: Sequence[str]) -> None:
    """Write one sorted file in each folder, as `write_sorted_files` does."""
    with new_folder(folder) as place:
        write_sorted_files(frame, place, apart, order)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A place for a folder that gets its name at the end of a block that did not fail.

    It replaces what was there.

    Raises   InputFileError where that is no folder.
    """
    if folder.exists() and not folder.is_dir():
        raise InputFileError(f"{folder}: found a file, expected a folder, or nothing", path=folder)
    place = folder.with_name(f".{token_hex(4)}{UNFINISHED}")
    old = place.with_name(f"{place.name}.old")
    try:
        place.mkdir()
        yield place
        if folder.exists():
            folder.rename(old)
        place.rename(folder)
    except KeyboardInterrupt as interruption:
        interruption.add_note(f"{folder} {'has not been written' if place.exists() else 'is complete'}")
        raise
    finally:
        shutil.rmtree(place, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def write_json(summary: dict[str, Any], file: Path) -> None:
    """Write a summary to a file; ArtefactError where a number is NaN or infinite."""
    write_file(file, artefact_text({}, summary, indent=2) + "\n")
