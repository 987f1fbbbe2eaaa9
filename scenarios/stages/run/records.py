"""The record of a complete stage: the key of its inputs, its outcome, and its files.

The record of a stage is removed before the stage begins, and written after all that it names is there. So a
stage that was interrupted has none, and is run again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from midstream.io.file_formats import UNFINISHED
from midstream.io.new_file import write_file
from midstream.plans.values.artefacts import ArtefactError, Header, artefact_text, parsed, read_artefact
from midstream.scenarios.stages.base.stage import Outcome
from midstream.scenarios.stages.ingest.folder import only_process

VERSION = 1
HEADER: Header = {"midstream_stage": VERSION}

FOLDER = "stages"
"""The folder of records."""


@dataclass(frozen=True)
class Record:
    """The record of a complete stage.

    key      a digest of all that the result depends on
    files    the size of each of its files, by path below the folder of the study
    """

    stage: str
    key: str
    outcome: Outcome
    files: dict[str, int]


@dataclass(frozen=True)
class _RecordFile:
    stage: str
    key: str
    rows_in: int
    rows_out: int
    files: dict[str, int]
    summary: dict[str, Any]
    drawn: dict[str, Any]


def key_of(**parts: Any) -> str:
    """A digest of plain data, equal for equal data."""
    text = json.dumps({"version": VERSION, **parts}, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def read_record(folder: Path, stage: str) -> Record | None:
    """The record of a stage whose files are all there; None where there is none."""
    try:
        file = read_artefact(parsed(_file(folder, stage).read_text(encoding="utf-8")), HEADER, _RecordFile)
        is_complete = all((folder / path).stat().st_size == size for path, size in file.files.items())
    except (OSError, ValueError, ArtefactError):
        return None
    outcome = Outcome(file.summary, file.drawn, file.rows_in, file.rows_out)
    return Record(stage, file.key, outcome, file.files) if is_complete else None


def write_record(folder: Path, stage: str, key: str, outcome: Outcome) -> Record:
    """Record that a stage is complete."""
    files = files_below(folder, stage)
    file = _RecordFile(stage, key, outcome.rows_in, outcome.rows_out, files, outcome.summary, outcome.drawn)
    _file(folder, stage).parent.mkdir(exist_ok=True)
    write_file(_file(folder, stage), artefact_text(HEADER, file, indent=1) + "\n")
    return Record(stage, key, outcome, files)


def remove_record(folder: Path, stage: str) -> None:
    """Record that a stage is not complete."""
    _file(folder, stage).unlink(missing_ok=True)


def files_below(folder: Path, stage: str) -> dict[str, int]:
    """The size of each file of a stage in bytes, without names that begin with a dot or an underscore."""
    found = {}
    for place, folders, names in os.walk(folder / stage):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith((".", "_")):
                path = Path(place, name)
                found[path.relative_to(folder).as_posix()] = path.stat().st_size
    return found


@contextmanager
def only_runner(folder: Path) -> Iterator[None]:
    """Keep other runs out of the folder of a study, and remove half-written files of an interrupted run.

    Raises   MidstreamError while another process runs a study there; InputFileError where it cannot be
             written.
    """
    with only_process(folder, "study that runs there"):
        for left in [*folder.glob(f".*{UNFINISHED}*"), *folder.glob(f"*/.*{UNFINISHED}*")]:
            shutil.rmtree(left) if left.is_dir() else left.unlink(missing_ok=True)
        yield


def _file(folder: Path, stage: str) -> Path:
    return folder / FOLDER / f"{stage}.json"
