"""Run a scenario: every repetition without migration, with each strategy, and with each new plan alone."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial, reduce
from importlib.metadata import version

from midstream.io.progress import Progress
from midstream.plans.algebra.plan import Plan
from midstream.scenarios.trials.simulator.claims import checked
from midstream.scenarios.trials.simulator.comparing import NamedOutcome, compared, compared_runs
from midstream.scenarios.trials.simulator.early_ends import early_ends
from midstream.scenarios.trials.simulator.input import Input, input_of
from midstream.scenarios.trials.simulator.judging import Judgement, Steer, can_be_priced, judge
from midstream.scenarios.trials.simulator.results import (
    BASELINE,
    PolicyCost,
    Run,
    Simulation,
    alone,
)
from midstream.scenarios.trials.simulator.run import RunOutcome, run
from midstream.scenarios.trials.simulator.scenario import OPTIMIZER, Scenario
from midstream.scenarios.trials.simulator.steering import Steering
from midstream.scenarios.trials.simulator.variants import Variant
from midstream.scenarios.trials.simulator.windows import alike, cheaper, with_windows


def simulate(
    scenario: Scenario, progress: Progress = lambda done, total: None, *, is_quick: bool = False
) -> Simulation:
    """Run all plans, strategies and policies of a scenario, and compare them.

    Repetition i has streams of its own, from the scenario's seed + i, equal for all its runs. `is_quick`
    takes one element out of ten if there are many.

    State    All elements and all results of one repetition.
    Raises   What the sources of streams and the engine raise; refused migrations are part of the result.
    """
    spec = scenario.spec
    runs: list[Run] = []
    judged: list[PolicyCost] = []
    unpriced: str | None = None
    early: dict[str, None] = {}
    targets = {step.to for step in scenario.steps}
    runs_of_each = 1 if is_quick else spec.measures.runs
    different = 1 + len(scenario.variants) + len(targets) if spec.strategies else len(scenario.plans)
    different += len(scenario.policies) + len(scenario.budgets)
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
        ran = one.steered(judgement.outcomes)
        if spec.strategies or not scenario.policies:
            ran += [other for other in one.ran() if other.strategy not in judgement.outcomes]
        these = compared_runs(ran, repetition, arriving.seed)
        early |= dict.fromkeys(early_ends(scenario, arriving, these))
        runs += these
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
    """All arrivals; in a first look a part of them, unless replay can price the scenario."""
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

    def ran(self) -> list[NamedOutcome]:
        """The run without migration, each new plan alone, and each strategy, in this order.

        Without strategies, each plan runs alone; with budgets, all run together within each.
        """
        scenario = self._scenario
        if scenario.budgets:
            return self._within_budgets()
        if not scenario.spec.strategies:
            return self._plans_alone()
        outcomes = self._outcomes()
        start = scenario.plans[scenario.start]
        shared = alike(outcomes, scenario.every)
        stayed = shared[start]
        names = {plan: name for name, plan in reversed(self._targets(outcomes).items())}
        found = [NamedOutcome(BASELINE, stayed, stayed)]
        found += [
            NamedOutcome(alone(names[plan]), outcome, stayed)
            for plan, outcome in shared.items()
            if isinstance(plan, Plan) and plan != start
        ]
        # A migration is compared with the least of equally many runs; the least of more would be smaller.
        alones = {plan: outcome for plan, outcome in outcomes.items() if isinstance(plan, Plan)}
        for variant in scenario.variants:
            outcome = shared[variant.name]
            totals = with_windows(outcome, alones[start], alones)
            found.append(
                NamedOutcome(variant.name, replace(outcome, totals=totals), stayed, variant.is_ordered)
            )
        return found

    def run_steered(self, plan: str, steer: Steer) -> RunOutcome:
        """Run a plan with a steering as often as the scenario says; the least processing counts."""
        first = self._scenario.plans[plan]
        ran = (self._run_once(first, None, steer()) for _ in range(self._runs_of_each))
        return reduce(self._cheaper, ran)

    def steered(self, outcomes: Mapping[str, RunOutcome]) -> list[NamedOutcome]:
        """Runs with a steering, whose results must be those of the first plan alone."""
        return [
            NamedOutcome(name, outcome, outcomes[alone(self._scenario.start)])
            for name, outcome in outcomes.items()
        ]

    def _within_budgets(self) -> list[NamedOutcome]:
        """All queries together, within each budget."""
        found = []
        for name in self._scenario.budgets:
            ran = (self._run_once(None, None, None, name) for _ in range(self._runs_of_each))
            outcome = reduce(self._cheaper, ran)
            found.append(NamedOutcome(name, outcome, outcome))
        return found

    def _plans_alone(self) -> list[NamedOutcome]:
        """Each plan alone, compared with the plan that it is a variant of, with its own processing."""
        scenario, outcomes = self._scenario, self._outcomes()
        return [
            NamedOutcome(
                alone(name), outcomes[plan], outcomes[scenario.plans[scenario.spec.plans[name].of or name]]
            )
            for name, plan in scenario.plans.items()
        ]

    def _outcomes(self) -> dict[Plan | str, RunOutcome]:
        """Outcomes of the first plan without migration, of each strategy by name, and of the other plans."""
        if not self._scenario.spec.measures.in_turn:
            return self._round(self._runs_of_each)
        rounds = (self._round(1) for _ in range(self._runs_of_each))
        return reduce(
            lambda one, again: {key: self._cheaper(outcome, again[key]) for key, outcome in one.items()},
            rounds,
        )

    def _round(self, times: int) -> dict[Plan | str, RunOutcome]:
        """The outcomes of all runs, each run repeated `times` times in a row."""
        scenario = self._scenario
        start = scenario.plans[scenario.start]
        outcomes: dict[Plan | str, RunOutcome] = {start: self._run(start, None, times)}
        outcomes |= {variant.name: self._run(start, variant, times) for variant in scenario.variants}
        for plan in self._targets(outcomes).values():
            if plan not in outcomes:
                outcomes[plan] = self._run(plan, None, times)
        return outcomes

    def _targets(self, outcomes: Mapping[Plan | str, RunOutcome]) -> dict[str, Plan]:
        """The plans to which the scenario moves, by name; several choices of the optimizer are numbered."""
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

    def _run(self, plan: Plan, variant: Variant | None, times: int) -> RunOutcome:
        return reduce(self._cheaper, (self._run_once(plan, variant) for _ in range(times)))

    def _cheaper(self, one: RunOutcome, again: RunOutcome) -> RunOutcome:
        return cheaper(one, again, self._scenario.every)

    def _run_once(
        self,
        plan: Plan | None,
        variant: Variant | None,
        steering: Steering | None = None,
        budget: str | None = None,
    ) -> RunOutcome:
        tell = partial(self._tell, self._done)
        self._done += 1
        return run(self._scenario, plan, variant, self._input, tell, steering, budget)
