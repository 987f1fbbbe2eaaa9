"""What is counted as processing: of one run, and of several runs of the same."""

from __future__ import annotations

from dataclasses import replace
from time import process_time
from types import SimpleNamespace
from typing import Any

import pytest

from midstream.driving import Move
from midstream.engine import Engine
from midstream.migration.transition import Transition
from midstream.plans.algebra.plan import Plan
from midstream.scenarios.trials.simulator.conditions import Bucket
from midstream.scenarios.trials.simulator.input import input_of
from midstream.scenarios.trials.simulator.run import RunOutcome, run
from midstream.scenarios.trials.simulator.run_record import MigrationSpan, RunRecord, processing
from midstream.scenarios.trials.simulator.scenario import Scenario, load_scenario, parse_scenario
from midstream.scenarios.trials.simulator.simulating import simulate
from midstream.scenarios.trials.simulator.steering import NamedMove
from midstream.scenarios.trials.simulator.variants import Variant
from midstream.scenarios.trials.simulator.windows import alike, cheaper

SMALL = """
name: small
duration: 40 s
streams:
  s: {columns: {x: {values: uniform, low: 0, high: 9}}, arrivals: {process: constant, rate: 5}}
plans:
  one: {sql: "SELECT DISTINCT x FROM s [RANGE 5 SECONDS]"}
  other: {sql: "SELECT x FROM s [RANGE 5 SECONDS] GROUP BY x"}
migrations: [{at: 20 s, to: other}]
strategies: [genmig]
measures: {every: 10 s, runs: 3}
"""


@pytest.fixture
def small(tmp_path: Any) -> Scenario:
    return parse_scenario("small.yaml", SMALL, tmp_path)


def test_processing_adds_up_portions_and_what_is_done_to_migrations(small: Scenario) -> None:
    """A migration that is asked for when a bucket ends belongs to the next one."""
    step = replace(small.steps[0], abort_at=25)
    move = Move(None, 0, 100.0)  # type: ignore[arg-type]
    begun = MigrationSpan(move, step, "genmig", 10, 1)
    given_up = replace(begun, move=replace(move, seconds=1000.0), asked=20, aborted=25, cpu_aborting=10_000.0)
    cpu = [1.0, 2.0, 4.0, 8.0]
    assert processing(cpu, [], [1, 3, 3, 4], 10) == (1, 7, 7, 15)
    assert processing(cpu, [begun], [1, 3, 3, 4], 10) == (1, 107, 107, 115)
    assert processing(cpu, [given_up], [1, 3, 3, 4], 10) == (1, 7, 11_007, 11_015)
    assert processing(cpu, [begun, replace(given_up, asked=99)], [4], 10) == (11_115,)


def test_of_two_runs_the_least_of_each_arrival_counts(small: Scenario) -> None:
    given = input_of(small, 1, False)
    one, again = (run(small, small.plans["one"], small.variants[0], given) for _ in range(2))
    n = len(one.cpu)

    def with_costs(outcome: RunOutcome, even: float, odd: float, beginning: float) -> RunOutcome:
        moves = tuple(replace(one, move=replace(one.move, seconds=beginning)) for one in outcome.moves)
        return replace(outcome, cpu=[even, odd] * (n // 2) + [even] * (n % 2), moves=moves)

    found = cheaper(with_costs(one, 1, 5, 7), with_costs(again, 3, 2, 9), small.every)
    assert list(found.cpu) == ([1, 2] * n)[:n]
    assert [one.move.seconds for one in found.moves] == [7]
    assert found.series.cpu == processing(found.cpu, found.moves, one.taken, small.every)
    assert found.totals.cpu == found.series.cpu[-1] == sum(found.cpu) + 7
    assert found.totals.speed == len(one.results) / found.totals.cpu
    assert found.results == one.results


def test_what_runs_do_alike_costs_the_same(small: Scenario) -> None:
    """Before the migration as without it, and after it as the new plan alone."""
    given = input_of(small, 1, False)
    stayed, moved, alone = (
        run(small, small.plans[plan], variant, given)
        for plan, variant in (("one", None), ("one", small.variants[0]), ("other", None))
    )
    n = len(stayed.cpu)
    ((_, old), (first, none), (beyond, new)) = moved.running
    assert 0 < first < beyond < n
    assert (first, none) == (moved.moves[0].first, None)
    assert stayed.running == [(0, old)] and alone.running == [(0, new)]
    runs = {
        "stayed": replace(stayed, cpu=([1.0, 9.0] * n)[:n]),
        "moved": replace(moved, cpu=([3.0, 4.0] * n)[:n]),
        "alone": replace(alone, cpu=([5.0, 2.0] * n)[:n]),
    }
    found = alike(runs, small.every)
    costs = {name: list(one.cpu) for name, one in found.items()}
    assert costs["stayed"] == [*([1, 4] * n)[:first], *([1, 9] * n)[first:n]]
    assert costs["moved"] == [*([1, 4] * n)[:first], *([3, 4] * n)[first:beyond], *([3, 2] * n)[beyond:n]]
    assert costs["alone"] == [*([5, 2] * n)[:beyond], *([3, 2] * n)[beyond:n]]
    for one in found.values():
        beginning = sum(span.move.seconds for span in one.moves)
        assert one.totals.cpu == one.series.cpu[-1] == sum(one.cpu) + beginning


@pytest.mark.parametrize("is_steered", [False, True])
def test_what_beginning_a_migration_takes_is_of_no_portion(
    is_steered: bool, small: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither is what it takes to compare the plans before, or to measure a bucket."""

    def spend(seconds: float) -> None:
        until = process_time() + seconds
        while process_time() < until:
            pass

    def begin(self: Variant, engine: Engine, plan: Plan) -> Transition:
        spend(0.2)
        return really_begin(self, engine, plan)

    def close(*arguments: Any) -> Bucket:
        spend(0.2)
        return really_close(*arguments)

    really_begin, really_close = Variant.begin, RunRecord.close
    monkeypatch.setattr(RunRecord, "close", close)
    monkeypatch.setattr(Variant, "begin", begin)
    monkeypatch.setattr(
        "midstream.scenarios.trials.simulator.run.known_equivalence", lambda one, other: spend(0.3)
    )
    scenario, variant, steering = small, small.variants[0], None
    if is_steered:
        decide = {20_000: NamedMove("other", "genmig")}
        steering = SimpleNamespace(start="one", decide=lambda time, spent: decide.get(time))
        scenario, variant = replace(small, policies=(None,)), None  # type: ignore[arg-type,assignment]
    found = run(scenario, small.plans["one"], variant, input_of(small, 1, False), steering=steering)
    (span,) = found.moves
    assert 0.2 <= span.move.seconds < 0.3 and max(found.cpu) < 0.2
    assert found.totals.cpu == sum(found.cpu) + span.move.seconds
    assert span.asked == 20_000


@pytest.mark.parametrize("name", ["small", "chapter-30"])
def test_what_is_processed_until_the_end_is_all(name: str, small: Scenario) -> None:
    scenario = small if name == "small" else load_scenario(name)
    simulation = simulate(scenario, is_quick=True)
    for one in simulation.runs:
        assert one.totals.cpu == one.series.cpu[-1] > 0
        assert list(one.series.cpu) == sorted(one.series.cpu)


@pytest.mark.parametrize(
    ("in_turn", "order"),
    [
        (False, [*["alone"] * 3, *["genmig"] * 3, *["alone"] * 3]),
        (True, ["alone", "genmig", "alone"] * 3),
    ],
)
def test_runs_of_the_same_follow_each_other_or_all_are_made_in_turn(
    in_turn: bool, order: list[str], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = SMALL.replace("runs: 3", f"runs: 3, in_turn: {str(in_turn).lower()}")
    small = parse_scenario("small.yaml", text, tmp_path)
    made = []

    def noted(scenario: Scenario, plan: Any, variant: Any, *rest: Any) -> RunOutcome:
        made.append("alone" if variant is None else variant.name)
        return run(scenario, plan, variant, *rest)

    monkeypatch.setattr("midstream.scenarios.trials.simulator.simulating.run", noted)
    steps: list[tuple[int, int | None]] = []
    simulation = simulate(small, lambda done, total: steps.append((done, total)))
    assert made == order
    assert [one.strategy for one in simulation.runs] == ["none", "other alone", "genmig"]
    assert all(one.verdict == "equal" for one in simulation.runs)
    assert steps == sorted(steps)
    assert all(total == 9000 and done <= total for done, total in steps)
