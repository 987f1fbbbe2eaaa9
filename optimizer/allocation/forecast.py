"""Forecasts: what plans will take of a budget, and the settings with which they fit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from midstream.optimizer.allocation.allocating import RULES, Rule
from midstream.optimizer.allocation.allocator import Allocator
from midstream.optimizer.allocation.curves import Use, with_operators
from midstream.optimizer.allocation.limits import Limits, limits_of
from midstream.optimizer.cost.units import UnitCosts
from midstream.optimizer.statistics import Statistics, statistics_of
from midstream.plans.algebra.builder import AnyPlan, plan_of
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import is_lever, lever_of, logical
from midstream.plans.values.arguments import wrong
from midstream.plans.values.errors import ArgumentError

Verdict = Literal["fits", "fits with other settings", "does not fit"]

CHRONON = 1000.0
"""The microseconds of a chronon where nothing is declared."""


@dataclass(frozen=True, slots=True)
class BudgetForecast:
    """The answer to whether queries keep within a budget, before they run.

    verdict     "fits" with the present settings, "fits with other settings", or "does not fit"
    limits      the budget: bytes, and microseconds per chronon
    present     the use with the present settings
    use         the use with the settings of the forecast
    settings    the settings that differ from the present ones, by lever; where nothing fits, the least
    precision   by query, the expected precision with these settings
    chronon     the microseconds of a chronon
    """

    verdict: Verdict
    limits: Limits
    present: Use
    use: Use
    settings: Mapping[Node, Any]
    precision: Mapping[str, float]
    chronon: float = CHRONON

    @property
    def fits(self) -> bool:
        """True if there are settings that fit."""
        return self.verdict != "does not fit"

    @property
    def needed(self) -> Limits:
        """The nearest budget that would do: where nothing fits, it is larger."""
        return self.limits.at_least(self.use)

    def plan(self, plan: Plan) -> Plan:
        """A plan with the settings of the forecast."""
        return with_settings(plan, self.settings)

    def __str__(self) -> str:
        return "\n".join((f"{self.verdict}: {', '.join(self._parts())}", *self._changes()))

    def _parts(self) -> Iterator[str]:
        if self.limits.memory < math.inf:
            yield f"{megabytes(self.use.memory)} of {megabytes(self.limits.memory)}"
        if self.limits.processor < math.inf:
            used, most = (part / self.chronon for part in (self.use.processor, self.limits.processor))
            yield f"{used:.2%} of {most:.2%} of a processor"
        if self.verdict == "does not fit":
            yield "with the least settings"
        elif self.settings:
            yield f"precision {min(self.precision.values()):.3f} at least"

    def _changes(self) -> Iterator[str]:
        for lever, setting in self.settings.items():
            yield f"  {logical(lever)}: {setting:g}"


def megabytes(size: float) -> str:
    """A number of bytes as text.

    >>> megabytes(1_234_567), megabytes(45_600), megabytes(2.5e9)
    ('1.23 MB', '45.6 kB', '2.5 GB')
    """
    unit, one = next(((name, one) for name, one in UNITS if size >= 0.9995 * one), UNITS[-1])
    return f"{size / one:.3g} {unit}"


UNITS = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3))
"""The units in which bytes are written."""


def forecast(
    allocator: Allocator[str],
    limits: Limits,
    rule: Rule,
    weights: Mapping[str, float] | None = None,
    chronon: float = CHRONON,
) -> BudgetForecast:
    """The forecast for the queries of an allocator."""
    present = allocator.use()
    if limits.hold(present):
        return BudgetForecast("fits", limits, present, present, {}, allocator.precision(), chronon)
    chosen = allocator.allocate(limits, rule, weights)
    verdict: Verdict = "fits with other settings" if chosen.fits else "does not fit"
    return BudgetForecast(verdict, limits, present, chosen.use, chosen.settings, chosen.precision, chronon)


def fit(
    plan: AnyPlan,
    statistics: Statistics | None = None,
    *,
    memory: float | str | None = None,
    processor: float | str | None = None,
    chronon: float = CHRONON,
    rule: Rule = "precision",
    units: UnitCosts | None = None,
) -> BudgetForecast:
    """Find settings for the levers of a plan with which it keeps within a budget (STREAM, 5.1).

    memory      bytes of elements in the state, as a number or as text: "1 MB"
    processor   the share of one processor: 0.3 or "30%"
    chronon     the microseconds of a chronon, by which processing is compared with time
    rule        how several windows share what there is: by "precision", or by one "fraction" of all bounds

    Statistics are those of the sources.

    Raises   ArgumentError where nothing is limited; StatisticsError where a stream has no statistics.

    >>> import midstream as ms
    >>> s = ms.stream("s", x="integer")
    >>> query = s.window(60_000, bounds=(1_000, 60_000)).distinct()
    >>> statistics = ms.Statistics({s.node: ms.StreamStatistics(d=10.0, l=1.0)})
    >>> forecast = ms.fit(query, statistics, memory="100 kB")
    >>> print(forecast)
    fits with other settings: 100 kB of 100 kB, precision 0.085 at least
      window 60000 (from 1000 to 60000): 5102
    >>> print(forecast.plan(query.plan()).root.inputs[0].operator)
    window 5102 (from 1000 to 60000)
    """
    plan = plan_of("fit", plan)
    statistics = statistics_of("fit", plan, statistics)
    if rule not in RULES:
        raise wrong("fit: rule", rule, " or ".join(RULES))
    allocator: Allocator[str] = Allocator(statistics, units)
    allocator.set_plans({"query": plan})
    return forecast(allocator, limits_of("fit", memory, processor, chronon), rule, chronon=chronon)


def with_settings(plan: Plan, settings: Mapping[Node, Any]) -> Plan:
    """A plan with other settings of its levers.

    Raises   ArgumentError for a node that is no lever of the plan; PlanError for a setting out of its bounds.
    """
    for lever in settings:
        if lever not in plan.nodes or not is_lever(lever):
            raise ArgumentError(f"found settings of {logical(lever)}, expected levers of the plan")
    new = with_operators(plan, {lever: lever_of(lever).with_setting(one) for lever, one in settings.items()})
    return Plan({name: new[root] for name, root in plan.outputs.items()})
