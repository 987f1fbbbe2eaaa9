"""Costs of policies on one repetition of a scenario, by replay where that is exact, and by the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from midstream.autopilot.costs.bill import Bill, bill, clairvoyant, hindsight
from midstream.autopilot.costs.exact import ExactCosts
from midstream.autopilot.costs.policies import LastBest, Periodic, Planned, replay
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.streams import Payload
from midstream.scenarios.trials.policies.policy import How
from midstream.scenarios.trials.simulator.engine_pilot import ByAutopilot
from midstream.scenarios.trials.simulator.input import Input
from midstream.scenarios.trials.simulator.joined_plans import Joined, joined
from midstream.scenarios.trials.simulator.results import HINDSIGHT, Kind, PolicyCost, PolicyMove, alone
from midstream.scenarios.trials.simulator.run import RunOutcome
from midstream.scenarios.trials.simulator.scenario import Scenario
from midstream.scenarios.trials.simulator.scenario_policies import (
    AUTOPILOT,
    CLAIRVOYANT,
    ENGINE_PILOT,
    FOR_ALL_PLANS,
    ScenarioPolicy,
)
from midstream.scenarios.trials.simulator.steering import ByPolicy, Steering, counted_before

Steer = Callable[[], Steering | None]
"""Makes the steering of a run; it returns None if the first plan runs all the time."""

Running = Callable[[str, Steer], RunOutcome]
"""Runs a plan, by its name, with the engine."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judged plans and policies of a repetition.

    outcomes    runs with the engine, by name; empty in a first look if replay can price the scenario
    unpriced    the reason why replay could price nothing; None if it could
    """

    judged: tuple[PolicyCost, ...] = ()
    outcomes: Mapping[str, RunOutcome] = field(default_factory=dict)
    unpriced: str | None = None


def judge(
    scenario: Scenario, arriving: Input, repetition: int, run: Running, *, with_engine: bool = True
) -> Judgement:
    """Judge each plan alone, and each policy.

    Without the engine, only those are judged that replay can price.
    """
    try:
        case = joined_of(scenario, arriving)
    except Unpriced as why:
        return _counted(scenario, arriving, repetition, run, str(why))
    judged: list[PolicyCost] = []
    outcomes: dict[str, RunOutcome] = {}
    pricing = ByReplay(scenario, case, repetition, bucket_ends(scenario, arriving))
    for one, steer in pricing.judged():
        if with_engine and steer is not None and one.start is not None:
            outcome = outcomes[one.policy] = run(one.start, steer)
            judged.append(replace(one, counted=outcome.spent[-1]))
        else:
            judged.append(one)
    for policy in scenario.policies if with_engine else ():
        if policy.kind == ENGINE_PILOT:
            start, outcome = worst_run(scenario, policy, run, partial(piloted, scenario, policy))
            outcomes[policy.name] = outcome
            judged.insert(-1, pricing.counted(policy, start, outcome))
    return Judgement(tuple(judged), outcomes)


def worst_run(
    scenario: Scenario, policy: ScenarioPolicy, run: Running, steer: Callable[[str], Steer]
) -> tuple[str, RunOutcome]:
    """The first plan from which a policy costs most with the engine, unless the scenario names one."""
    starts = [policy.start] if policy.start is not None else list(scenario.plans)
    return max(((start, run(start, steer(start))) for start in starts), key=lambda one: one[1].spent[-1])


def piloted(scenario: Scenario, policy: ScenarioPolicy, start: str) -> Steer:
    """Steering by the engine's own autopilot."""
    plans = tuple(scenario.plans.values())
    strategy = "genmig" if policy.how == "genmig" else "auto"
    return lambda: ByAutopilot(start, plans, policy.settings[AUTOPILOT], strategy)


def _counted(scenario: Scenario, arriving: Input, repetition: int, run: Running, why: str) -> Judgement:
    for policy in scenario.policies:
        if policy.kind not in FOR_ALL_PLANS:
            raise InputFileError(f"{scenario.spec.name}, policy {policy.name}: it cannot be priced: {why}")
    alones = {name: run(name, lambda: None) for name in scenario.plans}
    judged: list[PolicyCost] = []
    outcomes: dict[str, RunOutcome] = {}
    for one, outcome in ByEngine(scenario, arriving, repetition, alones).judged(run):
        judged.append(one)
        if outcome is not None:
            outcomes[one.policy] = outcome
    return Judgement(tuple(judged), outcomes, why)


def bucket_ends(scenario: Scenario, arriving: Input) -> list[int]:
    """The ends of the buckets of the grid; the last bucket includes all later arrivals."""
    ends = [(i + 1) * scenario.every for i in range(arriving.buckets)]
    return [*ends[:-1], max(ends[-1], arriving.portions[-1].at + 1)]


class Unpriced(ValueError):
    """Replay cannot price a scenario, for the reason in the message."""


def joined_of(scenario: Scenario, arriving: Input) -> Joined:
    """The case of all arrivals of a scenario.

    Raises   Unpriced where plans are no orders of a join of three streams; InputFileError where nothing
             arrives.
    """
    arrived: dict[str, list[tuple[int, Payload]]] = {name: [] for name in scenario.spec.streams}
    for portion in arriving.portions:
        arrived[portion.stream] += [(int(start), payload) for start, _, payload in portion.batch or ()]
    if not any(arrived.values()):
        raise InputFileError(f"{scenario.spec.name}: nothing arrives by which policies could be judged")
    try:
        return joined(scenario.spec.name, scenario.plans, arrived, scenario.spec.measures.bucket)
    except ValueError as error:
        raise Unpriced(str(error)) from error


def can_be_priced(scenario: Scenario, arriving: Input) -> bool:
    """True if the plans of a scenario are orders of a join of three streams."""
    try:
        joined_of(scenario, arriving)
    except Unpriced:
        return False
    return True


@dataclass(frozen=True)
class ByReplay:
    """Exact prices, computed from the arrivals."""

    scenario: Scenario
    joined: Joined
    repetition: int
    ends: Sequence[int]
    """The ends of the buckets of the grid."""

    def judged(self) -> Iterator[tuple[PolicyCost, Steer | None]]:
        """Judge each plan alone, the policies in order, the clairvoyant and hindsight.

        Each comes with the steering of its run with the engine, or None if it needs no run.
        """
        for number, name in enumerate(self._names):
            yield self._judged(alone(name), "fixed", bill(self._costs, number), ("genmig",)), lambda: None
        for policy in self.scenario.policies:
            if policy.kind == ENGINE_PILOT:
                continue
            if policy.kind == CLAIRVOYANT:
                found = self._cheapest[tuple(policy.strategies)]
                yield self._judged(policy.name, "clairvoyant", found, policy.strategies), self._planned(found)
            else:
                found = self._priced(policy)
                steer = self._steer(policy, found.start)
                yield self._judged(policy.name, "policy", found, policy.strategies), steer
        if all(policy.name != CLAIRVOYANT for policy in self.scenario.policies):
            strategies = max(self._cheapest, key=len)
            yield self._judged(CLAIRVOYANT, "clairvoyant", self._cheapest[strategies], strategies), None
        yield self._hindsight(), None

    @property
    def _costs(self) -> ExactCosts:
        return self.joined.case.costs

    @cached_property
    def _names(self) -> Sequence[str]:
        """The names of the plans, in the numbering of the case's orders."""
        return [self.joined.names[order] for order in self.joined.case.orders]

    @cached_property
    def _asked(self) -> frozenset[int]:
        """The instants at which some plan joins an arriving element, so that a policy is asked.

        Elements that all plans filter out tell a policy nothing, not even the time.
        """
        return frozenset(self._costs.instants[1:])

    def _planned(self, of: Bill) -> Steer:
        return lambda: ByPolicy(Planned(of.moves), self._names, of.start, self._asked.__contains__)

    def _steer(self, policy: ScenarioPolicy, start: int) -> Steer:
        case, asked = self.joined.case, self._asked.__contains__
        return lambda: ByPolicy(policy.policy(case, start), self._names, start, asked)

    @cached_property
    def _cheapest(self) -> Mapping[tuple[How, ...], Bill]:
        """The clairvoyant's bill for each choice of strategies."""
        choices: set[tuple[How, ...]] = {("genmig",)}
        choices |= {tuple(policy.strategies) for policy in self.scenario.policies}
        return {one: clairvoyant(self._costs, one) for one in sorted(choices)}

    @cached_property
    def _fixed(self) -> int:
        return min(self._costs.totals)

    def _priced(self, policy: ScenarioPolicy) -> Bill:
        """A policy's bill from its first plan, or the largest from any first plan."""
        case = self.joined.case
        starts = [number for number, name in enumerate(self._names) if policy.start in (None, name)]
        bills = (replay(case.costs, policy.policy(case, start), start) for start in starts)
        return max(bills, key=lambda bill: bill.total)

    def _judged(self, name: str, kind: Kind, bill: Bill, strategies: Sequence[How]) -> PolicyCost:
        cheapest, names = self._cheapest[tuple(strategies)], self._names
        before = self._costs.spent_before(bill)
        return PolicyCost(
            policy=name,
            kind=kind,
            repetition=self.repetition,
            start=names[bill.start],
            total=int(bill.total),
            is_priced=True,
            moves=len(bill.moves),
            of_fixed=_ratio(bill.total, self._fixed),
            regret=_ratio(bill.total, cheapest.total),
            spent=tuple(before(end) for end in self.ends),
            migrations=tuple(
                PolicyMove(one.at, one.until, names[one.old], names[one.new], one.strategy)
                for one in bill.moves
            ),
        )

    def counted(self, policy: ScenarioPolicy, start: str, outcome: RunOutcome) -> PolicyCost:
        """The costs of a policy that cannot be priced, as the engine counted them."""
        found = _by_count(policy.name, "policy", self.repetition, start, outcome, self._fixed)
        cheapest = self._cheapest[tuple(policy.strategies)]
        return replace(found, regret=_ratio(found.total, cheapest.total))

    def _hindsight(self) -> PolicyCost:
        cheapest = self._cheapest[max(self._cheapest, key=len)]
        by_bucket = self.joined.case.hindsight
        found = _in_hindsight(by_bucket, self.repetition, self._fixed)
        return replace(found, is_priced=True, regret=_ratio(found.total, cheapest.total))


@dataclass(frozen=True)
class ByEngine:
    """Costs of plans of any shape, counted by the engine.

    There is no clairvoyant, as it would have to price plans that did not run.
    """

    scenario: Scenario
    arriving: Input
    repetition: int
    alones: Mapping[str, RunOutcome]

    def judged(self, run: Running) -> Iterator[tuple[PolicyCost, RunOutcome | None]]:
        """Judge each plan alone, the policies that need no prices, and hindsight."""
        for name, outcome in self.alones.items():
            yield _by_count(alone(name), "fixed", self.repetition, name, outcome, self._fixed), outcome
        for policy in self.scenario.policies:
            steer = partial(self._steer, policy)
            start, outcome = worst_run(self.scenario, policy, run, steer)
            yield _by_count(policy.name, "policy", self.repetition, start, outcome, self._fixed), outcome
        yield _in_hindsight(self._hindsight(), self.repetition, self._fixed), None

    @cached_property
    def _fixed(self) -> int:
        return min(outcome.spent[-1] for outcome in self.alones.values())

    @cached_property
    def _begun(self) -> Sequence[Callable[[int], int]]:
        times = [portion.at for portion in self.arriving.portions]
        return [counted_before(times, outcome.spent) for outcome in self.alones.values()]

    def _spent(self, plan: int, since: int, until: int) -> int:
        return self._begun[plan](until) - self._begun[plan](since)

    @property
    def _first(self) -> int:
        return next(portion.at for portion in self.arriving.portions if portion.batch is not None)

    @property
    def _bucket(self) -> int:
        return self.scenario.spec.measures.bucket or self.scenario.every

    def _steer(self, policy: ScenarioPolicy, start: str) -> Steer:
        if policy.kind == ENGINE_PILOT:
            return piloted(self.scenario, policy, start)
        names, strategy = list(self.alones), "genmig" if policy.how == "genmig" else "auto"

        def last_best() -> Steering:
            begin, period = self._first, self._bucket
            choosing = Periodic(LastBest(), self._spent, len(names), begin, period, strategy)
            return ByPolicy(choosing, names, names.index(start))

        return last_best

    def _hindsight(self) -> int:
        beyond = self.arriving.portions[-1].at + 1
        return int(hindsight(self._spent, len(self.alones), range(self._first, beyond, self._bucket)))


def _by_count(
    name: str, kind: Kind, repetition: int, start: str, outcome: RunOutcome, fixed: int
) -> PolicyCost:
    """Costs that the engine counted, relative to the best fixed plan."""
    total = outcome.spent[-1]
    return PolicyCost(
        policy=name,
        kind=kind,
        repetition=repetition,
        start=start,
        total=total,
        counted=total,
        moves=len(outcome.moves),
        of_fixed=_ratio(total, fixed),
        spent=spent_by_bucket(outcome),
        migrations=_migrations(start, outcome),
    )


def _in_hindsight(total: int, repetition: int, fixed: int) -> PolicyCost:
    """The costs of the best plan of each bucket, relative to the best fixed plan."""
    ratio = _ratio(total, fixed)
    return PolicyCost(policy=HINDSIGHT, kind="hindsight", repetition=repetition, total=total, of_fixed=ratio)


def spent_by_bucket(outcome: RunOutcome) -> tuple[int, ...]:
    """Cumulative intermediate results at the end of each bucket of the grid."""
    return tuple(outcome.spent[taken - 1] if taken else 0 for taken in outcome.taken)


def _migrations(start: str, outcome: RunOutcome) -> tuple[PolicyMove, ...]:
    found, running = [], start
    for move in outcome.moves:
        found.append(PolicyMove(move.asked, move.ended, running, move.step.to, move.strategy))
        running = move.step.to
    return tuple(found)


def _ratio(total: float, of: float) -> float | None:
    return total / of if of else None
