"""The disorder of a stream: how late its rows are, and what a slack costs and saves.

    lateness of a row  =  max(0, greatest start before it in its file − its start)

Latenesses are counted in cells, so that what is kept of a stream is bounded, and adding up the counts of its
parts gives those of the whole. Up to `EXACT` chronons a cell is one lateness; beyond, it is at most 1/64 of
its lateness wide. A cell is named by its greatest lateness.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column as Value
from pyspark.sql import functions as F

EXACT = 128
"""The latenesses below this number of chronons have a cell each."""

_PARTS = 64
"""The number of cells between two powers of 2."""

QUANTILES = (0.5, 0.9, 0.99, 0.999)


def cell(lateness: int) -> int:
    """The greatest lateness in the cell of a lateness.

    >>> cell(0), cell(127), cell(128), cell(1000), cell(1007)
    (0, 127, 129, 1007, 1007)
    """
    if lateness < EXACT:
        return lateness
    width: int = 2 ** (lateness.bit_length() - 1) // _PARTS
    return lateness // width * width + width - 1


def cell_of(lateness: Value) -> Value:
    """The greatest lateness in the cell of a lateness, as an expression of Spark."""
    shift = F.length(F.bin(lateness)) - F.lit(7)
    power = F.expr("1L")
    width = F.when(lateness < EXACT, F.lit(1).cast("long")).otherwise(
        F.call_function("shiftleft", power, shift)
    )
    return lateness - F.pmod(lateness, width) + (width - 1)  # a sum of the largest would not fit


@dataclass(frozen=True)
class Slack:
    """The effect of a slack of so many chronons.

    late    how many rows are later than the slack: they are lost
    held    how many elements wait on average, as each waits for the slack
    """

    chronons: int
    late: int
    held: float


@dataclass(frozen=True)
class Disorder:
    """A stream's disorder, of `rows` rows within `span` chronons.

    counts    by cell, how many rows are so late; rows in order are in cell 0
    """

    rows: int
    late: int
    greatest: int
    span: int
    counts: Mapping[int, int]

    def quantile(self, share: float) -> int:
        """The lateness that a share of the late rows does not exceed, up to the width of its cell."""
        wanted, seen = share * self.late, 0
        for upper, count in sorted(self.counts.items()):
            if upper:
                seen += count
                if seen >= wanted:
                    return min(upper, self.greatest)
        return 0

    def slack(self, chronons: int) -> Slack:
        """The effect of a slack; exact for the upper end of a cell."""
        late = sum(count for upper, count in self.counts.items() if upper > chronons)
        late = 0 if chronons >= self.greatest else late
        return Slack(chronons, late, self.rows * chronons / self.span if self.span else 0.0)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        slacks = dict.fromkeys([0, *map(self.quantile, QUANTILES), self.greatest])
        return {
            "late": self.late,
            "share": self.late / self.rows if self.rows else 0.0,
            "greatest": self.greatest,
            "quantiles": {str(share): self.quantile(share) for share in QUANTILES},
            "slacks": [
                {"slack": one.chronons, "late": one.late, "held": one.held} for one in map(self.slack, slacks)
            ],
        }
