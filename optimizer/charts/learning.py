"""Learning of decision trees from the optimizer's answers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, count, islice, pairwise

from midstream.optimizer.charts.chart import ChartError, Dimension
from midstream.optimizer.charts.making import Changing, cheapest
from midstream.optimizer.charts.tree import ChartTree, Leaf, Split, feature
from midstream.optimizer.cost.objective import PROCESSING, Objective
from midstream.optimizer.statistics import Statistics
from midstream.plans.algebra.plan import Plan

Point = tuple[float, ...]

Answer = tuple[Point, int]
"""A point, and the position of the best plan there."""

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19)
"""The bases of Halton's points; their number limits the dimensions of a tree."""


def make_tree(
    plans: Sequence[Plan],
    statistics: Statistics,
    changing: Changing,
    questions: int,
    objective: Objective = PROCESSING,
) -> ChartTree:
    """Learn a tree of the cheapest plans from a number of points over the ranges of the dimensions.

    The parts of dimensions do not matter. Everything that does not change is taken from `statistics`.

    Cost     plans * questions prices, and O(questions log questions) for each level and pair of dimensions
    Raises   StatisticsError if an input is unknown.
    """
    if not plans:
        raise ChartError("tree: found no plan, expected one or more")

    def ask(point: Point) -> int:
        here = statistics
        for value, (_, measure) in zip(point, changing, strict=True):
            here = measure.change(here, value)
        return cheapest(plans, here, objective)[0]

    return learn_tree(plans, [dimension for dimension, _ in changing], ask, questions)


def learn_tree(
    plans: Sequence[Plan], dimensions: Sequence[Dimension], ask: Callable[[Point], int], questions: int
) -> ChartTree:
    """Learn a tree that agrees with `ask` at a number of points, spread evenly over the dimensions.

    Answers have no noise, so the tree divides until every leaf has one answer only.
    """
    if questions < 1:
        raise ChartError(f"tree: found {questions} questions, expected 1 or more")
    points = [
        tuple(dimension.at(share) for dimension, share in zip(dimensions, shares, strict=True))
        for shares in islice(halton(len(dimensions)), questions)
    ]
    nodes = divided([(point, ask(point)) for point in points])
    return ChartTree(tuple(one.name for one in dimensions), tuple(plans), tuple(nodes))


def halton(dimensions: int) -> Iterator[Point]:
    """Points that are spread evenly over the unit cube.

    Source   J. H. Halton, On the efficiency of certain quasi-random sequences of points, 1960

    >>> from itertools import islice
    >>> [point for point in islice(halton(2), 2)]
    [(0.5, 0.3333333333333333), (0.25, 0.6666666666666666)]
    """
    if dimensions > len(PRIMES):
        raise ChartError(f"tree: found {dimensions} dimensions, expected {len(PRIMES)} at most")
    for number in count(1):
        yield tuple(_reversed_digits(number, base) for base in PRIMES[:dimensions])


def _reversed_digits(number: int, base: int) -> float:
    """The digits of a number after the point, in reverse order."""
    found, unit = 0.0, 1.0
    while number:
        unit /= base
        number, digit = divmod(number, base)
        found += digit * unit
    return found


def divided(answers: Sequence[Answer]) -> list[Split | Leaf]:
    """The nodes of a tree that gives these answers, divided where the least impurity remains.

    Source   Breiman et al., Classification and Regression Trees, 1984
    """
    nodes: list[Split | Leaf] = []

    def add(part: Sequence[Answer]) -> int:
        at = len(nodes)
        nodes.append(Leaf(Counter(number for _, number in part).most_common(1)[0][0]))
        if (split := _best_split(part)) is not None:
            by, bound = split
            below = add([one for one in part if feature(one[0], by) < bound])
            above = add([one for one in part if not feature(one[0], by) < bound])
            nodes[at] = Split(by, bound, below, above)
        return at

    add(answers)
    return nodes


def _best_split(part: Sequence[Answer]) -> tuple[tuple[int, ...], float] | None:
    """The dimensions to divide by, and the bound; None if all answers or all points are equal."""
    if len({number for _, number in part}) == 1:
        return None
    dimensions = range(len(part[0][0]))
    found: list[tuple[float, tuple[int, ...], float]] = []
    for by in (*((i,) for i in dimensions), *combinations(dimensions, 2)):
        values = sorted((feature(point, by), number) for point, number in part)
        if (best := _best_bound(values)) is not None:
            left, bound = best
            found.append((left, by, bound))
    return min(found)[1:] if found else None


def _best_bound(values: Sequence[tuple[float, int]]) -> tuple[float, float] | None:
    """The impurity that the best bound leaves, and the bound; None if all values are equal."""
    below, above = Counter[int](), Counter(number for _, number in values)
    found: list[tuple[float, float]] = []
    for i, ((value, number), (following, _)) in enumerate(pairwise(values), 1):
        below[number] += 1
        above[number] -= 1
        if value < following:
            bound = (value + following) / 2
            # There is none between adjacent floats, or below infinity.
            bound = bound if value < bound < math.inf else following
            found.append((_impurity(below, i) + _impurity(above, len(values) - i), bound))
    return min(found, default=None)


def _impurity(numbers: Counter[int], total: int) -> float:
    """The Gini impurity, times the number of answers."""
    return total - sum(n * n for n in numbers.values()) / total
