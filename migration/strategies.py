"""The ways to exchange a running plan, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from midstream.migration.fork import fork, fork_whole
from midstream.migration.fuse import Fuse, Joiner, ReferencePoint
from midstream.migration.machine import Fork, Migration
from midstream.migration.preconditions import (
    require_bounded,
    require_exchangeable,
    require_intervals,
    require_start_preserving,
)
from midstream.migration.split_time import split_time
from midstream.operators.box import Box
from midstream.operators.engine import Engine
from midstream.plans.errors import MigrationRefused
from midstream.plans.plan import Plan
from midstream.plans.schema import suggest
from midstream.plans.streams import Batch, Time


@dataclass(frozen=True, slots=True)
class Strategy:
    """A fork, a joiner, and what both plans must fulfil beyond being exchangeable."""

    name: str
    fork: Fork
    joiner: Callable[[Time], Joiner]
    require: Callable[[Plan, str], None] = lambda plan, which: None


STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy("genmig", fork, Fuse),
        Strategy("genmig-reference-point", fork_whole, ReferencePoint, require_start_preserving),
    )
}


def migrate(engine: Engine, plan: Plan, strategy: str = "genmig", query: str | None = None) -> Migration:
    """Move a query of a running engine, by default the first, to another plan that means the same; elements
    keep flowing.

    The migration has begun when this returns, and ends by itself: when every input has passed the split time,
    the old plan is gone. A migration may begin while another is under way; that one is then part of the old
    plan. What the query shares with others stays.

    Raises   MigrationRefused, with the operator and the reason; then the engine goes on as before.
    """
    chosen = find_strategy(strategy)
    running = engine.query(query).plan
    forks = engine.forks(query)
    require_exchangeable(running, plan, frozenset(forks))
    require_intervals(forks.values())
    for one, which in ((running, "old"), (plan, "new")):
        require_bounded(one, which)
        chosen.require(one, which)
    migration, ready = migrate_box(
        engine.part(query),
        engine.new_part(plan, query),
        chosen,
        max_ends=engine.input_max_ends(query),
        reached=engine.input_progress(query),
    )
    engine.exchange(migration, plan, ready, query)
    return migration


def migrate_box(
    old: Box, new: Box, strategy: Strategy, max_ends: Sequence[Time], reached: Sequence[Time]
) -> tuple[Migration, list[Batch]]:
    """Set up a migration between two boxes, of whatever engine; the results that are ready at once come with
    it.

    `max_ends` are the largest end timestamps seen on each input, `reached` is each input's progress.
    """
    bounds = [*max_ends]
    if isinstance(old, Migration):
        bounds.append(old.horizon())
    migration = Migration(old, new, split_time(bounds), reached, strategy.fork, strategy.joiner)
    return migration, migration.begin()


def find_strategy(name: str) -> Strategy:
    """A strategy by name. Raises MigrationRefused where there is none."""
    try:
        return STRATEGIES[name]
    except KeyError:
        known = tuple(STRATEGIES)
        raise MigrationRefused(
            f"there is no strategy {name}{suggest(name, known)}; known: {', '.join(known)}"
        ) from None
