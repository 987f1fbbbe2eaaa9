"""Decision trees beside grids that ask the optimizer as often."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from midstream.optimizer.charts.chart import Dimension
from midstream.optimizer.charts.fidelity import follow
from midstream.optimizer.charts.learning import make_tree
from midstream.scenarios.fidelity.experiments import Experiment

MOST = 2.0
"""Rates are between nothing and so many elements per chronon."""

POINTS = 1000


@dataclass(frozen=True, slots=True)
class Compared:
    """The fidelity of a grid and of a tree at points where neither was asked.

    parts       the grid's, in each dimension
    questions   how often each of both asked
    leaves      how many parts the tree has
    """

    dimensions: int
    parts: int
    questions: int
    of_grid: float
    of_tree: float
    leaves: int


def compare_with_grid(experiment: Experiment, parts: int, points: int = POINTS, seed: int = 1) -> Compared:
    """Compare both at points that are drawn evenly."""
    dimensions = [Dimension(name, 0.0, MOST, parts) for name in experiment.names]
    changing = list(zip(dimensions, experiment.measures, strict=True))
    questions = parts ** len(dimensions)
    tree = make_tree(experiment.plans, experiment.known, changing, questions)
    random = Random(f"points {len(dimensions)} {seed}")
    drawn = [tuple(random.uniform(0.01, MOST) for _ in dimensions) for _ in range(points)]
    rounds = [(point, experiment.best(point)) for point in drawn]
    grid = experiment.chart(dimensions)
    return Compared(
        len(dimensions),
        parts,
        questions,
        follow(grid, rounds).fidelity or 0.0,
        follow(tree, rounds).fidelity or 0.0,
        tree.leaves,
    )
