"""An autopilot without an engine: what it would decide, by what is known of each cell of time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from operator import attrgetter

from midstream.autopilot.accounts import Accounts, counts
from midstream.autopilot.advice import Advice
from midstream.autopilot.advising import ByOptimizer
from midstream.autopilot.autopilot import Autopilot, Later
from midstream.autopilot.costs.bill import split_chronon
from midstream.autopilot.settings import Settings
from midstream.autopilot.watching import WEIGHED, largest_window
from midstream.engine import Engine
from midstream.migration.strategies import STRATEGIES, find_strategy
from midstream.operators.engine.counting import Counters
from midstream.optimizer import Objective, Statistics
from midstream.optimizer.online.decayed_statistics import DecayedStatistics
from midstream.optimizer.online.restarting_statistics import RestartingStatistics
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import input_nodes
from midstream.plans.values.errors import ArgumentError, MidstreamError
from midstream.plans.values.observations import Cell
from midstream.scenarios.studies.policies.inner_joins import InnerJoin, inner_joins


@dataclass(frozen=True, slots=True)
class Results:
    """What inner joins have given since the chronon that was told before, up to the end of this one: by join,
    how many results started, and how many ended. All chronons are told in which a split time may lie, but for
    those up to which nothing has changed."""

    chronon: int
    started: Sequence[int]
    ended: Sequence[int]


@dataclass(frozen=True, slots=True)
class Instant:
    """What came on all streams in a cell of time, which is not nothing.

    end       where the cell ends
    cells     what a collector tells of the streams on which something came; empty where only results are told
    max_end   the largest end of what the plan's windows gave; None where they gave nothing
    results   what is told of chronons in the cell, in order, where results are counted
    """

    end: int
    cells: Sequence[Cell]
    max_end: int | None
    results: Sequence[Results] = ()


@dataclass(frozen=True, slots=True)
class Wish:
    """A migration that an autopilot begins.

    until_split   after how many chronons the last element so far ends; −1 where that was before
    following     when the next element starts, then or later
    """

    at: int
    to: Plan
    strategy: str
    until_split: int
    following: int


@dataclass(frozen=True)
class Flight:
    """How an autopilot is to fly a query: as `engine.autopilot` would.

    joins    the inner joins of plans of which it is told what they gave, so that it is known what plans have
             cost, as an engine counts it; None where that is estimated

    Raises   ArgumentError where the plan has no window, or the strategy is not known.
    """

    plan: Plan
    settings: Settings
    objective: Objective
    strategy: str = "auto"
    joins: tuple[InnerJoin, ...] | None = None

    def __post_init__(self) -> None:
        if largest_window(self.plan) is None:
            raise ArgumentError("policies: found a query without a time window, by which an autopilot looks")
        find_strategy(self.strategy)

    @property
    def window(self) -> int:
        """The largest one."""
        window = largest_window(self.plan)
        assert window is not None
        return window

    @property
    def step(self) -> int:
        """The time from look to look."""
        return max(1, self.window // self.settings.looks)


def fly(flight: Flight, instants: Iterable[Instant]) -> Iterator[Wish]:
    """The migrations that an autopilot begins, in order of time.

    State    That of the autopilot, its advisor and its statistics; one instant of what comes.
    """
    pilot = _Pilot(flight)
    for look in _looks(instants, flight.step, idle=flight.window // flight.step + 2):
        pilot.take(look.told)
        wish = pilot.look(look.at, look.following)
        if wish is not None:
            yield wish


@dataclass(frozen=True, slots=True)
class _Look:
    """An instant of the grid, what came since the last one, and the next element, on which streams come to
    the instant."""

    at: int
    told: Sequence[Instant]
    following: int


def _looks(instants: Iterable[Instant], step: int, idle: int) -> Iterator[_Look]:
    """When to look, as `Watch` has it."""
    looked: int | None = None
    latest, rest, silent = 0, iter(instants), list[Instant]()

    def following() -> Instant | None:
        for instant in rest:
            if instant.cells:
                return instant
            silent.append(instant)
        return None

    coming = following()
    while coming is not None:
        is_idle = looked is None or looked >= latest + idle
        number = coming.end // step if is_idle else looked + 1  # type: ignore[operator]
        told = []
        while coming is not None and coming.end <= number * step:
            told += [*silent, coming]
            silent.clear()
            latest = coming.end // step - 1
            coming = following()
        told += [one for one in silent if one.end <= number * step]
        silent[:] = [one for one in silent if one.end > number * step]
        if coming is not None:  # what comes behind the last element is not known
            looked = number
            yield _Look(number * step, told, min(cell.first for cell in coming.cells))


def ways(plans: Sequence[Plan], strategy: str) -> tuple[str, ...]:
    """By which strategies any of some plans can be exchanged for any other: the one that is named; of `auto`
    those that it weighs, first the one that it mostly takes.

    Raises   ArgumentError where there is none.
    """
    reach = _Reach(strategy)
    pairs = [(one, other) for one in plans for other in plans if one != other]
    found = [set(reach.weighed(one, other)) for one, other in pairs]
    known = set(WEIGHED) | {strategy}
    possible = known.intersection(*found)
    if not possible:
        raise ArgumentError(f"policies: found no way by which {strategy} moves between all of the plans")
    return (
        tuple(sorted(possible, key=("swap", "moving-states", "genmig").index))
        if strategy == "auto"
        else (strategy,)
    )


class _Pilot:
    """Looks, and follows its own migrations."""

    def __init__(self, flight: Flight) -> None:
        plan, window, settings = flight.plan, flight.window, flight.settings
        self._decider = Autopilot(plan, window, settings)
        self._runs = plan
        """The plan that is to give all results, also while a migration to it is under way."""
        self._reach = _Reach(flight.strategy)
        self._advisor = ByOptimizer(flight.objective, obstacle=self._obstacle)
        self._statistics = RestartingStatistics(plan, settings.half_life * window, window)
        self._counting: Counting | None = None
        if flight.joins is not None and counts(flight.objective):
            self._counting = Counting(plan, flight.joins)
            self._lately = _Lately(plan, self._statistics, float(max(window, flight.step)))
            self._accounts = Accounts(flight.objective, self._lately)
        self._max_end: int | None = None
        self._over: int | None = None
        """When the migration under way is over."""

    def take(self, told: Sequence[Instant]) -> None:
        for instant in told:
            self._statistics.take(instant.cells)
            if self._counting is not None:
                self._lately.take(instant.cells)
                self._counting.take(instant.results)
            if instant.max_end is not None:
                self._max_end = max(instant.max_end, self._max_end or instant.max_end)

    def look(self, now: int, following: int) -> Wish | None:
        if self._over is not None and now >= self._over:
            self._over = None
            self._decider.ended(now, self._runs)
        known = self._statistics.at(now)
        advice = None if known is None else self._advisor.advise(self._decider.running, known)
        advice, spent = self._counted(now, advice)
        strategies: tuple[str, ...] = ("genmig",)
        if advice is not None and self._over is None and self._decider.may_pay(advice):
            advice, strategies = self._within_reach(advice)
        until_split = -1 if self._max_end is None else max(-1, self._max_end - now)
        waits = float(max(0, until_split))
        decision = self._decider.decide(now, advice, waits, strategies, spent)
        if decision.to is None or self._over is not None:
            return None
        assert decision.strategy is not None
        strategy = self._reach.carried_out(self._runs, decision.to, decision.strategy)
        self._decider.begun(now, decision.to, strategy, waits)
        self._runs = decision.to
        if self._counting is not None:
            self._counting.move(decision.to, strategy, now, until_split, following)
        # States are moved behind all that has come on any stream.
        self._over = 1 + (following if strategy == "moving-states" else now + until_split)
        return Wish(now, decision.to, strategy, until_split, following)

    def _counted(
        self, now: int, advice: Advice[Plan] | None
    ) -> tuple[Advice[Plan] | None, float | Later | None]:
        """The advice with what plans cost lately, and what the query has cost so far, where that is counted;
        as of an engine, nothing is while a migration is under way."""
        if self._counting is None or advice is None:
            return advice, None
        running = self._decider.running
        advice = self._accounts.with_lately(now, running, advice)
        if self._over is not None:
            return advice, None
        spent = self._counting.spent(now)
        if spent is None:  # it runs a plan whose results are not told
            self._counting = None
            return replace(advice, lately=None), None
        return advice, self._accounts.spent(now, (running, self._runs), Counters(0, 0, spent, {}))

    def _obstacle(self, plan: Plan) -> str | None:
        return self._reach.obstacle(self._runs, plan)

    def _within_reach(self, advice: Advice[Plan]) -> tuple[Advice[Plan], tuple[str, ...]]:
        others = [other for other in advice.others]
        while others:
            best = max(others, key=attrgetter("saving"))
            strategies = self._reach.weighed(self._runs, best.plan) if best.saving > 0 else ("genmig",)
            if strategies:
                return replace(advice, others=tuple(others)), strategies
            others.remove(best)
        return replace(advice, others=()), ("genmig",)


class Counting:
    """What a query has cost so far, counted as an engine would: the results of the inner joins of all plans
    that ran."""

    def __init__(self, plan: Plan, joins: Sequence[InnerJoin]) -> None:
        self._inputs = {node: number for number, node in enumerate(input_nodes(plan))}
        self._numbers = {join: number for number, join in enumerate(joins)}
        self._started = [0] * len(joins)
        self._alive = [0] * len(joins)
        self._runs = self._joins(plan)
        self._before = 0
        """What is to be added to what the joins of the running plan have given."""
        self._coming: tuple[int, Sequence[int]] | None = None
        """The chronon of the split time of a migration, and the new plan's joins."""

    def take(self, results: Sequence[Results]) -> None:
        """What is told of chronons."""
        for one in results:
            self._pass(one.chronon)
            for number, (started, ended) in enumerate(zip(one.started, one.ended, strict=True)):
                self._started[number] += started
                self._alive[number] += started - ended

    def move(self, to: Plan, strategy: str, at: int, until_split: int, following: int) -> None:
        """A migration begins."""
        joins = self._joins(to)
        chronon = split_chronon(strategy, at + until_split, following)
        if chronon is not None and joins is not None:
            self._coming = chronon, joins
        elif strategy == "swap" and joins is not None:
            self._hand_over(joins, 0)
        else:
            self._runs = None

    def spent(self, now: int) -> int | None:
        """So far, at a look; None where that is not known."""
        self._pass(now)
        return None if self._runs is None else self._before + self._given(self._runs)

    def _pass(self, chronon: int) -> None:
        """All is told that lies before a chronon."""
        if self._coming is not None and chronon > self._coming[0]:
            _, joins = self._coming
            self._coming = None
            self._hand_over(joins, sum(self._alive[number] for number in joins))

    def _hand_over(self, joins: Sequence[int], meanwhile: int) -> None:
        if self._runs is not None:
            self._before += self._given(self._runs) + meanwhile - self._given(joins)
            self._runs = joins

    def _given(self, joins: Sequence[int]) -> int:
        return sum(self._started[number] for number in joins)

    def _joins(self, plan: Plan) -> Sequence[int] | None:
        found = inner_joins(plan, self._inputs)
        known = None if found is None else [self._numbers.get(join) for join in found]
        if known is None or None in known:
            return None
        return [number for number in known if number is not None]


class _Lately:
    """What an autopilot knows of streams: what it decides by, and what came lately (see `Learning`)."""

    def __init__(self, plan: Plan, statistics: RestartingStatistics, memory: float) -> None:
        self.memory = memory
        self._statistics = statistics
        self._fast = DecayedStatistics(plan, log(2) * memory, threshold=0.0)

    @property
    def arrived(self) -> Mapping[Node, int]:
        """Nothing: what is counted needs no price."""
        return {}

    def take(self, cells: Sequence[Cell]) -> None:
        self._fast.take(cells)

    def known(self, now: int) -> Statistics | None:
        return self._statistics.at(now)

    def lately(self, now: int) -> Statistics:
        return self._fast.at(now)


class _Reach:
    """Which strategies can move a query from one plan to another: asked of engines in which nothing came."""

    def __init__(self, strategy: str) -> None:
        self._strategy = strategy
        self._engines: dict[Plan, Engine] = {}
        self._obstacles: dict[tuple[Plan, Plan], str | None] = {}
        self._ways: dict[tuple[Plan, Plan, str], bool] = {}

    def obstacle(self, running: Plan, plan: Plan) -> str | None:
        if (running, plan) not in self._obstacles:
            self._obstacles[running, plan] = self._engine(running).obstacle(plan)
        return self._obstacles[running, plan]

    def weighed(self, running: Plan, plan: Plan) -> tuple[str, ...]:
        names = WEIGHED if self._strategy == "auto" else (self._strategy,)
        return tuple(name for name in names if self._is_possible(running, plan, name))

    def carried_out(self, running: Plan, plan: Plan, weighed: str) -> str:
        """By which strategy a migration is carried out: the first of those that stand for what was weighed,
        which take as long as each other as far as is known here."""
        names = (*WEIGHED[weighed], *STRATEGIES) if self._strategy == "auto" else (self._strategy,)
        return next(name for name in names if self._is_possible(running, plan, name))

    def _is_possible(self, running: Plan, plan: Plan, name: str) -> bool:
        key = running, plan, name
        if key not in self._ways:
            try:
                self._engine(running).predict_migration(plan, name)
                self._ways[key] = True
            except MidstreamError:
                self._ways[key] = False
        return self._ways[key]

    def _engine(self, plan: Plan) -> Engine:
        if plan not in self._engines:
            self._engines[plan] = engine = Engine(plan)
            for source in plan.sources:  # where nothing has begun, states cannot be moved
                engine.advance(source.stream, 0)
        return self._engines[plan]
