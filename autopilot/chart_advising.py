"""A chart as an advisor: a lookup in constant time, where the optimizer would search."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Literal, get_args

from midstream.autopilot.advice import Advice, Forecast
from midstream.autopilot.pricing import PricingAdvisor, deviation_of_saving
from midstream.optimizer import PROCESSING, Objective, Statistics
from midstream.optimizer.charts.chart import Chart
from midstream.optimizer.charts.learned import LearnedChart
from midstream.optimizer.charts.measures import Measure, measure_named
from midstream.optimizer.charts.tree import ChartTree
from midstream.optimizer.cost.units import UnitCosts
from midstream.optimizer.search import Obstacle
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.arguments import require, require_callable
from midstream.plans.values.errors import ArgumentError, StatisticsError

At = Literal["point", "centroid"]
"""The statistics by which plans are priced: the present ones, or those in the middle of the place."""


class ByChart(PricingAdvisor):
    """Advises the plan that a chart has for the present rates and selectivities.

    chart      a chart or a tree whose dimensions have the names of measures, such as rate(bids), so that they
               can be read from statistics; or a chart that learns its ranges, and is built on the way
    at         at the point, plans are priced by the present statistics, and the chart's plan may save
               nothing; at the centroid it saves the same throughout a place, so advice changes only when a
               stream moves to another place

    `obstacle` tells why a plan cannot replace the running one, for example `engine.obstacle`; then the
    chart's plan is not advised.

    The advice is None where the statistics lack a dimension, or where ranges have not been learned yet.

    The plans must be equivalent to the running one. The deviation of a saving comes from the same saving
    without each group of elements, if the statistics have such `replicates`.

    Cost     O(dimensions) to look up; then the running plan and the chart's are priced, nothing is searched
    Source   OM, Algorithm 2
    """

    def __init__(
        self,
        chart: Chart | ChartTree | LearnedChart,
        objective: Objective = PROCESSING,
        *,
        at: At = "point",
        units: UnitCosts | None = None,
        obstacle: Obstacle | None = None,
    ) -> None:
        if obstacle is not None:
            require_callable("advisor: obstacle", obstacle, "a function of a plan, such as engine.obstacle")
        require("advisor: chart", chart, (Chart, ChartTree, LearnedChart), "a chart, or a tree")
        if at not in get_args(At) or (at == "centroid" and isinstance(chart, ChartTree)):
            expected = (
                "point: a tree has no centroids" if isinstance(chart, ChartTree) else "point or centroid"
            )
            raise ArgumentError(f"advisor: found at = {at!r}, expected {expected}")
        super().__init__(objective, units)
        self._source, self._at, self._measures, self._obstacle = chart, at, _measures(chart), obstacle

    def _advise(self, running: Plan, known: Statistics) -> Advice[Plan] | None:
        point = read(self._measures, known)
        chart = self._source.see(known) if isinstance(self._source, LearnedChart) else self._source
        if point is None or chart is None:
            return None
        plan = chart.plan(point)
        here = (
            known
            if isinstance(chart, ChartTree) or self._at == "point"
            else self._centroid(chart, point, known)
        )
        try:
            running_cost, cost = self.costs([running, plan], here)
        except StatisticsError:
            return None
        if running_cost == inf:
            return None
        values = ", ".join(
            f"{measure.name} = {x:.4g}" for measure, x in zip(self._measures, point, strict=True)
        )
        if plan == running:
            return Advice(running_cost, (), f"by the chart, which has the running plan for {values}")
        if self._obstacle is not None and (reason := self._obstacle(plan)):
            return Advice(
                running_cost, (), f"by the chart, whose plan for {values} is out of reach: {reason}"
            )
        if cost == inf:
            return Advice(running_cost, (), f"by the chart, whose plan for {values} costs without end")
        without = [self.costs([running, plan], replicate) for replicate in known.replicates]
        if any(inf in costs for costs in without):
            return Advice(running_cost, (), f"by the chart, where the saving for {values} is not known")
        forecast = Forecast(plan, cost, running_cost - cost, deviation_of_saving(without, 1))
        return Advice(running_cost, (forecast,), f"by the chart, for {values}")

    def _centroid(self, chart: Chart, point: Sequence[float], known: Statistics) -> Statistics:
        for measure, value in zip(self._measures, chart.middle(chart.place(point)), strict=True):
            known = measure.change(known, value)
        return known


def read(measures: Sequence[Measure], statistics: Statistics) -> tuple[float, ...] | None:
    """The values of some measures in statistics; None unless all of them are known."""
    values = [measure.read(statistics) for measure in measures]
    point = tuple(value for value in values if value is not None)
    return point if len(point) == len(values) else None


def _measures(chart: Chart | ChartTree | LearnedChart) -> Sequence[Measure]:
    if isinstance(chart, LearnedChart):
        return chart.measures
    names = chart.names if isinstance(chart, ChartTree) else [one.name for one in chart.dimensions]
    return [measure_named(name, chart.plans) for name in names]
