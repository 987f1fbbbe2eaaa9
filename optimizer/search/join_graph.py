"""The graph of join inputs that conditions connect, over bit masks: input i is the bit 1 << i."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Products = Literal["auto", "needed", "all"]
"""The cross products to consider.

"all" of them; those "needed", without which there is no join order; or "auto": all if at most `FEW` inputs
meet, else the needed ones.
"""

FEW = 8
"""Greatest number of inputs whose joins are ordered with all cross products under "auto".

A product of two small inputs, which then meets a large one once, can be much cheaper than any order without
it; and there are at most 3,025 pairs.
"""


@dataclass(frozen=True)
class JoinGraph:
    """Inputs of joins, and for each the inputs that a condition connects it with.

    If the graph has several components, products join them once each of them is complete.
    """

    neighbours: tuple[int, ...]

    @classmethod
    def of(cls, size: int, edges: Iterable[int], products: Products = "auto") -> JoinGraph:
        """The graph of `size` inputs; each edge is a mask whose members are connected with each other."""
        every = (1 << size) - 1
        if products == "all" or (products == "auto" and size <= FEW):
            edges = [every]
        neighbours = [0] * size
        for edge in edges:
            for i in members(edge):
                neighbours[i] |= edge & ~(1 << i)
        return cls(tuple(neighbours))

    @property
    def every(self) -> int:
        """All inputs, as a mask."""
        return (1 << len(self.neighbours)) - 1

    def around(self, subset: int) -> int:
        """The inputs outside a set that are connected with some member of it."""
        found = 0
        for i in members(subset):
            found |= self.neighbours[i]
        return found & ~subset

    @cached_property
    def components(self) -> tuple[int, ...]:
        """The connected components."""
        found = []
        left = self.every
        while left:
            component = left & -left
            while more := self.around(component):
                component |= more
            found.append(component)
            left &= ~component
        return tuple(found)

    @cached_property
    def _is_connected(self) -> bool:
        return len(self.components) <= 1

    def may_join(self, left: int, right: int) -> bool:
        """True if two sets, each of which can be joined by itself, may be joined with each other."""
        if self._is_connected or self.around(left) & right:
            return bool(self.around(left) & right)
        return self._is_whole(left) and self._is_whole(right)

    def _is_whole(self, subset: int) -> bool:
        return all(subset & component in (0, component) for component in self.components)

    def pairs(self) -> Iterator[tuple[int, int]]:
        """All pairs of sets that may be joined, each once; a set's parts come before the set is used."""
        for component in self.components:
            yield from connected_pairs(self.neighbours, component)
        if not self._is_connected:
            whole = JoinGraph.of(len(self.components), [(1 << len(self.components)) - 1], "needed")
            for left, right in whole.pairs():
                yield self._union(left), self._union(right)

    def _union(self, components: int) -> int:
        return sum(self.components[i] for i in members(components))


def connected_pairs(neighbours: tuple[int, ...], within: int) -> Iterator[tuple[int, int]]:
    """Every pair of disjoint, connected sets of inputs that are connected with each other, each pair once.

    All pairs that make up a set come before the pairs in which it is a side. The side with the first input
    of both comes first. Each connected set is grown from its first input, by sets of neighbours that are
    later than it; then its partners are grown in the same way.

    Source   G. Moerkotte, T. Neumann, Analysis of Two Existing and One New Dynamic Programming Algorithm for
             the Generation of Optimal Bushy Join Trees without Cross Products, VLDB 2006 (DPccp)
    """
    for i in sorted(members(within), reverse=True):
        start = 1 << i
        for subset in _grown(neighbours, start, start | (start - 1), within):
            around = _around(neighbours, subset) & within
            excluded = subset | (start - 1)
            candidates = around & ~excluded
            for j in sorted(members(candidates), reverse=True):
                first = 1 << j
                earlier = candidates & (first - 1)
                for partner in _grown(neighbours, first, excluded | earlier | first, within):
                    yield subset, partner


def _grown(neighbours: tuple[int, ...], subset: int, excluded: int, within: int) -> Iterator[int]:
    """A connected set, and all sets made from it by adding connected inputs that are not excluded."""
    yield subset
    # Subsets are never listed: in a star of 40 inputs, the centre has more of them than fit in memory.
    pending = [iter([(subset, excluded)])]
    while pending:
        grown = next(pending[-1], None)
        if grown is None:
            pending.pop()
            continue
        subset, excluded = grown
        more = _around(neighbours, subset) & within & ~excluded
        for added in subsets(more):
            yield subset | added
        if more:
            pending.append(_with_subsets(subset, more, excluded | more))


def _with_subsets(subset: int, more: int, excluded: int) -> Iterator[tuple[int, int]]:
    return ((subset | added, excluded) for added in subsets(more))


def _around(neighbours: tuple[int, ...], subset: int) -> int:
    found = 0
    while subset:
        lowest = subset & -subset
        found |= neighbours[lowest.bit_length() - 1]
        subset ^= lowest
    return found


def subsets(mask: int) -> Iterator[int]:
    """The non-empty subsets of a set, each after its own subsets.

    >>> list(subsets(0b101))
    [1, 4, 5]
    """
    subset = mask & -mask
    while subset:
        yield subset
        subset = (subset - mask) & mask


def members(mask: int) -> Iterator[int]:
    """The inputs in a set, in order.

    >>> list(members(0b1011))
    [0, 1, 3]
    """
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
