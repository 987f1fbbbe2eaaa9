"""Guests: operators that run a Box in place of subplans, until the Box has become a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import cast

from midstream.operators.base.box import Box, driver, settled
from midstream.operators.base.operator import Operator
from midstream.operators.engine.running.base import Base
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.plans.algebra.physical import Boxed
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import above, reads_stream
from midstream.plans.values.streams import Batch, Element, Time


class HostedBox:
    """A Box with one guest for each of its outputs; all guests get the same events.

    The first guest stands for the Box where it is counted.
    """

    def __init__(self, box: Box, reached: Sequence[Time]) -> None:
        self._listener: Callable[[], object] | None = None
        self._run_by(settled(box))
        self.guests = [Guest(self, output, reached) for output in range(len(box.outputs))]
        """The running guests, in order of outputs; at first all, until a query stops reading an output."""
        self._events = 0
        self._ready: list[Batch] = [[] for _ in self.guests]

    def _run_by(self, box: Box) -> None:
        self.box = box
        """The Box, or its successor."""
        self._driver = driver(box)
        # The operators of a plan can run by themselves.
        if isinstance(box, PlanBox) and self._listener is not None:
            self._listener()

    def listen(self, listener: Callable[[], object]) -> None:
        """Set the function to call when the Box has become a plan; it is called at once if it has."""
        self._listener = listener
        self.look()

    def look(self) -> None:
        """See if a successor replaces the Box: it may hand over outside of any event."""
        self._run_by(settled(self.box))

    def run(self, port: int, batch: Batch, progress: Time) -> list[Batch]:
        """Run the Box."""
        results = self._driver.process(port, batch, progress)
        if self._driver.successor is not None:
            self._run_by(settled(self.box))
        return results

    def take(self, guest: Guest, port: int, batch: Batch) -> Batch:
        """Take an event of a guest.

        All guests get each event. The first one that gets it runs the Box, with its own progress on that
        port; the others take their share of the results.
        """
        is_first, guest.events = guest.events == self._events, guest.events + 1
        if is_first:
            self._events += 1
            results = self.run(port, batch, guest.reached[port])
            for each in self.guests:
                if results[each.output]:
                    self._ready[each.output] = self._ready[each.output] + results[each.output]
        ready, self._ready[guest.output] = self._ready[guest.output], []
        return ready


class Guest(Operator):
    """An operator that runs a Box in place of a subplan.

    Each input of its node is a port of the Box, and the node gives one output of the Box. `reached` is the
    progress of the Box's ports.
    """

    def __init__(self, hosted: HostedBox, output: int, reached: Sequence[Time]) -> None:
        super().__init__(len(reached))
        self.reached[:] = reached
        self.hosted = hosted
        self.output = output
        self.events = 0
        """The number of events that it got."""

    @property
    def name(self) -> str:
        """The name in messages."""
        return type(self.hosted.box).__name__

    def _process(self, port: int, batch: Batch) -> Batch:
        hosted = self.hosted
        if len(hosted.guests) > 1:
            return hosted.take(self, port, batch)
        return hosted.run(port, batch, self.reached[port])[self.output]

    @property
    def is_first(self) -> bool:
        """True if it stands for the Box where that is counted."""
        return self.hosted.guests[0] is self

    def progress(self) -> Time:
        """A lower bound of the starts of later results."""
        return self.hosted.box.progress(self.output)

    def size(self) -> int:
        """The number of elements in the Box; they count for its first guest."""
        return self.hosted.box.size() if self.is_first else 0

    def state(self) -> Iterable[Element]:
        """The elements in the Box."""
        return self.hosted.box.state() if self.is_first else ()


def operators_inside(operators: Iterable[tuple[Node, Operator]]) -> Iterator[tuple[Node, Operator]]:
    """Operators by their nodes, each once; guests are replaced by the operators inside of their Boxes."""
    for node, operator in operators:
        if not isinstance(operator, Guest):
            yield node, operator
        elif operator.is_first:
            yield from operators_inside(driver(operator.hosted.box).operators())


def box_of(node: Node) -> int | None:
    """The number of the Box that a node is an output of."""
    return node.operator.number if isinstance(node.operator, Boxed) else None


class Guests:
    """The guests whose Box has become a plan, so that its operators can run with all others."""

    def __init__(self) -> None:
        self.ready: list[Node] = []
        """Guests to be processed."""
        self._blocked: dict[Node, list[Node]] = {}
        """By a running node, the guests whose Box has become a plan with an equal node."""

    def listen(self, plan: Plan, running: Mapping[Node, Operator]) -> None:
        """Let the guests of a running plan report when their Box has become a plan."""
        for node in plan.nodes:
            operator = running.get(node)
            if isinstance(operator, Guest):
                operator.hosted.listen(partial(self.ready.append, node))

    def seat(self, plan: Plan, running: Mapping[Node, Operator]) -> None:
        """Tell each Box of a running plan which of its guests the plan still has."""
        guests = [guest for node in plan.nodes if isinstance(guest := running.get(node), Guest)]
        for guest in guests:
            guest.hosted.guests = [each for each in guest.hosted.guests if each in guests]

    def block(self, guest: Node, nodes: Iterable[Node]) -> None:
        """Let a guest wait until some nodes have gone."""
        for node in nodes:
            self._blocked.setdefault(node, []).append(guest)

    def rename(self, moved: Mapping[Node, Node]) -> None:
        """Take note that guests, and the nodes for which they wait, have other nodes."""
        self.ready = [moved.get(node, node) for node in self.ready]
        self._blocked = {
            moved.get(node, node): [moved.get(guest, guest) for guest in guests]
            for node, guests in self._blocked.items()
        }

    def unblock(self, plan: Plan, base: Base) -> None:
        """Process the guests again that wait for nodes of a plan, as far as these have gone."""
        for node in plan.nodes:
            if node in self._blocked and not base.users(node):
                self.ready += self._blocked.pop(node)


class Incoming:
    """The operators of a Box that has become a plan, on their way into the base.

    `seats` are the nodes in whose place the Box's outputs are. `moved` holds the new nodes of the query's
    nodes above them, and `operators` the new nodes of the Box's own operators.
    """

    def __init__(self, seats: Sequence[Node], box: PlanBox, physical: Plan) -> None:
        hosted = dict(zip(box.nodes, seats[0].inputs, strict=True))
        for node in above(box.plan, box.nodes):
            hosted[node] = node.with_inputs(tuple(hosted[child] for child in node.inputs))
        self.operators: dict[Node, Operator] = {hosted[node]: operator for node, operator in box.operators()}
        roots = list(box.plan.outputs.values())
        placed = {seat: hosted[roots[cast(Boxed, seat.operator).output]] for seat in seats}
        for node in physical.nodes:
            inputs = tuple(placed[child] for child in node.inputs)
            placed.setdefault(node, node.with_inputs(inputs))
        self.physical = Plan({name: placed[root] for name, root in physical.outputs.items()})
        self.moved = {old: new for old, new in placed.items() if old not in seats}
        self._coming = {node for node in self.operators if reads_stream(node)}
        self._coming |= {new for old, new in self.moved.items() if new != old}

    def clashes(self, running: Mapping[Node, Operator]) -> list[Node]:
        """The nodes that run already, and would run twice, each with a state of its own."""
        return [node for node in self._coming if node in running]
