"""The base of all physical operators: ports, progress, counters, the check of order, and generated code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

from midstream.plans.values.errors import EndedError, StreamOrderError
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time


class Code(NamedTuple):
    """Generated source of an operator that is a function of single elements and keeps their starts.

    It uses `start`, `end` and `row`. If the condition holds, the result is `(start, end, row)` with a new end
    or row. It holds for events whose progress is before the `until` of the setting.
    """

    condition: str | None = None
    end: str | None = None
    row: str | None = None
    setting: str | None = None
    """The name of the setting that it reads, if that can change."""


class Operator(ABC):
    """A physical operator: some input ports, one output.

    It understands the same three events as a Box, `push`, `advance` and `end`, and returns the results that
    are ready. These check their input. Inside a plan, where the operators rely on each other, `process` takes
    a batch and the progress behind it in one call and checks nothing.
    """

    ports: ClassVar[int] = 1

    def __init__(self, ports: int | None = None) -> None:
        count = type(self).ports if ports is None else ports
        self.reached: list[Time] = [BEGINNING] * count
        """By port, a lower bound of the starts of later elements."""
        self.emitted = 0
        """The number of results so far."""

    @property
    def name(self) -> str:
        """The name in messages."""
        return type(self).__name__

    def push(self, port: int, batch: Batch) -> Batch:
        """Elements arrived on a port.

        Raises   StreamOrderError where one goes back in time.
        """
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
        """A heartbeat; one without new information is ignored."""
        return self.process(port, [], time) if time > self.reached[port] else []

    def end(self, port: int) -> Batch:
        """Nothing more will arrive on a port; the same as a heartbeat at FOREVER."""
        return self.advance(port, FOREVER)

    def process(self, port: int, batch: Batch, progress: Time) -> Batch:
        """Process a batch, possibly empty, and the progress of its port behind it.

        The progress is not before the last start.
        """
        self.reached[port] = progress
        out = self._process(port, batch)
        self.emitted += len(out)
        return out

    def code(self, names: dict[str, Any]) -> Code | None:
        """Generated source for its work, for a stateless operator of one port that has such source.

        The objects that the source names are added to `names`.
        """
        return None

    @abstractmethod
    def _process(self, port: int, batch: Batch) -> Batch:
        """Process a batch; `reached` has the new progress already."""

    def progress(self) -> Time:
        """A lower bound of the starts of later results."""
        return min(self.reached)

    def size(self) -> int:
        """The number of elements in the state.

        Cost     O(1)
        """
        return 0

    def state(self) -> Iterable[Element]:
        """The elements in the state.

        Cost     O(size)
        """
        return ()
