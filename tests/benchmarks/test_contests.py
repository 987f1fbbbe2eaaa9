"""Contests run in processes of their own, in turn."""

from __future__ import annotations

import os
import signal

import pytest

from midstream.benchmarks import contests
from midstream.benchmarks.items import ITEMS
from midstream.benchmarks.measuring import Contest, runs
from midstream.benchmarks.options import BenchmarkError

JOIN = ITEMS[0]


@pytest.mark.slow
def test_each_window_is_measured_in_turn() -> None:
    steps: list[int] = []
    results = contests.measure(JOIN, (20, None), 400, 1, (1, 64), (), 3, lambda: steps.append(1))
    assert [(one.item, one.window, one.elements) for one in results] == [(JOIN, 20, 400), (JOIN, 5000, 400)]
    assert len(steps) == 2 * runs((1, 64), (), 3) == 32
    for result in results:
        assert result.is_equal
        assert [(one.name, one.batch_size) for one in result.measured] == [
            (name, size) for size in (1, 64) for name in ("by hand", "midstream")
        ]
        assert [len(one.seconds) for one in result.measured] == [3] * 4
    assert results[0].measured[0].results > results[1].measured[0].results > 0


def die(contest: Contest, number: int) -> None:
    """What happens to a process for which there is no memory."""
    os.kill(os.getpid(), signal.SIGTERM)


def test_a_process_that_ends_before_its_time_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Contest, "repeat", die)
    with pytest.raises(BenchmarkError, match=r"join: a process that measured it with 400 elements was ended"):
        contests.measure(JOIN, (20,), 400, 1, (64,), (), 1)
