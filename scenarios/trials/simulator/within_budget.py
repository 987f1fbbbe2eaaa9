"""A run within a budget: queries that come while it runs, and the series of its resource manager."""

from __future__ import annotations

from dataclasses import replace

from midstream.autopilot.budget_records import BudgetRecord
from midstream.autopilot.looks import largest_window
from midstream.engine import Engine
from midstream.operators.base.walk import Take
from midstream.plans.values.streams import FOREVER, Time
from midstream.scenarios.trials.costs.forecast_errors import ForecastErrors
from midstream.scenarios.trials.simulator.results import Readjustment, Series
from midstream.scenarios.trials.simulator.scenario import Scenario


class WithinBudget:
    """The queries of a scenario in an engine, and what keeps them within a budget.

    Input    `add_queries` at each cut of the input, `close` at the end of each bucket of the grid.
    """

    def __init__(self, scenario: Scenario, budget: str, engine: Engine, sink: Take) -> None:
        self._engine, self._sink, self._until = engine, sink, scenario.spec.duration
        self._waiting = list(reversed(scenario.queries))
        self._steady_from: Time = 0
        """The instant from which on all has come to the present queries, with their present settings."""
        self.errors = ForecastErrors()
        self._last: BudgetRecord | None = None
        self._adjusted: list[Readjustment] = []
        self._rows: list[tuple[float | None, ...]] = []
        self.add_queries(0)
        spec = scenario.budgets[budget]
        self.manager = engine.budget(
            memory=spec.memory,
            processor=spec.processor,
            chronon=scenario.unit.nanoseconds / 1000,
            rule=spec.rule,
            weights=spec.weights,
            reserve=spec.reserve,
            threshold=spec.threshold,
            every=spec.every,
        )
        self.manager.listen(self._tell)

    def add_queries(self, time: int) -> None:
        """Add the queries that come until an instant."""
        while self._waiting and self._waiting[-1].at <= time:
            query = self._waiting.pop()
            if time:
                self.errors.close(self.manager.statistics)
            self._steady_from = max(self._steady_from, time + (largest_window(query.plan) or 0))
            self._engine.add(query.plan, self._sink, query.name)

    def close(self, time: int) -> None:
        """Take note of the manager's latest expectations, at the end of a bucket."""
        last, terms, queries = self._last, self.manager.terms, self._engine.queries
        if last is not None and self._steady_from <= time < self._until:
            self.errors.see((query.plan for query in queries.values()), self._engine.held())
        self._rows.append(
            (
                len(queries),
                terms.limits.memory,
                terms.target.memory,
                None if last is None else last.after.elements,
                None if last is None else last.after.memory,
                None if last is None else last.precision,
            )
        )

    def finish(self, series: Series) -> Series:
        """A run's series with those of its budget."""
        self.errors.close(self.manager.statistics)
        queries, limit, target, state, memory, precision = zip(*self._rows, strict=True)
        return replace(
            series,
            queries=queries,
            limit=limit,
            target=target,
            predicted_state=state,
            predicted_bytes=memory,
            precision=precision,
        )

    @property
    def adjusted(self) -> tuple[Readjustment, ...]:
        """The adjustments so far."""
        return tuple(self._adjusted)

    def _tell(self, record: BudgetRecord) -> None:
        self._last = record
        if record.changes:
            self.errors.close(self.manager.statistics)
            assert record.complete_at is not None
            self._steady_from = max(self._steady_from, record.complete_at)
            complete = None if record.complete_at == FOREVER else int(record.complete_at)
            self._adjusted.append(Readjustment(record.at, complete, len(record.changes)))
