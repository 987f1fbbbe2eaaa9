"""Charts that are made while streams flow: over ranges that are learned, and made again when these change."""

from __future__ import annotations

from collections.abc import Sequence

from midstream.optimizer.charts.chart import Chart
from midstream.optimizer.charts.making import ask_optimizer
from midstream.optimizer.charts.measures import Measure, Rate
from midstream.optimizer.charts.ranges import STANDARD, LearnedRange, LearnedRanges, RangeSettings
from midstream.optimizer.cost.objective import PROCESSING, Objective
from midstream.optimizer.search.budget import QUICK_STEPS, Budget
from midstream.optimizer.statistics import Statistics
from midstream.plans.algebra.plan import Plan


class LearnedChart:
    """The chart of a query by what was seen of its streams. Rates have logarithmic dimensions.

    What does not change along a dimension is as it was when the chart was made.

    Cost     a search for each place, each time that the chart is made; else O(dimensions) per look
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

    def see(self, known: Statistics) -> Chart | None:
        """Take statistics of a round, and give the chart; None before there is one. The same statistics twice
        are one round; one whose statistics do not tell all measures is left out."""
        if known is self._last:
            return self.chart
        self._last = known
        point = [measure.read(known) for measure in self.measures]
        told = [value for value in point if value is not None]
        if len(told) == len(point) and self._ranges.see(told):
            dimensions = self._ranges.dimensions
            assert dimensions is not None
            changing = list(zip(dimensions, self.measures, strict=True))
            self.chart = ask_optimizer(self._plan, known, changing, self._objective, budget=self._budget)
        return self.chart
