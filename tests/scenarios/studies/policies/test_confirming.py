"""Advice from the earlier half is run over the later half, and counted there by the engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from midstream.autopilot.settings import BALANCED
from midstream.optimizer import INTERMEDIATE
from midstream.scenarios.trials.policies.generated import FEW, MANY, Phase, generated
from midstream.scenarios.trials.policies.on_engine import plan_of

from .test_beside_the_engine import written

pytestmark = pytest.mark.spark


def test_the_later_half_is_counted_by_the_engine(spark: Any, tmp_path: Path) -> None:
    from midstream.scenarios.recordings.recording import Recording, open_recording
    from midstream.scenarios.stages.policies.confirming import confirm
    from midstream.scenarios.stages.policies.stage import PolicyComparison, policies
    from midstream.scenarios.streams.recorded.declaration import Study

    case = generated("steady", [Phase(20, values=(MANY, FEW))], 4)
    case = replace(case, streams={name: sorted(rows) for name, rows in case.streams.items()})
    plan, study = plan_of(case, case.orders[1]), written(case, tmp_path)

    def compare(recording: Recording, study: Study) -> PolicyComparison:
        return policies(recording, study, plan, {"balanced": BALANCED})

    with open_recording(spark, study, 1) as recording:
        found = confirm(recording, study, plan, compare, INTERMEDIATE, "auto")
    later = replace(study, since=found.middle)
    with open_recording(spark, later, 1) as recording:
        whole = compare(recording, later)
    counted = dict(zip(whole.courses.labels, whole.courses.totals, strict=True))
    assert found.advised != found.rival == whole.courses.labels[0]
    assert {name: run.results for name, run in found.runs.items()} == {
        name: counted[name] for name in (found.rival, found.advised)
    }
    # By counted steps of the engine, an order takes what the study says by the counts of Spark.
    times = dict(zip(whole.courses.labels, whole.processing.totals, strict=True))
    for name, run in found.runs.items():
        assert run.microseconds == pytest.approx(times[name], rel=0.1)
    told = found.as_dict()
    assert (told["in_time"], told["in_results"], told["is_equal"]) == (True, True, True)
    assert all(run.seconds > 0 for run in found.runs.values())


def test_an_autopilot_is_run_as_well() -> None:
    from midstream.optimizer import UnitCosts
    from midstream.scenarios.stages.policies.later_runs import Candidate, run_all
    from midstream.scenarios.stages.simulate.grid import chunks

    case = generated("turns", [Phase(5, values=(MANY, FEW)), Phase(5, values=(FEW, MANY))] * 2, 4)
    plans = [plan_of(case, order) for order in case.orders[:2]]
    rows = [(time, name, row) for time, name, row in case.arrivals]
    given = chunks(rows, [], 1, case.window // 2, 1000)
    candidates = [Candidate(str(i), plan, None, INTERMEDIATE, "auto") for i, plan in enumerate(plans)]
    candidates.append(Candidate("autopilot", plans[0], BALANCED, INTERMEDIATE, "auto"))
    found = {run.name: run for run in run_all(candidates, given, case.window, UnitCosts())}
    assert len({run.digest for run in found.values()}) == 1
    assert (found["0"].moves, found["autopilot"].moves > 0) == (0, True)
    # It runs both plans in turn, and for a while both at once.
    assert found["autopilot"].microseconds > 0.5 * min(found["0"].microseconds, found["1"].microseconds)
    assert found["autopilot"].results < found["0"].results
