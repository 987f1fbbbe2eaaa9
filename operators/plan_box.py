"""A physical plan that runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from midstream.operators.operator import Operator
from midstream.operators.planner import physical_plan, running_operator
from midstream.plans.errors import EndedError, PlanError
from midstream.plans.plan import Node, Plan
from midstream.plans.properties import above
from midstream.plans.streams import BEGINNING, FOREVER, Batch, Element, Time


@dataclass(frozen=True, slots=True)
class _Step:
    """An operator to run after an event on some input, and which slots feed which of its ports."""

    slot: int
    operator: Operator
    feeds: tuple[tuple[int, int], ...]


class PlanBox:
    """The operators of a plan above some of its nodes, connected.

    An event runs once through the operators that it can reach, inputs before consumers. Each passes on its
    results together with its progress, so that a silent operator does not stop those behind it.

    Input    One port for each of the given nodes; by default the plan's sources.
    Output   One for each of the plan's outputs, ordered by start.
    Cost     O(operators reached) per event, besides the operators' own.

    >>> from midstream.plans.builder import stream
    >>> s = stream("s", x="integer")
    >>> box = PlanBox(s.window(5).distinct().plan())
    >>> box.push(0, [(1, 2, (7,)), (3, 4, (7,))])
    [[(1, 6, (7,))]]
    >>> box.advance(0, 6), box.progress()
    ([[(6, 8, (7,))]], 6)
    """

    def __init__(self, plan: Plan, inputs: Sequence[Node] | None = None) -> None:
        physical = physical_plan(plan)
        self.plan = physical
        """The physical plan."""
        sources = tuple(node for node in physical.nodes if not node.inputs)
        nodes = sources if inputs is None else tuple(physical_plan(Plan(node)).root for node in inputs)
        upper = above(physical, nodes)
        for node in upper:
            if not node.inputs:
                raise PlanError(f"{node.operator} is not above the inputs {', '.join(map(_label, nodes))}")
        self.inputs = tuple(map(_label, nodes))
        self.outputs = tuple(physical.outputs)
        slots = {node: i for i, node in enumerate((*nodes, *upper))}
        self._operators = {slots[node]: running_operator(node) for node in upper}
        self._nodes = dict(zip(self._operators, upper, strict=True))
        self._output_slots = tuple(slots[node] for node in physical.outputs.values())
        self._reached: list[Time] = [BEGINNING] * len(nodes)
        self._received = [0] * len(nodes)
        self._emitted = 0
        self._slots: list[tuple[Batch, Time]] = [([], BEGINNING)] * len(slots)
        self._routes = tuple(self._route(port, upper, slots) for port in range(len(nodes)))
        self._touched = tuple(
            {port, *(step.slot for step in route)} for port, route in enumerate(self._routes)
        )

    def _route(self, port: int, upper: tuple[Node, ...], slots: Mapping[Node, int]) -> tuple[_Step, ...]:
        reached = {port}
        steps = []
        for node in upper:
            feeds = tuple((slots[child], i) for i, child in enumerate(node.inputs) if slots[child] in reached)
            if feeds:
                reached.add(slots[node])
                steps.append(_Step(slots[node], self._operators[slots[node]], feeds))
        return tuple(steps)

    def push(self, port: int, batch: Batch) -> list[Batch]:
        """Elements arrived on an input. Their order is taken on trust: check it where streams enter."""
        if not batch:
            return [[] for _ in self.outputs]
        if self._reached[port] == FOREVER:
            raise EndedError(f"input {self.inputs[port]}: an element arrived after the end", port=port)
        self._received[port] += len(batch)
        return self._run(port, batch, batch[-1][0])

    def advance(self, port: int, time: Time) -> list[Batch]:
        """A heartbeat on an input. One that tells nothing new is ignored."""
        if time <= self._reached[port]:
            return [[] for _ in self.outputs]
        return self._run(port, [], time)

    def end(self, port: int) -> list[Batch]:
        """Nothing more will arrive on an input."""
        return self.advance(port, FOREVER)

    def _run(self, port: int, batch: Batch, progress: Time) -> list[Batch]:
        slots = self._slots
        self._reached[port] = progress
        slots[port] = (batch, progress)
        for step in self._routes[port]:
            operator = step.operator
            out: Batch = []
            for slot, to in step.feeds:
                arrived, reached = slots[slot]
                if arrived or reached > operator.reached[to]:
                    made = operator.process(to, arrived, reached)
                    out = out + made if out else made
            slots[step.slot] = (out, operator.progress())
        touched = self._touched[port]
        results = [slots[slot][0] if slot in touched else [] for slot in self._output_slots]
        self._emitted += sum(map(len, results))
        return results

    def progress(self, output: int = 0) -> Time:
        """No later element on this output starts before this."""
        slot = self._output_slots[output]
        return self._reached[slot] if slot < len(self._reached) else self._operators[slot].progress()

    def size(self) -> int:
        """How many elements its operators keep."""
        return sum(operator.size() for operator in self._operators.values())

    def state(self) -> Iterable[Element]:
        """The elements that its operators keep."""
        for operator in self._operators.values():
            yield from operator.state()

    def counters(self) -> Mapping[str, int]:
        """`received`, `emitted`, and `intermediate`: what operators gave to operators."""
        inner = (o.emitted for slot, o in self._operators.items() if slot not in self._output_slots)
        return {"received": sum(self._received), "emitted": self._emitted, "intermediate": sum(inner)}

    def operators(self) -> Mapping[Node, Operator]:
        """The running operators by their nodes, for those who want to look inside."""
        return {self._nodes[slot]: operator for slot, operator in self._operators.items()}


def _label(node: Node) -> str:
    sources = [str(n.operator).removeprefix("source ") for n in node.walk() if not n.inputs]
    return sources[0] if not node.inputs else f"{node.operator} of {', '.join(sources)}"
