"""The way of an event through connected operators, as generated source.

For each input there is one function: straight-line code that calls the operators that the event can reach,
inputs before consumers, with what they give in local variables. Stateless operators that follow each other
become one loop (see chains).

    window 60, distinct        def event(b0, p0):
                                   reached[0] = p0
                                   received[0] += len(b0)
                                   b1 = b0
                                   if b0:
                                       b1 = run1(b0)
                                   if b1 or p0 > reached2[0]:
                                       reached2[0] = p0
                                       b2 = work2_0(b1)
                                       if b2: operator2.emitted += len(b2)
                                   else:
                                       b2 = []
                                   return [b2]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from midstream.operators.base.adjustable import Adjustable
from midstream.operators.base.operator import Operator
from midstream.operators.compile.chains import compile_chain, is_filter, is_link, link_source, single
from midstream.operators.compile.generated import define
from midstream.operators.engine.metadata import Gauge
from midstream.operators.joins.join import HashJoin
from midstream.plans.algebra.plan import Node
from midstream.plans.values.streams import Batch, Element, Time


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
    """Stateless operators that run as one loop, with what was counted since the last settling, unless the
    count of an input tells as much."""

    __slots__ = ("counted", "given", "has_filter", "links", "operators", "run", "taken")

    def __init__(self, links: Sequence[Node], operators: Mapping[Node, Operator]) -> None:
        self.links = tuple(links)
        self.operators = [operators[node] for node in links]
        self.run = compile_chain(links)
        self.has_filter = any(map(is_filter, links))
        """Whether it may give less than it takes; there is one filter at most."""
        self.taken = 0
        self.given = 0
        self.counted = 0
        """At an input, what that had given when the chain was settled last."""

    @property
    def source(self) -> Node:
        """Where it begins."""
        return self.links[0].inputs[0]

    def settle(self, progress: Time, received: int | None = None) -> None:
        """Tell the operators what was counted for all of them at once; at an input, `received` is what that
        gave so far."""
        passing = self.taken if self.has_filter else self.given
        if received is not None:
            passing, self.counted = received - self.counted, received
        for node, operator in zip(self.links, self.operators, strict=True):
            operator.reached[0] = progress
            if isinstance(operator, Adjustable) and passing:
                operator.passed(progress)
            passing = self.given if is_filter(node) else passing
            operator.emitted += passing
        self.taken = self.given = 0


def linked(
    operators: Mapping[Node, Operator], is_alone: Callable[[Node], bool]
) -> dict[Node, tuple[Node, ...]]:
    """The links of the chains of some operators, under the last link of each. `is_alone` tells of a node
    whether what it gives goes to one reader, and nobody else wants to see it."""
    links: dict[Node, list[Node]] = {}
    for node, operator in operators.items():
        # While a setting is to change, the operator has to see to that itself.
        if is_link(node) and not (isinstance(operator, Adjustable) and operator.is_changing):
            below = node.inputs[0]
            before = links.get(below)
            goes_on = before and is_alone(below) and not (is_filter(node) and any(map(is_filter, before)))
            links[node] = [*links.pop(below), node] if goes_on else [node]
    return {node: tuple(found) for node, found in links.items()}


@dataclass(frozen=True)
class Circuit:
    """Connected operators: what routes are made of."""

    inputs: Sequence[Node]
    operators: Mapping[Node, Operator]
    """Inputs before consumers."""
    linked: Mapping[Node, Chain]
    """By the last link."""
    taps: Mapping[Node, Tap]
    gauges: Mapping[Node, Gauge]
    is_read: Callable[[Node], bool]
    """Whether somebody asks how far a node is."""
    counted: Set[Node]
    """The inputs of which others count what they give."""

    @cached_property
    def numbers(self) -> dict[Node, int]:
        """What the variables of each node are called by; an input has the number of its port."""
        return {node: i for i, node in enumerate((*self.inputs, *self.operators))}


def compile_event(
    circuit: Circuit, port: int, outputs: Iterable[Node], reached: list[Time], received: list[int]
) -> Event:
    """What happens on a batch at an input. `reached` and `received` tell of each input how far it is, and how
    much it gave."""
    route = Route(circuit, [port])
    given = [route.batch(node) if node in route.touched else "[]" for node in outputs]
    counted = [f"reached[{port}] = p{port}", f"received[{port}] += len(b{port})"]
    lines = [
        f"def event(b{port}, p{port}):",
        *indented([*counted, *route.lines]),
        f"    return [{', '.join(given)}]",
    ]
    names = route.names | {"reached": reached, "received": received}
    event: Event = define("\n".join(lines), "event", names)
    return event


def indented(lines: Iterable[str]) -> Iterator[str]:
    """Lines as they stand in a block."""
    return (f"    {line}" for line in lines)


class Route:
    """The source of what happens when something arrives at some inputs, and the objects that it names.

    Where `is_single`, each input that others count gives one element, which is in a variable of its own, as
    are its `start`, `end` and `row`; so is what operators make of it as long as that is one element as well.
    """

    def __init__(self, circuit: Circuit, ports: Iterable[int], *, is_single: bool = False) -> None:
        sources = {port: circuit.inputs[port] for port in ports}
        self.names: dict[str, Any] = {}
        self._circuit = circuit
        self._is_single = is_single
        self.certain = {
            node: f"e{port}" for port, node in sources.items() if is_single and node in circuit.counted
        }
        """The nodes known to give just one element, each with its variable."""
        self._single = set(self.certain)
        """Those known to give one at most."""
        self._unpacked = next(iter(self.certain), None)
        """The node whose element `start`, `end` and `row` are."""
        self.progress = {node: f"p{port}" for port, node in sources.items()}
        """By node, the variable that tells how far it is."""
        self.touched = set(sources.values())
        """The nodes that the route reaches."""
        self.lines: list[str] = []
        for node in sources.values():
            self._tap(node)
        inner = {link for chain in circuit.linked.values() for link in chain.links[:-1]}
        for node in circuit.operators:
            if node in circuit.linked:
                self._chain(node, circuit.linked[node])
            elif node not in inner:
                self._operator(node)

    def batch(self, node: Node) -> str:
        """What a node gives, as a list."""
        return f"[{self.certain[node]}]" if node in self.certain else f"b{self._circuit.numbers[node]}"

    def _count(self, node: Node) -> str:
        return "1" if node in self.certain else f"len({self.batch(node)})"

    def _chain(self, node: Node, chain: Chain) -> None:
        below = chain.source
        if below not in self.touched:
            return
        i = self._circuit.numbers[node]
        self.names[f"chain{i}"] = chain
        is_counted = chain.has_filter and below not in self._circuit.counted
        lines = [f"chain{i}.taken += {self._count(below)}"] if is_counted else []
        lines += self._run(node, chain, below)
        if below in self.certain:
            self.lines += lines
        else:
            source = self.batch(below)
            self.lines += [f"b{i} = {source}", f"if {source}:", *indented(lines)]
        self.progress[node] = self.progress[below]
        self._done(node)

    def _run(self, node: Node, chain: Chain, below: Node) -> list[str]:
        """The loop of a chain, or, for one element, its body; and the count of what passes."""
        i = self._circuit.numbers[node]
        gauge = self._circuit.gauges.get(node)
        is_counted = chain.has_filter or below not in self._circuit.counted
        if below not in self._single or gauge is not None:
            self.names[f"run{i}"] = gauge.run(chain.run) if gauge else chain.run
            counted = [f"chain{i}.given += len(b{i})"] if is_counted else []
            return [f"b{i} = run{i}({self.batch(below)})", *counted]
        self._single.add(node)
        counted = [f"chain{i}.given += 1"] if is_counted else []
        source = link_source(chain.links, self.names)
        lines = []
        if self._unpacked is not below:
            element = self.certain.get(below)
            lines.append(
                f"start, end, row = {element}" if element else f"(start, end, row), = {self.batch(below)}"
            )
        self._unpacked = None if source.steps else below
        if below not in self.certain or chain.has_filter:
            return [*lines, *single(source, f"b{i}", counted)]
        self.certain[node] = f"e{i}"
        return [*lines, *source.steps, f"e{i} = {source.made}", *counted]

    def _operator(self, node: Node) -> None:
        feeds = [(port, child) for port, child in enumerate(node.inputs) if child in self.touched]
        if not feeds:
            return
        operator, i = self._circuit.operators[node], self._circuit.numbers[node]
        self.names |= {f"operator{i}": operator, f"reached{i}": operator.reached}
        is_read = self._circuit.is_read(node)
        if is_read:
            self.progress[node] = f"p{i}"
        for nth, (port, child) in enumerate(feeds):
            target = f"b{i}" if nth == 0 else "more"
            call, progress = self._call(node, port, child, target)
            if is_read:
                call.append(f"p{i} = {progress}")
            if child in self.certain:
                self.lines += call
            else:
                is_news = f"{self.batch(child)} or {self.progress[child]} > reached{i}[{port}]"
                otherwise = [f"{target} = []"]
                if is_read and nth == 0:
                    otherwise.append(f"p{i} = {self._reached_by(operator, i)}")
                self.lines += [f"if {is_news}:", *indented(call), "else:", *indented(otherwise)]
            if nth:
                self.lines.append(f"b{i} = b{i} + more if b{i} else more")
        self._done(node)

    def _call(self, node: Node, port: int, child: Node, target: str) -> tuple[list[str], str]:
        """What `Operator.process` does, without a call of it, but for the count of what arrives, which its
        inputs tell as well; or that, measured. And where the progress is found behind it."""
        operator, i = self._circuit.operators[node], self._circuit.numbers[node]
        batch, p = self.batch(child), self.progress[child]
        gauge = self._circuit.gauges.get(node)
        if gauge or type(operator).process is not Operator.process:
            self.names[f"process{i}"] = gauge.process(operator.process) if gauge else operator.process
            return [f"{target} = process{i}({port}, {batch}, {p})"], self._reached_by(operator, i)
        work = self._inline(operator, i, port, child, target)
        progress = "bound" if work else self._reached_by(operator, i)
        if not work:
            self.names[f"work{i}_{port}"] = operator.worker(port)
            work = [f"{target} = work{i}_{port}({batch})"]
        counted = f"if {target}: operator{i}.emitted += len({target})"
        return [f"reached{i}[{port}] = {p}", *work, counted], progress

    def _inline(self, operator: Operator, i: int, port: int, child: Node, target: str) -> list[str]:
        """The statements of a hash join, where calls count; none where they do not, or cannot stand here."""
        if not self._is_single or not isinstance(operator, HashJoin):
            return []
        work = operator.inline(
            port,
            batch=self.batch(child),
            element=self.certain.get(child),
            here=self.progress[child],
            fresh=target,
            prefix=f"join{i}_{port}_",
        )
        if not all(self.names.get(name, thing) is thing for name, thing in work.names.items()):
            return []
        self.names |= work.names
        self._unpacked = None
        return work.source.strip().splitlines()

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
        if node in self.certain:
            self.names[f"tap{i}"] = tap.see_one
            self.lines.append(f"tap{i}({self.certain[node]})")
        else:
            self.names[f"tap{i}"] = tap.see
            self.lines.append(f"if b{i}: tap{i}(b{i})")
