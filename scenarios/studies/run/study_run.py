"""What a run of a study has left in its folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from midstream.scenarios.studies.run.records import Record
from midstream.scenarios.studies.run.stage import Told
from midstream.scenarios.studies.run.stages import STAGES
from midstream.scenarios.studies.run.study_file import StudyFile

Status = Literal["done", "unchanged"]


@dataclass(frozen=True)
class StudyRun:
    """What a run has left in a folder.

    records     by stage, what it found
    statuses    by stage, whether this run did it, or its result was there
    """

    file: StudyFile
    folder: Path
    records: Mapping[str, Record]
    statuses: Mapping[str, Status]

    def told(self) -> dict[str, Told]:
        """By stage, what is said of what it found."""
        return {name: STAGES[name].told(self.file, record.found) for name, record in self.records.items()}

    def advice(self) -> list[str]:
        """What to do: what later stages say goes before what earlier ones say, which know less."""
        return [line for one in reversed(self.told().values()) for line in one.advice]

    @property
    def holds(self) -> bool:
        """Whether all stages that answer a question say yes."""
        return all(one.holds for one in self.told().values())

    def as_dict(self) -> dict[str, Any]:
        """All that the stages found, as plain data for JSON."""
        return {
            "title": self.file.title,
            "folder": str(self.folder),
            "holds": self.holds,
            "advice": self.advice(),
            "stages": {
                name: {
                    "status": self.statuses[name],
                    "rows_in": record.found.rows_in,
                    "rows_out": record.found.rows_out,
                    "summary": record.found.summary,
                }
                for name, record in self.records.items()
            },
        }
