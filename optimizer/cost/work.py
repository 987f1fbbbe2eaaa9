"""Formulas of the thesis' cost model (22.3 and 22.4) for implementations, by the names that these use.

Each computes the processing cost per chronon and the elements in the state, from the characteristics of the
inputs and of the output. Where our operators differ from the thesis' algorithms, the formulas follow the
operators: aggregation does not touch the partial aggregates that an element overlaps, but opens and closes a
segment at either end of it; and putting results into the order of their starts is not free. The thesis has no
formulas for signed streams, where an interval is two elements; ours count both.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from midstream.optimizer.cost.column_facts import combinations
from midstream.optimizer.cost.comparisons import outliving
from midstream.optimizer.cost.costing import Costing, PairCosting
from midstream.optimizer.cost.estimate import Estimate, Work, different, times
from midstream.optimizer.cost.oldest import oldest_alone, oldest_group, oldest_of_equal_ages
from midstream.optimizer.cost.over_time_work import (
    change_work,
    coalesce_work,
    count_window_work,
    granularity_work,
    partitioned_window_work,
    sample_work,
    signed_count_window_work,
    signed_time_window_work,
    split_work,
    time_window_work,
    to_intervals_work,
    to_signs_work,
)
from midstream.optimizer.cost.partial_aggregates import partial_aggregates, rows_of_a_part
from midstream.optimizer.cost.signed_work import (
    signed_aggregate_work,
    signed_distinct_work,
    signed_filter_work,
    signed_hash_join,
    signed_map_work,
    signed_matching,
    signed_multisets_work,
    signed_nested_loops_join,
    signed_union_work,
)
from midstream.optimizer.cost.steps import (
    exact_sums,
    functions_and_groups,
    held_up,
    ordered_result,
    pairs,
    pairs_that_wait,
    result,
    swept,
)
from midstream.optimizer.cost.timing import later
from midstream.optimizer.cost.units import UnitCosts
from midstream.plans.algebra.operators import Aggregate

Formula = Callable[[Costing, Estimate], Work]
"""Computes the work of an implementation, from an operator to price and its output."""

PairFormula = Callable[[PairCosting, Estimate], Work]
"""Computes the work of an implementation of a join, from its inputs and its output."""


def filter_work(costing: Costing, output: Estimate) -> Work:
    """(22.13), (22.14): a predicate for each row."""
    u = costing.units
    return Work(costing.inputs[0].rate * u.predicate * costing.evaluated + output.rate * u.output, 0.0)


def map_work(costing: Costing, output: Estimate) -> Work:
    """(22.13), (22.15): a function for each row."""
    u = costing.units
    return Work(output.rate * (u.function * costing.evaluated + u.create + u.output), 0.0)


def union_work(costing: Costing, output: Estimate) -> Work:
    """(22.16), (22.17): each element is put into the order of starts and waits for the other inputs."""
    waiting = math.fsum(held_up(costing))
    return Work(output.rate * (costing.units.queue + costing.units.output), waiting, waiting)


def hash_join(costing: PairCosting, output: Estimate) -> Work:
    """(22.18) to (22.23): hash to insert and to probe; only rows of equal keys are compared."""
    return _sweep_join(costing, output, 2 * _hashed(costing.units), pairs(costing, costing.key_share))


def nested_loops_join(costing: PairCosting, output: Estimate) -> Work:
    """A join with lists: all overlapping rows are compared."""
    return _sweep_join(costing, output, 2 * _listed(costing.units), pairs(costing))


def band_join(costing: PairCosting, output: Estimate) -> Work:
    """A join with areas ordered by a key: insertion, probing and purging each take a binary search.

    Only rows in the range are compared.
    """
    s, t = costing.inputs
    size = max(2.0, min(s.valid + t.valid, 2.0**64) / 2)
    step = 3 * costing.units.place * math.log2(size) + 2 * costing.units.link + 2 * costing.units.remove
    return _sweep_join(costing, output, step, pairs(costing, costing.range_share))


def least_join_step(u: UnitCosts) -> float:
    """The least microseconds that an element costs a join, by any implementation."""
    return 2 * (u.link + u.remove) * min(u.factors.get(name, 1.0) for name in JOINS)


def hash_list_join(costing: PairCosting, output: Estimate) -> Work:
    """The left side in a hash table, the right side in a list: a left row is compared with all right rows."""
    return _mixed_join(costing, output, *costing.inputs)


def list_hash_join(costing: PairCosting, output: Estimate) -> Work:
    """The left side in a list, the right side in a hash table."""
    s, t = costing.inputs
    return _mixed_join(costing, output, t, s)


def hash_join_queued(costing: PairCosting, output: Estimate) -> Work:
    """A hash join whose inputs wait in queues."""
    return _queued_join(costing, output, 2 * _hashed(costing.units), pairs(costing, costing.key_share))


def nested_loops_join_queued(costing: PairCosting, output: Estimate) -> Work:
    """A nested-loops join whose inputs wait in queues."""
    return _queued_join(costing, output, 2 * _listed(costing.units), pairs(costing))


def hash_semi_join(costing: Costing, output: Estimate) -> Work:
    """Left rows that outlive the match known at their arrival are kept, and the keys of right rows."""
    return _semi_join(costing, output, True)


def nested_loops_semi_join(costing: Costing, output: Estimate) -> Work:
    """A semi-join by nested loops; it keeps whole right rows."""
    return _semi_join(costing, output, False)


def hash_anti_join(costing: Costing, output: Estimate) -> Work:
    """All left rows are kept, the keys of right rows, and results behind the oldest open one."""
    return _anti_join(costing, output, True)


def nested_loops_anti_join(costing: Costing, output: Estimate) -> Work:
    """An anti-join by nested loops; it keeps whole right rows."""
    return _anti_join(costing, output, False)


def max_union_work(costing: Costing, output: Estimate) -> Work:
    """As a difference of the right rows, behind which all left rows wait as well."""
    return _multisets(costing, output, 1)


def multisets_work(costing: Costing, output: Estimate) -> Work:
    """Difference, strict difference and intersection."""
    return _multisets(costing, output, 0)


def _multisets(costing: Costing, output: Estimate, carrier: int) -> Work:
    """Each element looks up a count and changes it at both of its ends.

    A result waits for the oldest open one, which is no older than elements of the carrying side are valid.
    """
    (s, t), u = costing.inputs, costing.units
    step = u.hash + u.group + 2 * u.link + 2 * u.remove
    held, later_one = held_up(costing), later((s.lag, t.lag))
    carried = costing.inputs[carrier]
    open_results = output.valid if carrier == 0 else max(0.0, output.valid - s.valid)
    waiting = times(output.rate, oldest_of_equal_ages(open_results, carried.l))
    kept = swept(s, later_one - _waited(held[0], s)) + swept(t, later_one - _waited(held[1], t))
    return Work(
        (s.rate + t.rate) * step + output.rate * ordered_result(u),
        kept + sum(held) + waiting,
        waiting,
        held[1] + swept(t, later_one - _waited(held[1], t)),
    )


def _waited(held: float, s: Estimate) -> float:
    return held / s.rate if 0 < s.rate < math.inf else 0.0


def distinct_work(costing: Costing, output: Estimate) -> Work:
    """(22.24) to (22.29): the steps for an element depend on whether an equal one is valid.

    With n distinct rows, an equal one is valid with the probability 1 - e^(-valid/n).
    """
    (s,), u = costing.inputs, costing.units
    n = costing.kinds(costing.node.schema.names)
    equal_one_there = _one_is_there(s, n)
    step = 2 * u.hash + u.predicate + u.bucket + 2 * u.link + 2 * u.remove + u.output
    step += equal_one_there * (u.create + 2 * u.queue) + (1 - equal_one_there) * u.bucket
    return Work(s.rate * step, s.valid)


def _one_is_there(s: Estimate, kinds: float) -> float:
    """The probability that a row of a kind is valid when another one comes."""
    return -math.expm1(-s.valid / kinds) if s.valid < math.inf else float(kinds < math.inf)


def aggregate_work(costing: Costing, output: Estimate) -> Work:
    """The work of our algorithm: an element has two ends, and each closes a segment.

    The state of a function changes at either end, but `count()` has none: rows are counted anyhow. Sums of
    floats are exact, which takes a row several times as long as the rest. For min
    and max, a value is put among the candidates, and taken out when it ends or a better one comes. Rows that
    leave together are put into the state once, and are merged. The first row of a group opens it, and the
    last one drops it. With keys, the group of a row has to be found, and
    segments wait for those of other groups; without keys there is at most one group, found at once.
    """
    (s,), u, operator = costing.inputs, costing.units, costing.operator
    assert isinstance(operator, Aggregate)
    functions, n = functions_and_groups(costing)
    values = sum(1 for _, call in operator.calls if call.argument is not None)
    extremes = sum(1 for _, call in operator.calls if call.function in ("min", "max"))
    step = 2 * values * u.merge + 2 * (u.link + u.remove + extremes * u.bucket) / rows_of_a_part(costing)
    step += (1 - _one_is_there(s, n)) * u.group
    for_row, for_result = exact_sums(costing.node)
    step += 2 * for_row * u.exact
    cost = s.rate * step + output.rate * (functions * u.evaluate + for_result * u.exact + result(u))
    if operator.keys:
        cost += s.rate * u.hash + output.rate * u.queue
    kept = partial_aggregates(costing)
    if n == 1:
        return Work(cost, kept + output.valid, output.valid)
    each = s.rate / n if n and math.isfinite(n) else 0.0
    waiting = max(output.valid, times(output.rate, oldest_group(n, each, s.l)))
    return Work(cost, kept + waiting, waiting)


C = TypeVar("C", bound=PairCosting | Costing)


def _with_factor(name: str, formula: Callable[[C, Estimate], Work]) -> Callable[[C, Estimate], Work]:
    """A formula, multiplied by the measured factor of its name."""

    def work(costing: C, output: Estimate) -> Work:
        found = formula(costing, output)
        factors = costing.units.factors
        return found._replace(cost=times(found.cost, factors.get(name, 1.0))) if factors else found

    return work


_JOINS: dict[str, PairFormula] = {
    "hash_join": hash_join,
    "band_join": band_join,
    "nested_loops_join": nested_loops_join,
    "hash_list_join": hash_list_join,
    "list_hash_join": list_hash_join,
    "hash_join_queued": hash_join_queued,
    "nested_loops_join_queued": nested_loops_join_queued,
    "signed_hash_join": signed_hash_join,
    "signed_nested_loops_join": signed_nested_loops_join,
}

JOINS = {name: _with_factor(name, formula) for name, formula in _JOINS.items()}
"""Formulas of joins by name."""

_OTHERS: dict[str, Formula] = {
    "filter": filter_work,
    "map": map_work,
    "union": union_work,
    "hash_semi_join": hash_semi_join,
    "nested_loops_semi_join": nested_loops_semi_join,
    "hash_anti_join": hash_anti_join,
    "nested_loops_anti_join": nested_loops_anti_join,
    "multisets": multisets_work,
    "max_union": max_union_work,
    "distinct": distinct_work,
    "aggregate": aggregate_work,
    "time_window": time_window_work,
    "count_window": count_window_work,
    "partitioned_window": partitioned_window_work,
    "sample": sample_work,
    "granularity": granularity_work,
    "istream": change_work,
    "dstream": change_work,
    "split": split_work,
    "coalesce": coalesce_work,
    "to_signs": to_signs_work,
    "to_intervals": to_intervals_work,
    "signed_time_window": signed_time_window_work,
    "signed_count_window": signed_count_window_work,
    "signed_filter": signed_filter_work,
    "signed_map": signed_map_work,
    "signed_union": signed_union_work,
    "signed_matching": signed_matching,
    "signed_multisets": signed_multisets_work,
    "signed_distinct": signed_distinct_work,
    "signed_aggregate": signed_aggregate_work,
}

WORK: dict[str, Formula] = {**JOINS, **{name: _with_factor(name, one) for name, one in _OTHERS.items()}}


def _hashed(u: UnitCosts) -> float:
    """Half the microseconds that an element costs in a hash table with the order of ends."""
    return u.hash + _listed(u)


def _listed(u: UnitCosts) -> float:
    """Half the microseconds that an element costs in a list with the order of ends."""
    return u.bucket + u.link + u.remove


def _sweep_join(costing: PairCosting, output: Estimate, step: float, candidates: float) -> Work:
    """A join with SweepAreas: `step` for each element, and costs for each compared pair and each result."""
    (s, t), u = costing.inputs, costing.units
    cost = (s.rate + t.rate) * step + candidates * u.predicate
    mine, other, waiting = swept(s, t.lag), swept(t, s.lag), pairs_that_wait(costing, output)
    cost += output.rate * (u.function + ordered_result(u))
    return Work(cost, mine + other + waiting, waiting, other)


def _queued_join(costing: PairCosting, output: Estimate, step: float, candidates: float) -> Work:
    """A join whose elements wait and are brought into the order of both inputs.

    Results need not be ordered, which saves a third of the queue step, as measured.
    """
    (s, t), u = costing.inputs, costing.units
    cost = (s.rate + t.rate) * (step + 2 * u.queue + u.align) + candidates * u.predicate
    mine, other = swept(s, t.lag), swept(t, s.lag)
    cost += output.rate * (u.function + result(u) + 2 / 3 * u.queue)
    return Work(cost, mine + other, second=other)


def _mixed_join(costing: PairCosting, output: Estimate, hashed: Estimate, listed: Estimate) -> Work:
    """A join with one side in a hash table and the other in a list."""
    u = costing.units
    share = costing.key_share
    candidates = times(hashed.rate, listed.valid) + times(share, listed.rate, hashed.valid)
    # The hashed side hashes to insert, the other one to probe.
    return _sweep_join(costing, output, u.hash + 2 * _listed(u), candidates)


def _matching_cost(costing: Costing, output: Estimate, is_hashed: bool) -> float:
    """Cost of a semi-join or anti-join; by hashing, only matching rows are compared."""
    (s, t), u = costing.inputs, costing.units
    step = 2 * (_hashed(u) if is_hashed else _listed(u))
    share = costing.satisfying(costing.conditions)[0] if is_hashed else 1.0
    candidates = times(s.rate, times(share, t.valid)) + times(t.rate, share, s.valid)
    return (s.rate + t.rate) * step + candidates * u.predicate + output.rate * ordered_result(u)


def _right_rows(costing: Costing, is_hashed: bool) -> float:
    """Elements of the right side in the state of a semi-join or anti-join, and those that wait.

    If the condition consists of equalities only and is hashed, these are keys, else rows.
    """
    t = costing.inputs[1]
    rows = swept(t, t.lag)
    if is_hashed and costing.asks_for_equality_only:
        rows = different(rows, combinations(costing.right_columns, t.facts))
    return rows + sum(held_up(costing))


def _semi_join(costing: Costing, output: Estimate, is_hashed: bool) -> Work:
    s, t = costing.inputs
    by_key = is_hashed and costing.asks_for_equality_only
    right = _right_rows(costing, is_hashed)
    kept = times(swept(s, s.lag), outliving(costing.shares_of_left_rows, s, t, by_key=by_key))
    return Work(_matching_cost(costing, output, is_hashed), kept + right, second=right)


def _anti_join(costing: Costing, output: Estimate, is_hashed: bool) -> Work:
    s, t = costing.inputs
    of = costing.matches
    rate = of.begun / of.absent if of.absent else math.inf
    age = oldest_alone(s.rate, s.l, of.absent, rate) if math.isfinite(rate) else 0.0
    right = _right_rows(costing, is_hashed)
    waiting = max(output.valid, times(output.rate, age + later((s.lag, t.lag))))
    cost = _matching_cost(costing, output, is_hashed)
    return Work(cost, swept(s, s.lag) + right + waiting, waiting, right)
