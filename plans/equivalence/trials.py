"""Comparison of two plans on one input, by the specification."""

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
"""The relative difference up to which two floats count as equal; order of evaluation changes them."""

TOLD_APART = (Type.FLOAT, Type.ANY)
"""The types whose equal values may be distinguishable, as 0.0 and -0.0, or 1 and 1.0."""

Streams = Mapping[str, Sequence[Element]]


class Trials(Protocol):
    """Two plans that can be compared on many inputs."""

    def differ(self, streams: Streams) -> bool:
        """True if the plans differ on an input."""

    def example(self, streams: Streams) -> CounterExample:
        """The counter-example of an input on which the plans differ, with the results of both."""


class TrialsOverTime:
    """Two plans, compared on streams at every instant.

    Where a plan raises an error, its meaning is undefined. With `strict`, it is a difference if only one plan
    raises; but the right plan need not repeat an error of a function in the left plan.
    """

    def __init__(self, left: Plan, right: Plan, *, strict: bool = False) -> None:
        self._sides = StepFunctions(left), StepFunctions(right)
        self._is_strict = strict

    def differ(self, streams: Streams) -> bool:
        """True if some output differs at some instant."""
        one, other = self._of(streams)
        if isinstance(one, Exception) or isinstance(other, Exception):
            return self._is_strict and raise_apart(one, other)
        return any(not are_close(one[output], other[output]) for output in one)

    def example(self, streams: Streams) -> CounterExample:
        """The counter-example of an input."""
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


class TrialsAtOneInstant:
    """Two plans of snapshot-reducible operators, compared on elements that are all valid in [0, 1).

    A result that depends on some of the inputs alone is computed once for each combination of their bags.
    """

    def __init__(self, left: Plan, right: Plan) -> None:
        self._trials = TrialsOverTime(left, right, strict=True)
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
        """True if some output differs."""
        snapshots: list[Snapshot | Exception] = [_NOTHING] * self._number
        labels: dict[int, object] = {}
        for place, name, is_told_apart in self._leaves:
            rows = [row for _, _, row in streams[name]]
            snapshots[place] = bag = Counter(rows)
            # A label distinguishes the bags of an input.
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
        """The counter-example of an input."""
        return self._trials.example(streams)


_NOTHING: Snapshot = Counter()

_Kept = dict[tuple[object, ...], Snapshot | Exception]
"""The results of an operator, by the labels of the bags that it reads."""


class _Step(NamedTuple):
    """An operator: its place among all, and those of its inputs and of the leaves that it reads."""

    place: int
    inputs: tuple[int, ...]
    meaning: Callable[..., Snapshot]
    reads: tuple[int, ...]
    kept: _Kept | None
    """None for an operator that reads all leaves, whose bags hardly repeat."""

    def snapshot(self, snapshots: Sequence[Snapshot | Exception]) -> Snapshot | Exception:
        """The snapshot of the operator, or the error that it or an input raises."""
        below = [snapshots[place] for place in self.inputs]
        for each in below:
            if isinstance(each, Exception):
                return each
        try:
            return self.meaning(*below)
        except Exception as error:  # a function in the plan may raise any error
            return error


def raise_apart(left: object, right: object) -> bool:
    """True if one of two plans raises an error and the other does not.

    A function of the left plan may raise alone, as the right plan may call it for fewer rows. TooLongError
    does not count: it says that the specification cannot be evaluated, not that a plan raises.
    """
    if isinstance(left, TooLongError | FunctionError) or isinstance(right, TooLongError):
        return False
    return isinstance(left, Exception) is not isinstance(right, Exception)


def elements_of(form: NormalForm) -> list[Element]:
    """The elements of a normal form, in order."""
    elements = [(start, end, row) for row, steps in form.items() for start, end, n in steps for _ in range(n)]
    return sorted(elements, key=lambda element: (element[0], element[1], repr(element[2])))


def are_close(left: NormalForm, right: NormalForm) -> bool:
    """True if snapshots agree at every instant, up to rounding errors of floats."""
    if left == right:
        return True
    ours, theirs = elements_of(left), elements_of(right)
    if not any(isinstance(value, float) for _, _, row in (*ours, *theirs) for value in row):
        return False
    times = {BEGINNING, *(t for start, end, _ in (*ours, *theirs) for t in (start, end))} - {FOREVER}
    return all(_match(snapshot(ours, time), snapshot(theirs, time)) for time in times)


def _shown(meaning: dict[str, NormalForm] | Exception) -> list[Element]:
    if isinstance(meaning, Exception):
        return []
    return [element for form in meaning.values() for element in elements_of(form)]


def _are_apart(one: Snapshot | Exception, other: Snapshot | Exception) -> bool:
    if isinstance(one, Exception) or isinstance(other, Exception):
        return raise_apart(one, other)
    return one != other and not _match(one, other)


def _match(one: Counter[Payload], other: Counter[Payload]) -> bool:
    unmatched = list((other - one).elements())
    for row in (one - other).elements():
        partner = next((row_ for row_ in unmatched if all(map(_is_close, row, row_))), None)
        if partner is None:
            return False
        unmatched.remove(partner)
    return not unmatched


def _is_close(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return one == other
