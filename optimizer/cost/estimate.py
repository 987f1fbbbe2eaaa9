"""What the cost model says of an operator, and arithmetic on rates that may be 0 and lengths that may be
infinite."""

from __future__ import annotations

import math
from dataclasses import dataclass

from midstream.optimizer.cost.column_facts import Facts


@dataclass(frozen=True)
class Estimate:
    """An operator's output, and what the operator costs.

    d, l, g    as in StreamStatistics
    cost       microseconds of processing per chronon
    state      elements kept
    always     rows that are valid at every instant, as those of a constant relation are
    """

    d: float
    l: float  # noqa: E741 - the model's own letter
    g: int
    cost: float
    state: float
    facts: Facts
    always: float = 0.0

    @property
    def rate(self) -> float:
        """Results per chronon."""
        return inverse(self.d)

    @property
    def valid(self) -> float:
        """How many results are valid at one instant."""
        return times(self.rate, self.l) + self.always


def inverse(number: float) -> float:
    """1 / number; the rate that belongs to a distance, or the other way round.

    >>> inverse(4.0), inverse(math.inf), inverse(0.0)
    (0.25, 0.0, inf)
    """
    return 1 / number if number else math.inf


def times(*factors: float) -> float:
    """A product in which 0 outweighs infinity: where nothing arrives nothing is kept, however long.

    >>> times(0.0, math.inf), times(2.0, math.inf)
    (0.0, inf)
    """
    product = 0.0 if 0.0 in factors else math.prod(factors)
    # Factors too small for a float are 0 as well.
    return product if product == product else 0.0
