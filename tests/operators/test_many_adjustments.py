"""The thousandth adjustment costs as much as the tenth, and leaves nothing behind (thesis, 21.4.3)."""

from __future__ import annotations

import math
from typing import Any

import pytest
from steps import calls_of, objects

from midstream.engine import Engine
from midstream.operators.engine.measuring import meters
from midstream.operators.engine.running.settings import CHANGES, WINDOWS
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.values.errors import PlanError
from midstream.plans.values.streams import BEGINNING, chronons

BIDS = stream("bids", item="integer", price="integer")

LEVERS = {
    "window": (BIDS.window(50, bounds=(10, 99)).distinct(), lambda i: 10 + 7 * i % 90),
    "rows": (BIDS.last(50, bounds=(10, 99)).distinct(), lambda i: 10 + 7 * i % 90),
    "granule": (BIDS.window(64).granularity(4, bounds=(1, 64)).distinct(), lambda i: 2 ** (i % 3)),
    "sample": (BIDS.sample(0.5, bounds=(0.1, 1.0)).window(50).distinct(), lambda i: (10 + 7 * i % 90) / 100),
}

MORE = [name for name in LEVERS if name != "window"]


class _Adjusted:
    """An engine whose lever gets another setting at one instant after the other."""

    def __init__(self, query: Stream, setting: Any, pace: int = 1) -> None:
        self.engine = Engine(query.plan(), lambda batch: None)
        self._setting, self._pace = setting, pace
        self._number = 0

    def adjust(self, ahead: int = 1) -> int:
        """Let an element come, and adjust from an instant ahead on; returns the steps of `adjust`."""
        self._number += 1
        at = 64 * self._number * self._pace
        self.engine.push("bids", chronons([(at, (self._number % 7, self._number))]))
        (lever,) = (lever.node for lever in self.engine.levers())
        new = {lever: self._setting(self._number)}
        return calls_of(lambda: self.engine.adjust(new, at=at + 64 * ahead))


@pytest.mark.parametrize("lever", LEVERS)
def test_the_steps_of_an_adjustment_do_not_grow(lever: str) -> None:
    adjusted = _Adjusted(*LEVERS[lever])
    steps = [adjusted.adjust() for _ in range(400)]
    assert max(steps[-90:]) <= 1.05 * max(steps[160:250])


@pytest.mark.parametrize("ahead", [1, 100_000])
def test_nor_where_earlier_settings_are_still_in_use_or_yet_to_come(ahead: int) -> None:
    """Rows by the first setting stay valid for so long that no setting expires; or all are announced."""
    query = BIDS.window(10**6, bounds=(10, 10**6)).distinct()
    adjusted = _Adjusted(query, lambda i: 10**6 - 7 * i)
    steps = [adjusted.adjust(ahead * i) for i in range(1, 400)]
    assert max(steps[-90:]) <= 1.05 * max(steps[160:250])


@pytest.mark.parametrize("lever", ["window", *(pytest.param(one, marks=pytest.mark.slow) for one in MORE)])
def test_what_adjustments_leave_behind_does_not_grow(lever: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meters, "RECENT", 8)
    adjusted = _Adjusted(*LEVERS[lever])
    adjusted.engine.remember_settings(1000)
    for _ in range(300):  # until what is bounded is full
        adjusted.adjust()
    before = objects()
    for _ in range(300):
        adjusted.adjust()
    assert objects() - before < 100


def test_settings_are_on_record_for_a_hundred_windows() -> None:
    adjusted = _Adjusted(*LEVERS["window"])
    for _ in range(400):
        adjusted.adjust()
    (history,) = adjusted.engine.query().settings().values()
    progress = adjusted.engine.query().progress()
    kept = progress - WINDOWS * 99
    assert kept - 99 - 64 <= history[0][0] <= kept  # an element of that time may come from a window before
    with pytest.raises(PlanError, match="earlier settings have been forgotten"):
        adjusted.engine.query().settings(history[0][0])


@pytest.mark.parametrize(("chronons", "number"), [(640, 13), (math.inf, 401)])
def test_they_are_on_record_for_as_long_as_asked(chronons: float, number: int) -> None:
    adjusted = _Adjusted(*LEVERS["window"])
    adjusted.engine.remember_settings(chronons)
    for _ in range(400):
        adjusted.adjust()
    (history,) = adjusted.engine.query().settings().values()
    assert len(history) == number
    assert (history[0][0] == BEGINNING) == (chronons == math.inf)


def test_of_rows_that_are_counted_the_last_settings_are_on_record() -> None:
    adjusted = _Adjusted(*LEVERS["rows"])
    for _ in range(CHANGES + 10):
        adjusted.adjust()
    (history,) = adjusted.engine.query().settings().values()
    assert len(history) == CHANGES
    other = Engine(adjusted.engine.plan)
    other.load_settings(adjusted.engine.query().dump_settings())
    assert other.query().settings() == adjusted.engine.query().settings()
