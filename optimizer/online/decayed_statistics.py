"""Statistics of running streams, in which recent elements count most."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, overload

from midstream.optimizer.online.decayed_keys import DecayedKeys, EqualPairs
from midstream.optimizer.online.decayed_stream import SILENT, DecayedStream, StreamSnapshot
from midstream.optimizer.online.requirements import Requirements, requirements
from midstream.optimizer.statistics import Statistics, StreamStatistics
from midstream.plans.algebra.operators import Source
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.values.arguments import require
from midstream.plans.values.errors import StatisticsError
from midstream.plans.values.observations import GROUPS, Cell

THRESHOLD = 0.05
"""Relative change of a value above which new statistics are published."""
NOTHING = 1 / 256
"""Weight below which a value is dropped, in elements."""


class DecayedStatistics:
    """Statistics of a plan's sources, from the cells that a `Collector` gives.

    All values are smoothed exponentially: an element that is older by a half-life, in chronons, counts half
    (thesis, 22.2.3; OM, 4.3). With a = ln 2 / half-life, elements from t₀ on, and n elements in the cell
    from s to e, at the instant T

        1 / d  =  Σ n / (e − s) · ∫ e^(−a (T − t)) dt  [from s to e]  /  ∫ e^(−a (T − t)) dt  [from t₀ to T]

    For a column that joins read, the share of a value is its part of the first sum, over the rows that
    satisfy the plan's conditions on other columns, as values may depend on these.

    The published statistics stay the same object until a value changes by more than the share `threshold`,
    and by more than chance explains: a rate, a length, the share of rows that satisfy a condition of the
    plan, or the share of pairs that a join of it equates. With a threshold of 0 they always change.

    `constant` holds statistics of relations, which do not change.

    >>> import midstream as ms
    >>> from midstream.operators.engine.measuring.statistics_collector import Collector
    >>> s = ms.stream("s", x="integer")
    >>> collector = Collector([s.node.operator], {}, step=10)
    >>> known = DecayedStatistics(s.window(60).plan(), half_life=100)
    >>> collector.take("s", [(t, t + 1, (t % 2,)) for t in range(0, 200, 5)], 200)
    >>> known.take(collector.cells(200))
    >>> round(known.at(200).streams[s.node].d, 6)
    5.0
    """

    def __init__(
        self,
        plan: Plan,
        half_life: float,
        *,
        threshold: float = THRESHOLD,
        constant: Mapping[Node, StreamStatistics] | None = None,
        required: Requirements | None = None,
    ) -> None:
        """`required` are columns and conditions to learn about, by default those of the plan."""
        for name, number in (("half-life", half_life), ("threshold", threshold)):
            require(f"statistics: {name}", number, (int, float), "a number")
        if not (0 < half_life < math.inf and threshold >= 0):
            raise StatisticsError(
                f"found half-life {half_life}, threshold {threshold}, expected a positive half-life and no "
                "negative threshold"
            )
        self.decay = math.log(2) / half_life
        """Share of a count that decays per chronon."""
        self._threshold = threshold
        self._requirements = requirements(plan) if required is None else required
        self._constant = dict(constant or {})
        columns = self._requirements.columns
        self._nodes = {
            node.operator.stream: node
            for node in logical_plan(plan).nodes
            if isinstance(node.operator, Source)
        }
        self._keys = {
            (name, column): DecayedKeys(f"{name}.{column}")
            for name, of_stream in columns.items()
            for column in of_stream
        }
        self._pairs = [
            EqualPairs(self._keys[one], self._keys[other]) for one, other in self._requirements.pairs
        ]
        self._streams = {
            name: DecayedStream(
                node,
                {column: self._keys[name, column] for column in columns.get(name, ())},
                self._requirements.conditions.get(name, ()),
            )
            for name, node in self._nodes.items()
        }
        self._since: int | None = None
        """Start of the first element."""
        self._zero = 0.0
        """An element at t weighs e^(a (t − zero)), which is equivalent to the decay of older ones."""
        self._values: Sequence[Watched] = ()
        self._handed_out = Statistics(dict.fromkeys(self._nodes.values(), SILENT) | self._constant)

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """By stream, the columns whose values the collector must count."""
        return self._requirements.columns

    def take(self, cells: Iterable[Cell]) -> None:
        """Take cells in order of time, as the collector returns them: all that end at an instant at once."""
        known = [cell for cell in cells if cell.stream in self._streams]
        if self._since is None and known:
            self._since = min(cell.first for cell in known if cell.end == known[0].end)
            self._zero = float(self._since)
        for cell in known:
            assert self._since is not None
            self._rescale(cell.end)
            length = cell.end - max(cell.start, self._since)
            # The mean of e^(a (t − zero)) over the cell.
            weight = math.exp(self.decay * (cell.end - self._zero)) * self._weight_of(length) / length
            self._streams[cell.stream].take(cell, weight)

    def _weight_of(self, length: float) -> float:
        """∫ e^(−a t) dt from 0 to a length."""
        return -math.expm1(-self.decay * length) / self.decay

    def _rescale(self, now: int) -> None:
        """Set the weight of new elements to 1 again, before weights grow too large."""
        factor = math.exp(self.decay * (self._zero - now))
        if factor < NOTHING:
            self._zero = now
            for stream in self._streams.values():
                stream.scale(factor)
            for keys in self._keys.values():
                keys.scale(factor, NOTHING)
            for pairs in self._pairs:
                pairs.count()

    def at(self, now: int) -> Statistics:
        """The statistics at an instant of the grid, from all cells before it, which must have been taken.

        The object is the same as before if no value has changed by more than the threshold.

        Cost     O(1) if nothing has changed, else O(values and rows that are kept).
        """
        if self._since is None:
            return self._handed_out
        age = now - self._since
        scale = math.exp(-self.decay * (now - self._zero)) / self._weight_of(age)
        values = list(self._watched(scale, age, math.exp(self.decay * (now - self._zero))))
        if not self._values or self._has_changed(values):
            self._values = values
            seen = [stream.snapshot(scale, age) for stream in self._streams.values()]
            known = {snapshot.node: snapshot.statistics() for snapshot in seen}
            replicates = Replicates(seen, self._constant)
            self._handed_out = Statistics(known | self._constant, replicates=replicates)
        return self._handed_out

    def _has_changed(self, values: Sequence[Watched]) -> bool:
        return not self._threshold or any(
            abs(new.value - old.value) > new.allowed(self._threshold) * max(abs(new.value), abs(old.value))
            for new, old in zip(values, self._values, strict=True)
        )

    def _watched(self, scale: float, age: float, weight: float) -> Iterator[Watched]:
        """The values that are watched for changes; `weight` is that of an element now."""
        for stream in self._streams.values():
            # Of n independent elements whose weights decay, 1 / √(2 n) is the deviation, as a share.
            yield Watched(stream.count * scale, 2 * stream.count / weight)
            yield Watched(stream.length(age), 2 * stream.count / (weight * stream.of_row))
            yield Watched(stream.granule, math.inf)
            for satisfying in stream.satisfying:
                share = satisfying / stream.count if stream.count else 0.0
                yield Watched(share, 2 * satisfying / (weight * stream.of_row))
        for pairs, ((one, x), (other, y)) in zip(self._pairs, self._requirements.pairs, strict=True):
            mine, theirs = self._streams[one], self._streams[other]
            all_pairs = mine.counted(x) * theirs.counted(y)
            seen = pairs.number / (weight**2 * mine.of_row * theirs.of_row)
            yield Watched(pairs.number / all_pairs if all_pairs else 0.0, seen)


class Watched(NamedTuple):
    """A value, and the number of observed elements, or pairs, from which it was computed."""

    value: float
    number: float

    def allowed(self, threshold: float) -> float:
        """Relative difference up to which the value counts as unchanged."""
        return min(0.5, max(threshold, 1 / math.sqrt(max(self.number, 1.0))))


class Replicates(Sequence[Statistics]):
    """The statistics without each of several groups of elements, computed on demand."""

    def __init__(
        self, snapshots: Sequence[StreamSnapshot], constant: Mapping[Node, StreamStatistics]
    ) -> None:
        self._snapshots, self._constant = snapshots, constant

    @overload
    def __getitem__(self, number: int) -> Statistics: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Statistics]: ...
    def __getitem__(self, number: int | slice) -> Statistics | Sequence[Statistics]:
        if isinstance(number, slice):
            return [self[i] for i in range(len(self))[number]]
        group = range(GROUPS)[number]
        known = {one.node: one.without(group) for one in self._snapshots}
        return Statistics({**known, **self._constant})

    def __len__(self) -> int:
        return GROUPS
