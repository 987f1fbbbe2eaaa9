"""What is known of one stream, of which what came lately counts most."""

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
        self._columns = {column: node.schema.index(column) for column in keys}
        compiled = {condition: compile_row(condition, node.schema) for condition in conditions}
        self._conditions = list(compiled.values())
        self._others = {
            column: [i for i, condition in enumerate(compiled) if column not in condition.columns()]
            for column in keys
        }
        """By column, the conditions that do not read it: values are counted of rows that satisfy these."""
        self._satisfying = [0.0] * len(self._conditions)
        self._counted = dict.fromkeys(keys, 0.0)
        """By column, what these rows weigh."""
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
        """Multiply all weights but those of values, which the caller has."""
        self._count *= factor
        self._length *= factor
        self._endless *= factor
        self._satisfying = [weight * factor for weight in self._satisfying]
        self._counted = {column: weight * factor for column, weight in self._counted.items()}
        self._cells = deque((weight * factor, cell) for weight, cell in self._cells)

    @property
    def count(self) -> float:
        """What all elements weigh."""
        return self._count

    @property
    def satisfying(self) -> Sequence[float]:
        """What the elements weigh that satisfy each condition."""
        return self._satisfying

    def counted(self, column: str) -> float:
        """What the rows weigh of which a column's values are counted: those that satisfy what the plan asks
        of other columns, as values may depend on these."""
        return self._counted[column]

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
    """What is known of a stream at an instant, with the last cells, each with the weight of an element. The
    values of a column are those of the rows that satisfy its `conditions`."""

    node: Node
    rate: float
    length: float
    granule: int
    distributions: Mapping[str, Distribution]
    conditions: Mapping[str, Sequence[Callable[[Payload], object]]]
    cells: Sequence[tuple[float, Cell]]

    def statistics(self) -> StreamStatistics:
        """By all elements."""
        return self._statistics(self.rate, self.distributions, list(self._sampled(attrgetter("rows"))))

    def without(self, group: int) -> StreamStatistics:
        """By all groups of elements but one, in place of which the others count more."""
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
        """What a cell has for each of its rows, of those in the sample."""
        for (_, cell), chosen in zip(self.cells, self._chosen, strict=True):
            yield from compress(of_cell(cell), chosen)

    @cached_property
    def _chosen(self) -> list[bytes]:
        """Of each cell, 1 for the rows in the sample and 0 for the others: each is in by chance, in
        proportion to what it weighs now. With equal rates that is G(r) = e^(−ar) of OM, 4.3."""
        of_rows = [weight * cell.weight for weight, cell in self.cells]
        expected = math.fsum(
            weight * len(cell.rows) for weight, (_, cell) in zip(of_rows, self.cells, strict=True)
        )
        # The heaviest rows are all in, unless there would be too many.
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
        """What the elements of each group weigh."""
        weights = [0.0] * GROUPS
        for weight, cell in self.cells:
            for group, number in Counter(cell.groups).items():
                weights[group] += weight * cell.weight * number
        return weights

    @cached_property
    def _values(self) -> dict[str, tuple[list[float], dict[Hashable, list[float]]]]:
        """By column and group, what the rows weigh that satisfy its conditions, in all and by value. Cost:
        O(rows)."""
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
    """A byte of chance for each row, always the same ones."""
    at = cell.start // (cell.end - cell.start) * 7_919 % len(_LIVES)
    piece = _LIVES[at : at + len(cell.rows)]
    return piece if len(piece) == len(cell.rows) else (_LIVES * (2 + len(cell.rows) // len(_LIVES)))[at:]
