"""Migrations on slices, without Spark: what is measured of them, and that another output is found."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.optimizer import enumerate_plans
from midstream.optimizer.cost.calibration import Profile, Timed, errors
from midstream.optimizer.cost.units import STEPS, UnitCosts
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.errors import ArgumentError, PlanError, StatisticsError
from midstream.scenarios.stages.simulate.costs import TimedSlice, fit_near, profile_from
from midstream.scenarios.stages.simulate.grid import Row, RunGrid, Slice, Target, chunks, slices, with_silence
from midstream.scenarios.stages.simulate.jobs import read_rows
from midstream.scenarios.stages.simulate.making import grid_of, other_orders, schemas_of
from midstream.scenarios.stages.simulate.running import (
    FAILED,
    MOVED,
    REFUSED,
    UNFINISHED,
    digest_of,
    run_slice,
    timed,
)
from midstream.scenarios.streams.recorded.script import load_study

WINDOW = 40
PART = Slice(1000, 1400)


@cache
def plans() -> tuple[Plan, Plan]:
    a, b, c = (stream(name, {f"{name}_x": "integer"}).window(WINDOW) for name in "abc")
    plan = a.join(b, on=[("a_x", "b_x")]).join(c, on=[("b_x", "c_x")]).plan()
    return plan, other_orders(plan)[0].plan


def grid(*strategies: str, **more: object) -> RunGrid:
    plan, other = plans()
    made = RunGrid(plan, (Target("other", other),), strategies, range(1, 2), schemas_of(plan), span=2)
    return replace(made, **more)  # type: ignore[arg-type]


@cache
def rows(seed: int = 1, number: int = 150) -> list[Row]:
    draw = random.Random(seed)
    times = range(PART.start, PART.end)
    return sorted((t, name, (draw.randrange(8),)) for name in "abc" for t in draw.sample(times, number))


@given(st.integers(-100, 100), st.integers(0, 500), st.integers(1, 90), st.integers(1, 12))
def test_slices_are_apart_and_within_the_recording(first: int, more: int, length: int, number: int) -> None:
    found = slices(first, first + more, length, number)
    assert 1 <= len(found) <= number
    assert all(one.end - one.start == length and (one.start - first) % length == 0 for one in found)
    assert list(found) == sorted(set(found))
    assert found[0].start == first and found[-1].start <= first + more
    if len(found) < number:
        assert found[-1].end > first + more  # none is left out


@given(st.data(), st.integers(1, 9), st.integers(0, 3))
def test_chunks_hold_all_rows_in_order(data: st.DataObject, span: int, seed: int) -> None:
    times = data.draw(st.lists(st.integers(0, 30), max_size=80).map(sorted))
    given = [(t, data.draw(st.sampled_from("ab")), (i,)) for i, t in enumerate(times)]
    cuts = sorted(data.draw(st.sets(st.integers(0, 30), max_size=6)))
    found = chunks(given, cuts, seed, span)
    for name in "ab":
        pushed = [
            element for one in found for stream, batch in one.batches for element in batch if stream == name
        ]
        assert pushed == [(t, t + 1, payload) for t, stream, payload in given if stream == name]
    for one in found:
        assert one.last - one.first < span
        assert not any(one.first < cut <= one.last for cut in cuts)
        assert all(one.first <= start <= one.last for _, batch in one.batches for start, _, _ in batch)
    assert all(one.last <= after.first for one, after in pairwise(found))


@pytest.mark.parametrize("seed", [1, 2])
def test_what_migrations_take(seed: int) -> None:
    found = {
        run.strategy: run for run in run_slice(PART, rows(), seed, grid("genmig", "moving-states", "swap"))
    }
    genmig, moving, swap = found["genmig"], found["moving-states"], found["swap"]
    assert all(run.is_right for run in found.values())
    assert (genmig.outcome, moving.outcome, swap.outcome) == (MOVED, MOVED, REFUSED)
    # Elements of before the migration are valid for a window; times are told to a twentieth of it.
    assert genmig.duration is not None and moving.duration is not None
    assert WINDOW - 4 <= genmig.duration <= WINDOW + 4
    assert moving.duration <= 4
    assert moving.peak_state > moving.peak_state_stayed > 0
    assert (swap.peak_state, swap.duration) == (swap.peak_state_stayed, None)
    assert "swap" in swap.reason and genmig.reason == ""
    assert {run.digest for run in found.values()} == {genmig.digest}
    assert genmig.results > 100 and genmig.elements == 450
    assert PART.start + 100 <= genmig.at < PART.start + 300
    assert genmig.gap is not None and genmig.gap_stayed is not None and genmig.cpu > 0


def machine_free(runs: object) -> list[object]:
    return [replace(run, cpu=0.0, cpu_stayed=0.0) for run in runs]  # type: ignore[attr-defined]


def test_a_seed_says_all() -> None:
    asked = grid("genmig", "parallel-track")
    first, again, other = (machine_free(run_slice(PART, rows(), seed, asked)) for seed in (1, 1, 2))
    assert first == again != other


def test_a_migration_that_the_slice_is_too_short_for() -> None:
    (run,) = run_slice(PART, rows(), 1, grid("genmig", at=(0.99,)))
    assert (run.at, run.outcome, run.duration, run.is_right) == (PART.start + 396, UNFINISHED, None, True)
    (early, late) = run_slice(PART, rows(), 1, grid("genmig", at=(0.5, 0.25)))
    assert (early.at, late.at) == (PART.start + 100, PART.start + 200)


def test_nothing_comes_after_the_migration() -> None:
    """Time goes on all the same: a migration ends in silence, too."""
    before = [row for row in rows() if row[0] < PART.start + 200]
    for at in (0.49, 0.75):
        genmig, moving = run_slice(PART, before, 1, grid("genmig", "moving-states", at=(at,)))
        assert (genmig.is_right, genmig.results > 0, genmig.outcome) == (True, True, MOVED)
        assert genmig.duration is not None and genmig.duration <= WINDOW + 4
        assert moving.duration is not None and moving.duration <= 4


@given(st.data(), st.integers(2, 9))
def test_silence_adds_instants_and_no_elements(data: st.DataObject, span: int) -> None:
    times = data.draw(st.lists(st.integers(0, 90), min_size=1, max_size=20).map(sorted))
    cuts = sorted(data.draw(st.sets(st.integers(0, 90), max_size=2)))
    given = chunks([(t, "a", (t,)) for t in times], cuts, 1, span)
    found = list(with_silence(given, cuts, span, 120))
    assert [one for one in found if one.batches] == given
    assert all(one.last <= after.first for one, after in pairwise(found))
    assert all(after.first - one.last <= span for one, after in pairwise(found))
    assert 120 - found[-1].last <= span and found[-1].last < 120
    assert all(any(one.first == cut for one in found) for cut in cuts if given[-1].last < cut)


@pytest.mark.parametrize(
    ("mutant", "strategy", "outcome"),
    [
        ("results-at-the-split-time", "moving-states", MOVED),
        ("late-elements-counted", "genmig", FAILED),
    ],
)
def test_another_output_is_found(mutant: str, strategy: str, outcome: str) -> None:
    wrong = [
        run
        for seed in range(3)
        for run in run_slice(PART, rows(seed), seed, grid(strategy, mutant=mutant))
        if not run.is_right
    ]
    assert wrong and wrong[0].outcome == outcome
    assert (wrong[0].slice, wrong[0].strategy) == (PART.start, strategy)
    assert all(run.is_right for run in run_slice(PART, rows(0), 0, grid(strategy)))


def test_a_digest_is_of_snapshots() -> None:
    pieces = [(0, 3, (1, "x")), (3, 9, (1, "x")), (2, 4, (None, "y"))]
    whole = [(0, 9, (1, "x")), (2, 4, (None, "y"))]
    assert digest_of(pieces) == digest_of(whole)
    assert digest_of(whole) != digest_of([*whole, (2, 4, (None, "y"))])
    assert digest_of(whole) != digest_of([(0, 9, ("1", "x")), (2, 4, (None, "y"))])


@given(st.permutations(range(6)))
def test_rows_come_in_one_order_whatever_the_partitions(order: list[int]) -> None:
    texts: list[tuple[int, str, list[str | None]]] = [
        (5, "b", ["7", None]),
        (5, "a", ["1.5", "true"]),
        (5, "a", ["NaN", None]),
        (5, "a", [None, "false"]),
        (4, "b", ["-2", "z"]),
        (4, "b", ["-2", None]),
    ]
    schemas = {
        "a": stream("a", v="float?", w="boolean?").node.schema,
        "b": stream("b", x="integer", y="string?").node.schema,
    }
    asked = replace(grid(), schemas=schemas)
    found = read_rows([texts[i] for i in order], asked.schemas)
    assert [repr(row) for row in found] == [
        "(4, 'b', (-2, None))",
        "(4, 'b', (-2, 'z'))",
        "(5, 'a', (None, False))",
        "(5, 'a', (1.5, True))",
        "(5, 'a', (nan, None))",
        "(5, 'b', (7, None))",
    ]


def taken(units: UnitCosts, label: str, formula: str, **steps: float) -> Timed:
    known = Timed(formula, label, steps, 0.0)
    return replace(known, measured=known.predicted(units))


def test_cost_variables_are_found_again() -> None:
    """Of operators whose steps can be told apart; what they do not take stays in proportion."""
    before = UnitCosts()
    true = replace(before, predicate=0.4, hash=0.02)
    draw = random.Random(3)
    runs = [
        taken(true, "a", f"f{i % 40}", predicate=draw.uniform(0, 9), hash=draw.uniform(0, 9), output=1.0)
        for i in range(400)
    ]
    units = fit_near(runs, before)
    assert units.predicate / units.hash == pytest.approx(20, rel=0.5)
    assert units.merge / units.evaluate == pytest.approx(before.merge / before.evaluate, rel=1e-3)
    assert median(errors(runs, units)) < 0.1 < median(errors(runs, before))


def test_few_operators_leave_the_other_steps_as_they_were() -> None:
    before = UnitCosts(factors={"distinct": 2.0})
    fast = replace(before, **{step: getattr(before, step) / 3 for step in STEPS}, factors={})  # type: ignore[arg-type]
    runs = [taken(fast, "a", "hash_join", hash=n, bucket=n, output=2 * n) for n in (1.0, 2.0, 5.0)]
    units = fit_near(runs, before)
    for step in STEPS:
        assert getattr(units, step) == pytest.approx(getattr(before, step) / 3, rel=1e-3)
    assert units.factors == {"distinct": 2.0, "hash_join": pytest.approx(1.0, rel=1e-3)}
    with pytest.raises(StatisticsError, match="found no operator that took any time"):
        fit_near([], before)


def test_the_profile_of_slices() -> None:
    plan, _ = plans()
    found = [
        TimedSlice(i, machine, tuple(timed(plan, chunks(rows(i), [], 1, 20, 2000))))
        for i, machine in enumerate(("one", "one", "other", "one"))
    ]
    profile = profile_from(found, UnitCosts())
    assert profile.machine == "one; other"
    assert Profile.loads(profile.dumps()).units.factors == profile.units.factors
    assert {"hash_join", "time_window"} <= profile.units.factors.keys()


def test_wrong_grids() -> None:
    plan, _ = plans()
    with pytest.raises(ArgumentError, match="no other join order"):
        other_orders(stream("a", x="integer").window(9).plan())
    with pytest.raises(ArgumentError, match="found no other plan"):
        replace(grid("genmig"), targets=()).require(3)
    with pytest.raises(ArgumentError, match="found 200,000 runs"):
        replace(grid("genmig"), seeds=range(20_000)).require(10)
    with pytest.raises(ArgumentError, match="found 0 of length 5"):
        slices(0, 10, 5, 0)
    a = stream("a", x="integer", y="integer").window(9)
    b = stream("a", x="integer").alias("b").window(9)
    with pytest.raises(PlanError, match="found stream a with columns"):
        schemas_of(a.join(b, on=[("x", "b.x")]).plan())
    assert len(list(enumerate_plans(plan))) > 4


def test_seeds_count_once_and_shares_are_shares(drifting: Path) -> None:
    study = load_study(str(drifting))
    assert study.query is not None
    asked = grid_of(
        study, study.query, other_orders(study.query), strategies=("genmig",), seeds=(3, 1, 3), at=(1.0,)
    )
    assert (asked.seeds, asked.span) == ((3, 1), 2)
    with pytest.raises(ArgumentError, match=r"at: found 1\.5, expected a share"):
        grid_of(study, study.query, asked.targets, strategies=("genmig",), seeds=(1,), at=(1.5,))
