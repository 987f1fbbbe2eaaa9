"""The way of an event through connected operators, as generated source.

For each input there is one function: straight-line code that calls the operators that the event can reach,
inputs before consumers, with what they give in local variables. Stateless operators that follow each other
become one loop (see chains).

    window 60, distinct        def event(b0, p0):
                                   b1, p1 = b0, p0
                                   if b0:
                                       b1 = run1(b0)
                                       chain1.given += len(b1)
                                   if b1 or p1 > reached2[0]:
                                       reached2[0] = p1
                                       received2[0] += len(b1)
                                       out = work2_0(b1)
                                       operator2.emitted += len(out)
                                       b2 = out
                                   else: b2 = []
                                   return [b2]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from midstream.operators.adjustable import Adjustable
from midstream.operators.chains import compile_chain, is_filter, is_link, link_source, single
from midstream.operators.metadata import Gauge
from midstream.operators.operator import Operator
from midstream.plans.plan import Node, Plan
from midstream.plans.streams import Batch, Time

Tap = Callable[[Batch], object]
"""Sees every non-empty batch that a node gives."""

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
            operator.received[0] += passing
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

    Where `is_single`, the batch is known to be of one element, whose `start`, `end` and `row` are at hand.
    """

    def __init__(self, circuit: Circuit, port: int, *, is_single: bool = False) -> None:
        self.names: dict[str, Any] = {"reached": circuit.reached, "received": circuit.received}
        self.lines = [f"reached[{port}] = p{port}", f"received[{port}] += len(b{port})"]
        self._circuit = circuit
        self._single = {circuit.inputs[port]} if is_single else set()
        """The nodes known to give one element at most."""
        self._is_unpacked = is_single
        """Whether `start`, `end` and `row` are still those of the input's element."""
        self.touched = {circuit.inputs[port]}
        """The nodes that the route reaches."""
        self._tap(circuit.inputs[port])
        inner = {link for chain in circuit.linked.values() for link in chain.links[:-1]}
        for node in circuit.operators:
            if node in circuit.linked:
                self._chain(node, circuit.linked[node])
            elif node not in inner:
                self._operator(node)

    def _chain(self, node: Node, chain: Chain) -> None:
        below = chain.links[0].inputs[0]
        if below not in self.touched:
            return
        source, i = self._circuit.numbers[below], self._circuit.numbers[node]
        self.names[f"chain{i}"] = chain
        self.lines += [f"b{i}, p{i} = b{source}, p{source}", f"if b{source}:"]
        if chain.has_filter:
            self.lines.append(f"    chain{i}.taken += len(b{source})")
        self.lines += _indented(self._run(node, chain, below, i, source))
        self.lines.append(f"    chain{i}.given += len(b{i})")
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
            b, p = f"b{self._circuit.numbers[child]}", f"p{self._circuit.numbers[child]}"
            self.lines.append(f"if {b} or {p} > reached{i}[{port}]:")
            self.lines += [f"    {line}" for line in self._call(node, i, port, b, p)]
            if nth == 0:
                self.lines += [f"    b{i} = out", f"else: b{i} = []"]
            else:
                self.lines.append(f"    b{i} = b{i} + out if b{i} else out")
        if any(reader in self._circuit.operators for reader in self._circuit.plan.consumers(node)):
            self.names[f"progress{i}"] = operator.progress
            self.lines.append(f"p{i} = progress{i}()")
        self._done(node)

    def _call(self, node: Node, i: int, port: int, b: str, p: str) -> list[str]:
        """What `Operator.process` does, without a call of it; or that, measured."""
        operator = self._circuit.operators[node]
        gauge = self._circuit.gauges.get(node)
        if gauge or type(operator).process is not Operator.process:
            self.names[f"process{i}"] = gauge.process(operator.process) if gauge else operator.process
            return [f"out = process{i}({port}, {b}, {p})"]
        self.names |= {f"received{i}": operator.received, f"work{i}_{port}": operator.worker(port)}
        return [
            f"reached{i}[{port}] = {p}",
            f"received{i}[{port}] += len({b})",
            f"out = work{i}_{port}({b})",
            f"operator{i}.emitted += len(out)",
        ]

    def _done(self, node: Node) -> None:
        self.touched.add(node)
        self._tap(node)

    def _tap(self, node: Node) -> None:
        if node in self._circuit.taps:
            i = self._circuit.numbers[node]
            self.names[f"tap{i}"] = self._circuit.taps[node]
            self.lines += [f"if b{i}:", f"    tap{i}(b{i})"]
