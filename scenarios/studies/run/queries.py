"""The plan that stages study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from midstream.io.plan_files import read_plan
from midstream.scenarios.studies.inputs import require_fitting
from midstream.scenarios.studies.renaming import studied

if TYPE_CHECKING:
    from midstream.plans.algebra.plan import Plan
    from midstream.scenarios.studies.run.study_file import StudyFile


def query_of(file: StudyFile, stage: str, plan_file: str | None) -> Plan:
    """The plan in a file, else the study's query, found to fit the streams.

    Raises   InputFileError.
    """
    place = None if plan_file is None else file.folder / plan_file
    plan = file.study.query if place is None else studied(read_plan(place))
    if plan is None:
        raise file.error(("stages", stage), "found no query and no plan, expected one of them")
    require_fitting(plan, file.study, place or file.name)
    return plan
