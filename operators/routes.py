"""The way of an event through connected operators, as generated source.

For each input there is one function: straight-line code that calls the operators that the event can reach,
inputs before consumers, with what they give in local variables. Stateless operators that follow each other
become one loop (see chains).

    window 60, distinct        def event(b0, p0):
                                   b1 = b0
                                   if b0:
                                       b1 = run1(b0)
                                       chain1.given += len(b1)
                                   if b1 or p0 > reached2[0]:
                                       reached2[0] = p0
                                       b2 = work2_0(b1)
                                       if b2: operator2.emitted += len(b2)
                                   else: b2 = []
                                   return [b2]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from midstream.operators.adjustable import Adjustable
from midstream.operators.chains import compile_chain, is_filter, is_link, link_source, single
from midstream.operators.join import HashJoin
from midstream.operators.metadata import Gauge
from midstream.operators.operator import Operator
from midstream.plans.plan import Node, Plan
from midstream.plans.streams import Batch, Element, Time


class Tap(Protocol):
    """Sees all that a node gives."""

    @property
    def see(self) -> Callable[[Batch], object]:
        """Takes a batch, which is not empty."""

    @property
    def see_one(self) -> Callable[[Element], object]:
        """Takes a single element."""


Event = Callable[[Batch, Time], list[Batch]]
"""A batch, possibly empty, and the progress of its input behind it; gives one batch an output."""


class Chain:
    """Stateless operators that run as one loop, with what was counted since the last settling."""

    __slots__ = ("given", "links", "operators", "run", "taken")

    def __init__(self, links: Sequence[Node], operators: Mapping[Node, Operator]) -> None:
        self.links = tuple(links)
        self.operators = [operators[node] for node in links]
        self.run = compile_chain(links)
        self.taken = 0
        self.given = 0

    @property
    def has_filter(self) -> bool:
        """Whether it may give less than it takes; there is one filter at most."""
        return any(map(is_filter, self.links))

    def settle(self, progress: Time) -> None:
        """Tell the operators what was counted for all of them at once."""
        passing = self.taken if self.has_filter else self.given
        for node, operator in zip(self.links, self.operators, strict=True):
            operator.reached[0] = progress
            if isinstance(operator, Adjustable) and passing:
                operator.passed(progress)
            passing = self.given if is_filter(node) else passing
            operator.emitted += passing
        self.taken = self.given = 0


def chains(plan: Plan, operators: Mapping[Node, Operator], apart: set[Node]) -> dict[Node, Chain]:
    """The chains of a plan, each under its last link. `apart` are nodes whose results somebody wants to
    see."""
    links: dict[Node, list[Node]] = {}
    for node, operator in operators.items():
        # While a setting is to change, the operator has to see to that itself.
        if is_link(node) and not (isinstance(operator, Adjustable) and operator.is_changing):
            before = links.get(node.inputs[0], [])
            is_alone = len(plan.consumers(node.inputs[0])) == 1 and node.inputs[0] not in apart
            if before and is_alone and not (is_filter(node) and any(map(is_filter, before))):
                links[node] = [*links.pop(node.inputs[0]), node]
            else:
                links[node] = [node]
    return {node: Chain(found, operators) for node, found in links.items()}


@dataclass(frozen=True)
class Circuit:
    """Connected operators: what routes are made of."""

    plan: Plan
    inputs: Sequence[Node]
    operators: Mapping[Node, Operator]
    linked: Mapping[Node, Chain]
    taps: Mapping[Node, Tap]
    gauges: Mapping[Node, Gauge]
    reached: list[Time]
    """By input, how far it is."""
    received: list[int]
    """By input, how much it gave."""

    @cached_property
    def numbers(self) -> dict[Node, int]:
        """What the variables of each node are called by; an input has the number of its port."""
        return {node: i for i, node in enumerate((*self.inputs, *self.operators))}


def compile_event(circuit: Circuit, port: int) -> Event:
    """What happens on a batch at an input."""
    route = Route(circuit, port)
    given = [f"b{circuit.numbers[n]}" if n in route.touched else "[]" for n in circuit.plan.outputs.values()]
    lines = [f"def event(b{port}, p{port}):", *_indented(route.lines), f"    return [{', '.join(given)}]"]
    exec("\n".join(lines), route.names)
    event: Event = route.names["event"]
    return event


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)


class Route:
    """The source of what happens at an input, and the objects that it names.

    Where `is_single`, the batch is known to be of one `element`, whose `start`, `end` and `row` are at hand.
    """

    def __init__(self, circuit: Circuit, port: int, *, is_single: bool = False) -> None:
        source = circuit.inputs[port]
        self.names: dict[str, Any] = {"reached": circuit.reached, "received": circuit.received}
        self._circuit = circuit
        self._is_single = is_single
        self._single = {source} if is_single else set()
        """The nodes known to give one element at most."""
        self._certain = {source} if is_single else set()
        """Those known to give just one."""
        self._is_unpacked = is_single
        """Whether `start`, `end` and `row` are still those of the input's element."""
        self._progress = {source: f"p{port}"}
        """By node, the variable that tells how far it is."""
        self.touched = {source}
        """The nodes that the route reaches."""
        self.lines = [f"reached[{port}] = p{port}", f"received[{port}] += {self._count(source)}"]
        self._tap(source)
        inner = {link for chain in circuit.linked.values() for link in chain.links[:-1]}
        for node in circuit.operators:
            if node in circuit.linked:
                self._chain(node, circuit.linked[node])
            elif node not in inner:
                self._operator(node)

    def _count(self, node: Node) -> str:
        return "1" if node in self._certain else f"len(b{self._circuit.numbers[node]})"

    def _chain(self, node: Node, chain: Chain) -> None:
        below = chain.links[0].inputs[0]
        if below not in self.touched:
            return
        source, i = self._circuit.numbers[below], self._circuit.numbers[node]
        self.names[f"chain{i}"] = chain
        lines = [f"chain{i}.taken += {self._count(below)}"] if chain.has_filter else []
        lines += self._run(node, chain, below, i, source)
        if below in self._certain and node in self._single and not chain.has_filter:
            self._certain.add(node)
        lines.append(f"chain{i}.given += {self._count(node)}")
        if below in self._certain:
            self.lines += lines
        else:
            self.lines += [f"b{i} = b{source}", f"if b{source}:", *_indented(lines)]
        self._progress[node] = self._progress[below]
        self._done(node)

    def _run(self, node: Node, chain: Chain, below: Node, i: int, source: int) -> list[str]:
        """The loop of a chain, or, for one element, its body."""
        gauge = self._circuit.gauges.get(node)
        if below not in self._single or gauge is not None:
            self.names[f"run{i}"] = gauge.run(chain.run) if gauge else chain.run
            return [f"b{i} = run{i}(b{source})"]
        self._single.add(node)
        is_unpacked = self._is_unpacked and below in self._circuit.inputs
        unpack = [] if is_unpacked else [f"(start, end, row), = b{source}"]
        self._is_unpacked = False
        return [*unpack, *single(link_source(chain.links, self.names), f"b{i}")]

    def _operator(self, node: Node) -> None:
        feeds = [(port, child) for port, child in enumerate(node.inputs) if child in self.touched]
        if not feeds:
            return
        operator, i = self._circuit.operators[node], self._circuit.numbers[node]
        self.names |= {f"operator{i}": operator, f"reached{i}": operator.reached}
        for nth, (port, child) in enumerate(feeds):
            b, p = f"b{self._circuit.numbers[child]}", self._progress[child]
            call = self._call(node, i, port, child, f"b{i}" if nth == 0 else "more")
            if child in self._certain:
                self.lines += call
            else:
                self.lines += [f"if {b} or {p} > reached{i}[{port}]:", *_indented(call)]
                self.lines.append(f"else: {f'b{i}' if nth == 0 else 'more'} = []")
            if nth:
                self.lines.append(f"b{i} = b{i} + more if b{i} else more")
        if any(reader in self._circuit.operators for reader in self._circuit.plan.consumers(node)):
            self._progress[node] = f"p{i}"
            self.lines.append(f"p{i} = {self._reached_by(operator, i)}")
        self._done(node)

    def _call(self, node: Node, i: int, port: int, child: Node, target: str) -> list[str]:
        """What `Operator.process` does, without a call of it, but for the count of what arrives, which its
        inputs tell as well; or that, measured."""
        operator = self._circuit.operators[node]
        b, p = f"b{self._circuit.numbers[child]}", self._progress[child]
        gauge = self._circuit.gauges.get(node)
        if gauge or type(operator).process is not Operator.process:
            self.names[f"process{i}"] = gauge.process(operator.process) if gauge else operator.process
            return [f"{target} = process{i}({port}, {b}, {p})"]
        return [
            f"reached{i}[{port}] = {p}",
            *self._work(operator, i, port, b, target),
            f"if {target}: operator{i}.emitted += len({target})",
        ]

    def _work(self, operator: Operator, i: int, port: int, batch: str, target: str) -> list[str]:
        """The statements of a hash join, where calls count; else a call of the operator's worker."""
        if self._is_single and isinstance(operator, HashJoin):
            work = operator.inline(port, batch, target, f"join{i}_{port}_")
            if all(self.names.get(name, thing) is thing for name, thing in work.names.items()):
                self.names |= work.names
                self._is_unpacked = False
                return work.source.strip().splitlines()
        self.names[f"work{i}_{port}"] = operator.worker(port)
        return [f"{target} = work{i}_{port}({batch})"]

    def _reached_by(self, operator: Operator, i: int) -> str:
        """The progress of an operator; where that is the least of its ports', without a call."""
        ports = len(operator.reached)
        if type(operator).progress is not Operator.progress or ports > 2:
            self.names[f"progress{i}"] = operator.progress
            return f"progress{i}()"
        if ports == 1:
            return f"reached{i}[0]"
        return f"reached{i}[0] if reached{i}[0] < reached{i}[1] else reached{i}[1]"

    def _done(self, node: Node) -> None:
        self.touched.add(node)
        self._tap(node)

    def _tap(self, node: Node) -> None:
        tap = self._circuit.taps.get(node)
        if tap is None:
            return
        i = self._circuit.numbers[node]
        if node in self._certain and node in self._circuit.inputs:
            self.names[f"tap{i}"] = tap.see_one
            self.lines.append(f"tap{i}(element)")
        else:
            self.names[f"tap{i}"] = tap.see
            self.lines.append(f"tap{i}(b{i})" if node in self._certain else f"if b{i}: tap{i}(b{i})")
