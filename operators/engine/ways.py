"""The way of what arrives on a stream through all operators that it can reach.

A way is made of sections: what one query brought that nobody ran before. Sections that follow each other and
are small run as one generated function, a leg, so that what is added or removed costs the compilation of a
leg and not of all that the stream reaches.

    source ─▶ [ window 60, count by item │ filter │ filter ] ─▶ [ distinct │ filter │ … ]
              leg of three sections                              next leg
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter

from midstream.operators.base.operator import Operator
from midstream.operators.compile.generated import define
from midstream.operators.compile.routes import Chain, Circuit, Route, indented, linked
from midstream.operators.engine.metadata import Gauge
from midstream.operators.engine.meter import Meter
from midstream.operators.engine.queries import Sink
from midstream.plans.algebra.plan import Node
from midstream.plans.values.streams import Batch, Time

LEG = 32
"""How many operators of several sections run as one function. A call more for so many costs little, and to
compile them costs about as much as to make the operators of a query."""

Outlets = dict[tuple[int, int], list[Sink]]
"""The sinks of what a node gives, by the places of queries and outputs."""

Step = Callable[[dict[int, tuple[Batch, Time]], list[tuple[Outlets, Batch]]], None]
"""Runs a leg: reads what was given so far and how far it is, by the numbers of nodes, and adds to it; and
adds the results that are ready for sinks."""


@dataclass(slots=True, eq=False)
class Running:
    """A node that runs, and who needs it."""

    node: Node
    number: int
    streams: tuple[str, ...]
    """Those that reach it."""
    operator: Operator | None = None
    """None where the node is a source or a relation."""
    section: Section | None = None
    users: dict[str, None] = field(default_factory=dict)
    """The queries that have it."""
    readers: dict[Node, int] = field(default_factory=dict)
    """Running nodes that read it, each with the number of its ports that do."""
    abroad: int = 0
    """How many of these are in other sections."""
    outlets: Outlets = field(default_factory=dict)
    tap: Meter | None = None
    gauge: Gauge | None = None

    @property
    def is_alone(self) -> bool:
        """Whether what it gives goes to one reader, and nobody else wants to see it."""
        is_seen = self.outlets or self.tap is not None or self.gauge is not None
        return not is_seen and len(self.readers) == 1 and 1 in self.readers.values()


class Section:
    """Operators that came together: they are connected together."""

    __slots__ = ("chain_of", "chains", "running", "streams")

    def __init__(self) -> None:
        self.running: dict[Node, Running] = {}
        """Inputs before consumers."""
        self.chains: dict[Node, Chain] = {}
        """By the last link."""
        self.chain_of: dict[Node, Chain] = {}
        """By every link."""
        self.streams: dict[str, None] = {}
        """Those in whose ways it is."""

    def connect(self) -> list[Chain]:
        """Find the chains anew, and give those that are new. Those that were must have been settled; they
        stay where nothing changed."""
        operators = {node: one.operator for node, one in self.running.items() if one.operator is not None}
        known = {chain.links: chain for chain in self.chains.values()}
        found: dict[Node, Chain] = {}
        new = []
        for node, links in linked(operators, lambda node: self.running[node].is_alone).items():
            chain = known.get(links)
            if chain is None or chain.operators != [operators[link] for link in links]:
                chain = Chain(links, operators)
                new.append(chain)
            found[node] = chain
        self.chains = found
        self.chain_of = {link: chain for chain in found.values() for link in chain.links}
        return new


class Leg:
    """Sections of a way that run as one function."""

    __slots__ = ("sections", "steps")

    def __init__(self, sections: Iterable[Section] = ()) -> None:
        self.sections = dict.fromkeys(sections)
        self.steps: dict[bool, Step] = {}
        """For single elements, and for batches; made when they are needed."""

    @property
    def size(self) -> int:
        """How many operators it has. Cost: O(LEG)."""
        return sum(len(section.running) for section in self.sections)


class Way:
    """The way of a stream, from its source to the sinks.

    Cost     O(operators reached) per event. A section that joins, leaves or changes costs O(LEG + its
             operators), at the next event.
    """

    __slots__ = ("_leg_of", "_legs", "_running", "_steps", "reached", "received", "source", "stream")

    def __init__(self, source: Running, running: Mapping[Node, Running], reached: Time) -> None:
        self.source = source
        self.reached = reached
        """How far the stream is."""
        self.received = 0
        """How many elements arrived."""
        (self.stream,) = source.streams
        self._running = running
        self._legs: dict[Leg, None] = {}
        self._leg_of: dict[Section, Leg] = {}
        self._steps: dict[bool, list[Step]] = {}

    def join(self, section: Section) -> None:
        """A section comes; or it has changed, if it was there."""
        if section not in self._leg_of:
            leg = next(reversed(self._legs), None)
            if leg is None or leg.size + len(section.running) > LEG:
                leg = Leg()
                self._legs[leg] = None
            leg.sections[section] = None
            self._leg_of[section] = leg
        self._change(self._leg_of[section])

    def leave(self, section: Section) -> None:
        """A section goes."""
        leg = self._leg_of.pop(section)
        del leg.sections[section]
        if not leg.sections:
            del self._legs[leg]
        self._change(leg)

    def _change(self, leg: Leg) -> None:
        leg.steps.clear()
        self._steps.clear()

    def steps(self, *, is_single: bool) -> list[Step]:
        """The functions of the legs, in order."""
        if is_single not in self._steps:
            self._merge()
            for leg in self._legs:
                if is_single not in leg.steps:
                    leg.steps[is_single] = self._step(leg, is_single=is_single)
            self._steps[is_single] = [leg.steps[is_single] for leg in self._legs]
        return self._steps[is_single]

    def _merge(self) -> None:
        """Put legs together that have become small."""
        merged: dict[Leg, None] = {}
        before: Leg | None = None
        for leg in self._legs:
            if before is not None and before.size + leg.size <= LEG:
                before.sections |= leg.sections
                self._leg_of |= dict.fromkeys(leg.sections, before)
                self._change(before)
            else:
                before = leg
                merged[leg] = None
        self._legs = merged

    def process(self, batch: Batch, progress: Time, *, is_single: bool = False) -> None:
        """What arrived, possibly nothing, and the progress behind it. Results are handed to the sinks when
        all operators are done, in order of queries and outputs: a sink may change the queries."""
        steps = self.steps(is_single=is_single)
        self.reached = progress
        self.received += len(batch)
        if batch and self.source.tap is not None:
            self.source.tap.see(batch)
        given = {self.source.number: (batch, progress)}
        ready = [(self.source.outlets, batch)] if batch and self.source.outlets else []
        for step in steps:
            step(given, ready)
        if ready:
            _deliver(ready)

    def short(self) -> Circuit | None:
        """All that the stream reaches, connected; None where that is much."""
        self._merge()
        if len(self._legs) > 1:
            return None
        sections = [section for leg in self._legs for section in leg.sections]
        running = [self.source, *(one for section in sections for one in section.running.values())]
        if sum(len(one.outlets) for one in running) > LEG:
            return None
        taps = {} if self.source.tap is None else {self.source.node: self.source.tap}
        return self._circuit(sections, [self.source.node], taps)

    def sinks(self, circuit: Circuit) -> list[tuple[Node, Sink]]:
        """The sinks of what a short way gives, in order."""
        found = [
            (place, node, sink)
            for node in (*circuit.inputs, *circuit.operators)
            for place, sinks in self._running[node].outlets.items()
            for sink in sinks
        ]
        return [(node, sink) for _, node, sink in sorted(found, key=itemgetter(0))]

    def _circuit(self, sections: Iterable[Section], inputs: list[Node], taps: dict[Node, Meter]) -> Circuit:
        running = {node: one for section in sections for node, one in section.running.items()}
        return Circuit(
            inputs,
            {node: one.operator for node, one in running.items() if one.operator is not None},
            {node: chain for section in sections for node, chain in section.chains.items()},
            taps | {node: one.tap for node, one in running.items() if one.tap is not None},
            {node: one.gauge for node, one in running.items() if one.gauge is not None},
            lambda node: bool(self._running[node].readers),
            {self.source.node},
        )

    def _step(self, leg: Leg, *, is_single: bool) -> Step:
        inner = {node for section in leg.sections for node in section.running}
        below = dict.fromkeys(
            child for section in leg.sections for node in section.running for child in node.inputs
        )
        inputs = [node for node in below if node not in inner and self.stream in self._running[node].streams]
        circuit = self._circuit(leg.sections, inputs, {})
        route = Route(circuit, range(len(inputs)), is_single=is_single)
        names, lines = route.names, []
        for port, node in enumerate(inputs):
            names[f"number{port}"] = self._running[node].number
            lines.append(f"b{port}, p{port} = given[number{port}]")
            if node in route.certain:
                lines.append(f"e{port}, = b{port}")
                lines.append(f"start, end, row = e{port}")
        lines += route.lines
        for node in circuit.operators:
            if node in route.touched:
                lines += self._handed_on(route, circuit.numbers[node], self._running[node])
        step: Step = define("\n".join(["def step(given, ready):", *indented(lines)]), "step", names)
        return step

    def _handed_on(self, route: Route, i: int, one: Running) -> list[str]:
        """What a node gives to other sections, and to sinks."""
        lines, batch = [], route.batch(one.node)
        if one.abroad:
            route.names[f"number{i}"] = one.number
            lines.append(f"given[number{i}] = {batch}, {route.progress[one.node]}")
        if one.outlets:
            route.names[f"outlets{i}"] = one.outlets
            ready = f"ready.append((outlets{i}, {batch}))"
            lines.append(ready if one.node in route.certain else f"if {batch}: {ready}")
        return lines


def _deliver(ready: list[tuple[Outlets, Batch]]) -> None:
    """Hand results to sinks, in order of queries and outputs."""
    calls = [(place, sinks, batch) for outlets, batch in ready for place, sinks in outlets.items()]
    calls.sort(key=itemgetter(0))
    for _, sinks, batch in calls:
        for sink in sinks:
            sink(batch)
