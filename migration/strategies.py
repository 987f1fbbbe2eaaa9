"""The migration strategies, by name."""

from __future__ import annotations

from collections.abc import Mapping

from midstream.migration.auto import AutoStrategy
from midstream.migration.end_timestamp import EndTimestampStrategy
from midstream.migration.genmig import GenMigStrategy
from midstream.migration.moving_states import MovingStatesStrategy
from midstream.migration.parallel_track import ParallelTrackStrategy
from midstream.migration.reference_point import ReferencePointStrategy
from midstream.migration.strategy import Strategy
from midstream.migration.swap import SwapStrategy
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.schema import suggest

STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        SwapStrategy(),
        ReferencePointStrategy(),
        EndTimestampStrategy(),
        GenMigStrategy(),
        ParallelTrackStrategy(),
        MovingStatesStrategy(),
        AutoStrategy(),
    )
}
"""The strategies by name; `auto` takes the one with the smallest predicted overhead, the first of equals."""


def find_strategy(name: str | Strategy) -> Strategy:
    """Return the strategy of that name; a strategy is returned as it is.

    Raises   MigrationRefused where there is none.
    """
    if isinstance(name, Strategy):
        return name
    try:
        return STRATEGIES[name]
    except (KeyError, TypeError):
        known = tuple(STRATEGIES)
        raise MigrationRefused(
            f"there is no strategy {name}{suggest(name, known)}; known: {', '.join(known)}"
        ) from None
