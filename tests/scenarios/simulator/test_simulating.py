"""Running scenarios: what is measured is true, and the same for the same seed."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any

import pytest
from simulated import VOUCHED, joined, other_meaning, scenario, stream

from midstream.engine import Engine
from midstream.migration.machine import Migration
from midstream.plans.values.errors import EnumerationLimit, InputFileError
from midstream.scenarios.trials.simulator import simulating
from midstream.scenarios.trials.simulator.input import input_of
from midstream.scenarios.trials.simulator.results import BASELINE, OF_PROCESSING, Run, Simulation
from midstream.scenarios.trials.simulator.run import run
from midstream.scenarios.trials.simulator.simulating import simulate
from midstream.scenarios.trials.simulator.variants import Variant

MEASURED = ("seconds", *OF_PROCESSING)
"""The keys of what depends on the machine."""


@functools.cache
def simulated(is_wild: bool = False) -> Simulation:
    """The scenario as it is, simulated once for all tests that only look."""
    return simulate(scenario(streams=WILD) if is_wild else scenario())


def without_clocks(data: Any) -> Any:
    """Plain data without what differs from run to run."""
    if isinstance(data, dict):
        return {key: without_clocks(value) for key, value in data.items() if key not in MEASURED}
    return [without_clocks(value) for value in data] if isinstance(data, list | tuple) else data


def only(simulation: Simulation, strategy: str) -> Run:
    """The only run of a strategy."""
    (found,) = simulation.of(strategy)
    return found


WILD = {
    "A": stream(
        {"steps": {"0 s": 10, "4 s": 60}}, lag={"linear": {"0 s": 0, "10 s": 900}}, heartbeats="300 ms"
    ),
    "B": stream(disorder="200 ms", slack="300 ms"),
    "C": stream(idle=[{"since": "4 s", "until": "6 s"}], heartbeats="1 s")
    | {"arrivals": {"process": "poisson", "rate": 30}},
}
"""Streams with all that a stream can have."""


def test_the_same_again() -> None:
    wild = scenario(streams=WILD, repetitions=2, strategies=["genmig", "parallel-track"])
    first, second = simulate(wild), simulate(wild)
    assert without_clocks(first.as_dict()) == without_clocks(second.as_dict())
    one, other = first.of("genmig")
    assert one.series.results != other.series.results, "repetitions have streams of their own"
    in_json = first.as_dict()["runs"][first.runs.index(one)]["series"]
    assert in_json["rest"] == one.series.outside and "outside" not in in_json


@pytest.mark.slow
def test_the_same_whatever_the_hash_seed() -> None:
    program = (
        "import sys; sys.path += ['tests/support', 'tests/scenarios/simulator']\n"
        "from test_simulating import *\n"
        "print(without_clocks(simulate(scenario(streams=WILD, strategies=['genmig', 'auto'])).as_dict()))"
    )
    shown = [
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]
    assert shown[0] == shown[1]


@pytest.mark.parametrize("batch", [7, *(pytest.param(batch, marks=pytest.mark.slow) for batch in (1, 1000))])
def test_batches_change_no_result(batch: int) -> None:
    found = simulate(scenario(streams=WILD, batch=batch))
    assert found.is_equal
    usual = simulated(is_wild=True)
    for strategy in (BASELINE, "genmig"):
        one, other = only(found, strategy), only(usual, strategy)
        assert one.series.results == other.series.results
        assert one.series.elements == other.series.elements
        assert [move.split for move in one.migrations] == [move.split for move in other.migrations]


def test_what_is_counted_adds_up() -> None:
    found = simulate(scenario(streams=WILD, strategies=["genmig", "parallel-track"]))
    given = input_of(scenario(streams=WILD), seed=1)
    elements = sum(len(portion.batch or ()) for portion in given.portions)
    for one in found.runs:
        assert one.totals.elements == sum(one.series.elements) == elements
        assert one.totals.results == sum(one.series.results)
        assert one.series.state[-1] == 0, "the streams have ended"
        assert len(one.series.cpu) == given.buckets
        assert all(before <= after for before, after in pairwise(one.series.cpu))
        assert one.totals.cpu == one.series.cpu[-1]
    same = {one.totals.results for one in found.runs}
    assert len(same) == 1, "joins give the same results one by one"


def test_intermediate_results_are_those_of_both_plans_while_both_run() -> None:
    found = simulated()
    moved, (move,) = only(found, "genmig"), only(found, "genmig").migrations
    assert (move.asked, move.phase) == (5000, "done")
    assert move.ended is not None
    old, new = only(found, BASELINE).series.intermediate, only(found, "new alone").series.intermediate
    before, after = move.asked // found.every, move.ended // found.every + 1
    series = moved.series.intermediate
    assert series[:before] == old[:before]
    assert series[after:] == new[after:]
    for i in range(before + 1, after):
        # The new plan may make them a little later than it would alone, as it gets several elements at once.
        of_old, of_new, of_both = (sum(one[before:i]) for one in (old, new, series))
        assert of_old < of_both <= of_old + of_new
    of_old, of_new, of_both = (sum(one[before:after]) for one in (old, new, series))
    assert max(of_old, of_new) < of_both < of_old + of_new, "behind its end, only the new plan makes them"


def test_state_is_that_of_the_old_box_then_of_both_then_of_the_new_one() -> None:
    simulation = simulated()
    found, stayed = only(simulation, "genmig"), only(simulation, BASELINE)
    (move,) = found.migrations
    assert move.ended is not None
    begun, over = move.asked // 500, move.ended // 500 + 1
    old, new = found.series.old, found.series.new
    assert all(old[:begun])
    assert old[: begun + 1] == stayed.series.old[: begun + 1]
    assert not any(new[:begun])
    assert all(old[begun : over - 1])
    assert all(new[begun : over - 1])
    assert not any(old[over:])
    assert all(new[over:-1])


def test_latency_is_how_long_a_result_waits_for_what_it_needs() -> None:
    late = {"A": stream(), "B": stream(lag="700 ms"), "C": stream()}
    found = simulate(scenario(streams=late, migrations=[]))
    assert only(found, BASELINE).totals.latency_max is not None
    assert 700 <= (only(found, BASELINE).totals.latency_max or 0) <= 750
    assert (only(simulate(scenario(migrations=[])), BASELINE).totals.latency_max or 0) < 100


def test_parallel_track_is_silent_and_genmig_is_not() -> None:
    found = simulate(scenario(strategies=["genmig", "parallel-track"]))
    genmig, track = (only(found, name).totals for name in ("genmig", "parallel-track"))
    assert track.longest_pause_moving is not None
    assert genmig.longest_pause_moving is not None
    assert track.longest_pause_moving > 3000 > 500 > genmig.longest_pause_moving
    assert only(found, BASELINE).totals.longest_pause_moving is None


def test_a_pause_outside_of_migrations_is_not_theirs() -> None:
    idle = [{"since": "2 s", "until": "3500 ms"}]
    found = simulate(scenario(streams={name: stream(idle=idle) for name in "ABC"}))
    totals = only(found, "genmig").totals
    assert totals.longest_pause is not None
    assert totals.longest_pause >= 1500
    assert totals.longest_pause_moving is not None
    assert totals.longest_pause_moving < 500


def test_processing_while_migrating_is_compared_with_the_same_time_elsewhere() -> None:
    found = simulated()
    totals = only(found, "genmig").totals
    assert totals.cpu_moving is not None
    assert totals.cpu_window_old_alone is not None
    assert totals.cpu_window_new_alone is not None
    assert 0 < totals.cpu_window_old_alone < only(found, BASELINE).totals.cpu
    assert 0 < totals.cpu_window_new_alone < only(found, "new alone").totals.cpu
    assert totals.cpu_moving < totals.cpu
    assert only(found, BASELINE).totals.cpu_moving is None


def test_a_plan_that_means_something_else_is_found_out() -> None:
    both = {"old": joined("A", "B", "C"), "new": other_meaning()}
    found = simulate(scenario(plans=both, migrations=VOUCHED))
    assert [(one.strategy, one.verdict) for one in found.compared] == [
        (BASELINE, "equal"),
        ("new alone", "different"),
        ("genmig", "different"),
    ]
    assert not found.is_equal
    assert len(only(found, "genmig").differences) == 10
    assert "times on the left" in only(found, "genmig").differences[0]


def test_a_plan_that_is_known_to_mean_something_else_is_refused() -> None:
    wrong = joined("C", "B", "A")
    wrong["sql"] += " AND A.k > 2"
    for migrations in ([{"at": "5 s", "to": "new"}], VOUCHED):
        with pytest.raises(InputFileError) as caught:
            scenario(plans={"old": joined("A", "B", "C"), "new": wrong}, migrations=migrations)
        assert "migrations[0].to: new: the plans do not mean the same" in str(caught.value)
        assert "new  nothing" in str(caught.value)
    with pytest.raises(InputFileError, match="it is unknown whether the plans mean the same"):
        scenario(plans={"old": joined("A", "B", "C"), "new": other_meaning()})


def test_results_out_of_order_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def backwards(scenario: Any, plan: Any, variant: Variant | None, *rest: Any) -> Any:
        found = run(scenario, plan, variant, *rest)
        return found if variant is None else replace(found, results=found.results[::-1])

    monkeypatch.setattr(simulating, "run", backwards)
    found = only(simulate(scenario()), "genmig")
    assert (found.verdict, found.is_ordered, found.differences) == ("different", False, ())


def test_what_is_refused_goes_on_as_before() -> None:
    last = "SELECT DISTINCT A.k FROM A WINDOW(RANGE 2 SECONDS), B WINDOW(RANGE 2 SECONDS) WHERE A.k = B.k"
    first = "SELECT L.k FROM ({}) L, ({}) R WHERE L.k = R.k".format(
        *(f"SELECT DISTINCT k FROM {name} WINDOW(RANGE 2 SECONDS)" for name in "AB")
    )
    distinct = {"old": {"sql": last}, "new": {"sql": first}}
    found = simulate(scenario(plans=distinct, strategies=["parallel-track"], migrations=VOUCHED))
    (refused,) = found.of("parallel-track")
    assert refused.verdict == "refused"
    assert refused.refused is not None
    assert refused.refused.startswith("at 5000: ")
    assert refused.migrations == ()
    assert found.is_equal, "a refusal is no wrong result"


@pytest.mark.parametrize(
    ("when", "at"),
    [
        ("rate(A) > 50", 4500),  # the steps are at 4 s; the bucket that shows them ends at 4.5 s
        ("rate(A) > 50 and rate(B) > 50", None),
        ("rate > 100", None),
        ("selectivity(A) <= 0", 500),  # nothing has met in the first bucket
        ("latency > 100000", None),
    ],
)
def test_conditions_are_met_where_they_are(when: str, at: int | None) -> None:
    streams = {
        "A": stream({"steps": {"0 s": 10, "4 s": 60}}),
        "B": stream(10, high=1000) | {"arrivals": {"process": "constant", "rate": 10}},
        "C": stream(10),
    }
    found = only(simulate(scenario(streams=streams, migrations=[{"when": when, "to": "new"}])), "genmig")
    assert [move.asked for move in found.migrations] == ([] if at is None else [at])
    assert [move.condition for move in found.migrations] == ([] if at is None else [when])


@pytest.mark.parametrize(
    ("when", "series", "least"), [("state >= 70", "state", 70), ("results > 30", "results", 16)]
)
def test_conditions_are_about_what_the_run_measures(when: str, series: str, least: int) -> None:
    asked = scenario(migrations=[{"when": when, "to": "new"}])
    found = simulate(asked)
    measured = getattr(only(found, BASELINE).series, series)
    met = next(i for i, value in enumerate(measured) if value >= least)
    assert met > 0, "else this is no test"
    assert [move.asked for move in only(found, "genmig").migrations] == [(met + 1) * 500]


def test_a_condition_is_about_a_bucket_that_is_over() -> None:
    steps = [{"at": "5200 ms", "to": "new"}, {"when": "state > 0", "to": "old"}]
    moved = only(simulate(scenario(migrations=steps)), "genmig").migrations
    assert [move.asked for move in moved] == [5200, 5500]


def test_migrations_follow_one_another() -> None:
    chained = scenario(
        plans={"old": joined("A", "B", "C"), "new": joined("C", "B", "A"), "third": joined("B", "C", "A")},
        migrations=[
            {"at": "3 s", "to": "new"},
            {"at": "4 s", "to": "third"},
            {"at": "8 s", "to": "optimizer"},
        ],
    )
    found = simulate(chained)
    moved = only(found, "genmig")
    assert found.is_equal
    assert [move.asked for move in moved.migrations] == [3000, 4000, 8000]
    assert [move.to for move in moved.migrations] == ["new", "third", "optimizer"]
    first, second, last = moved.migrations
    assert first.ended is not None
    assert first.ended > second.asked, "the second begins while the first is under way"
    assert (first.plan, second.plan) == (found.plans["new"], found.plans["third"])
    assert last.phase == "done"
    assert second.ended is not None
    both = slice(second.asked // 500, second.ended // 500)
    assert first.ended // 500 + 1 < both.stop
    alone = (only(found, name).series.intermediate[both] for name in ("new alone", "third alone"))
    # What waits for the new plan is counted when it is worked on, which may be in the next bucket.
    counts = (accumulate(one) for one in (moved.series.intermediate[both], *alone))
    for made, new, third in zip(*counts, strict=True):
        assert new <= made <= new + third
    assert sum(moved.series.intermediate) == moved.totals.intermediate


@pytest.mark.skipif(not hasattr(Migration, "abort"), reason="migrations cannot be given up yet")
def test_a_migration_is_given_up() -> None:
    """The old plan goes on, and nothing is lost."""
    found = only(simulate(scenario(migrations=[{"at": "5 s", "to": "new", "abort_at": "6 s"}])), "genmig")
    (move,) = found.migrations
    assert (found.verdict, move.phase, move.aborted, move.ended) == ("equal", "aborted", 6000, 6000)
    assert all(found.series.old[12:-1])
    assert not any(found.series.new[12:])


def test_a_migration_that_is_over_is_not_given_up() -> None:
    found = only(simulate(scenario(migrations=[{"at": "3 s", "to": "new", "abort_at": "9 s"}])), "genmig")
    (move,) = found.migrations
    assert (found.verdict, move.phase, move.aborted, move.reason) == ("equal", "done", None, "")


def test_a_migration_inside_a_bucket_of_the_grid() -> None:
    found = simulate(scenario(migrations=[{"at": "5200 ms", "to": "new"}]))
    (move,) = only(found, "genmig").migrations
    assert move.asked == 5200
    assert {len(one.series.results) for one in found.runs} == {20}


def test_a_migration_before_the_first_element() -> None:
    found = simulate(scenario(migrations=[{"at": 0, "to": "new"}]))
    moved = only(found, "genmig")
    assert (moved.verdict, moved.refused) == ("equal", None)
    assert [(move.asked, move.began, move.phase) for move in moved.migrations] == [(0, None, "done")]
    assert len(moved.series.results) == len(only(found, BASELINE).series.results) == 20
    assert moved.series.intermediate == only(found, "new alone").series.intermediate


def test_where_the_optimizer_finds_no_plan_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(*_: Any, **__: Any) -> None:
        raise EnumerationLimit("more than 3 plans")

    monkeypatch.setattr(Engine, "optimize", give_up)
    found = only(simulate(scenario(migrations=[{"at": "5 s", "to": "optimizer"}])), "genmig")
    assert (found.verdict, found.refused, found.migrations) == ("refused", "at 5000: more than 3 plans", ())


@pytest.mark.slow
def test_a_first_look_takes_one_element_out_of_ten() -> None:
    many = scenario(streams={name: stream(50) for name in "ABC"})
    whole, quick = (simulate(many, is_quick=is_quick) for is_quick in (False, True))
    assert only(quick, BASELINE).totals.elements == only(whole, BASELINE).totals.elements // 10
    assert quick.is_equal
    few = simulate(scenario(), is_quick=True)
    assert only(few, BASELINE).totals.elements == 600, "of few elements all are taken"


def test_memory_is_estimated_where_it_is_asked_for() -> None:
    found = only(simulate(scenario(measures={"every": "1 s", "bytes": True})), "genmig").series
    assert all(
        size is not None and size > 50 * kept
        for size, kept in zip(found.bytes, found.state, strict=True)
        if kept
    )
    assert set(only(simulated(), "genmig").series.bytes) == {None}


def test_progress_is_told() -> None:
    told: list[tuple[int, int | None]] = []
    simulate(scenario(repetitions=2), lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert {total for _, total in told} == {6000}
    assert 5000 < told[-1][0] <= 6000


def test_streams_that_end_early_are_told_of() -> None:
    assert simulated().early_ends == ()
    # The migration begins, and is over only because the streams are.
    (told,) = simulate(scenario(duration="5500 ms")).early_ends
    assert "before the migration to new by genmig is over, whose split time is" in told

    def until(end: str, **more: Any) -> str:
        silent = {name: stream({"steps": {"0 s": 10, end: 1e-6}}) for name in "ABC"}
        return "\n".join(simulate(scenario(streams=silent, **more)).early_ends)

    assert "before the migration to new begins at 5,000" in until("3 s")
    assert "before the first window of 2,000 milliseconds is over" in until("1 s")
    assert "before the first step of 4,000 milliseconds" in until("3 s", measures={"every": "4 s"})
