"""What running operators took goes into a cost profile."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import midstream as ms
from midstream.autopilot.advising import ByOptimizer
from midstream.operators.engine.measuring.metadata import Metadata
from midstream.optimizer import PROCESSING, CostModel, Statistics, UnitCosts
from midstream.optimizer.cost.calibration import Profile, corrected
from midstream.optimizer.cost.units import STEPS
from midstream.plans.algebra.implementations import implementation_of
from midstream.plans.values.errors import StatisticsError
from midstream.profiling import profile_of, timings

S, T = ms.stream("s", x="integer").window(60), ms.stream("t", y="integer").window(60)
QUERY = S.filter(S["x"] > 3).join(T, on=[("x", "y")]).distinct()


def watched() -> tuple[list[Metadata], Statistics]:
    engine = ms.Engine(QUERY)
    with engine.watch() as read:
        for t in range(0, 1000, 10):
            engine.push("s", [(u, u + 1, (u % 7,)) for u in range(t, t + 10)])
            engine.push("t", [(u, u + 1, (u % 5,)) for u in range(t, t + 10)])
        return read(), engine.statistics()


MEASURED, KNOWN = watched()


def taking(seconds: list[float]) -> list[Metadata]:
    return [replace(one, seconds=each) for one, each in zip(MEASURED, seconds, strict=True)]


@given(st.lists(st.floats(1e-4, 1e-1), min_size=len(MEASURED), max_size=len(MEASURED)))
def test_operators_take_what_was_measured(seconds: list[float]) -> None:
    """Each formula was measured once, but that of windows twice: there the middle holds."""
    measured = taking(seconds)
    units = profile_of(measured, KNOWN, UnitCosts()).units
    model = CostModel(KNOWN, units)
    formulas = [implementation_of(one.node).formula for one in measured]
    for one, formula in zip(measured, formulas, strict=True):
        if formulas.count(formula) == 1 and one.input_rate and one.microseconds:
            assert model.estimate(one.node).cost == pytest.approx(one.microseconds * one.input_rate)


@given(st.floats(0.01, 100))
def test_a_machine_that_is_slower_everywhere_has_all_steps_slower(factor: float) -> None:
    before = UnitCosts(factors={"join": 0.5})
    runs = [replace(run, measured=factor * run.predicted(before)) for run in timings(MEASURED, KNOWN)]
    found = corrected(before, runs)
    for step in STEPS:
        assert getattr(found, step) == pytest.approx(factor * getattr(before, step))
    assert found.factors["join"] == 0.5
    assert all(value == pytest.approx(before.factors.get(name, 1.0)) for name, value in found.factors.items())


def test_what_was_not_measured_keeps_its_factor() -> None:
    before = UnitCosts(factors={"aggregate": 0.25})
    assert profile_of(MEASURED, KNOWN, before).units.factors["aggregate"] == 0.25


def test_advice_follows_from_the_profile() -> None:
    """It is the same before and after the profile was in a file."""
    profile = profile_of(MEASURED, KNOWN)
    read = Profile.loads(profile.dumps())
    plan = QUERY.plan()
    found = [ByOptimizer(PROCESSING, units=one.units).advise(plan, KNOWN) for one in (read, read)]
    assert found[0] == found[1] is not None
    cheap = replace(read.units, **{step: getattr(read.units, step) / 2 for step in STEPS})
    other = ByOptimizer(PROCESSING, units=cheap).advise(plan, KNOWN)
    assert found[0] is not None and other is not None
    assert other.running == pytest.approx(found[0].running / 2)


def test_nothing_measured() -> None:
    with pytest.raises(StatisticsError, match="no operator that took any time"):
        profile_of([], KNOWN)
    assert timings(MEASURED, Statistics({})) == []
