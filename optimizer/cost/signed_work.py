"""What implementations for signed streams do and keep. The thesis has no formulas for them; an interval is
two elements, and ours count both."""

from __future__ import annotations

from midstream.optimizer.cost.costing import Costing, PairCosting
from midstream.optimizer.cost.estimate import Estimate, Work, times
from midstream.optimizer.cost.steps import (
    functions_and_groups,
    held_up,
    ordered_result,
    pairs,
    result,
)


def signed_filter_work(costing: Costing, output: Estimate) -> Work:
    """As of intervals, of both signs."""
    u = costing.units
    return Work(2 * (costing.inputs[0].rate * u.predicate + output.rate * u.output), 0.0)


def signed_map_work(costing: Costing, output: Estimate) -> Work:
    """As of intervals, of both signs."""
    return Work(2 * output.rate * (costing.units.function + result(costing.units)), 0.0)


def signed_union_work(costing: Costing, output: Estimate) -> Work:
    """As of intervals, of both signs."""
    return Work(2 * output.rate * (costing.units.queue + costing.units.output), 2 * sum(held_up(costing)))


def signed_hash_join(costing: PairCosting, output: Estimate) -> Work:
    """Either sign is brought into the order of both inputs, hashed, and changes a bucket; it meets the rows
    of equal key."""
    return _signed_join(costing, output, pairs(costing, costing.key_share))


def signed_nested_loops_join(costing: PairCosting, output: Estimate) -> Work:
    """The same in one bucket: it meets all that is valid."""
    return _signed_join(costing, output, pairs(costing))


def signed_matching(costing: Costing, output: Estimate) -> Work:
    """Semi-join and anti-join: either sign changes how many matches the rows of its key have."""
    (s, t), u = costing.inputs, costing.units
    share = costing.key_share
    step = u.align + u.hash + u.group + u.bucket
    candidates = times(share, times(s.rate, t.valid) + times(t.rate, s.valid))
    cost = 2 * ((s.rate + t.rate) * step + candidates * u.predicate + output.rate * result(u))
    return Work(cost, s.valid + t.valid)


def signed_multisets_work(costing: Costing, output: Estimate) -> Work:
    """Either sign is brought into the order of both inputs, and changes a count."""
    (s, t), u = costing.inputs, costing.units
    step = u.align + u.hash + u.group
    return Work(2 * ((s.rate + t.rate) * step + output.rate * result(u)), s.valid + t.valid)


def signed_distinct_work(costing: Costing, output: Estimate) -> Work:
    """Either sign changes a count; the first row and the last one are results."""
    (s,), u = costing.inputs, costing.units
    return Work(2 * (s.rate * (u.hash + u.bucket + u.predicate) + output.rate * u.output), s.valid)


def signed_aggregate_work(costing: Costing, output: Estimate) -> Work:
    """Either sign changes a group; a new value takes back the old one."""
    (s,), u = costing.inputs, costing.units
    functions, n = functions_and_groups(costing)
    step = u.hash + 2 * u.group + functions * u.merge
    result = functions * u.evaluate + ordered_result(u)
    return Work(2 * (s.rate * step + output.rate * result), s.valid + min(n, s.valid))


def _signed_join(costing: PairCosting, output: Estimate, pairs: float) -> Work:
    (s, t), u = costing.inputs, costing.units
    step = u.align + u.hash + u.bucket
    cost = 2 * ((s.rate + t.rate) * step + pairs * u.predicate + output.rate * (u.function + result(u)))
    return Work(cost, s.valid + t.valid)
