"""Terms that formulas of work share: combined steps, and the state of an input."""

from __future__ import annotations

from midstream.optimizer.cost.costing import Costing, PairCosting
from midstream.optimizer.cost.estimate import Estimate, times
from midstream.optimizer.cost.outputs import overlapping
from midstream.optimizer.cost.timing import later, longer_by, until_reached
from midstream.optimizer.cost.units import UnitCosts
from midstream.plans.algebra.operators import Aggregate
from midstream.plans.algebra.plan import Node, fact_of_node
from midstream.plans.algebra.properties import logical
from midstream.plans.expressions.aggregates import VARIANCES
from midstream.plans.expressions.expressions import Expression
from midstream.plans.values.schema import Type

ESTIMATES = {"scaled_sum": (1, 4), "standard_error": (3, 10)}
"""By function of a sample, its steps of exact sums, for a row that comes or goes and for a result."""


def pairs(costing: PairCosting, share: float = 1.0) -> float:
    """Pairs of a join that are compared in a chronon, where a share of all pairs is compared."""
    return times(share, overlapping(*costing.inputs))


def result(u: UnitCosts) -> float:
    """Microseconds to emit a result whose payload exists."""
    return u.create + u.output


def ordered_result(u: UnitCosts) -> float:
    """Microseconds to emit a result that has to be put into the order of starts."""
    return u.create + u.queue + u.output


def functions_and_groups(costing: Costing) -> tuple[int, float]:
    """The number of functions and of groups of an aggregation."""
    operator = costing.operator
    assert isinstance(operator, Aggregate)
    return len(operator.calls), costing.kinds(operator.keys)


@fact_of_node
def exact_sums(node: Node) -> tuple[int, int]:
    """The steps of exact sums of an aggregation: for a row that comes or goes, and for a result.

    The sum of integers is an integer, which needs none. That of other numbers is kept exactly, so that
    nothing is left of a row that has gone; the sum and the mean of one argument share it. A variance has a
    sum and a sum of squares, also of integers; a square of a float takes as long as two sums.
    """
    operator, schema = logical(node), node.inputs[0].schema
    assert isinstance(operator, Aggregate)
    for_row, for_result, kept = 0, 0, set[Expression]()
    for _, call in operator.calls:
        own = ESTIMATES.get(call.name, (0, 0))
        for_row, for_result = for_row + own[0], for_result + own[1]
        if call.argument is None or call.function not in {"sum", "avg", *VARIANCES}:
            continue
        is_integer = call.argument.kind(schema).type is Type.INTEGER
        steps = 1 - is_integer if call.function not in VARIANCES else 3 - is_integer
        is_shared = call.function not in VARIANCES and not call.distinct
        for_result += steps
        for_row += 0 if is_shared and call.argument in kept else steps
        if is_shared:
            kept.add(call.argument)
    return for_row, for_result


def swept(s: Estimate, other_lag: float) -> float:
    """Elements of an input in the state until another progress, or its own, has passed their ends (22.18).

    The thesis adds the elements of half a distance of the other input, which is the average age of its last
    element if distances are equal. If they are random, the age is a whole distance; and what counts is the
    progress, which filters below do not hold up. Elements that come late are kept for a shorter time.
    """
    return max(0.0, s.valid + times(s.rate, other_lag) - times(s.rate, s.delay))


def held_up(costing: Costing | PairCosting) -> tuple[float, ...]:
    """By input, the number of elements that wait for the progress of all other inputs."""
    found = []
    for i, s in enumerate(costing.inputs):
        lags = [until_reached(other) for j, other in enumerate(costing.inputs) if j != i]
        found.append(times(s.rate, longer_by(later(lags), s.delay)))
    return tuple(found)


def pairs_that_wait(costing: PairCosting, output: Estimate) -> float:
    """Number of pairs that wait for the progress of the input whose elements did not complete them."""
    s, t = costing.inputs
    by_s, by_t = times(s.rate, t.valid), times(t.rate, s.valid)
    if not 0 < by_s + by_t < float("inf"):
        return 0.0
    after_s, after_t = longer_by(until_reached(t), s.delay), longer_by(until_reached(s), t.delay)
    return times(output.rate, (by_s * after_s + by_t * after_t) / (by_s + by_t))
