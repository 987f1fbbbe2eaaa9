"""The base of all joins: a SweepArea and a probe for each side."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import ClassVar

from midstream.operators.base.operator import Operator
from midstream.operators.base.output import OrderedOutput
from midstream.operators.joins.probes import Probe
from midstream.operators.joins.sweepareas import SweepArea
from midstream.plans.values.streams import Batch, Element

Areas = tuple[SweepArea, SweepArea]
Probes = tuple[Probe, Probe]
Fifo = tuple[bool, bool]
"""By port, True if the ends of the input never decrease, so that its state expires first in, first out."""


class SweepJoin(Operator):
    """A join of two SweepAreas, one for each side.

    An element probes the area of the other side, and is then kept in the area of its own side while a later
    element of the other side can meet it. The probe of a port must fit the area of the other port.

    Source   thesis, Algorithm 6
    """

    ports: ClassVar[int] = 2

    def __init__(self, areas: Areas, probes: Probes) -> None:
        super().__init__()
        self._areas = areas
        self._probes = probes
        self._output = OrderedOutput()

    def _process(self, port: int, batch: Batch) -> Batch:
        here, there = self.reached[port], self.reached[1 - port]
        opposite = self._areas[1 - port]
        pairs = batch
        if batch:
            pairs = self._probes[port](batch, opposite.index)
            self._areas[port].insert(batch, there)
        opposite.purge(here)
        return self._output.release(pairs, here if here < there else there)

    def retained(self, port: int) -> Iterable[Element]:
        """The elements of a port, as they came, that end after the other port's progress.

        Elements whose key has a NULL are left out, as no condition can be true of them.
        """
        return self._areas[port]

    def size(self) -> int:
        """The number of elements on both sides, and of waiting pairs."""
        return len(self._areas[0]) + len(self._areas[1]) + len(self._output)

    def state(self) -> Iterable[Element]:
        """The elements on both sides, and the waiting pairs."""
        return chain(*self._areas, self._output)
