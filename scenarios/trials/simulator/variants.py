"""The strategies of a scenario: ready-made ones, as they are or with options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from midstream.engine import Engine
from midstream.migration.parallel_track import ParallelTrackStrategy
from midstream.migration.strategies import STRATEGIES
from midstream.migration.strategy import Strategy
from midstream.migration.transition import Transition
from midstream.optimizer import Choice
from midstream.plans.algebra.plan import Plan
from midstream.plans.equivalence.comparison import equivalent
from midstream.plans.values.verdicts import Equivalence

UNORDERED: Mapping[str, Strategy] = {
    "parallel-track": ParallelTrackStrategy("parallel-track, unordered", is_ordered=False)
}
"""Strategies that can let results overtake each other, by name.

Parallel track does so in the measurements of the thesis (Figure 30.1).
"""


@dataclass(frozen=True, slots=True)
class Variant:
    """A strategy with options.

    name          the name of its runs
    is_ordered    True if results come in order of start
    replaces_all  True if all operators above the windows are exchanged, also those that both plans have
    """

    name: str
    strategy: Strategy
    is_ordered: bool = True
    replaces_all: bool = False

    @classmethod
    def of(
        cls, strategy: str, name: str | None = None, *, ordered: bool = True, replace_all: bool = False
    ) -> Variant:
        """A strategy by its name.

        A strategy that gives up order replaces all operators, as none may come behind it.

        Raises   KeyError for an unknown strategy; ValueError, saying what was expected, where it cannot give
                 up order.
        """
        if not ordered and strategy not in UNORDERED:
            raise ValueError(f"order to be given up by {', '.join(UNORDERED)} only")
        found = (STRATEGIES if ordered else UNORDERED)[strategy]
        return cls(name or strategy, found, is_ordered=ordered, replaces_all=replace_all or not ordered)

    def begin(self, engine: Engine, plan: Plan | Choice) -> Transition:
        """Begin to move an engine's query to another plan.

        The scenario vouches for plans that `known_equivalence` does not prove equivalent.

        Raises   MigrationRefused.
        """
        proof = known_equivalence(engine.plan, plan) if isinstance(plan, Plan) else None
        return engine.migrate(
            plan, self.strategy, replace_all=self.replaces_all, proof=proof, unproved="accept", note=False
        )


@lru_cache(maxsize=1024)
def known_equivalence(running: Plan, plan: Plan) -> Equivalence:
    """The equivalence of two plans, as far as it is known without a search.

    It is cached, so that it can be computed before time is measured.
    """
    return equivalent(running, plan, steps=0)
