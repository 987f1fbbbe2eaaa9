"""A search for an input on which two plans differ.

It tries small inputs one after the other. The first input on which the plans differ, by the specification, is
made as small as possible.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from random import Random

from midstream.plans.algebra.operators import Aggregate
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import expressions, logical
from midstream.plans.equivalence.small_inputs import SmallInputs, Trial
from midstream.plans.equivalence.trials import Trials, TrialsOverTime
from midstream.plans.expressions.aggregates import UserAggregate
from midstream.plans.expressions.expressions import Apply, walk
from midstream.plans.values.verdicts import CounterExample

STEPS = 500
"""The number of inputs that are tried by default."""

SEED = 29
"""The seed of the search, so that every search tries the same inputs."""

Search = Generator[None, None, CounterExample | None]
"""A search that pauses after each input, and returns the counter-example, or None."""


def search(left: Plan, right: Plan, steps: int = STEPS) -> Search:
    """Look for an input on which two plans with the same outputs have different snapshots.

    Both must be free of Python callables (see `callables`), which the search never runs.

    Cost     At most `steps` inputs, and as many again to make a counter-example smaller.
    """
    inputs, random = SmallInputs([left, right]), Random(SEED)
    trials = TrialsOverTime(left, right)
    for _ in range(steps):
        streams = inputs.draw(random)
        if trials.differ(streams):
            return (yield from smallest(streams, inputs, trials, steps))
        yield
    return None


def smallest(streams: Trial, inputs: SmallInputs, trials: Trials, steps: int) -> Search:
    """Make an input on which the plans differ smaller, in at most `steps` trials."""
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
    """The names of functions and aggregates that are Python callables, whose effects are unknown."""
    for node in plan.nodes:
        operator = logical(node)
        if isinstance(operator, Aggregate):
            yield from (c.name for _, c in operator.calls if isinstance(c.function, UserAggregate))
        for expression in expressions(node):
            yield from (str(part) for part in walk(expression) if isinstance(part, Apply))
