"""Boxes as guests among the operators of queries: their results, and the adoption of their operators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import cast

from midstream.operators.base.operator import Operator
from midstream.operators.base.walk import Tap
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
    """Empty relations for operators that go on: they have the rows already."""
    return {node.operator.relation: [] for node in plan.nodes if isinstance(node.operator, Relation)}


def results_of(
    base: Base, physical: Plan, node: Node, ready: Batch, taps: Mapping[Node, Tap]
) -> dict[str, Batch]:
    """By output, the results of a running plan when a node gives some elements outside of any event.

    No other query has the node.
    """
    operators = base.running
    operators[node].emitted += len(ready)
    upper = {node: None}
    for other in physical.nodes:
        if any(child in upper for child in other.inputs):
            upper[other] = None
    beside = (child for other in upper if other is not node for child in other.inputs if child not in upper)
    inputs = list(dict.fromkeys([node, *filter(reads_stream, beside)]))
    plan = Plan({name: root for name, root in physical.outputs.items() if root in upper})
    view = PlanBox(
        plan,
        inputs,
        relations=no_rows(plan),
        running=operators,
        reached=[base.progress_of(child) for child in inputs],
        taps=taps,
        compile=False,
    )
    results = view.process(0, ready, base.progress_of(node))
    return dict(zip(view.outputs, results, strict=True))


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
