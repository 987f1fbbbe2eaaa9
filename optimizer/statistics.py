"""What the cost model knows about a plan's inputs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from midstream.plans.errors import StatisticsError
from midstream.plans.expressions import Expression
from midstream.plans.observations import Observation
from midstream.plans.plan import Node
from midstream.plans.schema import Schema
from midstream.plans.streams import BEGINNING, FOREVER, Element, Payload

Distribution = Mapping[Any, float]
"""How the values of a column are distributed: probabilities that add up to 1. Unknown values are left out."""


@dataclass(frozen=True)
class Sample:
    """Rows of a stream that stand for all."""

    schema: Schema
    rows: Sequence[Payload]

    @cached_property
    def _distributions(self) -> dict[str, Distribution]:
        return {}

    def distribution(self, column: str) -> Distribution:
        """How a column's known values are distributed. Cost: O(rows), once."""
        known = self._distributions
        if column not in known:
            position = self.schema.index(column)
            counts = Counter(value for row in self.rows if (value := row[position]) is not None)
            # Unknown values equal nothing, so the shares are of all rows and may add up to less than 1.
            known[column] = {value: n / len(self.rows) for value, n in counts.items()}
        return known[column]

    def distinct(self, columns: Sequence[str]) -> int:
        """How many combinations of values some columns have, at least 1."""
        positions = [self.schema.index(column) for column in columns]
        return max(1, len({tuple(row[i] for i in positions) for row in self.rows}))


@dataclass(frozen=True)
class StreamStatistics:
    """The characteristics of a stream (thesis, 22.2), in chronons, and rows that stand for its values.

    d    average distance between the starts of successive elements; infinite for an empty stream
    l    average length of validity
    g    granule
    """

    d: float
    l: float  # noqa: E741 - the model's own letter
    g: int = 1
    sample: Sample | None = None

    @property
    def rate(self) -> float:
        """Elements per chronon."""
        return 1 / self.d if self.d else math.inf


@dataclass(frozen=True)
class Statistics:
    """Statistics of every input of a plan; known selectivities and distributions take precedence over
    samples.

    `selectivities` are by condition, a conjunct as the plan has it. `distributions` are by column name.
    """

    streams: Mapping[Node, StreamStatistics]
    selectivities: Mapping[Expression, float] = field(default_factory=dict)
    distributions: Mapping[str, Distribution] = field(default_factory=dict)

    @classmethod
    def from_observations(cls, observations: Mapping[Node, Observation]) -> Statistics:
        """Estimate them from what a running engine saw: `Statistics.from_observations(engine.observe())`.

        >>> from midstream.operators.engine import Engine
        >>> from midstream.plans.builder import stream
        >>> engine = Engine(stream("s", x="integer").window(60).plan())
        >>> engine.push("s", [(t, t + 1, (t % 2,)) for t in range(0, 100, 5)])
        >>> (s,) = Statistics.from_observations(engine.observe()).streams.values()
        >>> s.d, s.l, dict(s.sample.distribution("x"))
        (5.0, 60.0, {0: 0.5, 1: 0.5})
        """
        return cls({node: stream_statistics(node.schema, seen) for node, seen in observations.items()})

    def stream(self, node: Node) -> StreamStatistics:
        """Those of one input. Raises StatisticsError where there are none."""
        try:
            return self.streams[node]
        except KeyError:
            raise StatisticsError(f"there are no statistics for the input {node!r}") from None


def stream_statistics(schema: Schema, seen: Observation) -> StreamStatistics:
    """Statistics of the recent part of a stream."""
    recent = seen.recent
    if not recent:
        return StreamStatistics(d=math.inf, l=0.0)
    return StreamStatistics(
        d=_distance(recent, seen),
        l=_length(recent),
        sample=Sample(schema, [payload for _, _, payload in recent]),
    )


def _distance(recent: Sequence[Element], seen: Observation) -> float:
    """From the first recent start to where the input stands now, so that a stream which has fallen silent
    counts as slow."""
    first, last = recent[0][0], recent[-1][0]
    now = last if seen.progress in (BEGINNING, FOREVER) else max(last, seen.progress)
    gaps = len(recent) - 1 if now == last else len(recent)
    # All at one instant: as if they were spread over one chronon.
    return float(now - first) / gaps if gaps and now > first else 1 / len(recent)


def _length(recent: Sequence[Element]) -> float:
    return float(sum(end - start for start, end, _ in recent)) / len(recent)
