"""Several streams as one that is ordered."""

from __future__ import annotations

from collections.abc import Iterable

from midstream.operators.base.operator import Operator
from midstream.operators.base.output import OrderedOutput
from midstream.plans.values.streams import Batch, Element


class Merge(Operator):
    """Give out the elements of all ports in one order.

    State    The elements that start after the least progress of all ports.
    Cost     O(log n) for an element that must wait, else O(1).
    """

    def __init__(self, ports: int) -> None:
        super().__init__(ports)
        self._output = OrderedOutput()

    def _process(self, port: int, batch: Batch) -> Batch:
        return self._output.release(batch, min(self.reached))

    def size(self) -> int:
        """The elements that wait."""
        return len(self._output)

    def state(self) -> Iterable[Element]:
        """The elements that wait."""
        return self._output
