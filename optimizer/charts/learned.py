"""Charts made while streams flow, over learned ranges; they are made again when the ranges change."""

from __future__ import annotations

from collections.abc import Sequence

from midstream.optimizer.charts.chart import Chart
from midstream.optimizer.charts.making import ask_optimizer
from midstream.optimizer.charts.measures import Measure, Rate
from midstream.optimizer.charts.ranges import STANDARD, LearnedRange, LearnedRanges, RangeSettings
from midstream.optimizer.cost.objective import PROCESSING, Objective
from midstream.optimizer.search import QUICK_STEPS, Budget
from midstream.optimizer.statistics import Statistics
from midstream.plans.algebra.plan import Plan


class LearnedChart:
    """The chart of a query over measured properties of its streams; rates have logarithmic dimensions.

    Properties without a dimension keep the values that they had when the chart was made.

    Cost     a search for each place, each time that the chart is made; else O(dimensions) per round
    """

    def __init__(
        self,
        plan: Plan,
        measures: Sequence[Measure],
        parts: int = 10,
        objective: Objective = PROCESSING,
        *,
        budget: Budget | int = QUICK_STEPS,
        settings: RangeSettings = STANDARD,
    ) -> None:
        self.measures = tuple(measures)
        self.chart: Chart | None = None
        self._last: Statistics | None = None
        self._plan, self._objective, self._budget = plan, objective, budget
        learned = [
            LearnedRange(one.least, one.most, settings, is_logarithmic=isinstance(one, Rate))
            for one in measures
        ]
        self._ranges = LearnedRanges([one.name for one in measures], parts, learned)

    def see(self, statistics: Statistics) -> Chart | None:
        """Take the statistics of a round and return the chart, or None if there is none yet.

        Repeated statistics are the same round; a round without values for all measures is left out.
        """
        if statistics is self._last:
            return self.chart
        self._last = statistics
        point = [measure.read(statistics) for measure in self.measures]
        told = [value for value in point if value is not None]
        if len(told) == len(point) and self._ranges.see(told):
            dimensions = self._ranges.dimensions
            assert dimensions is not None
            changing = list(zip(dimensions, self.measures, strict=True))
            self.chart = ask_optimizer(self._plan, statistics, changing, self._objective, budget=self._budget)
        return self.chart
