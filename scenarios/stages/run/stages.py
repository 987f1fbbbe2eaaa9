"""The stages of a study, by name, in the order in which they run."""

from __future__ import annotations

from midstream.scenarios.stages.base.stage import Stage
from midstream.scenarios.stages.charts.charts_stage import STAGE as CHARTS
from midstream.scenarios.stages.ingest.ingest_stage import STAGE as INGEST
from midstream.scenarios.stages.policies.policies_stage import STAGE as POLICIES
from midstream.scenarios.stages.profile.profile_stage import STAGE as PROFILE
from midstream.scenarios.stages.simulate.simulate_stage import STAGE as SIMULATE
from midstream.scenarios.stages.verify.verify_stage import STAGE as VERIFY
from midstream.scenarios.stages.what_if.what_if_stage import STAGE as WHAT_IF

IN_ORDER = (INGEST, PROFILE, WHAT_IF, CHARTS, POLICIES, SIMULATE, VERIFY)

STAGES: dict[str, Stage] = {stage.name: stage for stage in IN_ORDER}
