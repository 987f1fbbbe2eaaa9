"""A search for an input on which two plans differ.

It tries small inputs one after the other, and makes the first one that tells the plans apart as small as it
can. What decides is the specification.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Generator, Iterator
from random import Random

from midstream.plans.algebra.operators import Aggregate
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import expressions, logical
from midstream.plans.equivalence.small_inputs import SmallInputs, Trial
from midstream.plans.equivalence.step_functions import StepFunctions
from midstream.plans.expressions.aggregates import UserAggregate
from midstream.plans.expressions.expressions import Apply, walk
from midstream.plans.values.errors import MidstreamError
from midstream.plans.values.snapshots import NormalForm, snapshot
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Payload
from midstream.plans.values.verdicts import CounterExample

STEPS = 500
"""How many inputs are tried, unless the caller says otherwise."""

SEED = 29
"""The same inputs are tried every time."""

TOLERANCE = 1e-9
"""Two floats that differ by less, relatively, may be the same number computed in another order."""

Search = Generator[None, None, CounterExample | None]
"""It pauses after each input; what it returns was found, or nothing was."""


def search(left: Plan, right: Plan, steps: int = STEPS) -> Search:
    """Look for an input on which two plans with the same outputs give different snapshots.

    Both must be free of Python callables (see `callables`), which are never run here.

    Cost     At most `steps` inputs, and as many again to make a counter-example smaller.
    """
    inputs, random = SmallInputs([left, right]), Random(SEED)
    comparison = _Comparison(left, right)
    for _ in range(steps):
        streams = inputs.draw(random)
        if comparison.differing(streams) is not None:
            return (yield from _smallest(streams, inputs, comparison, steps))
        yield
    return None


def _smallest(streams: Trial, inputs: SmallInputs, comparison: _Comparison, steps: int) -> Search:
    """The same difference on a smaller input, as long as one is found."""
    left = steps
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for plainer in inputs.plainer(streams):
            if not left:
                return comparison.example(streams)
            left -= 1
            yield
            if comparison.differing(plainer) is not None:
                streams, is_smaller = plainer, True
                break
    return comparison.example(streams)


class _Comparison:
    """Two plans, ready to be compared on many inputs."""

    def __init__(self, left: Plan, right: Plan) -> None:
        self._sides = StepFunctions(left), StepFunctions(right)

    def differing(self, streams: Trial) -> str | None:
        """An output that differs on an input; none where a plan has no meaning there."""
        try:
            one, other = (side.of(streams) for side in self._sides)
        except (MidstreamError, ArithmeticError):
            return None
        return next((output for output in one if not _are_close(one[output], other[output])), None)

    def example(self, streams: Trial) -> CounterExample:
        """The input as a counter-example."""
        output = self.differing(streams)
        assert output is not None
        one, other = (_elements(side.of(streams)[output]) for side in self._sides)
        return CounterExample(streams, output, one, other)


def _elements(form: NormalForm) -> list[Element]:
    elements = [(start, end, row) for row, steps in form.items() for start, end, n in steps for _ in range(n)]
    return sorted(elements, key=lambda element: (element[0], element[1], repr(element[2])))


def _are_close(one: NormalForm, other: NormalForm) -> bool:
    """Whether snapshots agree at every instant, up to what floats lose when they are computed in another
    order."""
    if one == other:
        return True
    left, right = _elements(one), _elements(other)
    if not any(isinstance(value, float) for _, _, row in (*left, *right) for value in row):
        return False
    times = {BEGINNING, *(t for start, end, _ in (*left, *right) for t in (start, end))} - {FOREVER}
    return all(_match(snapshot(left, time), snapshot(right, time)) for time in times)


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


def callables(plan: Plan) -> Iterator[str]:
    """The names of functions and aggregates that are Python callables: nobody knows what they do when they
    are called."""
    for node in plan.nodes:
        operator = logical(node)
        if isinstance(operator, Aggregate):
            yield from (c.name for _, c in operator.calls if isinstance(c.function, UserAggregate))
        for expression in expressions(node):
            yield from (str(part) for part in walk(expression) if isinstance(part, Apply))
