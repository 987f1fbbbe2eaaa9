"""The route of an event through some stops as generated source: the work of `walk` in a straight line.

window 60, distinct        def step(flow, ready):
                               b0, p0 = flow[number0]
                               reached1[0] = p0
                               if b0:
                                   b1 = [(start, start + setting0, row) for start, end, row in b0]
                                   operator1.emitted += len(b0)
                               else:
                                   b1 = []
                               b2 = process2(0, b1, p0) if b1 or p0 > reached2[0] else []
                               if b2: ready.append((sinks2, b2))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import partial
from typing import Any

from midstream.operators.base.failures import Failures
from midstream.operators.base.operator import Operator
from midstream.operators.base.walk import RunStops, Stop, walk
from midstream.operators.compile.chains import Chain, chained
from midstream.operators.compile.generated import TOO_DEEP, define
from midstream.plans.values.streams import Batch, Time

RunBox = Callable[[Batch, Time], list[Batch]]
"""A function that runs a Box on a batch and the progress behind it; returns the results by output."""


def compile_box(number: int, stops: Sequence[Stop], outputs: Sequence[int]) -> RunBox | None:
    """A function that runs the stops above an input, and returns the results of the `outputs`.

    `number` is the number of the input's stop. None where Python cannot compile the function.
    """
    route = Route([number], stops, {*outputs})
    results = (f"b{route.name(output)}" if output in route.progress else "[]" for output in outputs)
    lines = [*route.lines, f"return [{', '.join(results)}]"]
    source = "\n".join(["def run(b0, p0):", *indented(lines)])
    try:
        run: RunBox = define(source, "run", route.names, f"path through a box from input {number}")
    except TOO_DEEP:
        return None
    return run


def compile_step(
    inputs: Sequence[int], stops: Sequence[Stop], retained: Set[int], title: str, failures: Failures
) -> RunStops:
    """A function that runs stops when something arrives at all of the inputs, which are numbers of stops.

    It leaves the results of stops in `retained` in the flow, and errors in the failures. If Python cannot
    compile it, as expressions nest too deeply, the stops are walked.
    """
    route = Route(inputs, stops, retained, failures)
    lines = []
    for number in inputs:
        i = route.name(number, number=number)
        lines.append(f"b{i}, p{i} = flow[number{i}]")
    lines += route.lines
    for stop in stops:
        if stop.number in route.progress:
            lines += _handed_on(route, stop, is_retained=stop.number in retained)
    source = "\n".join(["def step(flow, ready):", *indented(lines or ["pass"])])
    try:
        step: RunStops = define(source, "step", route.names, title)
    except TOO_DEEP:
        return partial(walk, tuple(stops), failures=failures)
    return step


def _handed_on(route: Route, stop: Stop, *, is_retained: bool) -> Iterator[str]:
    if is_retained:
        i = route.name(stop.number, number=stop.number)
        yield f"flow[number{i}] = b{i}, {route.progress[stop.number]}"
    if stop.sinks:
        i = route.name(stop.number, sinks=stop.sinks)
        yield f"if b{i}: ready.append((sinks{i}, b{i}))"


def indented(lines: Iterable[str]) -> Iterator[str]:
    """Lines indented as in a block."""
    return (f"    {line}" for line in lines)


class Route:
    """The source of the work when something arrives at some inputs, and the objects that it names.

    The results of a stop are in the variable `b` with the place of the stop, and its progress in `p` with the
    place. If `is_single`, one element arrives at the only input; it is in `start`, `end` and `row` as well.

    With `failures`, a stop that raises gives nothing, and the others run on (see `walk`).
    """

    def __init__(
        self,
        inputs: Sequence[int],
        stops: Sequence[Stop],
        retained: Set[int],
        failures: Failures | None = None,
        *,
        is_single: bool = False,
    ) -> None:
        self.names: dict[str, Any] = {"failures": failures}
        """The objects that the source names."""
        self.lines: list[str] = []
        self._places = {stop.number: i for i, stop in enumerate(stops, start=len(inputs))}
        self._places |= {number: i for i, number in enumerate(inputs)}
        self.progress = {number: f"p{i}" for i, number in enumerate(inputs)}
        """By the number of each stop that is reached, the source of its progress."""
        self.certain = {*inputs} if is_single else set()
        """The stops known to give one element."""
        self._unpacked = inputs[0] if is_single else None
        """The stop whose element is in `start`, `end` and `row`."""
        self._retained = retained
        self._is_guarded = failures is not None
        chains = chained(stops, retained, self.names)
        inner = {stop.number for chain in chains.values() for stop, _ in chain.links[:-1]}
        for stop in stops:
            if stop.number in chains:
                self._chain(stop, chains[stop.number])
            elif stop.number not in inner:
                self._operator(stop)

    def name(self, number: int, /, **things: object) -> int:
        """Name objects of a stop, each by a word and the place of the stop; returns the place."""
        i = self._places[number]
        self.names |= {f"{word}{i}": thing for word, thing in things.items()}
        return i

    def _chain(self, stop: Stop, chain: Chain) -> None:
        below = chain.below
        if below not in self.progress:
            return
        source, target = self._places[below], self._places[stop.number]
        progress = self.progress[stop.number] = self.progress[below]
        for link, _ in chain.links:
            i = self.name(link.number, operator=link.operator, reached=_operator(link).reached)
            self.lines.append(f"reached{i}[0] = {progress}")
        if below not in self.certain:
            counted = self._counted(chain, f"b{source}", f"b{target}")
            loop = [f"b{target} = {chain.loop(f'b{source}')}", *counted]
            loop = self._while_settings_hold(chain, progress, loop)
            loop = self._guarded(stop, loop) if chain.may_raise else loop
            self.lines += [f"if b{source}:", *indented(loop), "else:", f"    b{target} = []"]
        else:
            if self._unpacked != below:
                self.lines.append(f"(start, end, row), = b{source}")
                self._unpacked = below
            one = self._while_settings_hold(chain, progress, self._one(chain, target))
            if chain.may_raise:
                one = self._guarded(stop, one)
                self.certain.discard(stop.number)
            self.lines += one
        self._tap(stop)

    def _while_settings_hold(self, chain: Chain, progress: str, lines: list[str]) -> list[str]:
        """Statements of a chain; an event at which a setting changes runs the operators one by one."""
        settings = [code.setting for _, code in chain.links if code.setting is not None]
        if not settings:
            return lines
        results = f"b{self._places[chain.below]}"
        for stop, _ in chain.links:
            i = self.name(stop.number, process=_operator(stop).process)
            results = f"process{i}(0, {results}, {progress})"
        changed = f"b{self._places[chain.links[-1][0].number]} = {results}"
        condition = " and ".join(f"{progress} < {setting}.until" for setting in settings)
        return [f"if {condition}:", *indented(lines), "else:", f"    {changed}"]

    def _guarded(self, stop: Stop, lines: list[str]) -> list[str]:
        """Statements that make the results of a stop; there are none if they raise."""
        if not self._is_guarded:
            return lines
        i = self.name(stop.number, stop=stop)
        caught = ["except Exception as error:", f"    failures.add(error, stop{i}.users)", f"    b{i} = []"]
        return ["try:", *indented(lines), *caught]

    def _one(self, chain: Chain, target: int) -> list[str]:
        """Statements that make the results of a chain for one element: no loop."""
        made = [f"b{target} = [{chain.made}]"]
        if chain.condition is None:
            self.certain.add(chain.links[-1][0].number)
            return [*made, *self._counted(chain, None, None)]
        before, behind = self._counts(chain, None, None)
        passed = [f"if {chain.condition}:", *indented([*made, *behind])]
        return [*before, *passed, "else:", f"    b{target} = []"]

    def _counted(self, chain: Chain, source: str | None, target: str | None) -> list[str]:
        before, behind = self._counts(chain, source, target)
        if chain.condition is None or not behind:
            return [*before, *behind]
        return [*before, f"if {target}:", *indented(behind)]

    def _counts(self, chain: Chain, source: str | None, target: str | None) -> tuple[list[str], list[str]]:
        """Statements that count the results of each operator, in two parts around the condition.

        Up to the condition they count the chain's input, in the variable `source`; from there on its output,
        in the variable `target`. Without variables it is the one element that is unpacked.
        """
        parts: tuple[list[str], list[str]] = [], []
        is_behind = False
        for stop, code in chain.links:
            i = self._places[stop.number]
            if code.setting is not None:
                read = target if is_behind else source
                last = "start" if read is None else f"{read}[-1][0]"
                parts[is_behind].append(f"{code.setting}.latest = {last}")
            is_behind = is_behind or code.condition is not None
            read = target if is_behind else source
            count = "1" if read is None else f"len({read})"
            parts[is_behind].append(f"operator{i}.emitted += {count}")
        return parts

    def _operator(self, stop: Stop) -> None:
        feeds = [(port, below) for port, below in enumerate(stop.below) if below in self.progress]
        if not feeds or stop.operator is None:
            return
        operator = stop.operator
        i = self.name(stop.number, process=stop.measured or operator.process, reached=operator.reached)
        is_read = bool(stop.readers) or stop.number in self._retained
        calls = []
        for nth, (port, below) in enumerate(feeds):
            target = f"b{i}" if nth == 0 else "more"
            b, p = f"b{self._places[below]}", self.progress[below]
            call = f"{target} = process{i}({port}, {b}, {p})"
            if below not in self.certain:
                call = f"{call} if {b} or {p} > reached{i}[{port}] else []"
            calls.append(call)
            if nth:
                calls.append(f"b{i} = b{i} + more if b{i} else more")
        self.lines += self._guarded(stop, calls)
        self.progress[stop.number] = f"p{i}"
        if is_read:
            self.lines.append(f"p{i} = {self._progress(stop, operator)}")
        self._tap(stop)

    def _progress(self, stop: Stop, operator: Operator) -> str:
        """The source of an operator's progress; no call where it is the least progress of its ports."""
        ports = len(operator.reached)
        if type(operator).progress is not Operator.progress or ports > 2:
            i = self.name(stop.number, progress=operator.progress)
            return f"progress{i}()"
        i = self._places[stop.number]
        if ports == 1:
            return f"reached{i}[0]"
        return f"reached{i}[0] if reached{i}[0] < reached{i}[1] else reached{i}[1]"

    def _tap(self, stop: Stop) -> None:
        if stop.tap is not None:
            i = self.name(stop.number, tap=stop.tap.see)
            call = f"tap{i}(b{i})"
            self.lines.append(call if stop.number in self.certain else f"if b{i}: {call}")


def _operator(stop: Stop) -> Operator:
    assert stop.operator is not None
    return stop.operator
