"""Estimates for the operators that compare what two streams hold: difference and its kin, semi-join and
anti-join.

The thesis has no formulas for them. These take the rows that are equal, or that match, to be valid
independently of each other: how many there are at an instant then has a Poisson distribution.
"""

from __future__ import annotations

import math
from dataclasses import replace

from midstream.optimizer.estimate import Estimate, inverse, times
from midstream.optimizer.units import UnitCosts
from midstream.plans.algebra.operators import (
    AntiJoin,
    Difference,
    Intersection,
    MaxUnion,
    SemiJoin,
    StrictDifference,
)

ENOUGH = 200.0
"""From so many equal rows on, the smaller of two numbers is taken for the average minimum."""


def compared(operator: object, kinds: float, s: Estimate, t: Estimate, u: UnitCosts) -> Estimate:
    """Difference and its kin over so many different rows.

    Starts and ends of elements begin results where the rows that are there let them.
    """
    mine, other = _each(s.valid, kinds), _each(t.valid, kinds)
    both = times(kinds, in_common(mine, other)) if math.isfinite(kinds) else 0.0
    match operator:
        case Difference():
            valid = s.valid - both if both < s.valid else 0.0
        case StrictDifference():
            valid = times(s.valid, math.exp(-other))
        case Intersection():
            valid = both
        case MaxUnion():
            valid = max(s.valid, t.valid) + (min(s.valid, t.valid) - both if math.isfinite(both) else 0.0)
        case _:
            raise TypeError(operator)
    arriving = s.rate + t.rate
    most = _begun(operator, mine, other, s, t)
    rate = min(most, valid) if valid < most else most
    step = u.hash + u.group + 2 * u.link + 2 * u.remove
    cost = arriving * step + rate * (u.create + u.queue + u.output)
    length = valid / rate if 0 < rate < math.inf and valid < math.inf else s.l
    return Estimate(inverse(rate), length, math.gcd(s.g, t.g), cost, s.valid + t.valid, s.facts)


def matched(
    operator: SemiJoin | AntiJoin, selectivity: float, is_hashed: bool, s: Estimate, t: Estimate, u: UnitCosts
) -> Estimate:
    """Semi-join and anti-join: the left rows for which some right row matches, or none."""
    partners = times(selectivity, t.valid)
    share = math.exp(-partners)
    share = 1 - share if isinstance(operator, SemiJoin) else share
    rate = times(s.rate, share)
    candidates = times(s.rate, partners if is_hashed else t.valid) + times(
        t.rate, selectivity if is_hashed else 1.0, s.valid
    )
    step = (2 * u.hash if is_hashed else 0.0) + 2 * u.bucket + 2 * u.link + 2 * u.remove
    cost = (s.rate + t.rate) * step + candidates * u.predicate + rate * (u.create + u.queue + u.output)
    kept = s.valid + t.valid
    return replace(s, d=inverse(rate), g=math.gcd(s.g, t.g), cost=cost, state=kept, always=0.0)


def in_common(a: float, b: float) -> float:
    """The average minimum of two numbers that have Poisson distributions with these averages.

    >>> round(in_common(1.0, 1.0), 3), in_common(0.0, 5.0), in_common(1000.0, 300.0)
    (0.476, 0.0, 300.0)
    """
    if not a or not b or max(a, b) > ENOUGH:
        return min(a, b)
    total, term, k = 0.0, 1.0, 0
    more_a, more_b, p, q = 1.0, 1.0, math.exp(-a), math.exp(-b)
    while term > 1e-12:
        more_a, more_b = more_a - p, more_b - q
        k += 1
        p, q = p * a / k, q * b / k
        term = max(more_a, 0.0) * max(more_b, 0.0)
        total += term
    return total


def _each(valid: float, kinds: float) -> float:
    return valid / kinds if kinds else 0.0


def _begun(operator: object, mine: float, other: float, s: Estimate, t: Estimate) -> float:
    """How often a start on the one side, or a start or an end on the other, may begin a result."""
    match operator:
        case StrictDifference():  # where there is no partner, or the last one ends
            return times(s.rate + times(t.rate, mine), math.exp(-other))
        case Intersection():  # where there is a partner
            return times(s.rate, -math.expm1(-other)) + times(t.rate, -math.expm1(-mine))
        case MaxUnion():
            return s.rate + t.rate
        case _:
            return s.rate + min(t.rate, times(s.rate, other))
