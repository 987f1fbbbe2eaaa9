"""A study file that has been read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from midstream.io.ingested import MANIFEST, is_ingested
from midstream.io.plan_files import read_plan
from midstream.plans.algebra.plan import Plan
from midstream.scenarios.simulator.stream_spec import Strict
from midstream.scenarios.simulator.yaml_file import Document
from midstream.scenarios.simulator.yaml_file import Path as Place
from midstream.scenarios.studies.declaration import Study
from midstream.scenarios.studies.ingest.feeds import Feed
from midstream.scenarios.studies.ingest.input_files import input_files
from midstream.scenarios.studies.inputs import require_fitting
from midstream.scenarios.studies.renaming import studied


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

    def query(self, stage: str, plan_file: str | None) -> Plan:
        """The plan in a file, else the study's query, found to fit the streams. Raises InputFileError."""
        place = None if plan_file is None else self.folder / plan_file
        plan = self.study.query if place is None else studied(read_plan(place))
        if plan is None:
            raise self.document.error(("stages", stage), "found no query and no plan, expected one of them")
        require_fitting(plan, self.study, place or self.name)
        return plan

    def inputs(self) -> dict[str, list[dict[str, Any]]]:
        """By stream, its files with their sizes and times of change.

        Raises   InputFileError where there is none.
        """
        return {feed.name: _listed(feed.path, feed.form) for feed in self.feeds}

    def chronons(self, place: Place, text: str) -> int:
        """A duration in the file. Raises InputFileError, saying where it is."""
        return chronons_of(self.document, self.study, place, text)


def chronons_of(document: Document, study: Study, place: Place, text: str) -> int:
    """A duration in a study file. Raises InputFileError, saying where it is."""
    with document.errors_at(place, ValueError):
        return study.clock.chronons(text)


def _listed(path: str, form: str | None) -> list[dict[str, Any]]:
    if is_ingested(path):
        status = (Path(path) / MANIFEST).stat()
        return [{"path": path, "size": status.st_size, "modified": status.st_mtime_ns}]
    return [asdict(one) for one in input_files(path, form)]
