"""The engine counts what the replay of the later half says: what `midstream bench replays` shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from midstream.autopilot.settings import BALANCED, CAREFUL
from midstream.scenarios.policies.generated import FEW, MANY, Phase, generated
from midstream.scenarios.policies.on_engine import plan_of

pytestmark = pytest.mark.spark


def test_on_the_later_half_the_engine_counts_what_the_replay_says(spark: Any, tmp_path: Path) -> None:
    from midstream.benchmarks.replays import compared, written

    case = generated("turns", [Phase(5, values=(MANY, FEW)), Phase(5, values=(FEW, MANY))] * 2, 4)
    study = written(case, tmp_path / "turns")
    grid = {"careful": CAREFUL, "balanced": BALANCED}
    found = compared(spark, "turns", study, plan_of(case, case.orders[0]), "auto", grid)
    assert [one.engine for one in found.settings] == [one.replay for one in found.settings]
    assert [one.engine_moves for one in found.settings] == [one.replay_moves for one in found.settings]
    assert found.settings[1].engine_moves > 0
    assert found.recommended in grid
