"""What is known of one stream, of which what came lately counts most."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from midstream.optimizer.online.decayed_keys import Counts, DecayedKeys, together
from midstream.optimizer.online.decayed_rows import DecayedRows
from midstream.optimizer.statistics import MANY_TIMESTAMPS, Sample, StreamStatistics
from midstream.plans.algebra.plan import Node
from midstream.plans.values.observations import GROUPS, Cell
from midstream.plans.values.streams import Payload

SILENT = StreamStatistics(d=math.inf, l=0.0)


class DecayedStream:
    """Counts of a stream's elements and values in groups, a sample of its rows, lengths and granule.

    That the past decays is told by what comes later: it weighs more (the caller scales, before numbers
    grow too large).
    """

    def __init__(self, node: Node, name: str, columns: Iterable[str]) -> None:
        self._node = node
        self._counts = [0.0] * GROUPS
        self._length = self._endless = 0.0
        self._granules: deque[int] = deque(maxlen=2 * MANY_TIMESTAMPS)
        self._keys = {column: DecayedKeys(GROUPS, f"{name}.{column}") for column in columns}
        self._rows = DecayedRows()

    def take(self, cell: Cell, weight: float, age: float) -> None:
        """A cell, by what an element in it weighs. `age` is a · t, of its middle t since the first cell."""
        each = weight * cell.weight
        self._counts = [
            count + each * len(rows) for count, rows in zip(self._counts, cell.parts, strict=True)
        ]
        ending = weight * cell.count * (1 - cell.endless)
        self._length += ending * cell.length
        self._endless += weight * cell.count * cell.endless
        self._granules.append(cell.granule)
        for column, keys in self._keys.items():
            keys.add(cell.keys[column], each)
        self._rows.add(cell.parts, age + math.log(cell.weight))

    def scale(self, factor: float, least: float) -> None:
        """Multiply all weights; values that come to less than `least` are forgotten."""
        self._counts = [count * factor for count in self._counts]
        self._length *= factor
        self._endless *= factor
        for keys in self._keys.values():
            keys.scale(factor, least)

    def snapshot(self, scale: float, age: float) -> StreamSnapshot:
        """What is known now; a weight times `scale` is a rate. The stream is `age` chronons old."""
        total = math.fsum(self._counts)
        return StreamSnapshot(
            node=self._node,
            counts=tuple(self._counts),
            scale=scale,
            length=(self._length + self._endless * age) / total if total else 0.0,
            granule=self._granule(),
            keys={column: keys.snapshot() for column, keys in self._keys.items()},
            rows=self._rows.snapshot(),
        )

    def _granule(self) -> int:
        """The unit of which timestamps are multiples, where many were seen: one of a cell at least."""
        known = math.gcd(*self._granules) if len(self._granules) >= MANY_TIMESTAMPS else 1
        return known or 1


@dataclass(frozen=True)
class StreamSnapshot:
    """What is known of a stream at an instant: counts of elements by group, which times `scale` are rates,
    and of the values of columns; rows, each with its group."""

    node: Node
    counts: tuple[float, ...]
    scale: float
    length: float
    granule: int
    keys: Mapping[str, tuple[Counts, ...]]
    rows: tuple[tuple[int, Payload], ...]

    def statistics(self, without: int | None = None) -> StreamStatistics:
        """Statistics of the stream, by all groups or by all but one, in place of which the others count more.

        Cost     O(values).
        """
        groups = [group for group in range(GROUPS) if group != without]
        total = math.fsum(self.counts[group] for group in groups)
        if not total:
            return SILENT
        rows = [row for group, row in self.rows if group != without]
        return StreamStatistics(
            d=len(groups) / (GROUPS * total * self.scale),
            l=self.length,
            g=self.granule,
            sample=Sample(self.node.schema, rows) if rows else None,
            distributions={
                column: {value: count / total for value, count in together(counts, groups).items()}
                for column, counts in self.keys.items()
            },
        )
