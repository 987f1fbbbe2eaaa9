"""The formulas of the thesis' cost model (22.3) for the outputs of our operators, by the names that operators
give.

Each gives the characteristics (d, l, g) of an operator's output from those of its inputs. Two departures: the
granule behind several inputs is their common one, and a product with an infinite validity on one side keeps
that of the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from midstream.optimizer.cost.case import Case
from midstream.optimizer.cost.column_facts import Facts, kept
from midstream.optimizer.cost.comparisons import (
    Comparison,
    compared,
    difference,
    intersection,
    matched,
    max_union,
    strict_difference,
)
from midstream.optimizer.cost.estimate import Estimate, inverse, times
from midstream.optimizer.cost.mapped_facts import projected, united
from midstream.plans.algebra.operators import Aggregate, Join, Project, Split

Output = Callable[[Case], Estimate]
"""Gives what is expected of an operator's output; its cost and state are 0, as they are not the output's."""


def filtered(case: Case) -> Estimate:
    """(22.1)."""
    (s,) = case.inputs
    selectivity, facts = case.satisfying(case.conditions)
    return _output(times(selectivity, s.rate), s.l, s.g, facts, times(selectivity, s.always))


def mapped(case: Case) -> Estimate:
    """(22.2)."""
    (s,), operator = case.inputs, case.operator
    assert isinstance(operator, Project)
    return replace(s, cost=0.0, state=0.0, facts=projected(operator.columns, case.node.schema, s.facts))


def merged(case: Case) -> Estimate:
    """(22.3)."""
    rate = math.fsum(s.rate for s in case.inputs)
    valid = math.fsum(s.valid for s in case.inputs)
    longest = max(s.l for s in case.inputs)
    length = valid / rate if 0 < rate < math.inf else longest
    facts = united(case.node.schema, [(s.rate, s.facts) for s in case.inputs])
    return _output(rate, length, math.gcd(*(s.g for s in case.inputs)), facts)


def joined(case: Case) -> Estimate:
    """(22.4) with a selectivity."""
    (s, t), operator = case.inputs, case.operator
    assert isinstance(operator, Join)
    selectivity, known = case.satisfying(case.conditions)
    rate = times(selectivity, overlapping(s, t))
    facts, always = kept(operator.columns, known), times(selectivity, s.always, t.always)
    return _output(rate, _overlap(s.l, t.l), math.gcd(s.g, t.g), facts, always)


def distinct(case: Case) -> Estimate:
    """(22.5). That d' = d presumes that an element outlives the equal ones before it, which is so unless a
    join has cut its end."""
    (s,) = case.inputs
    n = case.kinds(case.node.schema.names)
    return replace(s, cost=0.0, state=0.0, l=n * s.d if n <= s.valid and n < math.inf else s.l)


def aggregated(case: Case) -> Estimate:
    """(22.6), (22.7)."""
    (s,), operator = case.inputs, case.operator
    assert isinstance(operator, Aggregate)
    n, facts = case.kinds(operator.keys), kept(operator.keys, s.facts)
    if n < s.valid:
        length = _segment(s.g, s.l, n * s.d)
        return Estimate(length / n, length, s.g, 0.0, 0.0, facts)
    return Estimate(s.d, s.l, s.g, 0.0, 0.0, facts)


def pieces(case: Case) -> Estimate:
    """Every element of a split in as many pieces as it takes."""
    (s,), operator = case.inputs, case.operator
    assert isinstance(operator, Split)
    number = max(1.0, s.l / operator.length)
    return replace(s, d=inverse(times(s.rate, number)), l=s.l / number, cost=0.0, state=0.0)


def unchanged(case: Case) -> Estimate:
    """Coalescing, as if nothing met, and conversion."""
    return replace(case.inputs[0], cost=0.0, state=0.0)


def semi_join(case: Case) -> Estimate:
    """The left rows that have a match."""
    return matched(True, case.satisfying(case.conditions)[0], *case.inputs)


def anti_join(case: Case) -> Estimate:
    """The left rows that have none."""
    return matched(False, case.satisfying(case.conditions)[0], *case.inputs)


def _comparing(formula: Comparison) -> Output:
    return lambda case: compared(formula, case.kinds(case.node.schema.names), *case.inputs)


OUTPUTS: dict[str, Output] = {
    "filter": filtered,
    "project": mapped,
    "union": merged,
    "join": joined,
    "distinct": distinct,
    "aggregate": aggregated,
    "difference": _comparing(difference),
    "strict_difference": _comparing(strict_difference),
    "intersection": _comparing(intersection),
    "max_union": _comparing(max_union),
    "semi_join": semi_join,
    "anti_join": anti_join,
    "split": pieces,
    "rearranged": unchanged,
}


def overlapping(s: Estimate, t: Estimate) -> float:
    """How many pairs of elements of two inputs begin to be valid together in a chronon."""
    return times(s.rate, t.valid) + times(t.rate, s.valid)


def _output(rate: float, length: float, g: int, facts: Facts, always: float = 0.0) -> Estimate:
    return Estimate(inverse(rate), length, g, 0.0, 0.0, facts, always)


def _overlap(one: float, other: float) -> float:
    """The average overlap of intervals of two lengths (22.4)."""
    if math.isinf(one) or math.isinf(other):
        return min(one, other)
    return one * other / (one + other) if one + other else 0.0


def _segment(g: int, length: float, d: float) -> float:
    """The length of an aggregate's segments (22.6)."""
    if not d or length <= g:
        return float(g)
    if math.isinf(d):
        return length  # nothing else starts
    if math.isinf(length):
        return -g / math.expm1(-g / d)  # starts only: nothing ends
    return -g / math.expm1(2 * length / d * math.log1p(-g / length))
