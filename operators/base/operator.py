"""What all physical operators share: ports, progress, counters, and the check of order at the outside; and
what an operator does with one element, as source."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

from midstream.plans.values.errors import EndedError, StreamOrderError
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time


class Code(NamedTuple):
    """Source for the work of an operator that is a function of single elements and keeps their starts.

    It is in terms of `start`, `end` and `row`. What comes out, if the condition holds, is `(start, end, row)`
    with a new end or row.
    """

    condition: str | None = None
    end: str | None = None
    row: str | None = None
    last_start: str | None = None
    """The attribute in which the operator keeps the start of the last element that it was given, if any."""


class Operator(ABC):
    """A physical operator: some input ports, one output.

    It understands the same three events as a Box, `push`, `advance` and `end`, and returns what they made
    ready. They check what arrives. Inside a plan, where the operators keep each other's promises, `process`
    takes a batch and the progress behind it in one call and checks nothing.
    """

    ports: ClassVar[int] = 1

    def __init__(self, ports: int | None = None) -> None:
        count = type(self).ports if ports is None else ports
        self.reached: list[Time] = [BEGINNING] * count
        """Per port: no later element starts before this."""
        self.emitted = 0
        """How many elements have left."""

    @property
    def name(self) -> str:
        """The word for it in messages."""
        return type(self).__name__

    def push(self, port: int, batch: Batch) -> Batch:
        """Elements arrived on a port. Raises StreamOrderError where one goes back in time."""
        if not batch:
            return []
        reached = self.reached[port]
        if reached == FOREVER:
            raise EndedError(
                f"{self.name}, port {port}: an element arrived after the end", operator=self.name, port=port
            )
        for before, element in pairwise([(reached, reached, None), *batch]):
            if element[0] < before[0]:
                raise StreamOrderError(
                    f"{self.name}, port {port}: element {element!r} starts at {element[0]} "
                    f"after progress {before[0]}",
                    operator=self.name,
                    port=port,
                    element=element,
                    progress=before[0],
                )
        return self.process(port, batch, batch[-1][0])

    def advance(self, port: int, time: Time) -> Batch:
        """A heartbeat. One that tells nothing new is ignored."""
        return self.process(port, [], time) if time > self.reached[port] else []

    def end(self, port: int) -> Batch:
        """Nothing more will arrive on a port; the same as a heartbeat at FOREVER."""
        return self.advance(port, FOREVER)

    def process(self, port: int, batch: Batch, progress: Time) -> Batch:
        """A batch, possibly empty, and the progress of its port behind it, which is not before the last
        start."""
        self.reached[port] = progress
        out = self._process(port, batch)
        self.emitted += len(out)
        return out

    def code(self, names: dict[str, Any]) -> Code | None:
        """Source for its work, for an operator of one port of which there is such; `names` is given the
        objects that the source names."""
        return None

    @abstractmethod
    def _process(self, port: int, batch: Batch) -> Batch:
        """Do the work. `reached` tells the new progress."""

    def progress(self) -> Time:
        """No later result starts before this."""
        return min(self.reached)

    def size(self) -> int:
        """How many elements are kept. Cost: O(1)."""
        return 0

    def state(self) -> Iterable[Element]:
        """The elements that are kept. Cost: O(size)."""
        return ()
