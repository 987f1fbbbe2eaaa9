"""A search for an input on which two plans differ.

It tries small inputs one after the other, and makes the first one that tells the plans apart as small as it
can. What decides is the specification.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from random import Random

from midstream.plans.algebra.operators import Aggregate
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import expressions, logical
from midstream.plans.equivalence.small_inputs import SmallInputs, Trial
from midstream.plans.equivalence.trials import OverTime, Trials
from midstream.plans.expressions.aggregates import UserAggregate
from midstream.plans.expressions.expressions import Apply, walk
from midstream.plans.values.verdicts import CounterExample

STEPS = 500
"""How many inputs are tried, unless the caller says otherwise."""

SEED = 29
"""The same inputs are tried every time."""

Search = Generator[None, None, CounterExample | None]
"""It pauses after each input; what it returns was found, or nothing was."""


def search(left: Plan, right: Plan, steps: int = STEPS) -> Search:
    """Look for an input on which two plans with the same outputs give different snapshots.

    Both must be free of Python callables (see `callables`), which are never run here.

    Cost     At most `steps` inputs, and as many again to make a counter-example smaller.
    """
    inputs, random = SmallInputs([left, right]), Random(SEED)
    trials = OverTime(left, right)
    for _ in range(steps):
        streams = inputs.draw(random)
        if trials.differ(streams):
            return (yield from smallest(streams, inputs, trials, steps))
        yield
    return None


def smallest(streams: Trial, inputs: SmallInputs, trials: Trials, steps: int) -> Search:
    """The same difference on a smaller input, as long as one is found."""
    left = steps
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for plainer in inputs.plainer(streams):
            if not left:
                return trials.example(streams)
            left -= 1
            yield
            if trials.differ(plainer):
                streams, is_smaller = plainer, True
                break
    return trials.example(streams)


def callables(plan: Plan) -> Iterator[str]:
    """The names of functions and aggregates that are Python callables: nobody knows what they do when they
    are called."""
    for node in plan.nodes:
        operator = logical(node)
        if isinstance(operator, Aggregate):
            yield from (c.name for _, c in operator.calls if isinstance(c.function, UserAggregate))
        for expression in expressions(node):
            yield from (str(part) for part in walk(expression) if isinstance(part, Apply))
