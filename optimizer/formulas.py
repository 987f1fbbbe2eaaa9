"""The formulas of the thesis' cost model (22.3 and 22.4) for the operators that we have.

Each gives the characteristics (d, l, g) of an operator's output, its processing cost per chronon and its
state, from the characteristics of its inputs.

Where our operators differ from the thesis' algorithms, the formulas follow the operators: aggregation does
not touch the partial aggregates that an element overlaps, but opens and closes a segment at either end of it;
and putting results into the order of their starts is not free. Two more departures: the granule behind
several inputs is their common one, and a product with an infinite validity on one side keeps that of the
other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from midstream.optimizer.column_facts import combinations, kept, paired
from midstream.optimizer.estimate import Estimate, inverse, times
from midstream.optimizer.mapped_facts import projected, united
from midstream.optimizer.multiset_formulas import compared, matched
from midstream.optimizer.selectivity import Classes, Selectivity
from midstream.optimizer.units import UnitCosts
from midstream.plans.algebra.operators import (
    Aggregate,
    AntiJoin,
    Coalesce,
    Convert,
    Difference,
    Distinct,
    Filter,
    Intersection,
    Join,
    MaxUnion,
    Project,
    SemiJoin,
    Split,
    StrictDifference,
    Union,
)
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import equal_columns, logical
from midstream.plans.expressions.expressions import conjuncts, join_keys


class Formulas:
    """The cost model's formulas under given unit costs and selectivities."""

    def __init__(self, units: UnitCosts, selectivity: Selectivity) -> None:
        self._units = units
        self._selectivity = selectivity

    def estimate(self, node: Node, inputs: Sequence[Estimate]) -> Estimate:
        """What is to be expected of an operator, given what is of its inputs."""
        match logical(node):
            case Filter() as operator:
                return self._filter(operator, node, inputs[0])
            case Project() as operator:
                return self._project(operator, node, inputs[0])
            case Union():
                return self._union(node, inputs)
            case Join() as operator:
                return self._join(operator, node, inputs[0], inputs[1])
            case Distinct():
                return self._distinct(node, inputs[0])
            case Aggregate() as operator:
                return self._aggregate(operator, inputs[0])
            case Difference() | StrictDifference() | Intersection() | MaxUnion() as operator:
                kinds = combinations(node.schema.names, inputs[0].facts)
                return compared(operator, kinds, inputs[0], inputs[1], self._units)
            case SemiJoin() | AntiJoin() as operator:
                return self._matching(operator, node, inputs[0], inputs[1])
            case Split(length):
                return self._split(length, inputs[0])
            case Coalesce() | Convert():
                return self._rearranged(inputs[0])
        raise TypeError(f"no cost formula for {node.operator}")

    def _filter(self, operator: Filter, node: Node, s: Estimate) -> Estimate:
        """(22.1), (22.13), (22.14)."""
        u = self._units
        parts = conjuncts(operator.condition)
        selectivity, facts = self._selectivity.of(parts, node.schema, s.facts, _classes(node))
        rate = times(selectivity, s.rate)
        cost = s.rate * u.predicate + rate * u.output
        return Estimate(inverse(rate), s.l, s.g, cost, 0.0, facts, times(selectivity, s.always))

    def _project(self, operator: Project, node: Node, s: Estimate) -> Estimate:
        """(22.2), (22.13), (22.15)."""
        u = self._units
        facts = projected(operator.columns, node.schema, s.facts)
        cost = s.rate * (u.function + u.create + u.output)
        return Estimate(s.d, s.l, s.g, cost, 0.0, facts, s.always)

    def _union(self, node: Node, inputs: Sequence[Estimate]) -> Estimate:
        """(22.3), (22.16), (22.17)."""
        u = self._units
        rate = math.fsum(s.rate for s in inputs)
        valid = math.fsum(s.valid for s in inputs)
        longest = max(s.l for s in inputs)
        length = valid / rate if 0 < rate < math.inf else longest
        g = math.gcd(*(s.g for s in inputs))
        facts = united(node.schema, [(s.rate, s.facts) for s in inputs])
        return Estimate(inverse(rate), length, g, rate * (u.queue + u.output), 0.0, facts)

    def _join(self, operator: Join, node: Node, s: Estimate, t: Estimate) -> Estimate:
        """(22.4) with a selectivity; (22.18) to (22.23), by hashing where columns are equated, else by nested
        loops."""
        u = self._units
        left, right = (child.schema for child in node.inputs)
        pairs, facts = left.concat(right), paired(s.facts, t.facts)
        parts, classes = conjuncts(operator.condition), _classes(node)
        keys, rest = join_keys(operator.condition, left, right)
        is_hashed = bool(keys) and not _is_by_loops(node)
        selectivity, known = self._selectivity.of(parts, pairs, facts, classes)
        overlapping = times(s.rate, t.valid) + times(t.rate, s.valid)
        rate = times(selectivity, overlapping)
        candidates = overlapping
        if is_hashed:
            equal = [part for part in parts if part not in conjuncts(rest)]
            candidates = times(self._selectivity.of(equal, pairs, facts, classes)[0], overlapping)
        step = (2 * u.hash if is_hashed else 0.0) + 2 * u.bucket + 2 * u.link + 2 * u.remove
        cost = (s.rate + t.rate) * step + candidates * u.predicate
        cost += rate * (u.function + u.create + u.queue + u.output)
        return Estimate(
            inverse(rate),
            _overlap(s.l, t.l),
            math.gcd(s.g, t.g),
            cost,
            _swept(s, t) + _swept(t, s),
            kept(operator.columns, known),
            times(selectivity, s.always, t.always),
        )

    def _matching(self, operator: SemiJoin | AntiJoin, node: Node, s: Estimate, t: Estimate) -> Estimate:
        """By hashing where columns are equated, else by nested loops."""
        left, right = (child.schema for child in node.inputs)
        parts = conjuncts(operator.condition)
        keys, _ = join_keys(operator.condition, left, right)
        is_hashed = bool(keys) and not _is_by_loops(node)
        facts = paired(s.facts, t.facts)
        selectivity, _ = self._selectivity.of(parts, left.concat(right), facts, _classes(node))
        return matched(operator, selectivity, is_hashed, s, t, self._units)

    def _split(self, length: int, s: Estimate) -> Estimate:
        """Every element in as many pieces as it takes."""
        u = self._units
        pieces = max(1.0, s.l / length)
        rate = times(s.rate, pieces)
        cost = rate * (u.create + u.queue + u.output)
        return replace(s, d=inverse(rate), l=s.l / pieces, cost=cost, state=s.valid)

    def _rearranged(self, s: Estimate) -> Estimate:
        """Coalesce, as if nothing met, and converters."""
        u = self._units
        step = u.hash + 2 * u.bucket + u.queue + u.output
        return replace(s, cost=s.rate * step, state=s.valid)

    def _distinct(self, node: Node, s: Estimate) -> Estimate:
        """(22.5), (22.24) to (22.29). That d' = d presumes that an element outlives the equal ones before it,
        which is so unless a join has cut its end."""
        u = self._units
        n = combinations(node.schema.names, s.facts)
        step = 2 * u.hash + u.predicate + u.bucket + 2 * u.link + 2 * u.remove + u.output
        length = s.l
        if n <= s.valid and n < math.inf:
            length = n * s.d
            step += u.create + 2 * u.queue
        else:
            step += u.bucket
        return replace(s, l=length, cost=s.rate * step, state=s.valid)

    def _aggregate(self, operator: Aggregate, s: Estimate) -> Estimate:
        """(22.6), (22.7); the cost is that of our algorithm: two ends an element, each closing a segment."""
        u = self._units
        n = combinations(operator.keys, s.facts)
        d, length = s.d, s.l
        if n < s.valid:
            length = _segment(s.g, s.l, n * s.d)
            d = length / n
        functions = len(operator.calls)
        step = u.hash + 2 * u.group + 2 * u.link + 2 * u.remove + 2 * functions * u.merge
        result = functions * u.evaluate + u.create + u.queue + u.output
        cost = s.rate * step + inverse(d) * result
        return Estimate(d, length, s.g, cost, s.valid + _segments(n, s), kept(operator.keys, s.facts))


def _classes(node: Node) -> Classes:
    return {name: names for child in node.inputs for names in equal_columns(child) for name in names}


def _is_by_loops(node: Node) -> bool:
    return isinstance(node.operator, Physical) and "nested-loops" in node.operator.implementation


def _overlap(one: float, other: float) -> float:
    """The average overlap of intervals of two lengths (22.4)."""
    if math.isinf(one) or math.isinf(other):
        return min(one, other)
    return one * other / (one + other) if one + other else 0.0


def _swept(s: Estimate, other: Estimate) -> float:
    """What a join keeps of one side: what is valid, and what has expired since the other side's last element
    (22.18)."""
    return s.valid + (times(s.rate, other.d) / 2 if other.rate else 0.0)


def _segments(n: float, s: Estimate) -> float:
    """How many segments an aggregation keeps: one for each group that has a row, and closed ones that wait
    behind the oldest, which of n is the older the more there are. Where there are hardly more rows than
    groups, segments end with their rows, in order, and only those wait that another row has cut short."""
    if not math.isfinite(n):
        return s.valid
    each = s.valid / n if n else 0.0
    if not math.isfinite(each):
        return n + n * math.log(n)
    cut = -math.expm1(-2 * each)
    return min(n + n * math.log(n), -n * math.expm1(-each) + 2 * s.valid * cut) if n > 1 else n


def _segment(g: int, length: float, d: float) -> float:
    """The length of an aggregate's segments (22.6)."""
    if not d or length <= g:
        return float(g)
    if math.isinf(d):
        return length  # nothing else starts
    if math.isinf(length):
        return -g / math.expm1(-g / d)  # starts only: nothing ends
    return -g / math.expm1(2 * length / d * math.log1p(-g / length))
