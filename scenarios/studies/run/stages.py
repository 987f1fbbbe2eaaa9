"""The stages of a study, by name, in the order in which they run."""

from __future__ import annotations

from midstream.scenarios.studies.run.charts_stage import STAGE as CHARTS
from midstream.scenarios.studies.run.ingest_stage import STAGE as INGEST
from midstream.scenarios.studies.run.policies_stage import STAGE as POLICIES
from midstream.scenarios.studies.run.profile_stage import STAGE as PROFILE
from midstream.scenarios.studies.run.simulate_stage import STAGE as SIMULATE
from midstream.scenarios.studies.run.stage import Stage
from midstream.scenarios.studies.run.verify_stage import STAGE as VERIFY
from midstream.scenarios.studies.run.what_if_stage import STAGE as WHAT_IF

IN_ORDER = (INGEST, PROFILE, WHAT_IF, CHARTS, POLICIES, SIMULATE, VERIFY)

STAGES: dict[str, Stage] = {stage.name: stage for stage in IN_ORDER}
