"""What formulas of work have in common: steps that are taken together, and what is kept of an input."""

from __future__ import annotations

from midstream.optimizer.cost.costing import Costing, PairCosting
from midstream.optimizer.cost.estimate import Estimate, times
from midstream.optimizer.cost.outputs import overlapping
from midstream.optimizer.cost.timing import later, longer_by, until_reached
from midstream.optimizer.cost.units import UnitCosts
from midstream.plans.algebra.operators import Aggregate


def pairs(costing: PairCosting, share: float = 1.0) -> float:
    """How many pairs of a join are looked at in a chronon, where a share of them is found."""
    return times(share, overlapping(*costing.inputs))


def result(u: UnitCosts) -> float:
    """A result of which the payload is there."""
    return u.create + u.output


def ordered_result(u: UnitCosts) -> float:
    """The same, where it has to be brought into the order of starts."""
    return u.create + u.queue + u.output


def functions_and_groups(costing: Costing) -> tuple[int, float]:
    """How many functions an aggregation computes, of how many groups."""
    operator = costing.operator
    assert isinstance(operator, Aggregate)
    return len(operator.calls), costing.kinds(operator.keys)


def swept(s: Estimate, other_lag: float) -> float:
    """What is kept of an input until the progress of another, or of its own, has passed its end (22.18).

    The thesis adds what comes in half the distance of two elements of the other input, which is how long ago
    the last of them came if distances are equal. If they are random, it is a whole distance; and what counts
    is the progress, which filters below do not hold up. What comes late is kept for so much shorter.
    """
    return max(0.0, s.valid + times(s.rate, other_lag) - times(s.rate, s.delay))


def held_up(costing: Costing | PairCosting) -> tuple[float, ...]:
    """How many elements of each input wait for the progress of all others."""
    found = []
    for i, s in enumerate(costing.inputs):
        lags = [until_reached(other) for j, other in enumerate(costing.inputs) if j != i]
        found.append(times(s.rate, longer_by(later(lags), s.delay)))
    return tuple(found)


def pairs_that_wait(costing: PairCosting, output: Estimate) -> float:
    """How many pairs wait for the progress of the input that has not made them."""
    s, t = costing.inputs
    by_s, by_t = times(s.rate, t.valid), times(t.rate, s.valid)
    if not 0 < by_s + by_t < float("inf"):
        return 0.0
    after_s, after_t = longer_by(until_reached(t), s.delay), longer_by(until_reached(s), t.delay)
    return times(output.rate, (by_s * after_s + by_t * after_t) / (by_s + by_t))
