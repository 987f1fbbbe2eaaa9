"""Cost and state of implementations for signed streams.

The thesis has no formulas for them. An interval is two elements, and ours count both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from midstream.optimizer.cost.column_facts import combinations
from midstream.optimizer.cost.costing import Costing, PairCosting
from midstream.optimizer.cost.estimate import Estimate, Work, different, times
from midstream.optimizer.cost.steps import (
    exact_sums,
    functions_and_groups,
    held_up,
    ordered_result,
    pairs,
    result,
)
from midstream.plans.algebra.operators import Aggregate
from midstream.plans.expressions.aggregates import AggregateCall, UserAggregate


def signed_filter_work(costing: Costing, output: Estimate) -> Work:
    """As over intervals, for each sign."""
    u = costing.units
    asked = costing.inputs[0].rate * u.predicate * costing.evaluated
    return Work(2 * (asked + output.rate * u.output), 0.0)


def signed_map_work(costing: Costing, output: Estimate) -> Work:
    """As over intervals, for each sign."""
    u = costing.units
    return Work(2 * output.rate * (u.function * costing.evaluated + result(u)), 0.0)


def signed_union_work(costing: Costing, output: Estimate) -> Work:
    """As over intervals, for each sign."""
    return Work(2 * output.rate * (costing.units.queue + costing.units.output), 2 * sum(held_up(costing)))


def signed_hash_join(costing: PairCosting, output: Estimate) -> Work:
    """Each signed element is ordered among both inputs and hashed, changes a bucket, meets rows by key."""
    return _signed_join(costing, output, pairs(costing, costing.key_share))


def signed_nested_loops_join(costing: PairCosting, output: Estimate) -> Work:
    """A signed hash join with a single bucket: an element meets all valid rows of the other input."""
    return _signed_join(costing, output, pairs(costing))


def signed_matching(costing: Costing, output: Estimate) -> Work:
    """Semi-join and anti-join: each signed element changes how many matches the rows of its key have."""
    (s, t), u = costing.inputs, costing.units
    share = costing.key_share
    step = u.align + u.hash + u.group + u.bucket
    candidates = times(share, times(s.rate, t.valid) + times(t.rate, s.valid))
    cost = 2 * ((s.rate + t.rate) * step + candidates * u.predicate + output.rate * result(u))
    right = different(t.valid, combinations(costing.right_columns, t.facts))
    waiting = 2 * sum(held_up(costing))
    return Work(cost, _payloads(s) + right + waiting, second=right)


def signed_multisets_work(costing: Costing, output: Estimate) -> Work:
    """Each signed element is ordered among both inputs, and changes a count."""
    (s, t), u = costing.inputs, costing.units
    step = u.align + u.hash + u.group
    kept = different(s.valid + t.valid, combinations(costing.schemas[0].names, s.facts))
    cost = 2 * ((s.rate + t.rate) * step + output.rate * result(u))
    return Work(cost, kept + 2 * sum(held_up(costing)))


def signed_distinct_work(costing: Costing, output: Estimate) -> Work:
    """Each signed element changes a count; the first row of a kind and the last one are results."""
    (s,), u = costing.inputs, costing.units
    cost = 2 * (s.rate * (u.hash + u.bucket + u.predicate) + output.rate * u.output)
    return Work(cost, output.valid)


def signed_aggregate_work(costing: Costing, output: Estimate) -> Work:
    """Each signed element changes a group; a new value takes back the old one."""
    (s,), u = costing.inputs, costing.units
    functions, _ = functions_and_groups(costing)
    for_row, for_result = exact_sums(costing.node)
    step = u.hash + 2 * u.group + functions * u.merge + for_row * u.exact
    result = functions * u.evaluate + for_result * u.exact / 2 + ordered_result(u)
    rows = s.valid if any(map(_keeps_values, _calls(costing))) else 0.0
    # Elements of the current instant: of rows that come, one at least, and of rows that go.
    each = s.rate * s.g
    waiting = min(s.valid, each - each / math.expm1(-each)) if 0 < each < math.inf else 0.0
    return Work(2 * (s.rate * step + output.rate * result), rows + output.valid + waiting)


def _signed_join(costing: PairCosting, output: Estimate, pairs: float) -> Work:
    (s, t), u = costing.inputs, costing.units
    step = u.align + u.hash + u.bucket
    cost = 2 * ((s.rate + t.rate) * step + pairs * u.predicate + output.rate * (u.function + result(u)))
    mine, other = _payloads(s), _payloads(t)
    return Work(cost, mine + other + 2 * sum(held_up(costing)), second=other)


def _payloads(s: Estimate) -> float:
    """Number of distinct valid rows; equal rows are stored as a count."""
    return different(s.valid, combinations(s.facts, s.facts) if s.facts else math.inf)


def _calls(costing: Costing) -> Sequence[AggregateCall]:
    operator = costing.operator
    assert isinstance(operator, Aggregate)
    return [call for _, call in operator.calls]


def _keeps_values(call: AggregateCall) -> bool:
    """True if the state of an aggregate function grows with the number of values."""
    if isinstance(call.function, UserAggregate):
        return call.distinct or call.function.inverse is None
    return call.distinct or call.function in ("min", "max", "median", "top_k", "standard_error")
