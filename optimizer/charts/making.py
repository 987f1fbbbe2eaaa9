"""Makes charts: prices plans in the middle of every place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from midstream.optimizer.charts.chart import Chart, ChartError, Dimension
from midstream.optimizer.charts.measures import Measure
from midstream.optimizer.cost import price
from midstream.optimizer.cost.objective import PROCESSING, Objective
from midstream.optimizer.search.budget import QUICK_STEPS, Budget
from midstream.optimizer.search.optimizing import optimize
from midstream.optimizer.statistics import Statistics
from midstream.plans.algebra.plan import Plan

Changing = Sequence[tuple[Dimension, Measure]]
"""The dimensions of a chart, each with what changes along it."""

TIE = 1e-9
"""Costs that differ by no more than this share are equal: what differs is rounding. Without it, equal plans
would share a chart like noise."""

MOST_PLACES = 100_000
"""A chart of more takes minutes to make, and says that dimensions are too many, or too fine."""


def make_chart(
    plans: Sequence[Plan], known: Statistics, changing: Changing, objective: Objective = PROCESSING
) -> Chart:
    """The plan with the least cost in the middle of each place; the first of equals. What does not change
    is `known`.

    A sel-λ chart has a selectivity and a rate, a λ-λ chart the rates of several streams.

    Cost     plans * the product of the dimensions' parts
    Raises   StatisticsError where an input is unknown.
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
    best = tuple(best_at(range(places(changing)), plans, known, changing, objective))
    return Chart(tuple(dimension for dimension, _ in changing), tuple(plans), best)


def ask_optimizer(
    plan: Plan,
    known: Statistics,
    changing: Changing,
    objective: Objective = PROCESSING,
    *,
    budget: Budget | int = QUICK_STEPS,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> Chart:
    """The chart of all plans that the optimizer finds best somewhere: it is asked in the middle of each
    place, and what it found is then compared everywhere. `tell` hears how many places are done.

    Cost     a search for each place
    Raises   StatisticsError where an input is unknown.
    """
    total = places(changing)
    found: dict[Plan, None] = {}
    for done, one in enumerate(found_at(range(total), plan, known, changing, objective, budget)):
        tell(done, total)
        found[one] = None
    return without_idle_plans(make_chart(list(found), known, changing, objective))


def found_at(
    numbers: Iterable[int],
    plan: Plan,
    known: Statistics,
    changing: Changing,
    objective: Objective = PROCESSING,
    budget: Budget | int = QUICK_STEPS,
) -> Iterator[Plan]:
    """What the optimizer makes of a plan in the middle of some places, told by their numbers."""
    for number in numbers:
        here = centroid(number, known, changing)
        yield optimize(plan, here, budget=budget, objective=objective).plan


def best_at(
    numbers: Iterable[int],
    plans: Sequence[Plan],
    known: Statistics,
    changing: Changing,
    objective: Objective = PROCESSING,
) -> Iterator[int]:
    """Which of some plans is best in the middle of some places, told by their numbers."""
    return (cheapest(plans, centroid(number, known, changing), objective)[0] for number in numbers)


def cheapest(plans: Sequence[Plan], known: Statistics, objective: Objective = PROCESSING) -> list[int]:
    """Which of some plans cost least: one, or all that cost the same but for rounding."""
    costs = [objective.of(price(plan, known)) for plan in plans]
    most = min(costs) + TIE * abs(min(costs))
    return [i for i, cost in enumerate(costs) if cost <= most]


def without_idle_plans(chart: Chart) -> Chart:
    """A chart without the plans that are best nowhere; the others keep their order."""
    used = sorted(set(chart.best))
    renumbered = {number: i for i, number in enumerate(used)}
    best = tuple(renumbered[number] for number in chart.best)
    return Chart(chart.dimensions, tuple(chart.plans[number] for number in used), best)


def places(changing: Changing) -> int:
    """How many places a chart has. Raises ChartError where they are too many."""
    count = 1
    for dimension, _ in changing:
        count *= dimension.parts
    if count > MOST_PLACES:
        raise ChartError(
            f"chart: found {count:,} places in {len(changing)} dimensions, expected {MOST_PLACES:,} at most; "
            "take fewer parts, or fewer dimensions"
        )
    return count


def centroid(number: int, known: Statistics, changing: Changing) -> Statistics:
    """The statistics in the middle of a place, by its number in the order of `Chart.places`."""
    here, rest = known, number
    for dimension, measure in reversed(changing):
        rest, part = divmod(rest, dimension.parts)
        here = measure.change(here, dimension.middle(part))
    return here
