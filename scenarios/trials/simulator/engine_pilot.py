"""The autopilot of an engine as a policy that chooses among the plans of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from midstream.autopilot.among_plans import AmongPlans, objective_among
from midstream.autopilot.records import Record
from midstream.autopilot.settings import Settings
from midstream.engine import Engine
from midstream.migration.transition import Transition
from midstream.plans.algebra.plan import Plan
from midstream.scenarios.trials.simulator.steering import NamedMove


class ByAutopilot:
    """A policy by which the engine decides itself, by its online statistics and its cost model.

    It decides at instants of a grid, not when something arrives.
    """

    def __init__(self, start: str, plans: Sequence[Plan], settings: Settings, strategy: str) -> None:
        self.start = start
        self._plans, self._settings, self._strategy = plans, settings, strategy

    def attach(self, engine: Engine, begun: Callable[[Transition, str], object]) -> None:
        """Begin to watch an engine.

        `begun` takes each migration and the name of its strategy. The scenario vouches for its plans.
        """
        objective = objective_among(self._plans)
        pilot = engine.autopilot(
            AmongPlans(self._plans, objective),
            objective=objective,
            settings=self._settings.unbounded,  # scenarios count results, not time
            strategy=self._strategy,
            unproved="accept",
        )

        def tell(record: Record) -> None:
            migration = pilot.migration(record.query)
            if record.event == "move" and migration is not None:
                begun(migration, record.strategy or self._strategy)

        pilot.listen(tell)

    def decide(self, time: int, spent: int) -> NamedMove | None:
        """None, as the engine decides by itself."""
        return None
