"""Policies over courses: none knows what is to come, and what is said of them is what their bills say."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.autopilot.costs.bill import Bill, Move, Moved, best_fixed, bill
from midstream.autopilot.costs.policies import ChartChoice, Choice, LastBest, Periodic, replay
from midstream.autopilot.costs.series import CostSeries
from midstream.autopilot.settings import EAGER, NAMED, Settings
from midstream.plans.algebra.builder import stream
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import ArgumentError, InputFileError
from midstream.scenarios.recordings.inner_joins import inner_joins
from midstream.scenarios.stages.policies.grid import grid_from, grid_of
from midstream.scenarios.stages.policies.judging import (
    PolicyBill,
    autopilot_policy,
    front,
    judge,
    recommended,
)

A, B, C = (stream(name, **{f"{name}k": "integer", f"{name}m": "integer"}).window(9) for name in "abc")


def courses(*rates: list[float], window: int = 20, bucket: int = 10) -> CostSeries:
    """One plan for each list of rates."""
    plans = tuple(stream(f"s{i}", x="integer").window(9).plan() for i in range(len(rates)))
    starts = range(0, len(rates[0]) * bucket, bucket)
    return CostSeries(starts, window, "results", plans, tuple("abcd"[: len(rates)]), tuple(map(tuple, rates)))


RATES = st.lists(st.sampled_from([0.0, 0.2, 1.0, 5.0, 30.0]), min_size=40, max_size=40)
CHOICES: list[tuple[Callable[[], Choice], int]] = [
    (LastBest, 1),
    (LastBest, 3),
    (lambda: ChartChoice(3, 4, 2.0), 1),
    (lambda: ChartChoice(3, 12, 2.0), 1),
]


def replayed(
    known: CostSeries, choice: Choice, buckets: int = 1, strategy: str = "genmig"
) -> tuple[Bill, int]:
    """The bill of who chooses each time that so many buckets are over, and how often another was wanted."""
    begin, period = known.starts.start, buckets * known.bucket
    policy = Periodic(choice, known.spent, len(known.plans), begin, period, strategy)
    return replay(known, policy), policy.switches


@given(st.lists(RATES, min_size=3, max_size=3), st.lists(RATES, min_size=3, max_size=3), st.integers(1, 39))
def test_the_same_past_with_two_futures_gives_the_same_moves(
    past: list[list[float]], future: list[list[float]], until: int
) -> None:
    one = courses(*past)
    other = courses(*(was[:until] + will[until:] for was, will in zip(past, future, strict=True)))
    for make, buckets in CHOICES:
        begun = [
            [
                (moved.at, moved.new)
                for moved in replayed(known, make(), buckets)[0].moves
                if moved.at <= 10 * until
            ]
            for known in (one, other)
        ]
        assert begun[0] == begun[1]


def test_what_was_best_is_repeated() -> None:
    known = courses([1, 1, 9, 9, 9, 1, 1, 1, 1, 1], [5] * 10, window=10)
    found, switches = replayed(known, LastBest(), 1, "swap")
    assert [(moved.at, moved.new) for moved in found.moves] == [(30, 1), (60, 0)]
    assert switches == 2
    # In periods of two, the first change is half-way and is no better.
    assert [moved.at for moved in replayed(known, LastBest(), 2, "swap")[0].moves] == [40, 80]


def test_a_wish_waits_while_a_migration_is_under_way() -> None:
    known = courses([1, 9, 1, 9, 1, 9, 1, 9], [5] * 8, window=30)
    found, switches = replayed(known, LastBest())
    assert [(moved.at, moved.new) for moved in found.moves] == [
        (20, 1),
        (50, 0),
    ] or switches > len(found.moves)
    assert all(one.until <= other.at for one, other in zip(found.moves, found.moves[1:], strict=False))


def test_a_chart_follows_a_lasting_change_and_not_the_noise_within_a_part() -> None:
    many = [1.0 + i % 3 / 10 for i in range(60)]
    known = courses([*many, *([20.0] * 60)], [6.0] * 120)
    for k in (4, 10):
        moves = replayed(known, ChartChoice(2, k, 2.0))[0].moves
        assert [moved.new for moved in moves][-1] == 1
        assert all(moved.at >= 600 for moved in moves)


@given(st.lists(RATES, min_size=3, max_size=3), st.sampled_from([("genmig",), ("moving-states", "genmig")]))
def test_judged_is_what_bills_say(rates: list[list[float]], strategies: tuple[str, ...]) -> None:
    known = courses(*rates)
    moves = [Move(100, 1, strategies[0], 20), Move(200, 0, strategies[0])]
    judged, least = judge(known, {"mine": moves}, strategies, 2, [4])
    found = {one.policy: one for one in judged}
    fixed_ones = ["always a", "always b", "always c"]
    others = ["repeat last best", "chart, k = 4", "autopilot mine", "clairvoyant"]
    assert list(found) == [*fixed_ones, *others]
    mine, fixed = found["autopilot mine"], known.totals[best_fixed(known)]
    assert mine.total == bill(known, 0, moves).total
    assert mine.of_fixed is None if not fixed else math.isclose(mine.of_fixed or 0, mine.total / fixed)
    assert (mine.moves, found["clairvoyant"].moves, found["always a"].moves) == (2, len(least.moves), 0)
    assert all(one.regret >= -1e-9 for one in judged)
    assert found["clairvoyant"].regret == 0
    assert min(one.total for one in judged if one.policy.startswith("always")) == fixed


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8))
def test_the_front_has_what_nothing_else_beats(points: list[tuple[int, int]]) -> None:
    judged = [
        PolicyBill(str(i), total, None, moves, moves, None, 0.0, None)
        for i, (total, moves) in enumerate(points)
    ]
    found = {(one.total, one.moves) for one in front(judged)}
    beaten = {
        (total, moves)
        for total, moves in points
        if any((t, m) != (total, moves) and t <= total and m <= moves for t, m in points)
    }
    assert found == set(points) - beaten
    assert len(front(judged)) == len(found)


def one(name: str, total: float, moves: int) -> PolicyBill:
    return PolicyBill(autopilot_policy(name), total, None, moves, moves, None, 0.0, None)


def test_without_the_default_settings_what_costs_least_is_recommended_and_of_equals_what_moves_less() -> None:
    judged = [one("x", 5, 9), one("y", 4, 9), one("z", 4, 2), one("w", 4, 2)]
    assert recommended(judged, dict.fromkeys("xyzw", EAGER)) == "z"


@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 9))
def test_the_default_settings_are_recommended_unless_others_save_enough(
    default: int, other: int, moves: int
) -> None:
    grid = {"other": EAGER, "mine": Settings()}
    found = recommended([one("mine", default, 5), one("other", other, moves)], grid)
    saves_enough = default - other > Settings().least_saving * default
    assert found == ("other" if saves_enough else "mine")


def test_intermediate_results_are_those_of_joins_below_others() -> None:
    numbers = {one.node: i for i, one in enumerate((A, B, C))}
    ab = A.join(B, on=[("ak", "bk")])
    # A join that gives the results is no intermediate one.
    assert inner_joins(ab.plan(), numbers) == ()
    found = inner_joins(ab.join(C, on=[("bm", "cm")]).plan(), numbers)
    assert found is not None and [(one.left, one.right, one.on) for one in found] == [(0, 1, (("ak", "bk"),))]
    turned = B.join(A, on=[("bk", "ak")]).join(C, on=[("bm", "cm")]).plan()
    assert inner_joins(turned, numbers) == found
    renamed = ab.join(C, on=[("bm", "cm")]).select("ak", "cm").plan()
    assert inner_joins(renamed, numbers) == found
    d = stream("d", dk="integer").window(9)
    four = ab.join(C, on=[("bm", "cm")]).join(d, on=[("ck", "dk")])
    assert inner_joins(four.plan(), numbers | {d.node: 3}) is None  # a join of three inputs
    assert inner_joins(ab.join(C, on=[("bm", "cm")]).plan(), {A.node: 0, B.node: 1}) is not None
    theta = A.join(B, col("ak") < col("bk")).join(C, on=[("bm", "cm")])
    assert inner_joins(theta.plan(), numbers) is None


def test_grids(tmp_path: Path) -> None:
    assert grid_of("careful, eager") == {"careful": NAMED["careful"], "eager": NAMED["eager"]}
    file = tmp_path / "grid.json"
    file.write_text(json.dumps({"doubt": [0, 0.5], "half_life": [1, 2]}))
    assert grid_of(str(file))["doubt=0.5 half_life=1"] == Settings(doubt=0.5, half_life=1)
    assert len(grid_of(str(file))) == 4
    assert grid_from({"a": {}, "b": {"looks": 4}}) == {"a": Settings(), "b": Settings(looks=4)}


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ([], "expected an object"),
        ({}, "expected an object"),
        ({"a": {"dubt": 1}}, "grid: a: found dubt, expected some of horizon"),
        ({"dubt": [1]}, "found dubt"),
        ({"a": {}, "doubt": [1]}, "found lists and others"),
        ({"doubt": []}, "found 0 settings"),
        ({"doubt": list(range(201))}, "found 201 settings, expected 1 to 200"),
        ({"looks": [0]}, "looks: found 0"),
    ],
)
def test_what_is_no_grid(data: object, told: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=told):
        grid_from(data)
    file = tmp_path / "grid.json"
    file.write_text(json.dumps(data))
    with pytest.raises(InputFileError, match=r"grid\.json: .*"):
        grid_of(str(file))


def test_a_grid_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"found egaer, expected .*; did you mean eager"):
        grid_of("balanced,egaer")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(InputFileError, match=r"bad\.json: this is no JSON"):
        grid_of(str(tmp_path / "bad.json"))


def test_bills_may_have_moves_between_plans_that_cost_the_same() -> None:
    known = courses([1.0] * 8, [2.0] * 8)
    found = bill(known, 0, [Move(20, 0, "genmig")])
    assert found == Bill(0, 90.0, (Moved(20, 40, 0, 0, "genmig", 10.0),))
    assert replace(found, moves=()).total == 90.0
