"""Runs a scenario: every repetition without migration, with each strategy, and with each new plan alone."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from importlib.metadata import version

from midstream.io.progress import Progress
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.snapshots import NormalForm, compare, normal_form
from midstream.plans.values.streams import is_ordered as is_in_order
from midstream.plans.values.verdicts import SHOWN_DIFFERENCES
from midstream.scenarios.simulator.claims import checked
from midstream.scenarios.simulator.early_ends import early_ends
from midstream.scenarios.simulator.input import Input, input_of
from midstream.scenarios.simulator.judging import Judgement, Steer, can_be_priced, judge
from midstream.scenarios.simulator.results import (
    BASELINE,
    FIGURES,
    Compared,
    Judged,
    Run,
    Simulation,
    Verdict,
    alone,
    figure_of,
    spread,
)
from midstream.scenarios.simulator.run import Outcome, run
from midstream.scenarios.simulator.scenario import OPTIMIZER, Scenario
from midstream.scenarios.simulator.steering import Steering
from midstream.scenarios.simulator.variants import Variant
from midstream.scenarios.simulator.windows import alike, cheaper, with_windows


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
    judged: list[Judged] = []
    unpriced: str | None = None
    early: dict[str, None] = {}
    targets = {step.to for step in scenario.steps}
    runs_of_each = 1 if is_quick else spec.measures.runs
    different = 1 + len(scenario.variants) + len(targets) if spec.strategies else len(scenario.plans)
    different += len(scenario.policies)
    steps_of_one = runs_of_each * different
    for repetition in range(spec.repetitions):
        arriving = _arriving(scenario, spec.seed + repetition, is_quick=is_quick)
        done = repetition * steps_of_one

        def tell(step: int, portions: int, done: int = done, arriving: Input = arriving) -> None:
            share = portions / max(1, len(arriving.portions))
            progress(round(1000 * (done + step + share)), 1000 * spec.repetitions * steps_of_one)

        one = _Repetition(scenario, arriving, repetition, tell, runs_of_each)
        judgement = Judgement()
        if scenario.policies:
            judgement = judge(scenario, arriving, repetition, one.run_steered, with_engine=not is_quick)
            judged += judgement.judged
            unpriced = judgement.unpriced
            runs += one.steered_runs(judgement.outcomes)
        if spec.strategies or not scenario.policies:
            runs += [run for run in one.runs() if run.strategy not in judgement.outcomes]
        early |= dict.fromkeys(
            early_ends(scenario, arriving, [r for r in runs if r.repetition == repetition])
        )
    simulation = Simulation(
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
        captions=dict(spec.captions.items()),
        adjusted=tuple(change.at for change in spec.adjustments),
        judged=tuple(judged),
        unpriced=unpriced,
        early_ends=tuple(early),
        versions={"midstream": version("midstream"), "python": platform.python_version()},
    )
    return replace(simulation, claims=checked(scenario.claims, simulation, is_quick=is_quick))


def _arriving(scenario: Scenario, seed: int, *, is_quick: bool) -> Input:
    """All that arrives; in a first look a part of it, unless it can be priced without an engine."""
    if is_quick and scenario.policies:
        everything = input_of(scenario, seed)
        if can_be_priced(scenario, everything):
            return everything
    return input_of(scenario, seed, is_quick)


class _Repetition:
    """All runs over the same input."""

    def __init__(
        self,
        scenario: Scenario,
        arriving: Input,
        repetition: int,
        tell: Callable[[int, int], object],
        runs_of_each: int,
    ) -> None:
        self._scenario = scenario
        self._input = arriving
        self._repetition = repetition
        self._tell = tell
        self._done = 0
        self._runs_of_each = runs_of_each

    def runs(self) -> list[Run]:
        """Without migration, each new plan alone, and each strategy, in this order; without strategies, each
        plan alone."""
        scenario = self._scenario
        if not scenario.spec.strategies:
            return self._plans_alone()
        outcomes = self._outcomes()
        start = scenario.plans[scenario.start]
        shared = alike(outcomes, scenario.every)
        stayed = shared[start]
        form = normal_form(stayed.results)
        found = [self._judged(BASELINE, stayed, form)]
        names = {plan: name for name, plan in reversed(self._targets(outcomes).items())}
        found += [
            self._judged(alone(names[plan]), outcome, form)
            for plan, outcome in shared.items()
            if isinstance(plan, Plan) and plan != start
        ]
        # What is compared with a migration is the least of as many runs: of more, it would be less.
        alones = {plan: outcome for plan, outcome in outcomes.items() if isinstance(plan, Plan)}
        for variant in scenario.variants:
            outcome = shared[variant.name]
            one = self._judged(variant.name, outcome, form, is_ordered=variant.is_ordered)
            found.append(replace(one, totals=with_windows(outcome, alones[start], alones)))
        return found

    def run_steered(self, plan: str, steer: Steer) -> Outcome:
        """A plan, and what is decided while it runs."""
        first = self._scenario.plans[plan]
        ran = (self._run_once(first, None, steer()) for _ in range(self._runs_of_each))
        return reduce(self._cheaper, ran)

    def steered_runs(self, outcomes: Mapping[str, Outcome]) -> list[Run]:
        """All of them, judged by the results of the first plan alone."""
        if not outcomes:
            return []
        form = normal_form(outcomes[alone(self._scenario.start)].results)
        return [self._judged(name, outcome, form) for name, outcome in outcomes.items()]

    def _plans_alone(self) -> list[Run]:
        """Each plan, judged by the one of which it is another way; the processing of each is its own."""
        scenario = self._scenario
        outcomes = self._outcomes()
        forms: dict[str, NormalForm] = {}
        found = []
        for name, plan in scenario.plans.items():
            meant = scenario.spec.plans[name].of or name
            if meant not in forms:
                forms[meant] = normal_form(outcomes[scenario.plans[meant]].results)
            found.append(self._judged(alone(name), outcomes[plan], forms[meant]))
        return found

    def _outcomes(self) -> dict[Plan | str, Outcome]:
        """The first plan without migration, each strategy, by its name, and each other plan alone."""
        if not self._scenario.spec.measures.in_turn:
            return self._round(self._runs_of_each)
        rounds = (self._round(1) for _ in range(self._runs_of_each))
        return reduce(
            lambda one, again: {key: self._cheaper(outcome, again[key]) for key, outcome in one.items()},
            rounds,
        )

    def _round(self, times: int) -> dict[Plan | str, Outcome]:
        """The same, each so many times in a row."""
        scenario = self._scenario
        start = scenario.plans[scenario.start]
        outcomes: dict[Plan | str, Outcome] = {start: self._run(start, None, times)}
        outcomes |= {variant.name: self._run(start, variant, times) for variant in scenario.variants}
        for plan in self._targets(outcomes).values():
            if plan not in outcomes:
                outcomes[plan] = self._run(plan, None, times)
        return outcomes

    def _targets(self, outcomes: Mapping[Plan | str, Outcome]) -> dict[str, Plan]:
        """The plans to which the scenario wants to move, by name; those that the optimizer chose are
        numbered, where there are several."""
        if not self._scenario.spec.strategies:
            return dict(self._scenario.plans)
        named = {
            step.to: self._scenario.plans[step.to] for step in self._scenario.steps if step.to != OPTIMIZER
        }
        chosen = dict.fromkeys(
            move.plan for outcome in outcomes.values() for move in outcome.moves if move.step.to == OPTIMIZER
        )
        for i, plan in enumerate(chosen):
            named[OPTIMIZER if i == 0 else f"{OPTIMIZER} {i + 1}"] = plan
        return named

    def _run(self, plan: Plan, variant: Variant | None, times: int) -> Outcome:
        return reduce(self._cheaper, (self._run_once(plan, variant) for _ in range(times)))

    def _cheaper(self, one: Outcome, again: Outcome) -> Outcome:
        return cheaper(one, again, self._scenario.every)

    def _run_once(self, plan: Plan, variant: Variant | None, steering: Steering | None = None) -> Outcome:
        tell = partial(self._tell, self._done)
        self._done += 1
        return run(self._scenario, plan, variant, self._input, tell, steering)

    def _judged(self, strategy: str, outcome: Outcome, form: NormalForm, *, is_ordered: bool = True) -> Run:
        """The run, and whether its results are right; `is_ordered` tells whether they must be in order."""
        equivalence = compare(normal_form(outcome.results), form)
        has_order = is_in_order(outcome.results)
        moves = tuple(move.as_result() for move in outcome.moves)
        is_same = bool(equivalence) and not any(move.unmatched for move in moves)
        verdict: Verdict = "refused" if outcome.refused else "equal" if has_order else "unordered"
        if not is_same or (is_ordered and not has_order):
            verdict = "different"
        return Run(
            strategy=strategy,
            repetition=self._repetition,
            seed=self._input.seed,
            refused=outcome.refused,
            migrations=moves,
            series=outcome.series,
            totals=outcome.totals,
            verdict=verdict,
            is_ordered=has_order,
            differences=tuple(map(str, equivalence.differences[:SHOWN_DIFFERENCES])),
        )


def compared(runs: Sequence[Run]) -> tuple[Compared, ...]:
    """Every strategy over its repetitions."""
    by_strategy: dict[str, list[Run]] = {}
    for one in runs:
        by_strategy.setdefault(one.strategy, []).append(one)
    return tuple(_compared(strategy, of_it) for strategy, of_it in by_strategy.items())


def _compared(strategy: str, runs: Sequence[Run]) -> Compared:
    verdicts = {one.verdict for one in runs}
    worst: Sequence[Verdict] = ("different", "refused", "unordered", "equal")
    return Compared(
        strategy=strategy,
        runs=len(runs),
        verdict=next(verdict for verdict in worst if verdict in verdicts),
        refused=next((one.refused for one in runs if one.refused), None),
        figures={name: spread([figure_of(one, name) for one in runs]) for name in FIGURES},
    )
