"""Statistics of a plan's inputs, for the cost model."""

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

from midstream.plans.algebra.builder import node_of
from midstream.plans.algebra.operators import Filter, Source, TimeWindow, Union
from midstream.plans.algebra.operators.base import RowByRow
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.expressions import Expression, compile_row, conjuncts
from midstream.plans.expressions.operands import expression_of
from midstream.plans.values.arguments import require, wrong
from midstream.plans.values.errors import StatisticsError
from midstream.plans.values.finite import LARGEST
from midstream.plans.values.observations import Observation
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Payload, Time

Distribution = Mapping[Any, float]
"""The share of each value of a column among all rows.

Unknown values have no share, so the shares may add up to less than 1.
"""

MANY_TIMESTAMPS = 16
"""Number of timestamps from which on their common divisor is taken as the granule."""
FEW_ROWS = 32
"""Number of rows of a sample below which the share that satisfies a condition is unreliable."""


@dataclass(frozen=True)
class Sample:
    """A sample of rows of a stream; derived values are computed once."""

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
        """The distribution of a column's known values, in O(rows)."""
        known = self._distributions
        if column not in known:
            position = self.schema.index(column)
            counts = Counter(value for row in self.rows if (value := row[position]) is not None)
            known[column] = {value: n / len(self.rows) for value, n in counts.items()}
        return known[column]

    def distinct(self, columns: Iterable[str]) -> float:
        """Estimated number of distinct combinations of some columns' values in the whole stream, at least 1.

        If many combinations occur in one row only, others exist that are not in the sample. Their number
        follows from the numbers f1 and f2 of combinations that occur once and twice:

            combinations  ~  seen + f1 (f1 - 1) / (2 (f2 + 1))

        Cost     O(rows), once.
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
        """Average bytes of a value of a column as an object of its own; O(rows), once."""
        known = self._value_bytes
        if column not in known:
            position = self.schema.index(column)
            known[column] = math.fsum(sys.getsizeof(row[position]) for row in self.rows) / len(self.rows)
        return known[column]

    def where(self, condition: Expression) -> Sample:
        """The rows that satisfy a condition, in O(rows)."""
        if condition not in self._parts:
            holds = compile_row(condition, self.schema)
            self._parts[condition] = Sample(self.schema, [row for row in self.rows if holds(row)])
        return self._parts[condition]


@dataclass(frozen=True)
class StreamStatistics:
    """The characteristics of a stream (thesis, 22.2), in chronons, and a sample of its rows.

    d    average distance between the starts of successive elements; infinite for an empty stream
    l    average length of validity
    g    granule, the unit of which timestamps are multiples

    `always` is the number of further rows that are valid at every instant: those of a constant relation. The
    stream is `even` if all distances and all lengths are equal (Remark 22.1). `distributions` are by column,
    and take precedence over the sample.
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
    """Statistics of every input of a plan; selectivities and distributions take precedence over samples.

    `selectivities` are by condition, a conjunct as the plan has it: an operand, or its tree. `distributions`
    are by column name, for all streams without one of their own.

    `replicates`, if any, are the same statistics without each of several groups of elements: the spread of
    results computed from them tells how certain these are (see `deviation`).
    """

    streams: Mapping[Node, StreamStatistics]
    selectivities: Mapping[Any, float] = field(default_factory=dict)
    distributions: Mapping[str, Distribution] = field(default_factory=dict)
    replicates: Sequence[Statistics] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("streams", "selectivities", "distributions"):
            require(f"statistics: {name}", getattr(self, name), Mapping, "a mapping")
        streams = {_node(stream): one for stream, one in self.streams.items()}
        for node, one in streams.items():
            require(f"statistics: {node!r}", one, StreamStatistics, "ms.StreamStatistics(d=5.0, l=1.0)")
        object.__setattr__(self, "streams", streams)
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
        """Statistics from the observations of an engine: `Statistics.from_observations(engine.observe())`.

        They include sources, and those windows that do not follow from sources: windows without an end,
        windows that count rows, and windows over joins and similar operators. All other windows follow from
        their sources, through filters, projections and unions.

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
        """True if there are statistics of a node's output."""
        return node in self.streams

    def knows_below(self, node: Node) -> bool:
        """True if there are statistics of all inputs of a node, so that its output can be estimated."""
        return all(
            self.knows(child) or (child.inputs != () and self.knows_below(child)) for child in node.inputs
        )

    def stream(self, node: Node) -> StreamStatistics:
        """The statistics of one input; raises StatisticsError if there are none."""
        try:
            return self.streams[node]
        except KeyError:
            raise StatisticsError(
                f"there are no statistics for the input {node!r}; {HOW_TO_STATE} for its node"
            ) from None


def _node(stream: object) -> Node:
    """A node, or that of a stream under construction; a name alone does not tell the columns."""
    if isinstance(stream, str):
        raise wrong(
            "statistics",
            stream,
            f"a node instead of a name: {{{stream}.node: …}} for {stream} = ms.stream(…)",
        )
    return node_of("statistics", stream)


HOW_TO_STATE = (
    "engine.statistics() measures them; to state them, write "
    "ms.Statistics({stream.node: ms.StreamStatistics(d=5.0, l=1.0)})"
)
"""The ways to get statistics, as part of a message."""


def statistics_of(who: str, plan: Plan, statistics: Statistics | None) -> Statistics:
    """The statistics of a plan; raises ArgumentError, with its streams, where there are none."""
    inputs = [*(one.stream for one in plan.sources), *(one.relation for one in plan.relations)]
    expected = f"statistics of {', '.join(inputs)}; {HOW_TO_STATE}"
    require(f"{who}: statistics", statistics, Statistics, expected)
    assert statistics is not None
    return statistics


def deviation(replicates: Iterable[float]) -> float:
    """The standard deviation of a value, from its values without each of several groups of elements:

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
    """Statistics of the recent part of a stream.

    `latest` is the greatest progress of any input of the plan. An element without an end counts as valid for
    as long as the stream has run.
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
    """The time of an input: its progress, or its last start if it has ended."""
    last = seen.recent[-1][0] if seen.recent else BEGINNING
    if last == BEGINNING:
        return last  # nothing seen, or a constant relation, which tells nothing about the time
    return last if seen.progress == FOREVER else max(last, seen.progress)


def _distance(recent: Sequence[Element], now: Time, latest: Time) -> float:
    """The average distance of recent starts, up to the present time of the input.

    So a stream that has fallen silent counts as slow.
    """
    first, last = recent[0][0], recent[-1][0]
    if now > first:
        return float(now - first) / (len(recent) - 1 if now == last else len(recent))
    # All at one instant: as if they were spread over the time that other inputs have seen since, or over one
    # chronon.
    return float(latest - first) / len(recent) if latest > first else 1 / len(recent)


def follows_from_sources(window: Node, measured: Container[Node]) -> bool:
    """True if the output of a window follows from measured sources.

    It must be a time window of finite size, over sources and operators whose results for a row do not depend
    on other rows.
    """
    if not isinstance(window.operator, TimeWindow) or window.operator.size is None:
        return False
    return all(
        node in measured if isinstance(node.operator, Source) else isinstance(node.operator, RowByRow | Union)
        for child in window.inputs
        for node in child.walk()
    )


def rare_shares(measured: Mapping[Node, StreamStatistics]) -> dict[Expression, float]:
    """The selectivities of filters right above sources, from the rates of windows further up.

    They are for conditions that too few rows of the sources' samples satisfy.
    """
    found: dict[Expression, dict[Node, float]] = {}
    for window, seen in measured.items():
        if math.isinf(seen.d) or not follows_from_sources(window, measured):
            continue
        below, *others = window.inputs[0].walk()
        if sum(isinstance(node.operator, Filter | Union) for node in others) != 1:
            continue  # the rate alone does not separate several conditions
        operator, source = others[0].operator, measured[below]
        if isinstance(operator, Filter) and _has_few(source.sample, operator.condition):
            found.setdefault(operator.condition, {})[below] = min(1.0, source.d / seen.d)
    # If several streams have the columns, the condition may be one on another stream further up.
    columns = [node.schema.names for node in measured if isinstance(node.operator, Source)]
    return {
        condition: share
        for condition, of in found.items()
        if sum(condition.columns().issubset(names) for names in columns) == 1
        for share in of.values()
    }


def _has_few(sample: Sample | None, condition: Expression) -> bool:
    """True if too few rows of a sample satisfy a single condition to estimate its selectivity."""
    is_one = len(conjuncts(condition)) == 1
    return is_one and sample is not None and len(sample.where(condition).rows) < FEW_ROWS


def _is_even(recent: Sequence[Element]) -> bool:
    """True if all distances and all lengths are equal."""
    if len(recent) < MANY_TIMESTAMPS:
        return False
    steps = {after[0] - before[0] for before, after in pairwise(recent)}
    return len(steps) == 1 and len({end - start for start, end, _ in recent}) == 1


def _granule(recent: Sequence[Element]) -> int:
    """The unit of which timestamps are multiples; the ends of chronons tell nothing."""
    shown = (element[:1] if element[1] == element[0] + 1 else element[:2] for element in recent)
    times = {time for bounds in shown for time in bounds if isinstance(time, int)}
    return math.gcd(*times) if len(times) >= MANY_TIMESTAMPS else 1
