"""A sample of the rows that came lately."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import itemgetter
from random import Random

from midstream.plans.values.streams import Payload

MOST_ROWS = 1024
"""So many rows are kept at most."""
_KEY = itemgetter(0)
_RANDOM = Random(2)
_LIFETIMES = [-math.log(1 - _RANDOM.random()) for _ in range(1 << 14)]
"""Chance, the same in every run: how long rows are kept, in units of 1 / decay."""


class DecayedRows:
    """Rows, of which each is kept with a probability in proportion to what it weighs now:

        P(row)  =  weight · e^(−a · age) / τ

    where τ is what the heaviest rows weigh, or more where there would be too many. With equal weights that is
    G(r) = e^(−ar) of the OM paper, 4.3.

    State    `most` rows.
    Cost     O(rows) to add some.

    >>> rows = DecayedRows()
    >>> rows.add([[(1,)], [(2,), (3,)]], log_weight=0.0)
    >>> rows.add([[(4,)], []], log_weight=99.0)     # much later
    >>> rows.snapshot()
    ((0, (4,)),)
    """

    def __init__(self, most: int = MOST_ROWS) -> None:
        self._most = most
        self._kept: list[tuple[float, int, Payload]] = []
        """By rank: what a row weighs, as a logarithm, and for how long it is kept; with its group."""
        self._heaviest = -math.inf
        self._at = 0

    def add(self, groups: Sequence[Sequence[Payload]], log_weight: float) -> None:
        """Rows came, in groups. The logarithm of what one weighs grows by a · age for those that come later:
        that is the same as that the others decay."""
        self._heaviest = least = max(self._heaviest, log_weight)
        kept = [entry for entry in self._kept if entry[0] >= least]
        at, chance = self._at, _LIFETIMES
        for group, rows in enumerate(groups):
            for row in rows:
                at = (at + 1) % len(chance)
                if (rank := log_weight + chance[at]) >= least:
                    kept.append((rank, group, row))
        self._at = at
        if len(kept) > self._most:
            kept.sort(key=_KEY, reverse=True)
            del kept[self._most :]
        self._kept = kept

    def snapshot(self) -> tuple[tuple[int, Payload], ...]:
        """The rows as they are now, each with its group."""
        return tuple((group, row) for _, group, row in self._kept)
