"""Making of charts: plans are priced in the middle of every place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from midstream.optimizer.charts.chart import Chart, ChartError, Dimension
from midstream.optimizer.charts.measures import Measure
from midstream.optimizer.cost import price
from midstream.optimizer.cost.objective import PROCESSING, Objective
from midstream.optimizer.search import QUICK_STEPS, Budget, optimize
from midstream.optimizer.statistics import Statistics
from midstream.plans.algebra.plan import Plan

Changing = Sequence[tuple[Dimension, Measure]]
"""The dimensions of a chart, each with the measure that changes along it."""

TIE = 1e-9
"""Relative difference up to which costs are equal, as it may be rounding.

Without it, equal plans would share a chart like noise.
"""

MOST_PLACES = 100_000
"""Greatest number of places; a larger chart takes minutes, and has too many or too fine dimensions."""


def make_chart(
    plans: Sequence[Plan], statistics: Statistics, changing: Changing, objective: Objective = PROCESSING
) -> Chart:
    """Make the chart of the cheapest plan in the middle of each place; of equal plans, the first.

    Everything that does not change is taken from `statistics`. A sel-λ chart has a selectivity and a rate, a
    λ-λ chart the rates of several streams.

    Cost     plans * the product of the dimensions' parts
    Raises   StatisticsError if an input is unknown.
    Source   OM, Algorithm 1 and 4.4.2

    >>> from midstream.optimizer.charts.measures import rate_of, selectivity_of
    >>> from midstream.optimizer.statistics import StreamStatistics
    >>> from midstream.plans.algebra.builder import stream
    >>> s = stream("s", x="integer", y="integer")
    >>> x, y = s["x"] > 7, s["y"] > 7
    >>> plans = [s.filter(x).filter(y).plan(), s.filter(y).filter(x).plan()]
    >>> known = Statistics({s.node: StreamStatistics(d=1.0, l=1.0)}, {y: 0.5})
    >>> changing = [
    ...     (Dimension("x", 0.0, 1.0, 4), selectivity_of(x)),
    ...     (Dimension("rate", 0.0, 2.0, 2), rate_of(s)),
    ... ]
    >>> chart = make_chart(plans, known, changing)
    >>> chart.best, len(set(chart.regions.values()))
    ((0, 0, 0, 0, 1, 1, 1, 1), 2)
    """
    if not plans:
        raise ChartError("chart: found no plan, expected one or more")
    best = tuple(best_at(range(places(changing)), plans, statistics, changing, objective))
    return Chart(tuple(dimension for dimension, _ in changing), tuple(plans), best)


def ask_optimizer(
    plan: Plan,
    statistics: Statistics,
    changing: Changing,
    objective: Objective = PROCESSING,
    *,
    budget: Budget | int = QUICK_STEPS,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> Chart:
    """Make the chart of all plans that the optimizer finds best somewhere.

    A search in the middle of each place finds the plans; then they are compared everywhere. `tell` is called
    with the number of searched places and their total.

    Cost     a search for each place
    Raises   StatisticsError if an input is unknown.
    """
    total = places(changing)
    found: dict[Plan, None] = {}
    for done, one in enumerate(found_at(range(total), plan, statistics, changing, objective, budget)):
        tell(done, total)
        found[one] = None
    return without_idle_plans(make_chart(list(found), statistics, changing, objective))


def found_at(
    numbers: Iterable[int],
    plan: Plan,
    statistics: Statistics,
    changing: Changing,
    objective: Objective = PROCESSING,
    budget: Budget | int = QUICK_STEPS,
) -> Iterator[Plan]:
    """The plans that the optimizer finds in the middle of some places, given by their numbers."""
    for number in numbers:
        here = centroid(number, statistics, changing)
        yield optimize(plan, here, budget=budget, objective=objective).plan


def best_at(
    numbers: Iterable[int],
    plans: Sequence[Plan],
    statistics: Statistics,
    changing: Changing,
    objective: Objective = PROCESSING,
) -> Iterator[int]:
    """The position of the best plan in the middle of some places, given by their numbers."""
    return (cheapest(plans, centroid(number, statistics, changing), objective)[0] for number in numbers)


def cheapest(plans: Sequence[Plan], statistics: Statistics, objective: Objective = PROCESSING) -> list[int]:
    """The positions of the cheapest plans: one, or all whose costs differ only by rounding."""
    costs = [objective.of(price(plan, statistics)) for plan in plans]
    most = min(costs) + TIE * abs(min(costs))
    return [i for i, cost in enumerate(costs) if cost <= most]


def without_idle_plans(chart: Chart) -> Chart:
    """A chart without the plans that are best nowhere; the others keep their order."""
    used = sorted(set(chart.best))
    renumbered = {number: i for i, number in enumerate(used)}
    best = tuple(renumbered[number] for number in chart.best)
    return Chart(chart.dimensions, tuple(chart.plans[number] for number in used), best)


def places(changing: Changing) -> int:
    """Number of places of a chart; raises ChartError if there are too many."""
    count = 1
    for dimension, _ in changing:
        count *= dimension.parts
    if count > MOST_PLACES:
        raise ChartError(
            f"chart: found {count:,} places in {len(changing)} dimensions, expected {MOST_PLACES:,} at most; "
            "take fewer parts, or fewer dimensions"
        )
    return count


def centroid(number: int, statistics: Statistics, changing: Changing) -> Statistics:
    """The statistics in the middle of a place, by its number in the order of `Chart.places`."""
    here, rest = statistics, number
    for dimension, measure in reversed(changing):
        rest, part = divmod(rest, dimension.parts)
        here = measure.change(here, dimension.middle(part))
    return here
