"""The plan that stages study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from midstream.io.plan_files import read_plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.values.errors import InputFileError, PlanError
from midstream.scenarios.studies.inputs import plan_inputs

if TYPE_CHECKING:
    from midstream.plans.algebra.plan import Plan
    from midstream.scenarios.studies.run.study_file import StudyFile


def query_of(file: StudyFile, stage: str, plan_file: str | None) -> Plan:
    """The plan in a file, else the study's query, found to fit the streams.

    Raises   InputFileError.
    """
    if plan_file is not None:
        place = str(file.folder / plan_file)
        plan = logical_plan(read_plan(Path(place)))
    elif file.study.query is None:
        raise file.error(("stages", stage), "found no query and no plan, expected one of them")
    else:
        place, plan = file.name, file.study.query
    try:
        plan_inputs(plan, file.study.streams)
    except PlanError as error:
        raise InputFileError(f"{place}: {error}", path=place) from error
    return plan
