"""All experiments in turn, and decision trees beside grids that ask the optimizer equally often."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from midstream.optimizer.charts.chart import Dimension
from midstream.optimizer.charts.fidelity import follow
from midstream.optimizer.charts.learning import make_tree
from midstream.scenarios.trials.fidelity.experiments import Experiment, three_orders, two_filters
from midstream.scenarios.trials.fidelity.following import Fidelity, fidelities
from midstream.scenarios.trials.fidelity.traces import (
    RoundTrace,
    decreasing,
    packet_lengths,
    packet_rates,
    uncorrelated,
    within_a_quarter,
)

MOST = 2.0
"""The largest rate, in elements per chronon."""

TREES = ((3, 3), (3, 4), (3, 5), (3, 6), (4, 3), (4, 4))
"""Numbers of dimensions, and of parts of the grid that a tree is compared with."""
QUICK_TREES = ((3, 3), (3, 4))

POINTS = 1000
"""The number of points at which a tree and a grid are compared."""


@dataclass(frozen=True, slots=True)
class FidelityComparison:
    """The fidelity of a grid and of a tree at points that neither asked about.

    parts       the grid's, in each dimension
    questions   the number of times that each of both asked the optimizer
    leaves      the number of the tree's leaves
    """

    dimensions: int
    parts: int
    questions: int
    of_grid: float
    of_tree: float
    leaves: int


def compare_with_grid(
    experiment: Experiment, parts: int, points: int = POINTS, seed: int = 1
) -> FidelityComparison:
    """Compare a grid and a tree at points from a uniform distribution."""
    dimensions = [Dimension(name, 0.0, MOST, parts) for name in experiment.names]
    changing = list(zip(dimensions, experiment.measures, strict=True))
    questions = parts ** len(dimensions)
    tree = make_tree(experiment.plans, experiment.statistics, changing, questions)
    random = Random(f"points {len(dimensions)} {seed}")
    drawn = [tuple(random.uniform(0.01, MOST) for _ in dimensions) for _ in range(points)]
    rounds = [(point, experiment.best(point)) for point in drawn]
    grid = experiment.chart(dimensions)
    return FidelityComparison(
        len(dimensions),
        parts,
        questions,
        follow(grid, rounds).fidelity or 0.0,
        follow(tree, rounds).fidelity or 0.0,
        tree.leaves,
    )


Part = Callable[[], Sequence[Fidelity] | FidelityComparison]
"""A task: an experiment with a trace, or a tree beside a grid."""


def parts(data: Path | None, seed: int, *, is_quick: bool) -> Iterator[Part]:
    """All tasks, with the recorded packets only if their folder is given.

    A quick run has the trace of OM's headline result, and few trees.
    """
    filters, joins = two_filters(), three_orders()
    if is_quick:
        yield _followed(filters, within_a_quarter(2, 1.0, seed=seed))
    else:
        for trace in _traces(2, 1.0, None if data is None else packet_lengths(data), seed):
            yield _followed(filters, trace)
        for trace in _traces(3, MOST, None if data is None else packet_rates(data), seed):
            yield _followed(joins, trace)
    for streams, number in QUICK_TREES if is_quick else TREES:
        yield partial(compare_with_grid, three_orders(streams), number)


def _followed(experiment: Experiment, trace: RoundTrace) -> Part:
    return lambda: list(fidelities(experiment, trace))


def _traces(dimensions: int, most: float, recorded: RoundTrace | None, seed: int) -> Iterator[RoundTrace]:
    if recorded is not None:
        yield recorded
    for make in (uncorrelated, within_a_quarter, decreasing):
        yield make(dimensions, most, seed=seed)
