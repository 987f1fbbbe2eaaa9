"""What the streams of a study are read from, as plain data that changes when it does."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from midstream.io.ingested import MANIFEST, is_ingested
from midstream.scenarios.studies.ingest.input_files import input_files

if TYPE_CHECKING:
    from midstream.scenarios.studies.run.study_file import StudyFile


def inputs_of(file: StudyFile) -> Any:
    """By stream, its files with their sizes and times of change.

    Raises   InputFileError where there is none.
    """
    return {feed.name: _listed(feed.path, feed.form) for feed in file.feeds}


def _listed(path: str, form: str | None) -> list[dict[str, Any]]:
    if is_ingested(path):
        status = (Path(path) / MANIFEST).stat()
        return [{"path": path, "size": status.st_size, "modified": status.st_mtime_ns}]
    return [asdict(one) for one in input_files(path, form)]
