"""Let charts follow traces, and count hits, moves and switches.

In each round a chart chooses a plan from an estimate, a decayed mean of earlier rounds. To tell the effect of
the grid alone, it chooses from the true values of the round instead. A hit is the plan that costs least by
the true values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from midstream.optimizer.charts.chart import Dimension
from midstream.optimizer.charts.fidelity import Followed, Follower, follow
from midstream.optimizer.charts.ranges import LearnedRange, LearnedRanges
from midstream.scenarios.trials.fidelity.experiments import Experiment
from midstream.scenarios.trials.fidelity.traces import Point, RoundTrace

DECAY, PAST = 0.5, 10
"""OM's a and d: G(r) = e^(−ar) weights the last d rounds."""

Seen = Literal["as they are", "estimated"]
"""The values of a round that a chart sees: the true ones, or estimates."""

Over = Literal["given", "learned", "learned, logarithmic"]
"""The ranges of a chart: those of the trace, or those learned from earlier rounds.

Learned ranges have equal parts or, if logarithmic, parts that grow by an equal factor.
"""

LEARNED: Mapping[Over, bool] = {"learned": False, "learned, logarithmic": True}


@dataclass(frozen=True, slots=True)
class Fidelity:
    """The result of following a trace.

    charts   the number of charts made: one, or more where ranges are learned
    """

    experiment: str
    trace: str
    seen: Seen
    over: Over
    parts: int
    followed: Followed
    charts: int


def fidelities(experiment: Experiment, trace: RoundTrace) -> Iterator[Fidelity]:
    """Let charts of an experiment follow a trace in all ways."""
    best = [experiment.best(point) for point in trace.points]
    told: dict[Seen, Sequence[Point | None]] = {
        "as they are": trace.points,
        "estimated": estimates(trace.points),
    }
    for parts in experiment.parts:
        dimensions = [
            Dimension(name, *range_, parts)
            for name, range_ in zip(experiment.names, trace.ranges, strict=True)
        ]
        given = experiment.chart(dimensions)
        for seen, points in told.items():
            rounds = [(point, best) for point, best in zip(points, best, strict=True) if point is not None]
            followed = follow(given, rounds)
            yield Fidelity(experiment.name, trace.name, seen, "given", parts, followed, 1)
            for over, is_logarithmic in LEARNED.items():
                learning = _learning(experiment, rounds, parts, is_logarithmic)
                yield Fidelity(experiment.name, trace.name, seen, over, parts, *learning)


def estimates(points: Sequence[Point]) -> list[Point | None]:
    """Estimates of each round: a mean of earlier rounds, with more weight for later ones; None for the first.

        estimate(R)  =  Σ_{r=1..d} F(R − r) e^(−ar)  /  Σ_{r=1..d} e^(−ar)

    Source   OM, 4.3

    >>> [None if point is None else round(point[0], 2) for point in estimates([(1.0,), (2.0,), (2.0,)])]
    [None, 1.0, 1.62]
    """
    found: list[Point | None] = []
    for now in range(len(points)):
        past = [(math.exp(-DECAY * r), points[now - r]) for r in range(1, min(PAST, now) + 1)]
        total = math.fsum(weight for weight, _ in past)
        columns = zip(*(point for _, point in past), strict=True)
        weights = [weight / total for weight, _ in past]
        means = (math.fsum(w * x for w, x in zip(weights, of, strict=True)) for of in columns)
        found.append(tuple(means) if past else None)
    return found


def _learning(
    experiment: Experiment, rounds: Sequence[tuple[Point, list[int]]], parts: int, is_logarithmic: bool
) -> tuple[Followed, int]:
    """Follow with charts over ranges that are learned on the way; returns also the number of charts.

    Rounds before the first chart do not count.
    """
    learned = [
        LearnedRange(measure.least, measure.most, is_logarithmic=is_logarithmic)
        for measure in experiment.measures
    ]
    ranges = LearnedRanges(experiment.names, parts, learned)
    chart, charts, follower = None, 0, Follower()
    for point, best in rounds:
        if ranges.see(point):
            assert ranges.dimensions is not None
            chart, charts = experiment.chart(ranges.dimensions), charts + 1
        if chart is not None:
            follower.take(chart, point, best)
    return follower.followed, charts
