"""An autopilot replayed without an engine, over statistics of each cell of time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import permutations
from typing import NamedTuple

from midstream.autopilot.accounts import counts
from midstream.autopilot.advice import Advice
from midstream.autopilot.advising import ByOptimizer
from midstream.autopilot.autopilot import Later
from midstream.autopilot.costs.bill import split_chronon
from midstream.autopilot.decision import Decision
from midstream.autopilot.looks import Looks, looks_of
from midstream.autopilot.parts import pilot_parts
from midstream.autopilot.query_pilot import QueryPilot
from midstream.autopilot.settings import Settings
from midstream.autopilot.watching import WEIGHED
from midstream.engine import Engine
from midstream.migration.strategies import STRATEGIES, find_strategy
from midstream.operators.engine.measuring.counting import Counters
from midstream.operators.engine.measuring.watching import next_look
from midstream.optimizer import Objective
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import input_nodes
from midstream.plans.values.errors import ArgumentError, MidstreamError
from midstream.plans.values.observations import Cell
from midstream.scenarios.recordings.inner_joins import InnerJoin, inner_joins


@dataclass(frozen=True, slots=True)
class Results:
    """The inner joins' results since the chronon reported before, up to the end of this one.

    started, ended   by join, how many results started and how many ended

    A report exists for every chronon in which a split time may lie, unless nothing has changed up to it.
    """

    chronon: int
    started: Sequence[int]
    ended: Sequence[int]


@dataclass(frozen=True, slots=True)
class Instant:
    """The arrivals on all streams in a cell of time; there are some.

    end       of the cell
    cells     a collector's statistics of the streams on which something came; empty if there are only results
    max_end   the largest end of the elements of the plan's windows; None where there are none
    results   counts for chronons in the cell, in order, where results are counted
    """

    end: int
    cells: Sequence[Cell]
    max_end: int | None
    results: Sequence[Results] = ()


@dataclass(frozen=True, slots=True)
class ReplayedMigration:
    """A migration that a replayed autopilot begins.

    until_split   the chronons until the last element so far ends; −1 if it has ended
    """

    at: int
    to: Plan
    strategy: str
    until_split: int

    @property
    def split(self) -> int | None:
        """The chronon of its split time; None if it has none."""
        return split_chronon(self.strategy, self.at, self.until_split)


@dataclass(frozen=True)
class ReplayedAutopilot:
    """An autopilot to replay, as `engine.autopilot` would make it for a plan.

    joins    the inner joins of plans whose results are counted, which gives the costs of plans as an engine
             counts them; None where costs are estimated

    Raises   ArgumentError where the plan has no window, or the strategy is not known.
    """

    plan: Plan
    settings: Settings
    objective: Objective
    strategy: str = "auto"
    joins: tuple[InnerJoin, ...] | None = None

    def __post_init__(self) -> None:
        find_strategy(self.strategy)
        _ = self.looks

    @cached_property
    def looks(self) -> Looks:
        """Its grid of instants."""
        looks = looks_of(self.plan, self.settings.looks)
        if looks is None:
            raise ArgumentError("policies: found a query without a time window, by which an autopilot looks")
        return looks


def replay_autopilot(replayed: ReplayedAutopilot, instants: Iterable[Instant]) -> Iterator[ReplayedMigration]:
    """The migrations that an autopilot begins, in order of time.

    State    That of the autopilot, its advisor and its statistics; one instant of the arrivals.
    """
    pilot = _ReplayPilot(replayed)
    for look in _looks(instants, replayed.looks):
        yield from pilot.migrations(look)


class _Look(NamedTuple):
    """An instant of the grid, and the arrivals since the last one."""

    at: int
    came: Sequence[Instant]


def _looks(instants: Iterable[Instant], looks: Looks) -> Iterator[_Look]:
    """The instants at which an engine looks; behind the last element none is known."""
    rest, waiting = iter(instants), deque[Instant]()

    def next_elements() -> Instant | None:
        for instant in rest:
            waiting.append(instant)
            if instant.cells:
                return instant
        return None

    looked: int | None = None
    latest, coming = 0, next_elements()
    while coming is not None:
        looked = next_look(looked, latest, looks.idle, coming.end // looks.step - 1)
        assert looked is not None
        now, came = looked * looks.step, list[Instant]()
        while waiting and waiting[0].end <= now:
            came.append(waiting.popleft())
            if came[-1] is coming:
                latest, coming = came[-1].end // looks.step - 1, next_elements()
        if coming is not None:  # it brings the streams to the instant
            yield _Look(now, came)


def strategies_between(plans: Sequence[Plan], strategy: str) -> tuple[str, ...]:
    """The strategies that can exchange any of some plans for any other.

    They are the named one, or those that `auto` weighs, the one that it mostly takes first.

    Raises   ArgumentError where there is none.
    """
    reach, pairs = _Reach(strategy), list(permutations(plans, 2))
    names = ("swap", "moving-states", "genmig") if strategy == "auto" else (strategy,)
    possible = tuple(name for name in names if all(reach.is_possible(*pair, name) for pair in pairs))
    if not possible:
        raise ArgumentError(f"policies: found no way by which {strategy} moves between all of the plans")
    return possible


class _ReplayPilot(QueryPilot[Plan, int]):
    """A pilot whose migrations end by split times, and that asks idle engines for possible strategies."""

    def __init__(self, replayed: ReplayedAutopilot) -> None:
        self._runs = plan = replayed.plan
        """The plan that runs, or to which a migration is under way."""
        self._reach = _Reach(replayed.strategy)
        advisor = ByOptimizer(replayed.objective, obstacle=lambda to: self._reach.obstacle(self._runs, to))
        self._counting: Counting | None = None
        if replayed.joins is not None and counts(replayed.objective):
            self._counting = Counting(plan, replayed.joins)
        is_counted = self._counting is not None
        self._parts = pilot_parts(plan, replayed.looks, advisor, replayed.settings, is_measured=is_counted)
        self.decider = self._parts.decider
        self._max_end: int | None = None
        self._over = 0
        """The instant at which the migration under way is over."""
        self._begun: list[ReplayedMigration] = []

    def migrations(self, look: _Look) -> list[ReplayedMigration]:
        """The migration that begins at a look, or none."""
        for instant in look.came:
            self._parts.learning.take(instant.cells)
            if self._counting is not None:
                self._counting.take(instant.results)
            if instant.max_end is not None:
                self._max_end = max(instant.max_end, self._max_end or instant.max_end)
        if self.is_migrating and look.at >= self._over:
            self.ended(look.at, self._runs)
        self._begun = []
        self.look(look.at)
        return self._begun

    def advise(self, now: int) -> Advice[Plan] | None:
        """Advice of the optimizer, with recent costs of plans where results are counted."""
        advice = self._parts.advise(now)
        if advice is None or self._counting is None or self.is_migrating or self._counting.is_known:
            return advice
        self._counting, self._parts = None, replace(self._parts, accounts=None)
        return replace(advice, lately=None)

    def spent(self, now: int) -> float | Later | None:
        """The cost by the counted results of joins; None where those of the running plan are not counted."""
        if self._counting is None or self._parts.accounts is None:
            return None
        results = Counters(0, 0, self._counting.spent(now), {})
        return self._parts.accounts.spent(now, (self.decider.running,), results)

    def until_split(self, now: int) -> float:
        """The chronons until the split time, by the largest end so far."""
        return float(max(0, self._until_end(now)))

    def _until_end(self, now: int) -> int:
        return -1 if self._max_end is None else max(-1, self._max_end - now)

    def strategies(self, plan: Plan) -> tuple[str, ...]:
        """The strategies that are weighed and that an engine would not refuse."""
        return self._reach.weighed(self._runs, plan)

    def carry_out(
        self, now: int, decision: Decision[Plan], advice: Advice[Plan] | None, until_split: float
    ) -> None:
        """Begin the migration that was decided, by the strategy that an engine would take."""
        if decision.to is None:
            return
        assert decision.strategy is not None
        strategy = self._reach.carried_out(self._runs, decision.to, decision.strategy)
        self.begun(now, decision.to, strategy, until_split)
        self._runs = decision.to
        begun = ReplayedMigration(now, decision.to, strategy, self._until_end(now))
        self._begun.append(begun)
        if self._counting is not None:
            self._counting.migrate(begun)
        self._over = 1 + (now + begun.until_split if begun.split is None else begun.split)


class Counting:
    """The cost of a query so far, as an engine counts it: results of inner joins of all plans that ran."""

    def __init__(self, plan: Plan, joins: Sequence[InnerJoin]) -> None:
        self._inputs = {node: number for number, node in enumerate(input_nodes(plan))}
        self._numbers = {join: number for number, join in enumerate(joins)}
        self._started = [0] * len(joins)
        self._alive = [0] * len(joins)
        self._runs = self._joins(plan)
        self._before = 0
        """A correction that is added to the results of the running plan's joins."""
        self._coming: tuple[int, Sequence[int]] | None = None
        """The chronon of the split time of a migration, and the new plan's joins."""

    def take(self, results: Sequence[Results]) -> None:
        """Add counts of results."""
        for one in results:
            self._pass(one.chronon)
            for number, (started, ended) in enumerate(zip(one.started, one.ended, strict=True)):
                self._started[number] += started
                self._alive[number] += started - ended

    def migrate(self, begun: ReplayedMigration) -> None:
        """Begin a migration."""
        joins = self._joins(begun.to)
        if begun.split is not None and joins is not None:
            self._coming = begun.split, joins
        elif begun.strategy == "swap" and joins is not None:
            self._hand_over(joins, 0)
        else:
            self._runs = None

    @property
    def is_known(self) -> bool:
        """False where the results of the running plan, or of the one to run, are not counted."""
        return self._runs is not None

    def spent(self, now: int) -> int:
        """The cost so far, at a look; only where it is known."""
        assert self._runs is not None
        self._pass(now)
        return self._before + self._given(self._runs)

    def _pass(self, chronon: int) -> None:
        """Hand over to the new plan if its split time lies before a chronon, up to which all is counted."""
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
        if found is None or not self._numbers.keys() >= {*found}:
            return None
        return [self._numbers[join] for join in found]


class _Reach:
    """The strategies that can move a query from one plan to another, by engines in which nothing came."""

    def __init__(self, strategy: str) -> None:
        self._strategy = strategy
        self._engine = cache(_silent_engine)
        self.obstacle = cache(lambda running, plan: self._engine(running).obstacle(plan))
        self.is_possible = cache(self._can_move)

    def weighed(self, running: Plan, plan: Plan) -> tuple[str, ...]:
        names = WEIGHED if self._strategy == "auto" else (self._strategy,)
        return tuple(name for name in names if self.is_possible(running, plan, name))

    def carried_out(self, running: Plan, plan: Plan, weighed: str) -> str:
        """The strategy that carries a migration out, for the name of the strategy that was weighed.

        It is the first possible one that the name stands for. As far as is known here, all of these take
        equally long.
        """
        names = (*WEIGHED[weighed], *STRATEGIES) if self._strategy == "auto" else (self._strategy,)
        return next(name for name in names if self.is_possible(running, plan, name))

    def _can_move(self, running: Plan, plan: Plan, name: str) -> bool:
        try:
            self._engine(running).predict_migration(plan, name)
        except MidstreamError:
            return False
        return True


def _silent_engine(plan: Plan) -> Engine:
    engine = Engine(plan)
    for source in plan.sources:  # where nothing has begun, states cannot be moved
        engine.advance(source.stream, 0)
    return engine
