"""A Box among operators: somebody else's answer for some subplans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from midstream.operators.base.box import Box, driver, settled
from midstream.operators.base.operator import Operator
from midstream.operators.engine.plan_box import PlanBox
from midstream.plans.algebra.plan import Node
from midstream.plans.values.streams import Batch, Element, Time


class HostedBox:
    """A Box with one guest for each of its outputs; all guests are given the same events.

    The first guest stands for the Box where it is counted.
    """

    def __init__(self, box: Box, reached: Sequence[Time]) -> None:
        self._listener: Callable[[], object] | None = None
        self._run_by(settled(box))
        self.guests = [Guest(self, output, reached) for output in range(len(box.outputs))]
        """Guests that run, in order of their outputs: at the beginning all. A query may cease to read one."""
        self._events = 0
        self._ready: list[Batch] = [[] for _ in self.guests]

    def _run_by(self, box: Box) -> None:
        self.box = box
        """The Box, or the one that goes on in its place."""
        self._driver = driver(box)
        # The operators of a plan can run by themselves.
        if isinstance(box, PlanBox) and self._listener is not None:
            self._listener()

    def listen(self, listener: Callable[[], object]) -> None:
        """Tell by a call, in place of any before, that the Box has become a plan; at once if it has."""
        self._listener = listener
        self.look()

    def look(self) -> None:
        """See whether another Box goes on in its place: one may hand over outside of any event."""
        self._run_by(settled(self.box))

    def run(self, port: int, batch: Batch, progress: Time) -> list[Batch]:
        """Run the Box."""
        results = self._driver.process(port, batch, progress)
        if self._driver.successor is not None:
            self._run_by(settled(self.box))
        return results

    def take(self, guest: Guest, port: int, batch: Batch) -> Batch:
        """A guest was given an event, behind which its port is as far as it tells: the first that is runs the
        Box."""
        if guest.events == self._events:
            self._events += 1
            results = self.run(port, batch, guest.reached[port])
            for one in self.guests:
                if results[one.output]:
                    self._ready[one.output] = self._ready[one.output] + results[one.output]
        guest.events += 1
        ready, self._ready[guest.output] = self._ready[guest.output], []
        return ready


class Guest(Operator):
    """Runs a Box in the place of a subplan: each input of its node is a port of the Box, and one of the Box's
    outputs is what the node gives.

    `reached` tells how far the Box's ports are.
    """

    def __init__(self, hosted: HostedBox, output: int, reached: Sequence[Time]) -> None:
        super().__init__(len(reached))
        self.reached[:] = reached
        self.hosted = hosted
        self.output = output
        self.events = 0
        """How many it was given."""

    @property
    def name(self) -> str:
        """The word for it in messages."""
        return type(self.hosted.box).__name__

    def _process(self, port: int, batch: Batch) -> Batch:
        hosted = self.hosted
        if len(hosted.guests) > 1:
            return hosted.take(self, port, batch)
        return hosted.run(port, batch, self.reached[port])[self.output]

    @property
    def is_first(self) -> bool:
        """Whether it stands for the Box."""
        return self.hosted.guests[0] is self

    def progress(self) -> Time:
        """No later result starts before this."""
        return self.hosted.box.progress(self.output)

    def size(self) -> int:
        """How many elements the Box keeps; they count for its first guest."""
        return self.hosted.box.size() if self.is_first else 0

    def state(self) -> Iterable[Element]:
        """The elements that the Box keeps."""
        return self.hosted.box.state() if self.is_first else ()


def operators_inside(operators: Iterable[tuple[Node, Operator]]) -> Iterator[tuple[Node, Operator]]:
    """Operators by their nodes, each once; in the place of guests those inside of their Boxes."""
    for node, operator in operators:
        if not isinstance(operator, Guest):
            yield node, operator
        elif operator.is_first:
            yield from operators_inside(driver(operator.hosted.box).operators())
