"""Union: several streams merged into one ordered stream."""

from __future__ import annotations

from collections.abc import Iterable

from midstream.operators.base.operator import Operator
from midstream.operators.base.output import OrderedOutput
from midstream.plans.values.streams import Batch, Element


class Union(Operator):
    """Merge streams into one that is ordered.

        union(S1, .., Sn)@t  =  S1@t + .. + Sn@t        (multiplicities add up)

    Input    Two or more ports, each ordered by start; one may run ahead of the others.
    State    The elements that start after the least progress of all ports.
    Cost     O(log n) for an element that must wait, else O(1).
    Source   thesis, Algorithm 4

    >>> union = Union(2)
    >>> union.push(0, [(1, 8, "c"), (5, 11, "a")])
    []
    >>> union.push(1, [(3, 9, "d")])
    [(1, 8, 'c'), (3, 9, 'd')]
    """

    def __init__(self, ports: int) -> None:
        super().__init__(ports)
        self._output = OrderedOutput()

    def _process(self, port: int, batch: Batch) -> Batch:
        return self._output.release(batch, min(self.reached))

    def size(self) -> int:
        """The number of waiting elements."""
        return len(self._output)

    def state(self) -> Iterable[Element]:
        """The waiting elements."""
        return self._output
