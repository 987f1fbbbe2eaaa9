"""The strategies of a scenario: ready-made ones, as they are or with options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from midstream.engine import Engine, host_of
from midstream.migration.parallel_track import ParallelTrackStrategy
from midstream.migration.strategies import STRATEGIES
from midstream.migration.strategy import Strategy
from midstream.migration.transition import MigrationRequest, Transition
from midstream.plans.algebra.plan import Plan

UNORDERED: Mapping[str, Strategy] = {
    "parallel-track": ParallelTrackStrategy("parallel-track, unordered", is_ordered=False)
}
"""By name, the strategies that can let results overtake each other, and how they do. Parallel track does so
in the measurements of the thesis (Figure 30.1)."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A strategy with options.

    name        what its runs are called
    is_ordered  whether results come in order of start
    is_whole    whether all above the windows is exchanged, also what both plans have in common
    """

    name: str
    strategy: Strategy
    is_ordered: bool = True
    is_whole: bool = False

    @classmethod
    def of(
        cls, strategy: str, name: str | None = None, *, ordered: bool = True, whole: bool = False
    ) -> Variant:
        """A strategy by its name. What gives up order is whole, as no operator may come behind it.

        Raises   KeyError for a strategy that there is not; ValueError, saying what was expected, where it
                 cannot give up order.
        """
        if not ordered and strategy not in UNORDERED:
            raise ValueError(f"order to be given up by {', '.join(UNORDERED)} only")
        found = (STRATEGIES if ordered else UNORDERED)[strategy]
        return cls(name or strategy, found, is_ordered=ordered, is_whole=whole or not ordered)

    def begin(self, engine: Engine, plan: Plan) -> Transition:
        """Begin to move an engine's query to another plan. Raises MigrationRefused."""
        host = host_of(engine)
        request = MigrationRequest(plan, self.strategy, host.query(), whole=self.is_whole)
        transition = Transition(host, request)
        transition.begin()
        return transition
