"""Errors of forecasts by level: what is compared, and when."""

from __future__ import annotations

import pytest

from midstream.driving import Trial, drive
from midstream.engine import Engine
from midstream.optimizer import Sample, Statistics, StreamStatistics
from midstream.plans.algebra.builder import Stream, stream
from midstream.scenarios.trials.costs.forecast_errors import ForecastErrors, growth, levels, overall


def window(name: str) -> Stream:
    return stream(name, {f"{name}k": "integer"}).window(100)


A, B, C, D = (window(name) for name in "abcd")
DEEP = A.join(B, on=[("ak", "bk")]).join(C, on=[("ak", "ck")]).join(D, on=[("ak", "dk")]).plan()
BUSHY = A.join(B, on=[("ak", "bk")]).join(C.join(D, on=[("ck", "dk")]), on=[("ak", "ck")]).plan()


def test_levels_are_numbers_of_joins_on_the_longest_way_down() -> None:
    assert sorted(levels([DEEP]).values()) == [1, 2, 3]
    assert sorted(levels([BUSHY]).values()) == [1, 1, 2]
    assert sorted(levels([DEEP, BUSHY]).values()) == [1, 1, 2, 2, 3], "equal subplans count once"
    assert levels([A.distinct().plan()]) == {}


def test_regular_streams_are_forecast_exactly() -> None:
    """One element a stream in two chronons: 50 in each window, and hardly a result."""
    plan = A.join(B, on=[("ak", "bk")]).plan()
    engine = Engine(plan, lambda batch: None)
    events = [
        ("push", name, [(t, t + 1, (t if name == "a" else -t,))]) for t in range(0, 400, 2) for name in "ab"
    ]
    errors = ForecastErrors()
    for i, (_, name, _) in enumerate(drive(Trial(engine), events)):  # type: ignore[arg-type]
        if name == "b" and i >= 200:
            errors.see([plan], engine.held())
    known = {
        source: StreamStatistics(
            2.0,
            1.0,
            sample=Sample(
                source.schema, [(t if source.schema.names == ("ak",) else -t,) for t in range(1, 400)]
            ),
        )
        for source in (node for node in plan.nodes if not node.inputs)
    }
    errors.close(Statistics(known))
    (level,) = errors.errors()
    assert (level.level, level.operators) == (1, 1)
    assert level.held == pytest.approx(100, rel=0.02)
    assert level.error == pytest.approx(0, abs=0.03)
    assert overall(errors.errors()) == pytest.approx(abs(level.error))
    assert growth(errors.errors()) is None
    errors.close(Statistics(known))
    assert len(errors.errors()) == 1 and errors.errors()[0].operators == 1, "nothing was seen since"


def test_nothing_seen_is_no_error() -> None:
    errors = ForecastErrors()
    errors.close(Statistics({}))
    assert errors.errors() == () and overall(()) is None and growth(()) is None
