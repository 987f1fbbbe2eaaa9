"""`midstream bench policies`: what it says, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from midstream.benchmarks.commands import app
from midstream.benchmarks.policies import (
    POINTS,
    BenchmarkError,
    PolicyRun,
    chosen_cases,
    chosen_strategy,
    courses_of,
    draw_policies,
    times_of,
)
from midstream.scenarios.policies.case import one_key
from midstream.scenarios.policies.regret import regrets


def test_figures_of_a_case_by_hand() -> None:
    """a and b meet at 2 and at 11; b and c, and a and c, at 3 alone."""
    streams = {"a": [(1, 1), (11, 1)], "b": [(2, 1), (10, 1)], "c": [(3, 1)]}
    found = regrets(one_key("by hand", 5, 5, streams), with_engine=True)
    assert [(one.policy, one.total, one.moves) for one in found.judged] == [
        ("a ⋈ b first", 2, 0),
        ("a ⋈ c first", 1, 0),
        ("b ⋈ c first", 1, 0),
        ("clairvoyant", 1, 0),
        ("repeat last best", 2, 0),
        ("break-even", 1, 1),
        ("autopilot", 2, 1),
        ("chart", 2, 0),
    ]
    assert (found.hindsight, found.is_equal) == (1, True)
    (flown,) = found.flown
    assert (flown.policy, flown.counted, flown.of_fixed) == ("engine's autopilot", flown.total, flown.total)
    # Of the processor's time that of the best fixed order is the measure.
    assert [one.of_seconds for one in found.judged].index(1.0) == 1
    assert all((one.seconds or 0) > 0 for one in (*found.judged, flown))
    # Buckets begin with the first element: [1, 6) has a pair of each order, [11, 16) one of a and b.
    assert [one.of_fixed for one in found.judged] == [2.0, 1.0, 1.0, 1.0, 2.0, 1.0, 2.0, 2.0]


def test_a_difference_is_told() -> None:
    found = regrets(one_key("one", 5, 5, {"a": [(1, 1)], "b": [(2, 1)], "c": []}), with_engine=True)
    judged = (replace(found.judged[0], counted=7), *found.judged[1:])
    assert PolicyRun(1, (found,)).is_equal
    assert not PolicyRun(1, (replace(found, judged=judged),)).is_equal
    # The best fixed order gives nothing, so nothing is a multiple of it.
    assert {one.of_fixed for one in found.judged} == {None}


@pytest.mark.slow
def test_json_has_all_figures() -> None:
    result = CliRunner().invoke(
        app, ["policies", "--cases", "stationary-16", "--strategy", "moving-states", "--json"]
    )
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    (case,) = told["cases"]
    assert (told["format"], case["case"], case["how"]) == (
        "midstream-policies",
        "stationary, 16 pairs, seed 1",
        "moving-states",
    )
    assert {one["policy"]: one["moves"] for one in case["judged"]}["a ⋈ b first"] == 0
    assert min(one["regret"] for one in case["judged"]) == 1.0
    # Without the engine there is nothing to measure.
    assert case["flown"] == [] and {one["seconds"] for one in case["judged"]} == {None}


def test_the_chart_has_a_line_for_each_policy(tmp_path: Path) -> None:
    """Lines end at the totals; each case has a panel of its own."""
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'midstream[plot]'")
    found = regrets(one_key("by hand", 5, 5, {"a": [(1, 1), (11, 1)], "b": [(2, 1), (10, 1)], "c": [(3, 1)]}))
    courses, times = courses_of(found), times_of(found.priced)
    assert [one.spent[-1] for one in courses] == [one.total for one in found.judged]
    assert [one.kind for one in courses] == ["fixed"] * 3 + ["clairvoyant", *["policy"] * 4]
    assert (times.at(1), times.at(6), len(courses[0].spent)) == (0, 1, POINTS)
    draw_policies(PolicyRun(1, (found, found)), tmp_path / "chart.svg")
    drawn = (tmp_path / "chart.svg").read_text(encoding="utf-8")
    assert drawn.count('id="axes_') == 2


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: chosen_cases("rate-brust", None), "found 'rate-brust', expected some of roads"),
        (lambda: chosen_cases("roads", None), "found roads, which is recorded; expected its folder"),
        (lambda: chosen_strategy("swap"), "found 'swap', expected one of genmig, moving-states"),
    ],
)
def test_bad_input_is_told(call: object, told: str) -> None:
    assert callable(call)
    with pytest.raises(BenchmarkError, match=told):
        call()
