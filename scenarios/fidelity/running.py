"""All experiments, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from midstream.scenarios.fidelity.experiments import Experiment, three_orders, two_filters
from midstream.scenarios.fidelity.following import Fidelity, fidelities
from midstream.scenarios.fidelity.traces import (
    Trace,
    decreasing,
    packet_lengths,
    packet_rates,
    uncorrelated,
    within_a_quarter,
)
from midstream.scenarios.fidelity.trees import Compared, compare_with_grid

MOST_RATE = 2.0

TREES = ((3, 3), (3, 4), (3, 5), (3, 6), (4, 3), (4, 4))
"""Dimensions, and the parts of the grid that a tree is compared with."""
QUICK_TREES = ((3, 3), (3, 4))


@dataclass(frozen=True, slots=True)
class Part:
    """Something to run: an experiment with a trace, or a tree beside a grid."""

    run: Callable[[], Sequence[Fidelity] | Compared]


def parts(data: Path | None, seed: int, *, is_quick: bool) -> Iterator[Part]:
    """What there is to run; the recorded packets only where there is data. A quick run has the trace on which
    OM's headline is found, and few trees."""
    filters, joins = two_filters(), three_orders()
    if is_quick:
        yield _followed(filters, within_a_quarter(2, 1.0, seed=seed))
    else:
        for trace in _traces(2, 1.0, None if data is None else packet_lengths(data), seed):
            yield _followed(filters, trace)
        for trace in _traces(3, MOST_RATE, None if data is None else packet_rates(data), seed):
            yield _followed(joins, trace)
    for streams, number in QUICK_TREES if is_quick else TREES:
        yield Part(lambda streams=streams, number=number: compare_with_grid(three_orders(streams), number))  # type: ignore[misc]


def _followed(experiment: Experiment, trace: Trace) -> Part:
    return Part(lambda: list(fidelities(experiment, trace)))


def _traces(dimensions: int, most: float, recorded: Trace | None, seed: int) -> Iterator[Trace]:
    if recorded is not None:
        yield recorded
    for make in (uncorrelated, within_a_quarter, decreasing):
        yield make(dimensions, most, seed=seed)
