"""How good the orders are that the optimizer chooses for a join of three recorded streams, in hindsight.

Time is cut into buckets. For each, the optimizer chooses an order from statistics; what the order costs is
how many pairs its first join really gave in that bucket, which is all that the three orders differ in.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from midstream.optimizer import Sample, Statistics, StreamStatistics, optimize
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators import Join, Source
from midstream.plans.algebra.plan import Node, Plan
from midstream.scenarios.trials.policies.case import pairs

Recorded = Sequence[tuple[int, str]]
"""Timestamps in order, each with the value by which streams are joined."""

Pair = frozenset[str]
"""The two streams that are joined first."""


@dataclass(frozen=True)
class Hindsight:
    """Intermediate results, as multiples of those of the best order of each bucket.

    chosen      by statistics of the bucket itself
    predicted   by statistics of the bucket before
    repeated    the order that was the best one in the bucket before
    fixed       one order all the time, by the streams that are joined first
    """

    buckets: int
    chosen: float
    predicted: float
    repeated: float
    fixed: Mapping[Pair, float]


def compare_orders(streams: Mapping[str, Recorded], window: int, length: int) -> Hindsight:
    """Compare the orders of a join of three streams over windows, bucket by bucket; those of so many chronons
    in which all three have elements count.

    Cost     O(elements log elements + pairs), and a choice for each bucket.
    """
    names = list(streams)
    counts = {
        frozenset((one, other)): _pairs(streams[one], streams[other], window, length)
        for one, other in combinations(names, 2)
    }
    query = _Query(names, window, length)
    rows = {name: _by_bucket(streams[name], length) for name in names}
    spoken = sorted(set.intersection(*(set(found) for found in rows.values())))
    totals: Counter[str | Pair] = Counter()
    order: Pair | None = None
    before: Pair | None = None
    for bucket in spoken:
        here = {pair: found[bucket] for pair, found in counts.items()}
        best = min(here, key=here.__getitem__)
        chosen = query.order({name: found[bucket] for name, found in rows.items()})
        totals["best"] += here[best]
        totals["chosen"] += here[chosen]
        totals["predicted"] += here[order or best]
        totals["repeated"] += here[before or best]
        totals.update(here)
        order, before = chosen, best
    of_best = {what: count / totals["best"] for what, count in totals.items()}
    fixed = {pair: of_best[pair] for pair in counts}
    return Hindsight(len(spoken), of_best["chosen"], of_best["predicted"], of_best["repeated"], fixed)


class _Query:
    """The join of three streams, to be put in order time and again."""

    def __init__(self, names: Sequence[str], window: int, length: int) -> None:
        self._window, self._length = window, length
        self._inputs = {name: stream(name, {f"of {name}": "string"}).window(window) for name in names}
        one, two, three = self._inputs.values()
        on = [(one.schema.names[0], other.schema.names[0]) for other in (two, three)]
        self._plan: Plan = one.join(two, on=on[:1]).join(three, on=on[1:]).plan()

    def order(self, rows: Mapping[str, Sequence[str]]) -> Pair:
        """The streams that are to be joined first, where these are the rows of a bucket."""
        known = {node.node: self._statistics(node, rows[name]) for name, node in self._inputs.items()}
        return _joined_first(optimize(self._plan, Statistics(known)).plan.root)

    def _statistics(self, rows: Stream, values: Sequence[str]) -> StreamStatistics:
        sample = Sample(rows.schema, [(value,) for value in values])
        return StreamStatistics(self._length / len(values), float(self._window), sample=sample)


def _joined_first(root: Node) -> Pair:
    """The streams below the join that has no join below it."""
    first = next(node for node in root.walk() if isinstance(node.operator, Join))
    return frozenset(node.operator.stream for node in first.walk() if isinstance(node.operator, Source))


def _by_bucket(recorded: Recorded, length: int) -> dict[int, list[str]]:
    rows: dict[int, list[str]] = defaultdict(list)
    for time, value in recorded:
        rows[time // length].append(value)
    return rows


def _pairs(one: Recorded, other: Recorded, window: int, length: int) -> Counter[int]:
    """How many pairs of equal values begin to be valid together, by bucket."""
    return Counter(max(times) // length for times in pairs(one, other, window))
