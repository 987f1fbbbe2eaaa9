"""What a plan costs: the thesis' cost model (22.3 and 22.4) for the operators that we have.

Bottom up, every operator's output is described by (d, l, g) and by what is known of its columns' values; from
the inputs' descriptions follow the operator's processing cost per chronon and its state. A plan costs the sum
of its operators above its inputs: windows, and all below them, are the same in every plan that it is compared
with.

Where our operators differ from the thesis' algorithms, the formulas follow the operators: aggregation does
not touch the partial aggregates that an element overlaps, but opens and closes a segment at either end of it.
Two more departures: the values of a column that was joined are distributed as those that found a partner, so
that the size of a join does not depend on the order of joins below it; and a product with an infinite
validity on one side keeps that of the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from midstream.optimizer.statistics import Distribution, Sample, Statistics, StreamStatistics
from midstream.plans.expressions import (
    Col,
    Expression,
    column_equality,
    compile_row,
    compile_rows,
    conjuncts,
    equality,
)
from midstream.plans.logical import Aggregate, Distinct, Filter, Join, Project, Union
from midstream.plans.plan import Node, Plan
from midstream.plans.properties import input_nodes, join_keys, logical
from midstream.plans.schema import Schema


@dataclass(frozen=True, slots=True)
class UnitCosts:
    """What single steps cost, in microseconds of one CPython 3.11 core, roughly; only their ratios matter.

    The letters are those of the thesis' Tables 22.1 to 22.4.
    """

    predicate: float = 0.05
    """C_P: evaluate a predicate, or look at one candidate of a join."""
    function: float = 0.1
    """C_F: compute a payload."""
    create: float = 0.1
    """C_C: create an element."""
    output: float = 0.05
    """C_O: append a result to the output."""
    hash: float = 0.1
    """C_H: compute a key and hash it."""
    bucket: float = 0.2
    """C_B: put an element into a bucket, or take it out."""
    link: float = 0.2
    """C_L: put an element into the order of ends, or take it out."""
    remove: float = 0.05
    """C_R: ask whether an element has expired."""
    merge: float = 0.3
    """C_M: add a value to an aggregate, or take it out."""
    evaluate: float = 0.2
    """C_E: ask for an aggregate's value."""


@dataclass(frozen=True)
class ColumnFacts:
    """What is known of a column: the sample that it comes from, and how its values are distributed by now."""

    sample: Sample
    name: str
    joined: Distribution | None = None

    @property
    def distribution(self) -> Distribution:
        """How the values are distributed."""
        return self.joined if self.joined is not None else self.sample.distribution(self.name)


@dataclass(frozen=True)
class Estimate:
    """An operator's output, and what the operator costs.

    d, l, g    as in StreamStatistics
    cost       microseconds of processing per chronon
    state      elements kept
    """

    d: float
    l: float  # noqa: E741 - the model's own letter
    g: int
    cost: float
    state: float
    facts: Mapping[str, ColumnFacts]

    @property
    def rate(self) -> float:
        """Results per chronon."""
        return 1 / self.d if self.d else math.inf


@dataclass(frozen=True)
class PlanCost:
    """What a plan costs, in all and operator by operator."""

    operators: Mapping[Node, Estimate]

    @cached_property
    def total(self) -> float:
        """Microseconds of processing per chronon."""
        return math.fsum(estimate.cost for estimate in self.operators.values())

    @cached_property
    def state(self) -> float:
        """Elements kept."""
        return math.fsum(estimate.state for estimate in self.operators.values())


DEFAULT_EQUALITY = 0.1
"""The selectivity of an equality about which nothing is known."""
DEFAULT_OTHER = 1 / 3
"""The selectivity of any other condition about which nothing is known."""
PAIRS = 64
"""Conditions over two samples are tried on the pairs of this many rows of each."""


class CostModel:
    """Prices plans over the same inputs; what equal subplans cost is computed once."""

    def __init__(self, statistics: Statistics, units: UnitCosts | None = None) -> None:
        self._statistics = statistics
        self._units = units or UnitCosts()
        self._known: dict[Node, Estimate] = {}

    def price(self, plan: Plan) -> PlanCost:
        """The cost of a plan. Raises StatisticsError where an input is unknown."""
        inputs = input_nodes(plan)
        for node in inputs:
            if node not in self._known:
                self._known[node] = self._input(node, self._statistics.stream(node))
        fixed = {node for start in inputs for node in start.walk()}
        operators = {}
        for node in plan.nodes:
            if node not in fixed:
                if node not in self._known:
                    self._known[node] = self._estimate(node, [self._known[child] for child in node.inputs])
                operators[node] = self._known[node]
        return PlanCost(operators)

    def _input(self, node: Node, stream: StreamStatistics) -> Estimate:
        facts = {}
        for name in node.schema.names:
            known = self._statistics.distributions.get(name)
            if stream.sample is not None and stream.sample.rows:
                facts[name] = ColumnFacts(stream.sample, name, known)
            elif known is not None:
                facts[name] = ColumnFacts(Sample(node.schema, ()), name, known)
        return Estimate(stream.d, stream.l, stream.g, 0.0, 0.0, facts)

    def _estimate(self, node: Node, inputs: list[Estimate]) -> Estimate:
        match logical(node):
            case Filter(condition):
                return self._filter(condition, inputs[0])
            case Project(columns):
                return self._project(columns, node, inputs[0])
            case Union():
                return self._union(node, inputs)
            case Join(condition, columns):
                return self._join(condition, columns, node, inputs[0], inputs[1])
            case Distinct():
                return self._distinct(node, inputs[0])
            case Aggregate() as operator:
                return self._aggregate(operator, inputs[0])
        raise TypeError(f"no cost formula for {node.operator}")

    def _filter(self, condition: Expression, s: Estimate) -> Estimate:
        """(22.1), (22.13), (22.14)."""
        u = self._units
        selectivity = self._selectivity(conjuncts(condition), s.facts)
        d = s.d / selectivity if selectivity else math.inf
        return Estimate(
            d, s.l, s.g, u.predicate / s.d + u.output / d, 0.0, _filtered(s.facts, conjuncts(condition))
        )

    def _project(self, columns: tuple[tuple[str, Expression], ...], node: Node, s: Estimate) -> Estimate:
        """(22.2), (22.13), (22.15)."""
        u = self._units
        cost = (u.function + u.create + u.output) / s.d
        return replace(s, cost=cost, state=0.0, facts=_projected(columns, node, s.facts))

    def _union(self, node: Node, inputs: list[Estimate]) -> Estimate:
        """(22.3), (22.16), (22.17)."""
        rate = sum(s.rate for s in inputs)
        length = sum(s.rate * s.l for s in inputs) / rate if rate else 0.0
        g = max(s.g for s in inputs)
        return Estimate(_distance(rate), length, g, self._units.output * rate, 0.0, _united(node, inputs))

    def _join(
        self, condition: Expression, columns: tuple[str, ...], node: Node, s: Estimate, t: Estimate
    ) -> Estimate:
        """(22.4) with a selectivity; (22.18) to (22.23), by hashing where columns are equated, else by nested
        loops."""
        u = self._units
        keys, rest = join_keys(condition, node.inputs[0].schema, node.inputs[1].schema)
        facts = {**s.facts, **t.facts}
        matching = 1.0
        for left, right in keys:
            matching *= self._equality(left, right, facts)
            facts = _matched(left, right, facts)
        selectivity = matching * self._selectivity(conjuncts(rest), facts)
        overlapping = s.rate * t.rate * (s.l + t.l)
        candidates = overlapping * (matching if keys else 1.0)
        rate = selectivity * overlapping if selectivity else 0.0
        arrivals = s.rate + t.rate
        hashing = arrivals * (2 * u.hash + 2 * u.bucket) if keys else arrivals * 2 * u.bucket
        expiring = arrivals * 2 * (u.link + u.remove)
        cost = hashing + expiring + candidates * u.predicate + rate * (u.function + u.output)
        state = _kept(s, t) + _kept(t, s)
        chosen = {name: facts[name] for name in columns if name in facts}
        return Estimate(_distance(rate), _overlap(s.l, t.l), max(s.g, t.g), cost, state, chosen)

    def _distinct(self, node: Node, s: Estimate) -> Estimate:
        """(22.5), (22.24) to (22.29)."""
        u = self._units
        n = self._combinations(node.schema.names, s)
        if n * s.d <= s.l:
            length = n * s.d
            cost = (u.hash + u.predicate + u.bucket + u.link + u.create + 2 * u.output + u.remove) / s.d
        else:
            length = s.l
            cost = (u.hash + u.predicate + 2 * u.bucket + 2 * u.link + u.output + 2 * u.remove) / s.d
        state = s.l / s.d if s.rate else 0.0
        return Estimate(s.d, length, s.g, cost, state, s.facts)

    def _aggregate(self, operator: Aggregate, s: Estimate) -> Estimate:
        """(22.6), (22.7); the cost is that of our algorithm: two ends an element, each closing a segment."""
        u = self._units
        n = self._combinations(operator.keys, s) if operator.keys else 1
        d = length = math.inf
        if s.rate and n * s.d < s.l:
            length = _segment(s.g, s.l, n * s.d)
            d = length / n
        elif s.rate:
            d, length = s.d, s.l
        functions = len(operator.calls)
        per_element = u.hash + 2 * u.bucket + 2 * u.link + u.remove + 2 * functions * u.merge
        per_result = functions * u.evaluate + u.create + u.output
        cost = (per_element / s.d + per_result / d) if s.rate else 0.0
        state = s.l / s.d + n if s.rate else 0.0
        facts = {key: s.facts[key] for key in operator.keys if key in s.facts}
        return Estimate(d, length if s.rate else 0.0, s.g, cost, state, facts)

    def _combinations(self, columns: Iterable[str], s: Estimate) -> float:
        """n: how many different values some columns have together; as many as are valid at once where nothing
        is known."""
        by_sample: dict[int, list[ColumnFacts]] = {}
        for column in columns:
            if column not in s.facts:
                return max(1.0, s.l / s.d if s.rate else 1.0)
            facts = s.facts[column]
            by_sample.setdefault(id(facts.sample), []).append(facts)
        n = 1.0
        for group in by_sample.values():
            if len(group) == 1 or not group[0].sample.rows:
                for facts in group:
                    n *= max(1, len(facts.distribution))
            else:
                n *= group[0].sample.distinct([facts.name for facts in group])
        return n

    def _selectivity(self, parts: Iterable[Expression], facts: Mapping[str, ColumnFacts]) -> float:
        """Of several conditions together, as if they were independent."""
        return math.prod(self._part(part, facts) for part in parts)

    def _part(self, part: Expression, facts: Mapping[str, ColumnFacts]) -> float:
        known = self._statistics.selectivities.get(part)
        if known is not None:
            return known
        columns = column_equality(part)
        sampled = _sampled_selectivity(part, facts)
        if sampled is not None:
            return sampled
        return self._equality(*columns, facts) if columns else DEFAULT_OTHER

    def _equality(self, left: str, right: str, facts: Mapping[str, ColumnFacts]) -> float:
        known = self._statistics.selectivities.get(equality(left, right))
        if known is not None:
            return known
        if left in facts and right in facts:
            return _agreement(facts[left].distribution, facts[right].distribution)
        return DEFAULT_EQUALITY


def price(plan: Plan, statistics: Statistics, units: UnitCosts | None = None) -> PlanCost:
    """What a plan costs over given statistics."""
    return CostModel(statistics, units).price(plan)


def _distance(rate: float) -> float:
    return 1 / rate if rate else math.inf


def _overlap(one: float, other: float) -> float:
    """The average overlap of intervals of two lengths (22.4)."""
    if math.isinf(one) or math.isinf(other):
        return min(one, other)
    return one * other / (one + other) if one + other else 0.0


def _kept(s: Estimate, other: Estimate) -> float:
    """What a join keeps of one side (22.18)."""
    if not s.rate:
        return 0.0
    waiting = other.d / (2 * s.d) if other.rate else 0.0
    return s.l / s.d + waiting


def _segment(g: int, length: float, d: float) -> float:
    """The length of an aggregate's segments (22.6)."""
    if math.isinf(length):
        return d
    missed = (1 - g / length) ** (2 * length / d) if length > g else 0.0
    return g / (1 - missed)


def _agreement(one: Distribution, other: Distribution) -> float:
    """The probability that a value of one is equal to a value of the other."""
    small, large = (one, other) if len(one) <= len(other) else (other, one)
    return math.fsum(p * large[value] for value, p in small.items() if value in large)


def _matched(left: str, right: str, facts: Mapping[str, ColumnFacts]) -> dict[str, ColumnFacts]:
    """After two columns were found equal, both have the values that occur in both."""
    if left not in facts or right not in facts:
        return dict(facts)
    one, other = facts[left].distribution, facts[right].distribution
    total = _agreement(one, other)
    joint = {value: p * other[value] / total for value, p in one.items() if value in other} if total else {}
    # Columns that were found equal before share one distribution, and still do.
    return {
        name: replace(known, joined=joint)
        if name in (left, right)
        or (known.joined is not None and (known.joined is one or known.joined is other))
        else known
        for name, known in facts.items()
    }


def _one_sample(columns: Iterable[str], facts: Mapping[str, ColumnFacts]) -> Sample | None:
    """The sample that all columns come from, if it is one and has rows."""
    samples = {id(facts[c].sample): facts[c].sample for c in columns if c in facts}
    if len(samples) != 1 or any(c not in facts for c in columns):
        return None
    (sample,) = samples.values()
    return sample if sample.rows else None


def _sampled_selectivity(part: Expression, facts: Mapping[str, ColumnFacts]) -> float | None:
    """The share of sample rows, or of pairs of rows of two samples, that satisfy a condition; None where
    there is no sample."""
    columns = sorted(part.columns())
    names = {c: facts[c].name for c in columns if c in facts}
    if len(names) != len(columns) or not columns:
        return None
    samples = {id(facts[c].sample): facts[c].sample for c in columns}
    if any(not sample.rows for sample in samples.values()) or len(samples) > 2:
        return None
    if len(samples) == 1:
        (sample,) = samples.values()
        holds = compile_row(part.renamed(names), sample.schema)
        return sum(1 for row in sample.rows if holds(row)) / len(sample.rows)
    if column_equality(part):
        return None
    return _paired_selectivity(part, columns, facts)


def _paired_selectivity(part: Expression, columns: list[str], facts: Mapping[str, ColumnFacts]) -> float:
    first = facts[columns[0]].sample
    ours = [c for c in columns if facts[c].sample is first]
    theirs = [c for c in columns if facts[c].sample is not first]
    second = facts[theirs[0]].sample
    left, right = (_thinned(sample) for sample in (first, second))
    columns_of_pair = [replace(first.schema[facts[c].name], name=c) for c in ours]
    columns_of_pair += [replace(second.schema[facts[c].name], name=c) for c in theirs]
    holds = compile_row(part, Schema(tuple(columns_of_pair)))
    mine = compile_rows([Col(facts[c].name) for c in ours], first.schema)
    other = compile_rows([Col(facts[c].name) for c in theirs], second.schema)
    pairs = [mine(one) + other(two) for one, two in product(left, right)]
    return sum(1 for pair in pairs if holds(pair)) / len(pairs)


def _thinned(sample: Sample) -> list[object]:
    step = max(1, len(sample.rows) // PAIRS)
    return list(sample.rows[::step][:PAIRS])


def _filtered(facts: Mapping[str, ColumnFacts], parts: Iterable[Expression]) -> dict[str, ColumnFacts]:
    """Facts about the rows that satisfy conditions: each condition over one sample thins that sample."""
    result = dict(facts)
    for part in parts:
        columns = part.columns()
        sample = _one_sample(columns, result) if columns else None
        if sample is None:
            continue
        holds = compile_row(part.renamed({c: result[c].name for c in columns}), sample.schema)
        rows = [row for row in sample.rows if holds(row)]
        if rows:
            thinned = Sample(sample.schema, rows)
            result = {n: replace(f, sample=thinned) if f.sample is sample else f for n, f in result.items()}
    return result


def _projected(
    columns: tuple[tuple[str, Expression], ...], node: Node, facts: Mapping[str, ColumnFacts]
) -> dict[str, ColumnFacts]:
    """Facts about computed columns where all columns come from one sample, else about the columns that were
    kept."""
    read = frozenset().union(*(e.columns() for _, e in columns))
    sample = _one_sample(read, facts)
    unjoined = sample is not None and all(facts[c].joined is None for c in read)
    if sample is not None and unjoined:
        names = {c: facts[c].name for c in read}
        compute = compile_rows([e.renamed(names) for _, e in columns], sample.schema)
        mapped = Sample(node.schema, [compute(row) for row in sample.rows])
        return {name: ColumnFacts(mapped, name) for name, _ in columns}
    return {name: facts[e.name] for name, e in columns if isinstance(e, Col) and e.name in facts}


def _united(node: Node, inputs: list[Estimate]) -> dict[str, ColumnFacts]:
    """Facts about a union: the inputs' samples together, where each input is one sample."""
    names = node.schema.names
    samples = [_one_sample(names, s.facts) for s in inputs]
    if any(sample is None for sample in samples):
        return {}
    rows: list[object] = []
    for s, sample in zip(inputs, samples, strict=True):
        assert sample is not None
        pick = compile_rows([Col(s.facts[name].name) for name in names], sample.schema)
        rows += [pick(row) for row in sample.rows]
    united = Sample(node.schema, rows)
    return {name: ColumnFacts(united, name) for name in names}
