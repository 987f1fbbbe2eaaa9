"""A study file that has been read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from midstream.io.ingested import MANIFEST, is_ingested
from midstream.scenarios.stages.base.options import Options
from midstream.scenarios.stages.base.request import Request
from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.feeds import Feed
from midstream.scenarios.streams.recorded.input_files import input_files
from midstream.scenarios.streams.yaml_file import Document
from midstream.scenarios.streams.yaml_file import Path as Place


@dataclass(frozen=True)
class StudyFile:
    """A study file that has been read and checked.

    name       the file
    text       of the file
    declared   the text of the script
    folder     to which its paths are relative
    feeds      the streams and their files, for ingestion
    study      the streams as they are before ingestion, and the query
    bucket     in chronons
    stages     the options of each stage that the study has, in the order in which they run
    """

    document: Document
    text: str
    declared: str
    folder: Path
    title: str
    feeds: tuple[Feed, ...]
    study: Study
    bucket: int
    stages: Mapping[str, Options]

    def request(self, stage: str) -> Request:
        """The request to one of its stages."""

        def error(option: str, message: str) -> Exception:
            return self.document.error(("stages", stage, *([option] if option else [])), message)

        return Request(self.study, self.bucket, self.folder, self.document.file, error, self.feeds)

    def inputs(self) -> dict[str, list[dict[str, Any]]]:
        """By stream, its files with their sizes and times of change.

        Raises   InputFileError where there is none.
        """
        return {feed.name: _listed(feed.path, feed.form) for feed in self.feeds}


def chronons_of(document: Document, study: Study, place: Place, text: str) -> int:
    """A duration in a study file, in chronons.

    Raises   InputFileError, saying where it is.
    """
    with document.errors_at(place, ValueError):
        return study.clock.chronons(text)


def _listed(path: str, form: str | None) -> list[dict[str, Any]]:
    if is_ingested(path):
        status = (Path(path) / MANIFEST).stat()
        return [{"path": path, "size": status.st_size, "modified": status.st_mtime_ns}]
    return [asdict(one) for one in input_files(path, form)]
