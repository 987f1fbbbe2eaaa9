"""Random streams for which everything is known that the cost model asks."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from midstream.optimizer import Sample, Statistics, StreamStatistics
from midstream.plans.algebra.operators import Source
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.streams import Element

SAMPLED = 1000
"""The largest number of rows of a stream in a sample."""


@dataclass(frozen=True)
class PoissonStream:
    """A stream of timestamped rows at random instants.

    d         mean distance of rows, in chronons
    values    number of different, equally frequent values of each column
    """

    d: float
    values: tuple[int, ...]

    def elements(self, seed: object, until: int) -> list[Element]:
        """The elements before an instant; equal seeds give equal elements."""
        # The seed is spelled out: it stays when the class gets another name.
        rng = random.Random(f"{seed} Poisson(d={self.d!r}, values={self.values!r})")
        elements: list[Element] = []
        time = rng.expovariate(1 / self.d)
        while time < until:
            elements.append((int(time), int(time) + 1, tuple(map(rng.randrange, self.values))))
            time += rng.expovariate(1 / self.d)
        return elements


def source_statistics(plan: Plan, streams: Mapping[str, Sequence[Element]], until: int) -> Statistics:
    """Statistics of a plan's sources, and of nothing else, from all of their elements before an instant."""
    known = {}
    for node in plan.nodes:
        if isinstance(node.operator, Source):
            rows = [row for _, _, row in streams[node.operator.stream]]
            step = max(1, len(rows) // SAMPLED)
            sample = Sample(node.schema, rows[::step]) if rows else None
            known[node] = StreamStatistics(until / len(rows) if rows else math.inf, 1.0, sample=sample)
    return Statistics(known)
