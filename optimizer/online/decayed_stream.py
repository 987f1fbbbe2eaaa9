"""Statistics of one stream, in which recent elements count most."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from operator import attrgetter, itemgetter
from random import Random
from typing import TypeVar

from midstream.optimizer.online.decayed_keys import DecayedKeys
from midstream.optimizer.statistics import MANY_TIMESTAMPS, Distribution, Sample, StreamStatistics
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Expression, compile_row
from midstream.plans.values.observations import GROUPS, Cell
from midstream.plans.values.streams import Payload

S = TypeVar("S")

SILENT = StreamStatistics(d=math.inf, l=0.0)
MOST_ROWS = 1024
"""Approximate number of rows of a stream in its sample."""
FORGOTTEN = 1 / 16
"""Weight of an element, relative to now, below which its row is in no sample."""
_LIVES = Random(1).randbytes(1 << 14)
"""Random bytes, the same in every run, that decide how long rows stay in the sample."""


class DecayedStream:
    """Counts of a stream's elements, of column values and of rows that satisfy conditions; its last cells.

    New elements weigh more, which has the same effect as the decay of older ones. The caller rescales before
    numbers grow too large.
    """

    def __init__(self, node: Node, keys: Mapping[str, DecayedKeys], conditions: Iterable[Expression]) -> None:
        self._node, self._keys = node, keys
        self._columns = {column: node.schema.index(column) for column in keys}
        compiled = {condition: compile_row(condition, node.schema) for condition in conditions}
        self._conditions = list(compiled.values())
        self._others = {
            column: [i for i, condition in enumerate(compiled) if column not in condition.columns()]
            for column in keys
        }
        """By column, the conditions that do not read it: only rows that satisfy these are counted."""
        self._satisfying = [0.0] * len(self._conditions)
        self._counted = dict.fromkeys(keys, 0.0)
        """By column, the weight of these rows."""
        self._count = self._length = self._endless = 0.0
        self._granules: deque[int] = deque(maxlen=2 * MANY_TIMESTAMPS)
        self._cells: deque[tuple[float, Cell]] = deque()
        """The last cells, each with the weight of an element."""

    def take(self, cell: Cell, weight: float) -> None:
        """Take a cell, with the weight of an element in it."""
        self._count += weight * cell.elements
        self._length += weight * cell.elements * (1 - cell.endless) * cell.length
        self._endless += weight * cell.elements * cell.endless
        self._granules.append(cell.granule)
        of_row = weight * cell.weight
        satisfied = [[_satisfies(holds, row) for row in cell.rows] for holds in self._conditions]
        for i, rows in enumerate(satisfied):
            self._satisfying[i] += of_row * sum(rows)
        for column, keys in self._keys.items():
            number, counts = len(cell.rows), cell.keys[column]
            if of_others := [satisfied[i] for i in self._others[column]]:
                passed = list(compress(cell.rows, map(all, zip(*of_others, strict=True))))
                number, counts = len(passed), Counter(map(itemgetter(self._columns[column]), passed))
                counts.pop(None, None)
            self._counted[column] += of_row * number
            keys.add(counts, of_row)
        while self._cells and self._cells[0][0] < FORGOTTEN * weight:
            self._cells.popleft()
        self._cells.append((weight, cell))

    def scale(self, factor: float) -> None:
        """Multiply all weights except the counts of values, which the caller rescales."""
        self._count *= factor
        self._length *= factor
        self._endless *= factor
        self._satisfying = [weight * factor for weight in self._satisfying]
        self._counted = {column: weight * factor for column, weight in self._counted.items()}
        self._cells = deque((weight * factor, cell) for weight, cell in self._cells)

    @property
    def count(self) -> float:
        """The weight of all elements."""
        return self._count

    @property
    def satisfying(self) -> Sequence[float]:
        """The weight of the elements that satisfy each condition."""
        return self._satisfying

    def counted(self, column: str) -> float:
        """The weight of the rows in which a column's values are counted.

        These are the rows that satisfy the plan's conditions on other columns, as values may depend on these.
        """
        return self._counted[column]

    @property
    def of_row(self) -> float:
        """Number of elements that a row of the last sample represents."""
        return self._cells[-1][1].weight if self._cells else 1.0

    def length(self, age: float) -> float:
        """The average length of validity, in a stream that has run for `age` chronons.

        An element without an end counts as valid for the whole age.
        """
        return (self._length + self._endless * age) / self._count if self._count else 0.0

    @property
    def granule(self) -> int:
        """The unit of which timestamps are multiples, from one of each cell; 1 until many cells were seen."""
        known = math.gcd(*self._granules) if len(self._granules) >= MANY_TIMESTAMPS else 1
        return known or 1

    def snapshot(self, scale: float, age: float) -> StreamSnapshot:
        """The statistics now, in O(values); `scale` converts a weight to a rate."""
        return StreamSnapshot(
            node=self._node,
            rate=self._count * scale,
            length=self.length(age),
            granule=self.granule,
            distributions={
                column: {value: n / count for value, n in keys.counts.items()}
                if (count := self._counted[column])
                else {}
                for column, keys in self._keys.items()
            },
            conditions={
                column: [self._conditions[i] for i in others] for column, others in self._others.items()
            },
            cells=tuple(self._cells),
        )


def _satisfies(holds: Callable[[Payload], object], row: Payload) -> bool:
    try:
        return holds(row) is True
    except Exception:
        return False  # a callable may fail on rows that it never meets in the plan


@dataclass(frozen=True)
class StreamSnapshot:
    """The statistics of a stream at an instant, with the last cells, each with the weight of an element.

    The values of a column are those of the rows that satisfy its `conditions`.
    """

    node: Node
    rate: float
    length: float
    granule: int
    distributions: Mapping[str, Distribution]
    conditions: Mapping[str, Sequence[Callable[[Payload], object]]]
    cells: Sequence[tuple[float, Cell]]

    def statistics(self) -> StreamStatistics:
        """The statistics of all elements."""
        return self._statistics(self.rate, self.distributions, list(self._sampled(attrgetter("rows"))))

    def without(self, group: int) -> StreamStatistics:
        """The statistics without one group of elements; the others are scaled up."""
        weights = self._weights
        left = math.fsum(weights) - weights[group]
        if not left:
            return SILENT
        rate = self.rate * left / math.fsum(weights) * GROUPS / (GROUPS - 1)
        distributions = {column: self._shares_without(group, column) for column in self.distributions}
        others = map(group.__ne__, self._sampled(attrgetter("groups")))
        rows = list(compress(self._sampled(attrgetter("rows")), others))
        return self._statistics(rate, distributions, rows)

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

    def _sampled(self, of_cell: Callable[[Cell], Iterable[S]]) -> Iterator[S]:
        """The items of each cell that belong to rows in the sample; `of_cell` returns one item per row."""
        for (_, cell), chosen in zip(self.cells, self._chosen, strict=True):
            yield from compress(of_cell(cell), chosen)

    @cached_property
    def _chosen(self) -> list[bytes]:
        """For each cell, a byte per row: 1 if the row is in the sample, else 0.

        A row is chosen at random, in proportion to its weight now. With equal rates that is G(r) = e^(−ar) of
        OM, 4.3.
        """
        of_rows = [weight * cell.weight for weight, cell in self.cells]
        expected = math.fsum(
            weight * len(cell.rows) for weight, (_, cell) in zip(of_rows, self.cells, strict=True)
        )
        # All of the heaviest rows are in the sample, unless there would be too many.
        least = max(max(of_rows, default=0.0), expected / MOST_ROWS)
        limits = [math.ceil(256 * weight / least) for weight in of_rows]
        return [
            _lives(cell).translate(b"\1" * limit + bytes(256 - limit))
            for limit, (_, cell) in zip(limits, self.cells, strict=True)
        ]

    def _shares_without(self, group: int, column: str) -> Distribution:
        counted, values = self._values[column]
        left = math.fsum(counted) - counted[group]
        shares = {value: math.fsum(counts) - counts[group] for value, counts in values.items()}
        return {value: count / left for value, count in shares.items() if count > 0} if left else {}

    @cached_property
    def _weights(self) -> list[float]:
        """The weight of the elements of each group."""
        weights = [0.0] * GROUPS
        for weight, cell in self.cells:
            for group, number in Counter(cell.groups).items():
                weights[group] += weight * cell.weight * number
        return weights

    @cached_property
    def _values(self) -> dict[str, tuple[list[float], dict[Hashable, list[float]]]]:
        """By column and group, the weight of the rows that satisfy its conditions, in total and by value.

        Cost     O(rows).
        """
        return {column: self._values_of(column) for column in self.distributions}

    def _values_of(self, column: str) -> tuple[list[float], dict[Hashable, list[float]]]:
        place, conditions = self.node.schema.index(column), self.conditions[column]
        counted = [0.0] * GROUPS
        values: dict[Hashable, list[float]] = {}
        for weight, cell in self.cells:
            of_row = weight * cell.weight
            for group, row in zip(cell.groups, cell.rows, strict=True):
                if conditions and not all(_satisfies(holds, row) for holds in conditions):
                    continue
                counted[group] += of_row
                if (value := row[place]) is not None:
                    values.setdefault(value, [0.0] * GROUPS)[group] += of_row
        return counted, values


def _lives(cell: Cell) -> bytes:
    """A random byte for each row, the same in every run."""
    at = cell.start // (cell.end - cell.start) * 7_919 % len(_LIVES)
    piece = _LIVES[at : at + len(cell.rows)]
    return piece if len(piece) == len(cell.rows) else (_LIVES * (2 + len(cell.rows) // len(_LIVES)))[at:]
