"""The autopilot of an engine as a policy: it chooses among the plans of a scenario by what came."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from midstream.autopilot.advice import Advice, Forecast
from midstream.autopilot.records import Record
from midstream.autopilot.settings import Settings
from midstream.engine import Engine
from midstream.migration.transition import Transition
from midstream.optimizer import INTERMEDIATE, PROCESSING, CostModel, Objective, Statistics
from midstream.optimizer.statistics import deviation
from midstream.plans.algebra.operators import Join
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.values.errors import StatisticsError
from midstream.scenarios.simulator.steering import NamedMove


class ByAutopilot:
    """The engine decides by itself, by online statistics of it and by its cost model.

    It looks at instants of a grid, not when something arrives.
    """

    def __init__(self, start: str, plans: Sequence[Plan], settings: Settings, strategy: str) -> None:
        self.start = start
        self._plans, self._settings, self._strategy = plans, settings, strategy

    def attach(self, engine: Engine, begun: Callable[[Transition, str], object]) -> None:
        """Begin to watch an engine; `begun` takes each migration, and the name of its strategy. The scenario
        vouches for its plans."""
        objective = objective_of(self._plans)
        pilot = engine.autopilot(
            AmongPlans(self._plans, objective),
            objective=objective,
            settings=self._settings,
            strategy=self._strategy,
            unproved="accept",
        )

        def tell(record: Record) -> None:
            migration = pilot.migration(record.query)
            if record.event == "move" and migration is not None:
                begun(migration, record.strategy or self._strategy)

        pilot.listen(tell)

    def decide(self, time: int, spent: int) -> NamedMove | None:
        """The engine does not ask."""
        return None


class AmongPlans:
    """An advisor that knows some plans, and prices all of them.

    Cost     The prices of the plans where statistics have changed; where some plan saves something, that once
             more for each group of elements by which a deviation is known.
    """

    def __init__(self, plans: Sequence[Plan], objective: Objective) -> None:
        self._plans, self.objective = plans, objective
        self._last: tuple[Plan, Statistics, Advice[Plan] | None] | None = None

    def advise(self, running: Plan, known: Statistics) -> Advice[Plan] | None:
        """What they cost; None where nothing came yet."""
        if self._last is None or self._last[0] != running or self._last[1] is not known:
            self._last = running, known, self._advise(running, known)
        return self._last[2]

    def _advise(self, running: Plan, known: Statistics) -> Advice[Plan] | None:
        others = [plan for plan in self._plans if plan != running]
        try:
            cost, *costs = self._costs([running, *others], known)
            replicates = known.replicates if min(costs) < cost else ()
            without = [self._costs([running, *others], replicate) for replicate in replicates]
        except StatisticsError:
            return None
        forecasts = (
            Forecast(
                plan,
                costs[i],
                cost - costs[i],
                deviation(one[0] - one[i + 1] for one in without) if without else 0.0,
            )
            for i, plan in enumerate(others)
        )
        return Advice(cost, tuple(forecasts), "by the cost model, from statistics of what came")

    def _costs(self, plans: Sequence[Plan], known: Statistics) -> list[float]:
        model = CostModel(known)
        return [self.objective.of(model.price(plan)) for plan in plans]


def objective_of(plans: Sequence[Plan]) -> Objective:
    """Intermediate results, which policies are judged by; of plans without several joins, processing."""
    joins = max(sum(isinstance(logical(node), Join) for node in plan.nodes) for plan in plans)
    return INTERMEDIATE if joins > 1 else PROCESSING
