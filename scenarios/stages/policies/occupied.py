"""The chronons of migrations' split times on a grid of looks, near the cells in which something starts.

A migration has its split time inside a chronon c. The old plan yields the results that start before the end
of c. The new one yields those that are valid inside c, and those that start behind it:

    moving-states   c is that of the next element behind the look, as all streams have come there
    genmig          c is that in which the last element so far ends; where all has ended, the one before
                    the look
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Occupied:
    """The cells of a grid in which something starts.

    first   by the start of a cell, when the first element of any stream starts in it
    end     by the start of a cell, the largest end of the elements of the plan's windows, where there are any
    """

    step: int
    first: dict[int, int]
    end: dict[int, int]

    def following(self, starts: Sequence[int]) -> tuple[int, ...]:
        """The start of the next element at or behind each of some instants of the grid.

        Behind the last element it is the instant itself.
        """
        cells = sorted(self.first)
        places = (bisect_left(cells, start) for start in starts)
        return tuple(
            self.first[cells[i]] if i < len(cells) else start for i, start in zip(places, starts, strict=True)
        )

    def lasting(self, starts: Sequence[int], window: int) -> tuple[int, ...]:
        """The chronons until the last element so far ends, at the start of each cell; −1 if it has ended."""
        found, so_far = list[int](), starts[0] - 1
        for start in starts:
            found.append(min(window, max(-1, so_far - start)))
            so_far = max(so_far, self.end.get(start, so_far))
        return tuple(found)

    def asked(self) -> set[int]:
        """The chronons in which a split time may lie, and those before and at the ends of these cells."""
        found = set(self.first.values())
        so_far: int | None = None
        for start in sorted(self.first):
            found |= {start - 1, start + self.step - 1}
            end = self.end.get(start)
            if end is not None and (so_far is None or end > so_far):
                so_far = end
                found.add(end)
        return found


def chronons(grids: Mapping[int, Occupied]) -> list[int]:
    """The chronons in which split times may lie on any of some grids, and others to count at; in order."""
    return sorted(set[int]().union(*(grid.asked() for grid in grids.values())))
