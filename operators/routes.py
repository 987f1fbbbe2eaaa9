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
                                       out = work2(0, b1)
                                       operator2.emitted += len(out)
                                       b2 = out
                                   else: b2 = []
                                   return [b2]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from midstream.operators.adjustable import Adjustable
from midstream.operators.chains import compile_chain, is_filter, is_link
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


def compile_routes(
    plan: Plan,
    inputs: Sequence[Node],
    operators: Mapping[Node, Operator],
    linked: Mapping[Node, Chain],
    taps: Mapping[Node, Tap],
    gauges: Mapping[Node, Gauge],
    reached: list[Time],
    received: list[int],
) -> list[Event]:
    """The event of each input. It notes in `reached` and `received` how far the inputs are, and how much they
    gave."""
    routes = [_Route(plan, port, inputs, operators, linked, taps, gauges) for port in range(len(inputs))]
    return [_compile(route, {"reached": reached, "received": received}) for route in routes]


class _Route:
    """The source of one event, and the objects that it names."""

    def __init__(
        self,
        plan: Plan,
        port: int,
        inputs: Sequence[Node],
        operators: Mapping[Node, Operator],
        linked: Mapping[Node, Chain],
        taps: Mapping[Node, Tap],
        gauges: Mapping[Node, Gauge],
    ) -> None:
        self.port = port
        self._plan = plan
        self.names: dict[str, Any] = {}
        self.lines: list[str] = []
        self._numbers = {node: i for i, node in enumerate((*inputs, *operators))}
        self._operators = operators
        self._taps = taps
        self._gauges = gauges
        self._reached = {inputs[port]}
        self.lines += [f"reached[{port}] = p{port}", f"received[{port}] += len(b{port})"]
        self._tap(inputs[port])
        inner = {link for chain in linked.values() for link in chain.links[:-1]}
        for node in operators:
            if node in linked:
                self._chain(node, linked[node])
            elif node not in inner:
                self._operator(node)
        given = (f"b{self._numbers[n]}" if n in self._reached else "[]" for n in plan.outputs.values())
        self.lines.append(f"return [{', '.join(given)}]")

    def _chain(self, node: Node, chain: Chain) -> None:
        below = chain.links[0].inputs[0]
        if below not in self._reached:
            return
        source, i = self._numbers[below], self._numbers[node]
        gauge = self._gauges.get(node)
        self.names |= {f"run{i}": gauge.run(chain.run) if gauge else chain.run, f"chain{i}": chain}
        self.lines += [f"b{i}, p{i} = b{source}, p{source}", f"if b{source}:"]
        if chain.has_filter:
            self.lines.append(f"    chain{i}.taken += len(b{source})")
        self.lines += [f"    b{i} = run{i}(b{source})", f"    chain{i}.given += len(b{i})"]
        self._done(node)

    def _operator(self, node: Node) -> None:
        feeds = [(port, child) for port, child in enumerate(node.inputs) if child in self._reached]
        if not feeds:
            return
        operator, i = self._operators[node], self._numbers[node]
        self.names |= {f"operator{i}": operator, f"reached{i}": operator.reached}
        for nth, (port, child) in enumerate(feeds):
            b, p = f"b{self._numbers[child]}", f"p{self._numbers[child]}"
            self.lines.append(f"if {b} or {p} > reached{i}[{port}]:")
            self.lines += [f"    {line}" for line in self._call(node, i, port, b, p)]
            if nth == 0:
                self.lines += [f"    b{i} = out", f"else: b{i} = []"]
            else:
                self.lines.append(f"    b{i} = b{i} + out if b{i} else out")
        if any(reader in self._operators for reader in self._plan.consumers(node)):
            self.names[f"progress{i}"] = operator.progress
            self.lines.append(f"p{i} = progress{i}()")
        self._done(node)

    def _call(self, node: Node, i: int, port: int, b: str, p: str) -> list[str]:
        """What `Operator.process` does, without a call of it; or that, measured."""
        operator = self._operators[node]
        if gauge := self._gauges.get(node):
            self.names[f"process{i}"] = gauge.process(operator.process)
            return [f"out = process{i}({port}, {b}, {p})"]
        self.names |= {f"received{i}": operator.received, f"work{i}": operator._process}
        return [
            f"reached{i}[{port}] = {p}",
            f"received{i}[{port}] += len({b})",
            f"out = work{i}({port}, {b})",
            f"operator{i}.emitted += len(out)",
        ]

    def _done(self, node: Node) -> None:
        self._reached.add(node)
        self._tap(node)

    def _tap(self, node: Node) -> None:
        if node in self._taps:
            i = self._numbers[node]
            self.names[f"tap{i}"] = self._taps[node]
            self.lines += [f"if b{i}:", f"    tap{i}(b{i})"]

    def __iter__(self) -> Iterator[str]:
        i = self.port
        yield f"def event(b{i}, p{i}):"
        yield from (f"    {line}" for line in self.lines)


def _compile(route: _Route, names: Mapping[str, Any]) -> Event:
    scope = {**route.names, **names}
    exec("\n".join(route), scope)
    event: Event = scope["event"]
    return event
