"""What the cost model knows about a plan's inputs."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from midstream.plans.algebra.operators import Filter, Source, TimeWindow, Union
from midstream.plans.algebra.operators.base import RowByRow
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Expression, compile_row, conjuncts
from midstream.plans.expressions.operands import expression_of
from midstream.plans.values.arguments import require
from midstream.plans.values.errors import StatisticsError
from midstream.plans.values.finite import LARGEST
from midstream.plans.values.observations import Observation
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Payload, Time

Distribution = Mapping[Any, float]
"""How the values of a column are distributed: the share of each among all rows. Unknown values have none, so
the shares may add up to less than 1."""

MANY_TIMESTAMPS = 16
"""From so many timestamps on, their common divisor is taken for the granule."""
FEW_ROWS = 32
"""Where fewer rows of a sample satisfy a condition, their share is not to be relied on."""


@dataclass(frozen=True)
class Sample:
    """Rows of a stream that stand for all. What is asked of them is computed once."""

    schema: Schema
    rows: Sequence[Payload]

    @cached_property
    def _distributions(self) -> dict[str, Distribution]:
        return {}

    @cached_property
    def _value_bytes(self) -> dict[str, float]:
        return {}

    @cached_property
    def _distinct(self) -> dict[tuple[int, ...], float]:
        return {}

    @cached_property
    def _parts(self) -> dict[Expression, Sample]:
        return {}

    def distribution(self, column: str) -> Distribution:
        """How a column's known values are distributed. Cost: O(rows)."""
        known = self._distributions
        if column not in known:
            position = self.schema.index(column)
            counts = Counter(value for row in self.rows if (value := row[position]) is not None)
            known[column] = {value: n / len(self.rows) for value, n in counts.items()}
        return known[column]

    def distinct(self, columns: Iterable[str]) -> float:
        """How many combinations of values some columns have in the whole stream, at least 1. Cost: O(rows),
        once.

        Where many combinations occur in one row only, more exist that occur in none; how many follows from
        the numbers f1 and f2 of those that occur once and twice:

            combinations  ~  seen + f1 (f1 - 1) / (2 (f2 + 1))

        Source   A. Chao, Nonparametric estimation of the number of classes in a population, 1984

        >>> Sample(Schema.of(x="integer"), [(1,), (1,), (2,), (2,)]).distinct(["x"])
        2.0
        >>> Sample(Schema.of(x="integer"), [(i,) for i in range(100)]).distinct(["x"])
        5050.0
        """
        positions = tuple(sorted({self.schema.index(column) for column in columns}))
        known = self._distinct
        if positions not in known:
            occurrences = Counter(zip(*([row[i] for row in self.rows] for i in positions), strict=True))
            times = Counter(occurrences.values())
            known[positions] = max(1.0, len(occurrences) + times[1] * (times[1] - 1) / (2 * (times[2] + 1)))
        return known[positions]

    def value_bytes(self, column: str) -> float:
        """What a value of a column takes on average, as an object of its own. Cost: O(rows), once."""
        known = self._value_bytes
        if column not in known:
            position = self.schema.index(column)
            known[column] = math.fsum(sys.getsizeof(row[position]) for row in self.rows) / len(self.rows)
        return known[column]

    def where(self, condition: Expression) -> Sample:
        """The rows that satisfy a condition. Cost: O(rows)."""
        if condition not in self._parts:
            holds = compile_row(condition, self.schema)
            self._parts[condition] = Sample(self.schema, [row for row in self.rows if holds(row)])
        return self._parts[condition]


@dataclass(frozen=True)
class StreamStatistics:
    """The characteristics of a stream (thesis, 22.2), in chronons, and rows that stand for its values.

    d    average distance between the starts of successive elements; infinite for an empty stream
    l    average length of validity
    g    granule, the unit of which timestamps are multiples

    `always` is how many rows are valid at every instant besides: those of a constant relation. The stream is
    `even` where distances and lengths are all the same (Remark 22.1). `distributions` are by column, and take
    precedence over the sample.
    """

    d: float
    l: float  # noqa: E741 - the model's own letter
    g: int = 1
    sample: Sample | None = None
    always: float = 0.0
    even: bool = False
    distributions: Mapping[str, Distribution] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("d", "l", "always"):
            found = getattr(self, name)
            require(f"statistics: {name}", found, (int, float, Fraction), "a number")
            if LARGEST < found < math.inf:
                raise StatisticsError(f"found {name} = {found}, expected at most {LARGEST:g}, or infinity")
        require("statistics: g", self.g, int, "a whole number of chronons")
        if not (self.d > 0 and self.l >= 0 and self.g > 0):
            raise StatisticsError(
                f"found d = {self.d}, l = {self.l}, g = {self.g}, expected positive d and g and no negative l"
            )
        if not 0 <= self.always < math.inf:
            raise StatisticsError(f"found always = {self.always}, expected a number of rows")

    @property
    def rate(self) -> float:
        """Elements per chronon."""
        return 1 / self.d


@dataclass(frozen=True)
class Statistics:
    """Statistics of every input of a plan; known selectivities and distributions take precedence over
    samples.

    `selectivities` are by condition, a conjunct as the plan has it: an operand, or its tree. `distributions`
    are by column name, of all streams that do not have one of their own.

    `replicates` are the same statistics by all elements but those of one of several groups, where there are
    such: how much what follows from them differs tells how sure it is (see `deviation`).
    """

    streams: Mapping[Node, StreamStatistics]
    selectivities: Mapping[Any, float] = field(default_factory=dict)
    distributions: Mapping[str, Distribution] = field(default_factory=dict)
    replicates: Sequence[Statistics] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("streams", "selectivities", "distributions"):
            require(f"statistics: {name}", getattr(self, name), Mapping, "a mapping")
        for condition, selectivity in self.selectivities.items():
            require(f"statistics: {condition}", selectivity, (int, float), "a selectivity from 0 to 1")
            if not 0 <= selectivity <= 1:
                raise StatisticsError(
                    f"{condition}: found selectivity {selectivity}, expected one from 0 to 1"
                )
        by_tree = {expression_of(condition): share for condition, share in self.selectivities.items()}
        object.__setattr__(self, "selectivities", by_tree)

    @classmethod
    def from_observations(cls, observations: Mapping[Node, Observation]) -> Statistics:
        """Estimate them from what a running engine saw: `Statistics.from_observations(engine.observe())`.

        They are those of sources, and of windows of which these do not tell: where something is computed of
        rows before they reach a time window with an end, as by a join. All other windows follow from their
        sources, wherever filters and projections stand.

        >>> import midstream as ms
        >>> engine = ms.Engine(ms.stream("s", x="integer").window(60).plan())
        >>> engine.push("s", [(t, t + 1, (t % 2,)) for t in range(0, 100, 5)])
        >>> (s,) = Statistics.from_observations(engine.observe()).streams.values()
        >>> s.d, s.l, s.g, dict(s.sample.distribution("x"))
        (5.0, 1.0, 5, {0: 0.5, 1: 0.5})
        """
        latest = max((_now(seen) for seen in observations.values()), default=BEGINNING)
        known = {node: stream_statistics(node.schema, seen, latest) for node, seen in observations.items()}
        of_inputs = {node: each for node, each in known.items() if not follows_from_sources(node, known)}
        return cls(of_inputs, rare_shares(known))

    def knows(self, node: Node) -> bool:
        """Whether there are statistics of a node's output."""
        return node in self.streams

    def knows_below(self, node: Node) -> bool:
        """Whether there are statistics of all that a node reads, so that what it gives can be estimated."""
        return all(
            self.knows(child) or (child.inputs != () and self.knows_below(child)) for child in node.inputs
        )

    def stream(self, node: Node) -> StreamStatistics:
        """Those of one input. Raises StatisticsError where there are none."""
        try:
            return self.streams[node]
        except KeyError:
            raise StatisticsError(f"there are no statistics for the input {node!r}") from None


def deviation(replicates: Iterable[float]) -> float:
    """The standard deviation of a value, by what it is without each of several groups of elements:

        √((G − 1) / G · Σ (v₋ᵢ − v̄)²)

    Source   the delete-a-group jackknife; B. Efron, The jackknife, the bootstrap and other resampling plans,
             1982

    >>> round(deviation([9.0, 11.0]), 6)
    1.0
    """
    values = list(replicates)
    mean = math.fsum(values) / len(values)
    return math.sqrt((len(values) - 1) / len(values) * math.fsum((value - mean) ** 2 for value in values))


def stream_statistics(schema: Schema, seen: Observation, latest: Time = BEGINNING) -> StreamStatistics:
    """Statistics of the recent part of a stream. `latest` is how far any input of the plan has come.

    What is valid for ever counts as valid for as long as the stream has run.
    """
    recent = seen.recent
    if not recent:
        return StreamStatistics(d=math.inf, l=0.0)
    if recent[0][0] == BEGINNING:
        sample = Sample(schema, [payload for _, _, payload in recent])
        return StreamStatistics(d=math.inf, l=math.inf, sample=sample, always=float(seen.count))
    d = _distance(recent, _now(seen), latest)
    return StreamStatistics(
        d=d,
        l=math.fsum(seen.count * d if end == FOREVER else end - start for start, end, _ in recent)
        / len(recent),
        g=_granule(recent),
        sample=Sample(schema, [payload for _, _, payload in recent]),
        even=_is_even(recent),
    )


def _now(seen: Observation) -> Time:
    """Where an input stands: its progress, or its last start where it has ended."""
    last = seen.recent[-1][0] if seen.recent else BEGINNING
    if last == BEGINNING:
        return last  # nothing seen, or a constant relation: it says nothing of the time
    return last if seen.progress == FOREVER else max(last, seen.progress)


def _distance(recent: Sequence[Element], now: Time, latest: Time) -> float:
    """From the first recent start to where the input stands now, so that a stream which has fallen silent
    counts as slow."""
    first, last = recent[0][0], recent[-1][0]
    if now > first:
        return float(now - first) / (len(recent) - 1 if now == last else len(recent))
    # All at one instant: as if they were spread over the time that other inputs have seen since, or over one
    # chronon.
    return float(latest - first) / len(recent) if latest > first else 1 / len(recent)


def follows_from_sources(window: Node, known: Container[Node]) -> bool:
    """Whether all that a window gives follows from known sources: it is a time window with an end, and below
    it are operators that say the same of a row whatever others there are."""
    if not isinstance(window.operator, TimeWindow) or window.operator.size is None:
        return False
    return all(
        node in known if isinstance(node.operator, Source) else isinstance(node.operator, RowByRow | Union)
        for child in window.inputs
        for node in child.walk()
    )


def rare_shares(known: Mapping[Node, StreamStatistics]) -> dict[Expression, float]:
    """The shares of rows that pass filters right above sources, by the rates of the windows further up, where
    samples of the sources have too few such rows to tell."""
    found: dict[Expression, dict[Node, float]] = {}
    for window, seen in known.items():
        if math.isinf(seen.d) or not follows_from_sources(window, known):
            continue
        below, *others = window.inputs[0].walk()
        if sum(isinstance(node.operator, Filter | Union) for node in others) != 1:
            continue  # by the rate alone, nobody can tell one condition from the other
        operator, source = others[0].operator, known[below]
        if isinstance(operator, Filter) and _has_few(source.sample, operator.condition):
            found.setdefault(operator.condition, {})[below] = min(1.0, source.d / seen.d)
    # Where several streams have the columns, the condition may be asked of another one further up.
    columns = [node.schema.names for node in known if isinstance(node.operator, Source)]
    return {
        condition: share
        for condition, of in found.items()
        if sum(condition.columns().issubset(names) for names in columns) == 1
        for share in of.values()
    }


def _has_few(sample: Sample | None, condition: Expression) -> bool:
    """Whether too few rows of a sample satisfy one condition to tell how many do."""
    is_one = len(conjuncts(condition)) == 1
    return is_one and sample is not None and len(sample.where(condition).rows) < FEW_ROWS


def _is_even(recent: Sequence[Element]) -> bool:
    """Whether distances and lengths are all the same."""
    if len(recent) < MANY_TIMESTAMPS:
        return False
    steps = {after[0] - before[0] for before, after in pairwise(recent)}
    return len(steps) == 1 and len({end - start for start, end, _ in recent}) == 1


def _granule(recent: Sequence[Element]) -> int:
    """The unit of which timestamps are multiples; the ends of chronons tell nothing."""
    shown = (element[:1] if element[1] == element[0] + 1 else element[:2] for element in recent)
    times = {time for bounds in shown for time in bounds if isinstance(time, int)}
    return math.gcd(*times) if len(times) >= MANY_TIMESTAMPS else 1
