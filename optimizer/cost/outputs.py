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

from midstream.optimizer.cost.column_facts import Facts, selected_facts
from midstream.optimizer.cost.comparisons import (
    OverlapFormula,
    compared,
    difference,
    intersection,
    matched,
    max_union,
    strict_difference,
)
from midstream.optimizer.cost.costing import Costing
from midstream.optimizer.cost.estimate import Estimate, inverse, times
from midstream.optimizer.cost.mapped_facts import projected, united
from midstream.plans.algebra.operators import Aggregate, Join, Project, Split

Output = Callable[[Costing], Estimate]
"""Gives what is expected of an operator's output; its cost and state are 0, as they are not the output's."""


def filter_output(costing: Costing) -> Estimate:
    """(22.1)."""
    (s,) = costing.inputs
    selectivity, facts = costing.satisfying(costing.conditions)
    return _output(times(selectivity, s.rate), s.l, s.g, facts, times(selectivity, s.always))


def project_output(costing: Costing) -> Estimate:
    """(22.2)."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Project)
    return replace(s, cost=0.0, state=0.0, facts=projected(operator.columns, costing.node.schema, s.facts))


def union_output(costing: Costing) -> Estimate:
    """(22.3)."""
    rate = math.fsum(s.rate for s in costing.inputs)
    valid = math.fsum(s.valid for s in costing.inputs)
    longest = max(s.l for s in costing.inputs)
    length = valid / rate if 0 < rate < math.inf else longest
    facts = united(costing.node.schema, [(s.rate, s.facts) for s in costing.inputs])
    return _output(rate, length, math.gcd(*(s.g for s in costing.inputs)), facts)


def join_output(costing: Costing) -> Estimate:
    """(22.4) with a selectivity."""
    (s, t), operator = costing.inputs, costing.operator
    assert isinstance(operator, Join)
    selectivity, known = costing.satisfying(costing.conditions)
    rate = times(selectivity, overlapping(s, t))
    facts, always = selected_facts(operator.columns, known), times(selectivity, s.always, t.always)
    return _output(rate, _overlap(s.l, t.l), math.gcd(s.g, t.g), facts, always)


def distinct_output(costing: Costing) -> Estimate:
    """(22.5). That d' = d presumes that an element outlives the equal ones before it, which is so unless a
    join has cut its end."""
    (s,) = costing.inputs
    n = costing.kinds(costing.node.schema.names)
    return replace(s, cost=0.0, state=0.0, l=n * s.d if n <= s.valid and n < math.inf else s.l)


def aggregate_output(costing: Costing) -> Estimate:
    """(22.6), (22.7)."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Aggregate)
    n, facts = costing.kinds(operator.keys), selected_facts(operator.keys, s.facts)
    if n < s.valid:
        length = _segment(s.g, s.l, n * s.d)
        return Estimate(length / n, length, s.g, 0.0, 0.0, facts)
    return Estimate(s.d, s.l, s.g, 0.0, 0.0, facts)


def split_output(costing: Costing) -> Estimate:
    """Every element of a split in as many pieces as it takes."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Split)
    number = max(1.0, s.l / operator.length)
    return replace(s, d=inverse(times(s.rate, number)), l=s.l / number, cost=0.0, state=0.0)


def rearranged_output(costing: Costing) -> Estimate:
    """Coalescing, as if nothing met, and conversion."""
    return replace(costing.inputs[0], cost=0.0, state=0.0)


def semi_join(costing: Costing) -> Estimate:
    """The left rows that have a match."""
    return matched(True, costing.satisfying(costing.conditions)[0], *costing.inputs)


def anti_join(costing: Costing) -> Estimate:
    """The left rows that have none."""
    return matched(False, costing.satisfying(costing.conditions)[0], *costing.inputs)


def _comparing(formula: OverlapFormula) -> Output:
    return lambda costing: compared(formula, costing.kinds(costing.node.schema.names), *costing.inputs)


OUTPUTS: dict[str, Output] = {
    "filter": filter_output,
    "project": project_output,
    "union": union_output,
    "join": join_output,
    "distinct": distinct_output,
    "aggregate": aggregate_output,
    "difference": _comparing(difference),
    "strict_difference": _comparing(strict_difference),
    "intersection": _comparing(intersection),
    "max_union": _comparing(max_union),
    "semi_join": semi_join,
    "anti_join": anti_join,
    "split": split_output,
    "rearranged": rearranged_output,
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
