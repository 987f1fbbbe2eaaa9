"""The results that a run of a study has left in its folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from midstream.scenarios.reports.contents import Report
from midstream.scenarios.stages.run.records import Record
from midstream.scenarios.stages.run.stages import STAGES
from midstream.scenarios.stages.run.study_file import StudyFile

Status = Literal["done", "unchanged"]


@dataclass(frozen=True)
class StudyRun:
    """The results that a run has left in a folder.

    records     by stage, its record
    statuses    by stage: done by this run, or unchanged, as its result was there
    """

    file: StudyFile
    folder: Path
    records: Mapping[str, Record]
    statuses: Mapping[str, Status]

    def reports(self) -> dict[str, Report]:
        """The report of each stage."""
        study = self.file.study
        return {name: STAGES[name].tell(study, record.outcome) for name, record in self.records.items()}

    def advice(self) -> list[str]:
        """Warnings of stages that say no, and the advice of the last other stage that gives any.

        That stage knows more than those before it, which compare ways to run the same query: their advice
        might contradict it.
        """
        reports = list(self.reports().values())
        warnings = [line for one in reports if not one.holds for line in one.advice]
        last = next((one.advice for one in reversed(reports) if one.holds and one.advice), ())
        return [*warnings, *last]

    @property
    def holds(self) -> bool:
        """True if all stages that answer a question say yes."""
        return all(one.holds for one in self.reports().values())

    def as_dict(self) -> dict[str, Any]:
        """The results of all stages, as plain data for JSON."""
        return {
            "title": self.file.title,
            "folder": str(self.folder),
            "holds": self.holds,
            "advice": self.advice(),
            "stages": {
                name: {
                    "status": self.statuses[name],
                    "rows_in": record.outcome.rows_in,
                    "rows_out": record.outcome.rows_out,
                    "summary": record.outcome.summary,
                }
                for name, record in self.records.items()
            },
        }
