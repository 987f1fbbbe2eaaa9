"""A Box among operators: somebody else's answer for some subplans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from midstream.operators.box import Box, settled
from midstream.operators.operator import Operator
from midstream.plans.streams import Batch, Element, Time


class Host:
    """A Box with one guest for each of its outputs; all guests are given the same events."""

    def __init__(self, box: Box, reached: Sequence[Time]) -> None:
        self.box = settled(box)
        """The Box, or the one that goes on in its place."""
        self.guests = [Guest(self, output, reached) for output in range(len(box.outputs))]
        self._events = 0
        self._ready: list[Batch] = [[] for _ in self.guests]

    def take(self, guest: Guest, port: int, batch: Batch) -> Batch:
        """A guest was given an event, behind which its port is as far as it tells: the first that is runs the
        Box."""
        if guest.events == self._events:
            self._events += 1
            self._run(port, batch, guest.reached[port])
        guest.events += 1
        ready, self._ready[guest.output] = self._ready[guest.output], []
        return ready

    def _run(self, port: int, batch: Batch, progress: Time) -> None:
        for results in (self.box.push(port, batch) if batch else [], self.box.advance(port, progress)):
            for output, found in enumerate(results):
                if found:
                    self._ready[output] = self._ready[output] + found
        self.box = settled(self.box)


class Guest(Operator):
    """Runs a Box in the place of a subplan: each input of its node is a port of the Box, and one of the Box's
    outputs is what the node gives.

    `reached` tells how far the Box's ports are.
    """

    def __init__(self, host: Host, output: int, reached: Sequence[Time]) -> None:
        super().__init__(len(reached))
        self.reached[:] = reached
        self.host = host
        self.output = output
        self.events = 0
        """How many it was given."""

    @property
    def name(self) -> str:
        """The word for it in messages."""
        return type(self.host.box).__name__

    def _process(self, port: int, batch: Batch) -> Batch:
        return self.host.take(self, port, batch)

    def progress(self) -> Time:
        """No later result starts before this."""
        return self.host.box.progress(self.output)

    def size(self) -> int:
        """How many elements the Box keeps; they count for its first output."""
        return 0 if self.output else self.host.box.size()

    def state(self) -> Iterable[Element]:
        """The elements that the Box keeps."""
        return () if self.output else self.host.box.state()
