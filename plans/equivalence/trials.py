"""Two plans on one input: whether they differ there, by the specification."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from midstream.plans.algebra.operators import Leaf, Snapshot
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.algebra.specification import meaning
from midstream.plans.equivalence.step_functions import StepFunctions, Steps, TooLongError
from midstream.plans.values.errors import FunctionError, MidstreamError
from midstream.plans.values.schema import Type
from midstream.plans.values.snapshots import NormalForm, snapshot
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Payload
from midstream.plans.values.verdicts import CounterExample

TOLERANCE = 1e-9
"""Two floats that differ by less, relatively, may be the same number computed in another order."""

TOLD_APART = (Type.FLOAT, Type.ANY)
"""The types of which equal values may be told apart, as 0.0 and -0.0, or 1 and 1.0."""

Streams = Mapping[str, Sequence[Element]]


class Trials(Protocol):
    """Two plans, ready to be compared on many inputs."""

    def differ(self, streams: Streams) -> bool:
        """Whether the plans differ on an input."""

    def example(self, streams: Streams) -> CounterExample:
        """An input on which they differ, with what either plan makes of it."""


class OverTime:
    """Two plans on streams, at every instant.

    Where a plan raises an error, it has no meaning; with `strict`, that is a difference where the other one
    has a meaning. But the right one need not raise what a function raises in the left one.
    """

    def __init__(self, left: Plan, right: Plan, *, strict: bool = False) -> None:
        self._sides = StepFunctions(left), StepFunctions(right)
        self._is_strict = strict

    def differ(self, streams: Streams) -> bool:
        """Whether some output differs at some instant."""
        one, other = self._of(streams)
        if isinstance(one, Exception) or isinstance(other, Exception):
            return self._is_strict and raise_apart(one, other)
        return any(not are_close(one[output], other[output]) for output in one)

    def example(self, streams: Streams) -> CounterExample:
        """The input as a counter-example."""
        one, other = self._of(streams)
        if isinstance(one, Exception) or isinstance(other, Exception):
            raised = [
                f"{side} raises {type(error).__name__}: {error}"
                for side, error in (("left", one), ("right", other))
                if isinstance(error, Exception)
            ]
            return CounterExample(streams, "", _shown(one), _shown(other), "; ".join(raised))
        output = next(output for output in one if not are_close(one[output], other[output]))
        return CounterExample(streams, output, elements_of(one[output]), elements_of(other[output]))

    def _of(self, streams: Streams) -> list[dict[str, NormalForm] | Exception]:
        kinds = Exception if self._is_strict else (MidstreamError, ArithmeticError)
        meanings: list[dict[str, NormalForm] | Exception] = []
        known: dict[Node, Steps] = {}
        for side in self._sides:
            try:
                meanings.append(side.of(streams, known))
            except kinds as error:
                meanings.append(error)
        return meanings


class AtOneInstant:
    """The same for plans of snapshot-reducible operators, on elements that are all valid in [0, 1).

    What depends on some of the inputs alone is computed once for each of their bags.
    """

    def __init__(self, left: Plan, right: Plan) -> None:
        self._trials = OverTime(left, right, strict=True)
        nodes = list(dict.fromkeys((*left.nodes, *right.nodes)))
        places = {node: place for place, node in enumerate(nodes)}
        self._outputs = [(places[root], places[right.outputs[name]]) for name, root in left.outputs.items()]
        leaves = {places[node]: leaf for node in nodes if isinstance(leaf := logical(node), Leaf)}
        self._leaves = [
            (place, leaf.label, any(column.type in TOLD_APART for column in leaf.columns))
            for place, leaf in leaves.items()
        ]
        reads: list[frozenset[int]] = []
        self._steps: list[_Step] = []
        for place, node in enumerate(nodes):
            inputs = tuple(places[child] for child in node.inputs)
            if place in leaves:
                reads.append(frozenset({place}))
                continue
            reads.append(frozenset().union(*(reads[child] for child in inputs)))
            kept: _Kept | None = {} if len(reads[place]) < len(leaves) else None
            self._steps.append(_Step(place, inputs, meaning(node), tuple(sorted(reads[place])), kept))
        self._number = len(nodes)

    def differ(self, streams: Streams) -> bool:
        """Whether some output differs."""
        snapshots: list[Snapshot | Exception] = [_NOTHING] * self._number
        labels: dict[int, object] = {}
        for place, name, is_told_apart in self._leaves:
            rows = [row for _, _, row in streams[name]]
            snapshots[place] = bag = Counter(rows)
            # What the bags of an input are told apart by.
            labels[place] = tuple(map(repr, rows)) if is_told_apart else frozenset(bag.items())
        for step in self._steps:
            if step.kept is None:
                snapshots[step.place] = step.snapshot(snapshots)
                continue
            key = tuple([labels[place] for place in step.reads])
            if key not in step.kept:
                step.kept[key] = step.snapshot(snapshots)
            snapshots[step.place] = step.kept[key]
        return any(_are_apart(snapshots[one], snapshots[other]) for one, other in self._outputs)

    def example(self, streams: Streams) -> CounterExample:
        """The input as a counter-example."""
        return self._trials.example(streams)


_NOTHING: Snapshot = Counter()

_Kept = dict[tuple[object, ...], Snapshot | Exception]
"""What an operator gives, by the labels of the bags that it reads."""


class _Step(NamedTuple):
    """An operator, by its place among all: where its inputs and the leaves that it reads are."""

    place: int
    inputs: tuple[int, ...]
    meaning: Callable[..., Snapshot]
    reads: tuple[int, ...]
    kept: _Kept | None
    """None for what reads all leaves, which hardly come twice."""

    def snapshot(self, snapshots: Sequence[Snapshot | Exception]) -> Snapshot | Exception:
        """What it gives, or raises; or what an input raised."""
        below = [snapshots[place] for place in self.inputs]
        for each in below:
            if isinstance(each, Exception):
                return each
        try:
            return self.meaning(*below)
        except Exception as error:  # whatever a function in the plan may raise
            return error


def raise_apart(one: object, other: object) -> bool:
    """Whether one of two plans raises an error where the other does not: a function of the first one may
    alone, as the second may ask it of fewer rows. What is too long to be computed here is not known to raise
    one."""
    if isinstance(one, TooLongError | FunctionError) or isinstance(other, TooLongError):
        return False
    return isinstance(one, Exception) is not isinstance(other, Exception)


def elements_of(form: NormalForm) -> list[Element]:
    """The elements of a normal form, in order."""
    elements = [(start, end, row) for row, steps in form.items() for start, end, n in steps for _ in range(n)]
    return sorted(elements, key=lambda element: (element[0], element[1], repr(element[2])))


def are_close(one: NormalForm, other: NormalForm) -> bool:
    """Whether snapshots agree at every instant, up to what floats lose when they are computed in another
    order."""
    if one == other:
        return True
    left, right = elements_of(one), elements_of(other)
    if not any(isinstance(value, float) for _, _, row in (*left, *right) for value in row):
        return False
    times = {BEGINNING, *(t for start, end, _ in (*left, *right) for t in (start, end))} - {FOREVER}
    return all(_match(snapshot(left, time), snapshot(right, time)) for time in times)


def _shown(meant: dict[str, NormalForm] | Exception) -> list[Element]:
    return [] if isinstance(meant, Exception) else [e for form in meant.values() for e in elements_of(form)]


def _are_apart(one: Snapshot | Exception, other: Snapshot | Exception) -> bool:
    if isinstance(one, Exception) or isinstance(other, Exception):
        return raise_apart(one, other)
    return one != other and not _match(one, other)


def _match(one: Counter[Payload], other: Counter[Payload]) -> bool:
    rest = list((other - one).elements())
    for row in (one - other).elements():
        partner = next((other for other in rest if all(map(_is_close, row, other))), None)
        if partner is None:
            return False
        rest.remove(partner)
    return not rest


def _is_close(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return one == other
