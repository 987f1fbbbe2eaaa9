"""The long runs change all the time, and tell if anything grows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from midstream.benchmarks.lasting import CASES, GROWTH, SHORTEST, SLOWDOWN, LastingCase, LastingRun, run_case
from midstream.benchmarks.memory import Halves

CASE = LastingCase("queries", 100, 10, 50, Halves(10**8, 10**8), 1000.0, 1000.0)


@pytest.mark.parametrize("name", CASES)
def test_a_case_changes_and_gives_results(name: str) -> None:
    case = run_case(name, SHORTEST, seed=1)
    assert (case.name, case.elements) == (name, SHORTEST)
    assert case.results > 0 and case.changes > 2 * (name != "autopilot")
    assert case.first > 0 and case.second > 0
    assert run_case(name, SHORTEST, seed=1).results == case.results


def test_growth_is_told() -> None:
    assert CASE.is_good and LastingRun([CASE, CASE]).is_good
    grown = replace(CASE, memory=Halves(10**8, 10**8 + GROWTH + 1))
    slow = replace(CASE, second=1000.0 * SLOWDOWN + 1)
    assert not grown.is_good and not slow.is_good and not LastingRun([CASE, slow]).is_good
    assert replace(CASE, memory=None).is_good
    assert LastingRun([grown]).as_dict()["cases"][0]["growth_bytes"] == GROWTH + 1
