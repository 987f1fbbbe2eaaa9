"""A running physical plan as a Box."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial

from midstream.operators.base.operator import Operator
from midstream.operators.base.walk import Flow, Stop, Tap, walk
from midstream.operators.compile.routes import RunBox, compile_box
from midstream.operators.compile.switch import is_compiled
from midstream.operators.engine.input.relations import Relations
from midstream.operators.engine.running.beginning import begin
from midstream.operators.engine.running.planner import physical_node, physical_plan, running_operator
from midstream.plans.algebra.operators import Relation
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import above, intermediate
from midstream.plans.values.errors import EndedError, PlanError
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time


class PlanBox:
    """The connected operators of a plan above some of its nodes.

    An event runs once through the operators that it can reach, inputs before consumers. Each passes on its
    results together with its progress, so that a silent operator does not hold up those behind it. `compile`
    is as for an engine.

    Operators that run already may be taken over as `running`; they go on with their state, and nobody else
    may run them any more.

    Input    One port for each of the given nodes; by default the plan's sources.
    Output   One for each of the plan's outputs, ordered by start.
    Cost     O(operators reached) per event, besides the operators' own.
    Raises   PlanError where a source is not above the inputs; UnknownStreamError where the elements of a
             relation are missing.

    >>> from midstream.plans.algebra.builder import stream
    >>> s = stream("s", x="integer")
    >>> box = PlanBox(s.window(5).distinct().plan())
    >>> box.push(0, [(1, 2, (7,)), (3, 4, (7,))])
    [[(1, 6, (7,))]]
    >>> box.advance(0, 6), box.progress()
    ([[(6, 8, (7,))]], 6)
    """

    successor = None
    """None: this Box never hands over."""

    def __init__(
        self,
        plan: Plan,
        inputs: Sequence[Node] | None = None,
        *,
        relations: Relations | None = None,
        running: Mapping[Node, Operator] | None = None,
        reached: Sequence[Time] | None = None,
        taps: Mapping[Node, Tap] | None = None,
        compile: bool | None = None,
    ) -> None:
        physical = physical_plan(plan)
        self.plan = physical
        """The physical plan."""
        sources = tuple(node for node in physical.nodes if not node.inputs and not _is_relation(node))
        self.nodes: tuple[Node, ...] = sources if inputs is None else tuple(map(physical_node, inputs))
        """The input nodes of the physical plan."""
        upper = above(physical, self.nodes)
        _require_all_above(upper, self.nodes)
        self.inputs = tuple(map(label, self.nodes))
        self.outputs = tuple(physical.outputs)
        self.reached: list[Time] = [BEGINNING] * len(self.nodes) if reached is None else list(reached)
        """The progress by port."""
        self._received = [0] * len(self.nodes)
        adopted = {} if running is None else running
        self._operators = {
            node: adopted[node] if node in adopted else running_operator(node)
            for node in upper
            if not _is_relation(node)
        }
        self._sizes = [op.size for op in self._operators.values() if type(op).size is not Operator.size]
        """The size methods of operators that may have state."""
        self._is_compiled = is_compiled(compile)
        self._stops = _stops(self.nodes, self._operators, taps or {})
        """The stops of inputs, then those of operators, inputs before consumers."""
        numbers = {stop.node: stop.number for stop in self._stops}
        self._results = [numbers.get(root, -1) for root in physical.outputs.values()]
        """By output, the number of its stop."""
        self._progress = [self._progress_at(root) for root in physical.outputs.values()]
        fresh = {node for node in self._operators if node not in adopted}
        made = begin(physical, self._operators, fresh, relations or {}, self.progress_of)
        self.initial = [made.get(root, []) for root in physical.outputs.values()]
        """By output, the results of new operators before any event: those of rows of relations."""

    @cached_property
    def _compiled(self) -> list[RunBox | None]:
        """By port, the function that runs an event; None if paths are not compiled.

        They are made when the first event comes, so that a Box that is only inspected has none.
        """
        if not self._is_compiled:
            return [None] * len(self.nodes)
        stops = self._stops[len(self.nodes) :]
        return [compile_box(port, stops, self._results) for port in range(len(self.nodes))]

    def open(self) -> None:
        """Compile the code for the first event now, if paths are compiled."""
        _ = self._compiled

    def push(self, port: int, batch: Batch) -> list[Batch]:
        """Elements arrived on an input; their order is not checked here, but where streams enter."""
        return self.process(port, batch, batch[-1][0]) if batch else [[] for _ in self.outputs]

    def advance(self, port: int, time: Time) -> list[Batch]:
        """A heartbeat on an input; one without new information is ignored."""
        if time <= self.reached[port]:
            return [[] for _ in self.outputs]
        return self.process(port, [], time)

    def end(self, port: int) -> list[Batch]:
        """Nothing more will arrive on an input."""
        return self.advance(port, FOREVER)

    def process(self, port: int, batch: Batch, progress: Time) -> list[Batch]:
        """Process a batch, possibly empty, and the progress of its port behind it, in one event."""
        if self.reached[port] == FOREVER:
            if batch:
                raise EndedError(f"input {self.inputs[port]}: an element arrived after the end", port=port)
            return [[] for _ in self.outputs]
        self.reached[port] = progress
        if batch:
            self._received[port] += len(batch)
            if (tap := self._stops[port].tap) is not None:
                tap.see(batch)
        run = self._compiled[port]
        if run is not None:
            return run(batch, progress)
        flow: Flow = {port: (batch, progress)}
        walk(self._stops, flow, [])
        return [flow[number][0] if number in flow else [] for number in self._results]

    def progress(self, output: int = 0) -> Time:
        """A lower bound of the starts of later elements on this output."""
        return self._progress[output]()

    def progress_of(self, node: Node) -> Time:
        """A lower bound of the starts of later elements of an input node or a node above."""
        return self._progress_at(node)()

    def _progress_at(self, node: Node) -> Callable[[], Time]:
        if node in self.nodes:
            return partial(self.reached.__getitem__, self.nodes.index(node))
        return (lambda: FOREVER) if _is_relation(node) else self._operators[node].progress

    def size(self) -> int:
        """The number of elements in the state of its operators."""
        return sum([size() for size in self._sizes])

    def state(self) -> Iterable[Element]:
        """The elements in the state of its operators."""
        for operator in self._operators.values():
            yield from operator.state()

    def counters(self) -> Mapping[str, int]:
        """`received`, `emitted`, and `intermediate` results, as the cost model defines them."""
        return {
            "received": sum(self._received),
            "emitted": sum(map(self.made, self.plan.outputs.values())),
            "intermediate": sum(self._operators[node].emitted for node in intermediate(self._operators)),
        }

    def made(self, node: Node) -> int:
        """The number of elements that an input or an operator has given."""
        if node in self.nodes:
            return self._received[self.nodes.index(node)]
        return self._operators[node].emitted if node in self._operators else 0

    def operators(self) -> Iterable[tuple[Node, Operator]]:
        """The running operators with their nodes."""
        return self._operators.items()


def label(node: Node) -> str:
    """A name for the stream that a node gives."""
    leaves = [str(n.operator).partition(" ")[2] for n in node.walk() if not n.inputs]
    return leaves[0] if not node.inputs else f"{node.operator} of {', '.join(leaves)}"


def _stops(
    inputs: Sequence[Node], operators: Mapping[Node, Operator], taps: Mapping[Node, Tap]
) -> list[Stop]:
    """Stops for inputs and operators, numbered in this order."""
    numbers = {node: number for number, node in enumerate((*inputs, *operators))}
    stops = [Stop(node, number, tap=taps.get(node)) for node, number in numbers.items()]
    for stop in stops[len(inputs) :]:
        stop.operator = operators[stop.node]
        stop.below = tuple(numbers.get(child, -1) for child in stop.node.inputs)
        for number in stop.below:
            if number >= 0:
                readers = stops[number].readers
                readers[stop] = readers.get(stop, 0) + 1
    return stops


def _is_relation(node: Node) -> bool:
    return isinstance(node.operator, Relation)


def _require_all_above(upper: Sequence[Node], inputs: Sequence[Node]) -> None:
    for node in upper:
        if not node.inputs and not _is_relation(node):
            raise PlanError(f"{node.operator} is not above the inputs {', '.join(map(label, inputs))}")
