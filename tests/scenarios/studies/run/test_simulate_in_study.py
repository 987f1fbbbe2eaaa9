"""The stage of a study that migrates on slices: its options, and what it tells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pydantic", reason="needs pydantic: pip install 'midstream[simulate]'")
pytest.importorskip("pyspark", reason="needs PySpark: pip install 'midstream[spark]'")

import midstream as ms
from midstream.optimizer.cost.calibration import Profile
from midstream.optimizer.cost.units import UnitCosts
from midstream.plans.values.errors import InputFileError
from midstream.scenarios.stages.base.stage import Outcome
from midstream.scenarios.stages.run.reading import parse_study_file
from midstream.scenarios.stages.run.study_file import StudyFile
from midstream.scenarios.stages.simulate.grid import Slice
from midstream.scenarios.stages.simulate.running import SliceRun
from midstream.scenarios.stages.simulate.simulate_stage import STAGE, _grid, _length, _summary
from midstream.scenarios.stages.simulate.stage import Simulated

from .conftest import TEXT


def parsed(options: str, folder: Path = Path()) -> StudyFile:
    head, _, _ = TEXT.partition("stages:")
    return parse_study_file("s.yaml", f"{head}stages: {{simulate: {options}}}", folder)


def test_by_default_all_other_orders_by_all_strategies() -> None:
    file = parsed("{}")
    options = file.stages["simulate"]
    grid = _grid(file.request("simulate"), options)  # type: ignore[arg-type]
    assert [target.name for target in grid.targets] == ["(B ⋈ C) ⋈ A", "(A ⋈ C) ⋈ B"]
    assert (len(grid.strategies), grid.seeds, grid.at) == (7, (1,), ())
    assert _length(file.request("simulate"), options) == 360  # type: ignore[arg-type]


def test_options_may_be_one_value_or_a_list(tmp_path: Path) -> None:
    first = parsed("{}")
    targets = _grid(first.request("simulate"), first.stages["simulate"]).targets  # type: ignore[arg-type]
    (tmp_path / "other.json").write_text(ms.dumps(targets[0].plan))
    file = parsed("{to: other.json, strategies: genmig, at: [0.5], seeds: 2, slice: 2h}", tmp_path)
    grid = _grid(file.request("simulate"), file.stages["simulate"])  # type: ignore[arg-type]
    assert [(target.name, target.plan) for target in grid.targets] == [("other", targets[0].plan)]
    assert (grid.strategies, grid.at, grid.seeds) == (("genmig",), (0.5,), (1, 2))
    assert _length(file.request("simulate"), file.stages["simulate"]) == 7200  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("{slice: 60s}", r"stages\.simulate\.slice: found 60s, expected more than the longest window, 1 m: "),
        ("{slice: soon}", r"stages\.simulate\.slice: "),
        ("{strategies: [genmig, luck]}", r"stages\.simulate\.strategies: found luck, expected some of swap"),
        ("{at: 1.5}", r"stages\.simulate\.at"),
        ("{seeds: 0}", r"stages\.simulate\.seeds"),
        ("{to: nowhere.json}", r"nowhere\.json"),
    ],
)
def test_wrong_options(options: str, message: str) -> None:
    with pytest.raises(InputFileError, match=message):
        parsed(options)


def test_another_output_is_told_with_its_slice() -> None:
    file = parsed("{}")
    grid = _grid(file.request("simulate"), file.stages["simulate"])  # type: ignore[arg-type]
    run = SliceRun(
        3600, 1, 3700, grid.targets[0].name, "genmig", "moved", "", True, "x", 9, 4, 60, 8, 4, 7, 5, 0.3, 0.2
    )
    profile = Profile(UnitCosts(), "2026-11-23", "a machine", 0.07)
    for is_right in (True, False):
        found = Simulated((Slice(3600, 7200),), 0, (replace(run, is_right=is_right),), profile)
        told = STAGE.tell(file.study, Outcome(_summary(file.study, grid, found)))
        assert told.holds is is_right
        (table,) = told.tables
        row = ("(B ⋈ C) ⋈ A", "genmig", "1", "0", "0", "0", "1 m", "2.00", "7 s", "5 s", "1.50")
        assert table.rows == [row] and len(table.titles) == len(row)
        place = "In the slice from 1970-01-01 01:00, seed 1, moving at 1970-01-01 01:01:40 to (B ⋈ C) ⋈ A"
        assert any(line.startswith(place) for line in told.facts) is not is_right
        assert "7%" in told.facts[-1]
