"""The chronons of migrations' split times on a grid of looks, near the cells in which something starts.

A migration has its split time inside a chronon c (see `split_chronon`). The old plan yields the results that
start before the end of c. The new one yields those that are valid inside c, and those that start behind it:

    moving-states   c is that of the look
    genmig          c is that in which the last element so far ends; where all has ended, the one before
                    the look
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile


@dataclass(frozen=True)
class Occupied:
    """The cells of a grid in which elements of the plan's windows start.

    end   by the start of a cell, the largest end of these elements
    """

    step: int
    end: dict[int, int]

    def lasting(self, starts: Sequence[int], window: int) -> tuple[int, ...]:
        """The chronons until the last element so far ends, at the start of each cell; −1 if it has ended."""
        found, so_far = list[int](), starts[0] - 1
        for start in starts:
            found.append(min(window, max(-1, so_far - start)))
            so_far = max(so_far, self.end.get(start, so_far))
        return tuple(found)

    def asked(self) -> set[int]:
        """The chronons in which a split time may lie, and the last ones of cells.

        Of the looks behind a cell, these are the first, and the others while something is valid.
        """
        found, cells = set[int](), sorted(self.end)
        for start, so_far in zip(cells, accumulate((self.end[cell] for cell in cells), max), strict=True):
            found |= {start - 1, start, start + self.step - 1, so_far}
            silent = range(start + self.step, max(so_far, start + self.step + 1), self.step)
            found.update(takewhile(lambda look: look not in self.end, silent))
        return found


def chronons(grids: Mapping[int, Occupied]) -> list[int]:
    """The chronons in which split times may lie on any of some grids, and others to count at; in order."""
    return sorted(set[int]().union(*(grid.asked() for grid in grids.values())))
