"""The benchmark of statistics measures within one run, and judges by the mark."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.console import Console

from midstream.benchmarks.items import ITEMS
from midstream.benchmarks.statistics_cost import (
    CELLS,
    CostRun,
    ItemCost,
    item_cost,
    measure_statistics,
    show_statistics,
)


def test_what_is_watched_is_collected_and_smoothed() -> None:
    item = replace(ITEMS[0], window=400)
    cost = item_cost(item, 4_000)
    assert cost.elements == 4_000
    # Two streams of 2000 elements each: five windows, but for the cell that was not passed.
    assert 5 * CELLS - 3 <= cost.looks <= 5 * CELLS + 2
    assert cost.query > 0 and cost.collecting > 0 and cost.smoothing > 0


@pytest.mark.slow
def test_all_items_with_a_window_are_run(monkeypatch: object) -> None:
    steps = []
    run = measure_statistics(1, lambda done, total: steps.append((done, total)))
    names = [item.name for item in ITEMS if item.window]
    assert [item.name for item in run.items] == names
    assert steps == [(i, len(names)) for i in range(1, len(names) + 1)]


def test_the_mark_is_for_collecting() -> None:
    good = ItemCost("join", 100, 8, query=1.0, collecting=0.05, smoothing=0.5)
    bad = replace(good, collecting=0.06)
    assert CostRun([good]).is_good and not CostRun([good, bad]).is_good
    told = CostRun([good]).as_dict()
    assert told["is_good"] is True
    assert told["items"][0]["collecting_share"] == 0.05
    console = Console(record=True, width=100)
    show_statistics(CostRun([good]), console)
    text = console.export_text()
    assert "5.0 %" in text and "50.0 %" in text
