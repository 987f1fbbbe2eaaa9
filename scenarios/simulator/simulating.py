"""Runs a scenario: every repetition without migration, with each strategy, and with each new plan alone."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from operator import le
from statistics import median

from midstream.plans.plan import Plan
from midstream.plans.snapshots import NormalForm, compare, normal_form
from midstream.scenarios.simulator.input import Input, input_of
from midstream.scenarios.simulator.results import (
    BASELINE,
    FIGURES,
    Compared,
    Run,
    Simulation,
    Spread,
    Totals,
    Verdict,
    alone,
)
from midstream.scenarios.simulator.run import Outcome, run
from midstream.scenarios.simulator.scenario import OPTIMIZER, Scenario

SHOWN_DIFFERENCES = 10
"""How many differences between results are spelled out."""

Progress = Callable[[int, int | None], object]
"""Told how many steps are done, of how many."""


def simulate(
    scenario: Scenario, progress: Progress = lambda done, total: None, *, is_quick: bool = False
) -> Simulation:
    """Run everything, and compare.

    Repetition i has streams of its own, from the scenario's seed + i; all its runs get the same ones. With
    `is_quick`, one element out of ten, where there are many.

    State    All elements and all results of one repetition.
    Raises   What the sources of streams and the engine raise; refused migrations are part of the result.
    """
    spec = scenario.spec
    runs: list[Run] = []
    targets = {step.to for step in scenario.steps}
    steps_of_one = 1 + len(spec.strategies) + len(targets)
    for repetition in range(spec.repetitions):
        given = input_of(scenario, spec.seed + repetition, is_quick)
        done = repetition * steps_of_one

        def tell(step: int, portions: int, done: int = done, given: Input = given) -> None:
            share = portions / max(1, len(given.portions))
            progress(round(1000 * (done + step + share)), 1000 * spec.repetitions * steps_of_one)

        runs += _Repetition(scenario, given, repetition, tell).runs()
    return Simulation(
        name=spec.name,
        description=spec.description,
        seed=spec.seed,
        repetitions=spec.repetitions,
        unit=scenario.unit.name,
        second=scenario.second,
        duration=spec.duration,
        every=scenario.every,
        plans={name: str(plan) for name, plan in scenario.plans.items()},
        text=scenario.text,
        runs=tuple(runs),
        compared=compared(runs),
        versions={"midstream": version("midstream"), "python": platform.python_version()},
    )


class _Repetition:
    """All runs over the same input."""

    def __init__(
        self, scenario: Scenario, given: Input, repetition: int, tell: Callable[[int, int], object]
    ) -> None:
        self._scenario = scenario
        self._given = given
        self._repetition = repetition
        self._tell = tell
        self._done = 0

    def runs(self) -> list[Run]:
        """Without migration, each new plan alone, and each strategy, in this order."""
        scenario = self._scenario
        start = scenario.plans[scenario.start]
        stayed = self._run(start, None)
        form = normal_form(stayed.results)
        found = [self._judged(BASELINE, stayed, form)]
        moved = [(strategy, self._run(start, strategy)) for strategy in scenario.spec.strategies]
        alones = {start: stayed}
        for name, plan in self._targets([outcome for _, outcome in moved]).items():
            if plan not in alones:
                alones[plan] = self._run(plan, None)
                found.append(self._judged(alone(name), alones[plan], form))
        for strategy, outcome in moved:
            one = self._judged(strategy, outcome, form)
            found.append(replace(one, totals=_with_windows(one.totals, outcome, stayed, alones)))
        return found

    def _targets(self, moved: Sequence[Outcome]) -> dict[str, Plan]:
        """The plans to which the scenario wants to move, by name; those that the optimizer chose are
        numbered, where there are several."""
        named = {
            step.to: self._scenario.plans[step.to] for step in self._scenario.steps if step.to != OPTIMIZER
        }
        chosen = dict.fromkeys(
            move.plan for outcome in moved for move in outcome.moves if move.step.to == OPTIMIZER
        )
        for i, plan in enumerate(chosen):
            named[OPTIMIZER if i == 0 else f"{OPTIMIZER} {i + 1}"] = plan
        return named

    def _run(self, plan: Plan, strategy: str | None) -> Outcome:
        step = self._done
        self._done += 1
        return run(self._scenario, plan, strategy, self._given, lambda portions: self._tell(step, portions))

    def _judged(self, strategy: str, outcome: Outcome, form: NormalForm) -> Run:
        equivalence = compare(normal_form(outcome.results), form)
        starts = [start for start, _, _ in outcome.results]
        is_ordered = all(map(le, starts, starts[1:]))
        moves = tuple(move.as_result() for move in outcome.moves)
        is_same = bool(equivalence) and is_ordered and not any(move.unmatched for move in moves)
        verdict: Verdict = "different" if not is_same else "refused" if outcome.refused else "equal"
        return Run(
            strategy=strategy,
            repetition=self._repetition,
            seed=self._given.seed,
            refused=outcome.refused,
            migrations=moves,
            series=outcome.series,
            totals=outcome.totals,
            verdict=verdict,
            is_ordered=is_ordered,
            differences=tuple(map(str, equivalence.differences[:SHOWN_DIFFERENCES])),
        )


def _with_windows(
    totals: Totals, outcome: Outcome, stayed: Outcome, alones: Mapping[Plan, Outcome]
) -> Totals:
    """The totals with what was processed while migrations were under way, there and elsewhere."""
    if not outcome.moves:
        return totals
    moving_to: dict[int, Plan] = {}
    for move in outcome.moves:
        # Of migrations under way at once, the last one has the newest plan.
        moving_to |= dict.fromkeys(range(len(outcome.cpu))[move.first : move.beyond], move.plan)
    return replace(
        totals,
        cpu_moving=sum(move.cpu for move in outcome.moves) + sum(outcome.cpu[i] for i in moving_to),
        cpu_window_old_alone=sum(stayed.cpu[i] for i in moving_to),
        cpu_window_new_alone=sum(alones[plan].cpu[i] for i, plan in moving_to.items()),
    )


def compared(runs: Sequence[Run]) -> tuple[Compared, ...]:
    """Every strategy over its repetitions."""
    by_strategy: dict[str, list[Run]] = {}
    for one in runs:
        by_strategy.setdefault(one.strategy, []).append(one)
    return tuple(_compared(strategy, of_it) for strategy, of_it in by_strategy.items())


def _compared(strategy: str, runs: Sequence[Run]) -> Compared:
    verdicts = {one.verdict for one in runs}
    worst: Sequence[Verdict] = ("different", "refused", "equal")
    return Compared(
        strategy=strategy,
        runs=len(runs),
        verdict=next(verdict for verdict in worst if verdict in verdicts),
        refused=next((one.refused for one in runs if one.refused), None),
        figures={name: _spread([_figure(one, name) for one in runs]) for name in FIGURES},
    )


def _figure(one: Run, name: str) -> float | None:
    if name != "duration":
        found: float | None = getattr(one.totals, name)
        return found
    ended = [move.ended - move.asked for move in one.migrations if move.ended is not None]
    return sum(ended) if ended else None


def _spread(figures: Sequence[float | None]) -> Spread:
    known = [figure for figure in figures if figure is not None]
    return Spread(median(known), min(known), max(known)) if known else Spread(None, None, None)
