"""Cost variables from runs: the fit, the profile, and what prices by it."""

from __future__ import annotations

import json
import operator
import os
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from midstream.operators.base.operator import Operator
from midstream.optimizer import Statistics, StreamStatistics, UnitCosts, price
from midstream.optimizer.cost.calibration import OutdatedProfileError, Profile, Timed, errors, fit
from midstream.optimizer.cost.units import STEPS, unit_costs, units_in_use, using
from midstream.plans.algebra.builder import stream
from midstream.plans.values.errors import StatisticsError
from midstream.plans.values.streams import Batch, Time
from midstream.scenarios.trials.costs import calibrating
from midstream.scenarios.trials.costs.calibrating import timed
from midstream.scenarios.trials.costs.grid import Setting
from midstream.scenarios.trials.costs.processing import BATCH, IN_STEP

TRUE = unit_costs({step: 0.02 * (i + 1) for i, step in enumerate(STEPS)})


def run(formula: str, steps: Mapping[str, float], units: UnitCosts = TRUE, factor: float = 1.0) -> Timed:
    plain = Timed(formula, formula, steps, 1.0)
    return replace(plain, measured=factor * plain.predicted(units))


def drawn(seed: int, factor: float = 1.0) -> list[Timed]:
    """Runs of formulas that take every step in many mixtures."""
    rng = random.Random(seed)
    return [
        run(f"formula {i % 8}", {step: rng.choice([0.0, 1.0, 2.0, 5.0]) for step in STEPS}, factor=factor)
        for i in range(120)
    ]


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_the_fit_predicts_runs_that_it_has_not_seen(scale: float) -> None:
    """Whatever the machine's speed, and though it was begun with other ratios."""
    found = fit(drawn(1, scale))
    assert max(errors(drawn(2, scale), UnitCosts())) > 0.3
    assert max(errors(drawn(2, scale), found)) < 0.05
    assert found.align == pytest.approx(scale * TRUE.align, rel=0.1)


def test_no_cost_is_negative_and_a_step_that_is_never_taken_keeps_its_ratio() -> None:
    found = fit([run("one", {"predicate": 1.0, "output": 2.0}), run("other", {"predicate": 3.0})])
    assert all(getattr(found, step) >= 0 for step in STEPS)
    assert found.hash / found.align == pytest.approx(UnitCosts().hash / UnitCosts().align)


def test_what_steps_cannot_tell_is_a_factor() -> None:
    """One formula of nine takes half of what its steps take elsewhere."""
    half = [replace(one, formula="loop", measured=one.measured / 2) for one in drawn(3)[:15]]
    found = fit([*drawn(1), *half])
    assert found.factors["loop"] == pytest.approx(0.5 * found.factors["formula 1"], rel=0.2)
    assert found.factors["formula 1"] == pytest.approx(1.0, rel=0.15)


def test_nothing_that_took_time_is_no_calibration() -> None:
    with pytest.raises(StatisticsError, match="found no operator that took any time"):
        fit([Timed("none", "none", {}, 0.0)])


S = stream("s", intervals=True, x="integer")
KNOWN = Statistics({S.node: StreamStatistics(10.0, 60.0)})
UNITS = unit_costs({"predicate": 7.0}, {"filter": 0.5, "hash_join": 2.0})
PROFILE = Profile(UNITS, "2026-11-23", "here", 0.1)


def test_plans_are_priced_by_the_units_in_use() -> None:
    query = S.filter(S["x"] > 1)
    before = price(query, KNOWN).total
    with using(UNITS):
        assert price(query, KNOWN).total == pytest.approx((0.1 * 7 + 0.1 / 3 * UnitCosts().output) / 2)
    assert price(query, KNOWN).total == before
    assert units_in_use() == UnitCosts()


def test_a_profile_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "costs.json"
    file.write_text(PROFILE.dumps())
    assert Profile.read(file) == PROFILE


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"midstream_costs": 4}, "found {'midstream_costs': 4}, expected"),
        ({"midstream_costs": None}, "found {'midstream_costs': None}, expected"),
        ({"microseconds": None}, "microseconds: found None"),
        ({"microseconds": {"hash": -1}}, r"microseconds\.hash: found -1\.0, expected 0 or more"),
        ({"microseconds": {"hash": True}}, r"microseconds\.hash: found True, expected a number"),
        ({"microseconds": {"hsah": 1}}, "found hsah, expected predicate"),
        ({"factors": [1]}, "factors: found"),
        ({"error": "none"}, "error: found"),
    ],
)
def test_a_wrong_profile(change: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    file = tmp_path / "costs.json"
    file.write_text(json.dumps(json.loads(PROFILE.dumps()) | change))
    with pytest.raises(StatisticsError, match=complaint) as caught:
        Profile.read(file)
    assert str(file) in str(caught.value)


def test_a_profile_from_before_a_step_gets_its_default(tmp_path: Path) -> None:
    """Its factors hold: they are of runs that do not take the step."""
    data = json.loads(PROFILE.dumps())
    del data["microseconds"]["exact"]
    found = Profile.loads(json.dumps(data)).units
    assert found == replace(UNITS, exact=UnitCosts().exact)


def test_a_step_that_no_run_takes_keeps_its_ratio() -> None:
    """On a machine that is three times as slow it costs three times the default."""
    steps = [step for step in STEPS if step != "exact"]
    runs = [run(step, {step: 2.0, "hash": 1.0}, UnitCosts(), factor=3.0) for step in steps]
    assert fit(runs).exact == pytest.approx(3 * UnitCosts().exact, rel=1e-3)


@pytest.mark.parametrize("version", [1, 2])
def test_an_outdated_profile_tells_what_to_do(version: int, tmp_path: Path) -> None:
    file = tmp_path / "costs.json"
    file.write_text(json.dumps(json.loads(PROFILE.dumps()) | {"midstream_costs": version}))
    with pytest.raises(
        OutdatedProfileError, match=rf"of version {version}, .* run `midstream calibrate` again"
    ) as caught:
        Profile.read(file)
    assert str(file) in str(caught.value)


def test_no_profile(tmp_path: Path) -> None:
    with pytest.raises(StatisticsError, match="No such file"):
        Profile.read(tmp_path / "none.json")
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(StatisticsError, match="Expecting property name"):
        Profile.read(tmp_path / "broken.json")


@pytest.mark.parametrize("name", ["hash-join", "aggregate, few groups", "signed-distinct", "time-window"])
def test_runs_are_measured_with_their_steps(name: str) -> None:
    setting = Setting(1.0, 1.0, 100, 1, 20, 1500)
    found = timed(name, setting)
    assert found.measured > 0
    assert found.predicted(UnitCosts()) > 0
    assert set(found.steps) <= set(STEPS)


@pytest.mark.parametrize(("name", "size"), [("filter", BATCH), ("hash-join", IN_STEP)])
def test_streams_are_in_step_while_they_are_measured(
    name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the model has them: else one would be ahead of the other by more than a short window is long."""
    sizes = []
    process = Operator.process

    def seen(operator: Operator, port: int, batch: Batch, progress: Time) -> Batch:
        sizes.append(len(batch))
        return process(operator, port, batch, progress)

    monkeypatch.setattr(Operator, "process", seen)
    setting = Setting(1.0, 1.0, 100, 1, 20, 1500)
    timed(name, setting)
    assert size / 4 < max(sizes) <= size


def test_a_process_that_ends_before_its_time_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process can only be handed what can be imported: here, how to end itself."""
    monkeypatch.setattr(calibrating, "timed", operator.call)
    monkeypatch.setattr(calibrating, "replace", lambda *_, **__: 1)
    monkeypatch.setattr(calibrating, "QUERIES", {os._exit: None})
    with pytest.raises(StatisticsError, match=r"the process that measured .*_exit.* was ended from outside"):
        calibrating.calibrate(True, lambda *_: None)
