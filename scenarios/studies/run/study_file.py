"""A study file that has been read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from midstream.plans.values.errors import InputFileError
from midstream.scenarios.simulator.stream_spec import Strict
from midstream.scenarios.simulator.yaml_file import Document
from midstream.scenarios.simulator.yaml_file import Path as Place
from midstream.scenarios.studies.declaration import Study
from midstream.scenarios.studies.ingest.feeds import Feed


@dataclass(frozen=True)
class StudyFile:
    """A study file that has been read and checked.

    name       the file
    text       what it says, and `declared` what it refers to says
    folder     to which its paths are relative
    feeds      what ingestion must know of the streams
    study      the streams as they are before ingestion, and the query
    bucket     in chronons
    stages     the options of each stage that the study has, in the order in which they run
    """

    document: Document
    text: str
    declared: tuple[str, ...]
    folder: Path
    title: str
    feeds: tuple[Feed, ...]
    study: Study
    bucket: int
    stages: Mapping[str, Strict]

    @property
    def part(self) -> list[int | None]:
        """The buckets, and the part of the time that is studied."""
        return [self.bucket, self.study.since, self.study.until]

    @property
    def name(self) -> str:
        """The file's."""
        return self.document.file

    def error(self, place: Place, message: str) -> InputFileError:
        """The error that a part of the file is not what it should be."""
        return self.document.error(place, message)

    def chronons(self, place: Place, text: str) -> int:
        """A duration in the file. Raises InputFileError, saying where it is."""
        return chronons_of(self.document, self.study, place, text)


def chronons_of(document: Document, study: Study, place: Place, text: str) -> int:
    """A duration in a study file. Raises InputFileError, saying where it is."""
    try:
        return study.clock.chronons(text)
    except ValueError as error:
        raise document.error(place, str(error)) from error
