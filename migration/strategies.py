"""The ways to exchange a running plan, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from midstream.migration.auto import Prediction, cheapest, rate
from midstream.migration.fork import Fork, everything, fork
from midstream.migration.fuse import Fuse, Joiner, ReferencePoint
from midstream.migration.machine import Migration
from midstream.migration.parallel_track import (
    ParallelTrack,
    Tracks,
    behind_windows,
    require_join_tree,
)
from midstream.migration.preconditions import (
    require_bounded,
    require_exchangeable,
    require_finite,
    require_intervals,
    require_start_preserving,
)
from midstream.migration.split_time import last_instant, split_time
from midstream.migration.swap import Handover, Swap, exchange, new_part, plan_swap
from midstream.operators.box import Box
from midstream.operators.engine import Engine
from midstream.plans.errors import MigrationRefused, StatisticsError
from midstream.plans.plan import Plan
from midstream.plans.schema import suggest
from midstream.plans.streams import BEGINNING, Batch, Time


@dataclass(frozen=True, slots=True)
class Prepared:
    """A migration that has been checked and may begin."""

    predict: Callable[[], Prediction]
    """What it is expected to cost."""
    begin: Callable[[], Migration]


def split_behind_inputs(old: Box, max_ends: Sequence[Time], reached: Sequence[Time]) -> Time:
    """Behind all that the old plan has been given (thesis, 29.6)."""
    return split_time([*max_ends, *_horizon(old)])


def split_behind_state(old: Box, max_ends: Sequence[Time], reached: Sequence[Time]) -> Time:
    """Behind all that the old plan still answers for (thesis, 29.4.2)."""
    last = last_instant(old, max_ends)
    require_finite(old, last)
    return split_time([last, *_horizon(old)])


def split_at_once(old: Box, max_ends: Sequence[Time], reached: Sequence[Time]) -> Time:
    """Where the inputs are."""
    return min(reached, default=BEGINNING)


def _horizon(old: Box) -> list[Time]:
    return [old.horizon()] if isinstance(old, Migration) else []


@dataclass(frozen=True, slots=True)
class Strategy:
    """Forks, joiners, when the new plan takes over, and what both plans must fulfil beyond being
    exchangeable."""

    name: str
    fork: Callable[[Time], Fork]
    """Makes the fork of an input, for a split time."""
    joiner: Callable[[Time], Joiner]
    require: Callable[[Plan, str], None] = lambda plan, which: None
    split: Callable[[Box, Sequence[Time], Sequence[Time]], Time] = split_behind_inputs
    """From the old box, the inputs' largest ends and their progress."""
    machine: type[Migration] = Migration
    steps: int = 2
    """What happens to an element that reaches both plans, beyond what the new one does: the old plan works on
    it, and the fuse."""
    prepare: Callable[[Strategy, Engine, Plan, str | None], Prepared] | None = None
    """How it is checked and begun in an engine, where that is not by forks above the windows."""


def migrate(engine: Engine, plan: Plan, strategy: str = "genmig", query: str | None = None) -> Migration:
    """Move a query of a running engine, by default the first, to another plan that means the same; elements
    keep flowing.

    The migration has begun when this returns, and ends by itself: when every input has passed the split time,
    the old plan is gone. A migration may begin while another is under way; that one is then part of the old
    plan. What the query shares with others stays.

    Raises   MigrationRefused, with the operator and the reason; then the engine goes on as before.
    """
    return prepare(engine, plan, find_strategy(strategy), query).begin()


def prepare(engine: Engine, plan: Plan, strategy: Strategy, query: str | None = None) -> Prepared:
    """Check whether a query can be moved in a certain way; nothing changes yet.

    What is prepared must begin before the next element comes.
    """
    return (strategy.prepare or _prepare_forks)(strategy, engine, plan, query)


def _prepare_forks(strategy: Strategy, engine: Engine, plan: Plan, query: str | None) -> Prepared:
    running = engine.query(query).plan
    forks = engine.forks(query)
    require_exchangeable(running, plan, frozenset(forks))
    require_intervals(forks.values())
    for one, which in ((running, "old"), (plan, "new")):
        require_bounded(one, which)
        strategy.require(one, which)
    old, max_ends, reached = engine.part(query), engine.input_max_ends(query), engine.input_progress(query)
    split = strategy.split(old, max_ends, reached)

    def begin() -> Migration:
        migration = _migration(old, engine.new_part(plan, query), strategy, split, reached)
        engine.exchange(migration, plan, migration.begin(), query)
        return migration

    def predict() -> Prediction:
        return Prediction.of(
            strategy.name,
            split=split,
            now=min((time for time in reached if time != BEGINNING), default=BEGINNING),
            rate=_rate(engine, query),
            kept=old.size(),
            steps=strategy.steps,
        )

    return Prepared(predict, begin)


def _prepare_swap(strategy: Strategy, engine: Engine, plan: Plan, query: str | None) -> Prepared:
    planned = plan_swap(engine, plan, query)

    def begin() -> Migration:
        split = split_at_once(planned.old, [], planned.reached)
        swap = _migration(planned.old, new_part(planned), strategy, split, planned.reached)
        assert isinstance(swap, Swap)
        return exchange(engine, planned, swap)

    return Prepared(lambda: Prediction(strategy.name, 0, 0, 0), begin)


def _prepare_cheapest(strategy: Strategy, engine: Engine, plan: Plan, query: str | None) -> Prepared:
    prepared: dict[str, Prepared] = {}
    refusals: dict[str, MigrationRefused] = {}
    for one in STRATEGIES.values():
        if one is not strategy:
            try:
                prepared[one.name] = prepare(engine, plan, one, query)
            except MigrationRefused as refusal:
                refusals[one.name] = refusal
    best, reason = cheapest([one.predict() for one in prepared.values()], refusals)

    def begin() -> Migration:
        migration = prepared[best.strategy].begin()
        migration.reason = migration.reason or reason
        return migration

    return Prepared(lambda: best, begin)


STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy(
            "swap", everything, Handover, split=split_at_once, machine=Swap, steps=0, prepare=_prepare_swap
        ),
        Strategy("genmig-reference-point", fork, ReferencePoint, require_start_preserving, steps=1),
        Strategy("genmig-end-timestamp", fork, Fuse, split=split_behind_state),
        Strategy("genmig", fork, Fuse),
        Strategy(
            "parallel-track",
            everything,
            Tracks,
            require_join_tree,
            split=behind_windows,
            machine=ParallelTrack,
        ),
        # Of boxes there is nothing to compare: the earlier split time is never the worse.
        Strategy("auto", fork, Fuse, split=split_behind_state, prepare=_prepare_cheapest),
    )
}
"""By name; `auto` takes the one of the others with the smallest predicted overhead, the first of equals."""


def migrate_box(
    old: Box, new: Box, strategy: Strategy, max_ends: Sequence[Time], reached: Sequence[Time]
) -> tuple[Migration, list[Batch]]:
    """Set up a migration between two boxes, of whatever engine; the results that are ready at once come with
    it.

    `max_ends` are the largest end timestamps seen on each input, `reached` is each input's progress. What a
    strategy requires of the plans cannot be checked here, and is the caller's claim: for `swap`, that the
    boxes are stateless but for the order of their results; for `genmig-end-timestamp` and `auto`, that the
    old box's `state()` leaves out nothing that matters to later results.
    """
    migration = _migration(old, new, strategy, strategy.split(old, max_ends, reached), reached)
    return migration, migration.begin()


def _migration(old: Box, new: Box, strategy: Strategy, split: Time, reached: Sequence[Time]) -> Migration:
    forks = [strategy.fork(split) for _ in new.inputs]
    joiners = [strategy.joiner(split) for _ in new.outputs]
    return strategy.machine(old, new, split, reached, forks, joiners)


def _rate(engine: Engine, query: str | None) -> float:
    """Elements per chronon of a query's inputs; 0 where that is not known."""
    if engine.query(query).box is not None:
        return 0.0
    try:
        observed = engine.observe(query)
    except StatisticsError:
        return 0.0
    return rate(one for node, one in observed.items() if node in engine.forks(query))


def find_strategy(name: str) -> Strategy:
    """A strategy by name. Raises MigrationRefused where there is none."""
    try:
        return STRATEGIES[name]
    except KeyError:
        known = tuple(STRATEGIES)
        raise MigrationRefused(
            f"there is no strategy {name}{suggest(name, known)}; known: {', '.join(known)}"
        ) from None
