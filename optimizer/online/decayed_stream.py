"""What is known of one stream, of which what came lately counts most."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from random import Random

from midstream.optimizer.online.decayed_keys import DecayedKeys
from midstream.optimizer.statistics import MANY_TIMESTAMPS, Distribution, Sample, StreamStatistics
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Expression, compile_row
from midstream.plans.values.observations import GROUPS, Cell
from midstream.plans.values.streams import Payload

SILENT = StreamStatistics(d=math.inf, l=0.0)
MOST_ROWS = 1024
"""About so many rows of a stream are in the sample."""
FORGOTTEN = 1 / 16
"""Rows of which an element weighs less than this, now, are in no sample."""
_LIVES = Random(1).randbytes(1 << 14)
"""Chance, the same in every run: for how long rows stay in the sample."""


class DecayedStream:
    """Counts of a stream's elements, of the values of columns, and of the rows that satisfy conditions; and
    the last cells.

    That the past decays is told by what comes later: it weighs more. The caller scales, before numbers grow
    too large.
    """

    def __init__(self, node: Node, keys: Mapping[str, DecayedKeys], conditions: Iterable[Expression]) -> None:
        self._node, self._keys = node, keys
        self._conditions = [compile_row(condition, node.schema) for condition in conditions]
        self._satisfying = [0.0] * len(self._conditions)
        self._count = self._length = self._endless = 0.0
        self._granules: deque[int] = deque(maxlen=2 * MANY_TIMESTAMPS)
        self._cells: deque[tuple[float, Cell]] = deque()
        """The last ones, each with the weight of an element."""

    def take(self, cell: Cell, weight: float) -> None:
        """A cell, by what an element in it weighs."""
        self._count += weight * cell.elements
        self._length += weight * cell.elements * (1 - cell.endless) * cell.length
        self._endless += weight * cell.elements * cell.endless
        self._granules.append(cell.granule)
        of_row = weight * cell.weight
        for i, holds in enumerate(self._conditions):
            self._satisfying[i] += of_row * sum(_satisfies(holds, row) for row in cell.rows)
        for column, keys in self._keys.items():
            keys.add(cell.keys[column], of_row)
        while self._cells and self._cells[0][0] < FORGOTTEN * weight:
            self._cells.popleft()
        self._cells.append((weight, cell))

    def scale(self, factor: float) -> None:
        """Multiply all weights but those of values, which the caller has."""
        self._count *= factor
        self._length *= factor
        self._endless *= factor
        self._satisfying = [weight * factor for weight in self._satisfying]
        self._cells = deque((weight * factor, cell) for weight, cell in self._cells)

    @property
    def count(self) -> float:
        """What all elements weigh."""
        return self._count

    @property
    def satisfying(self) -> Sequence[float]:
        """What the elements weigh that satisfy each condition."""
        return self._satisfying

    @property
    def of_row(self) -> float:
        """For how many elements a row of the last sample stood."""
        return self._cells[-1][1].weight if self._cells else 1.0

    def length(self, age: float) -> float:
        """The average length of validity, in a stream of an age: what is valid for ever counts as valid for
        as long as the stream has run."""
        return (self._length + self._endless * age) / self._count if self._count else 0.0

    @property
    def granule(self) -> int:
        """The unit of which timestamps are multiples, where many were seen: one of each cell at least."""
        known = math.gcd(*self._granules) if len(self._granules) >= MANY_TIMESTAMPS else 1
        return known or 1

    def snapshot(self, scale: float, age: float) -> StreamSnapshot:
        """What is known now; a weight times `scale` is a rate. Cost: O(values)."""
        count = self._count
        return StreamSnapshot(
            node=self._node,
            rate=count * scale,
            length=self.length(age),
            granule=self.granule,
            distributions={
                column: {value: n / count for value, n in keys.counts.items()} if count else {}
                for column, keys in self._keys.items()
            },
            cells=tuple(self._cells),
        )


def _satisfies(holds: object, row: Payload) -> bool:
    try:
        return holds(row) is True  # type: ignore[operator]
    except Exception:
        return False  # a callable may fail on rows that it never meets in the plan


@dataclass(frozen=True)
class StreamSnapshot:
    """What is known of a stream at an instant, with the last cells, each with the weight of an element."""

    node: Node
    rate: float
    length: float
    granule: int
    distributions: Mapping[str, Distribution]
    cells: Sequence[tuple[float, Cell]]

    def statistics(self) -> StreamStatistics:
        """By all elements."""
        return self._statistics(self.rate, self.distributions, [row for _, row in self._sample])

    def without(self, group: int) -> StreamStatistics:
        """By all groups of elements but one, in place of which the others count more."""
        weights, keys = self._groups
        left = math.fsum(weights) - weights[group]
        if not left:
            return SILENT
        rate = self.rate * left / math.fsum(weights) * GROUPS / (GROUPS - 1)
        distributions = {
            column: {
                value: count / left
                for value, of_groups in counts.items()
                if (count := math.fsum(of_groups) - of_groups[group]) > 0
            }
            for column, counts in keys.items()
        }
        return self._statistics(rate, distributions, [row for of, row in self._sample if of != group])

    def _statistics(
        self, rate: float, distributions: Mapping[str, Distribution], rows: Sequence[Payload]
    ) -> StreamStatistics:
        if not rate:
            return SILENT
        return StreamStatistics(
            d=1 / rate,
            l=self.length,
            g=self.granule,
            sample=Sample(self.node.schema, rows) if rows else None,
            distributions=distributions,
        )

    @cached_property
    def _sample(self) -> list[tuple[int, Payload]]:
        """Rows of the last cells with their groups: each by chance, in proportion to what it weighs now. With
        equal rates that is G(r) = e^(−ar) of OM, 4.3."""
        of_rows = [weight * cell.weight for weight, cell in self.cells]
        expected = math.fsum(
            weight * len(cell.rows) for weight, (_, cell) in zip(of_rows, self.cells, strict=True)
        )
        # The heaviest rows are all in, unless there would be too many.
        least = max(max(of_rows, default=0.0), expected / MOST_ROWS)
        found: list[tuple[int, Payload]] = []
        for weight, (_, cell) in zip(of_rows, self.cells, strict=True):
            lives = _lives(cell)
            alive = map((256 * weight / least).__gt__, lives)
            found += compress(zip(cell.groups, cell.rows, strict=True), alive)
        return found

    @cached_property
    def _groups(self) -> tuple[list[float], dict[str, dict[Hashable, list[float]]]]:
        """What the elements of each group weigh, and those of each value, by column. Cost: O(rows)."""
        weights = [0.0] * GROUPS
        keys: dict[str, dict[Hashable, list[float]]] = {column: {} for column in self.distributions}
        for weight, cell in self.cells:
            of_row = weight * cell.weight
            for group in cell.groups:
                weights[group] += of_row
            for column, counts in keys.items():
                place = self.node.schema.index(column)
                for group, row in zip(cell.groups, cell.rows, strict=True):
                    if (value := row[place]) is not None:
                        counts.setdefault(value, [0.0] * GROUPS)[group] += of_row
        return weights, keys


def _lives(cell: Cell) -> bytes:
    """A byte of chance for each row, always the same ones."""
    at = cell.start // (cell.end - cell.start) * 7_919 % len(_LIVES)
    piece = _LIVES[at : at + len(cell.rows)]
    return piece if len(piece) == len(cell.rows) else (_LIVES * (2 + len(cell.rows) // len(_LIVES)))[at:]
