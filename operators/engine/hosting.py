"""Boxes as guests among the operators of queries: how they give results, and how their operators come in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import cast

from midstream.operators.base.operator import Operator
from midstream.operators.base.way import Tap
from midstream.operators.engine.base import Base
from midstream.operators.engine.guest import Guest
from midstream.operators.engine.plan_box import PlanBox
from midstream.plans.algebra.operators import Relation
from midstream.plans.algebra.physical import Boxed
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import above, reads_stream
from midstream.plans.values.streams import Batch


def box_of(node: Node) -> int | None:
    """The number of the Box that a node is an output of."""
    return node.operator.number if isinstance(node.operator, Boxed) else None


def no_rows(plan: Plan) -> Mapping[str, Batch]:
    """For operators that go on: they have their relations' rows."""
    return {node.operator.relation: [] for node in plan.nodes if isinstance(node.operator, Relation)}


def results_of(
    base: Base, physical: Plan, node: Node, ready: Batch, taps: Mapping[Node, Tap]
) -> dict[str, Batch]:
    """What comes out of a running plan, by output, when a node that nobody else has gives some elements
    outside of any event."""
    operators = base.running
    operators[node].emitted += len(ready)
    upper = {node: None}
    for one in physical.nodes:
        if any(child in upper for child in one.inputs):
            upper[one] = None
    beside = (child for one in upper if one is not node for child in one.inputs if child not in upper)
    inputs = list(dict.fromkeys([node, *filter(reads_stream, beside)]))
    plan = Plan({name: root for name, root in physical.outputs.items() if root in upper})
    view = PlanBox(
        plan,
        inputs,
        relations=no_rows(plan),
        running=operators,
        reached=[base.progress_of(one) for one in inputs],
        taps=taps,
        compile=False,
    )
    results = view.process(0, ready, base.progress_of(node))
    return dict(zip(view.outputs, results, strict=True))


class Guests:
    """Which guests among running operators can be taken in: their Box has become a plan."""

    def __init__(self) -> None:
        self.ready: list[Node] = []
        """Guests that are to be seen to."""
        self._blocked: dict[Node, list[Node]] = {}
        """By a node that runs, guests whose Box has become a plan that has it as well."""

    def listen(self, plan: Plan, running: Mapping[Node, Operator]) -> None:
        """Be told by the guests of a running plan when their Box has become a plan."""
        for node in plan.nodes:
            operator = running.get(node)
            if isinstance(operator, Guest):
                operator.hosted.listen(partial(self.ready.append, node))

    def seat(self, plan: Plan, running: Mapping[Node, Operator]) -> None:
        """Let each Box of a running plan know which of its guests the plan still has."""
        guests = [one for node in plan.nodes if isinstance(one := running.get(node), Guest)]
        for guest in guests:
            guest.hosted.guests = [one for one in guest.hosted.guests if one in guests]

    def block(self, guest: Node, nodes: Iterable[Node]) -> None:
        """A guest waits for some nodes to go."""
        for node in nodes:
            self._blocked.setdefault(node, []).append(guest)

    def unblock(self, plan: Plan, base: Base) -> None:
        """See again to what waits for nodes of a plan to go, as far as they have gone."""
        for node in plan.nodes:
            if node in self._blocked and not base.users(node):
                self.ready += self._blocked.pop(node)


class Incoming:
    """The operators of a Box that has become a plan, on their way into the base.

    `seats` are the nodes in whose place the Box's outputs are. `moved` tells what becomes of the nodes of the
    query that are above them, and `operators` under which nodes the Box's own operators go on.
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
        """What runs already, and would be there twice, with a state of its own each."""
        return [node for node in self._coming if node in running]
