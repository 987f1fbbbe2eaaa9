"""Partial aggregates: how many an aggregation keeps, where rows of a group have equal ends."""

from __future__ import annotations

import math

from midstream.optimizer.cost.costing import Costing
from midstream.optimizer.cost.estimate import different
from midstream.optimizer.cost.steps import swept
from midstream.plans.algebra.operators import Aggregate


def rows_of_a_part(costing: Costing) -> float:
    """Rows of a group with the same end, on average: these are one partial aggregate (22.30), (22.35).

    Of the x = ρ g rows of a group that start in a granule at the rate ρ, which have a Poisson distribution,
    some there are with the probability 1 - e^(-x), and then on average

        x / (1 - e^(-x))

    So it is 1 where granules are fine. The thesis has Cardenas's formula, 1 - (1 - g/l)^(l/d), which takes
    the number of rows in a window as given; both are the same where a window has many granules.
    """
    x = _rows_of_a_granule(costing)
    if _is_even(costing):
        return max(1.0, x)
    return x / -math.expm1(-x) if x else 1.0


def share_of_several(costing: Costing) -> float:
    """The share of partial aggregates that have several rows: 1 - x e^(-x) / (1 - e^(-x))."""
    x = _rows_of_a_granule(costing)
    if not x or _is_even(costing):
        return float(x > 1)
    return 1 + (x * math.exp(-x) / math.expm1(-x) if x < math.inf else 0.0)


def partial_aggregates(costing: Costing) -> float:
    """Partial aggregates of the rows in the state; rows that are always valid have one a group."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Aggregate)
    rows, always = swept(s, s.lag), s.always
    if not _merges(operator):
        return rows
    n = costing.kinds(operator.keys)
    if math.isinf(rows):
        return different(rows, n)
    return max(0.0, rows - always) / rows_of_a_part(costing) + different(always, n)


def _rows_of_a_granule(costing: Costing) -> float:
    """Rows of a group in a granule; 0 if none merge, infinitely many if they all end never."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Aggregate)
    n = costing.kinds(operator.keys)
    if not _merges(operator) or not math.isfinite(n) or not n or not s.rate:
        return 0.0
    return s.rate * s.g / n if s.l < math.inf else math.inf


def _is_even(costing: Costing) -> bool:
    """True if each granule has the same number of rows (Remark 22.1)."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Aggregate)
    return s.cut.even and costing.kinds(operator.keys) == 1


def _merges(operator: Aggregate) -> bool:
    return all(call.merges for _, call in operator.calls)
