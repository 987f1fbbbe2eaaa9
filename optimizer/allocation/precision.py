"""The precision of results where windows, granules and samples are below their best (STREAM, 5.1).

    (false positives, false negatives)

are the share of a stream's rows that are wrong, and the share of the right rows that are missing, snapshot by
snapshot and on the average. Right are the rows of the same plan with the best setting of every lever. Each
operator has a formula from the precision of its inputs; errors of several inputs are presumed independent.
The errors of an aggregation are those of the rows that it aggregates, as nearly every value differs a little
where rows are missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from midstream.optimizer.cost.column_facts import combinations
from midstream.optimizer.cost.comparisons import in_common
from midstream.optimizer.cost.costing import Costing
from midstream.optimizer.cost.estimate import Estimate, different, times
from midstream.optimizer.cost.selectivity import Shares
from midstream.plans.algebra.operators import Adjustable, Granularity, Logical, Matching


class Precision(NamedTuple):
    """The errors of a stream.

    false     the probability that a row is wrong
    missing   the probability that a right row is missing
    """

    false: float = 0.0
    missing: float = 0.0

    @property
    def share(self) -> float:
        """The precision as one number: the share of right rows that are there, times that of right ones."""
        return (1 - self.false) * (1 - self.missing)


EXACT = Precision()


class Point(NamedTuple):
    """An operator at one setting, beside its best setting.

    operator     the operator with this setting
    best         the operator with its best setting
    inputs       the errors of its inputs
    arriving     the estimates of its inputs at this setting
    output       the estimate of its output at this setting
    costing      the operator over inputs at their best settings: the values in columns do not depend on these
    """

    operator: Logical
    best: Logical
    inputs: Sequence[Precision]
    arriving: Sequence[Estimate]
    output: Estimate
    costing: Costing


class RowCounts(NamedTuple):
    """The valid rows of a stream, on the average.

    shown   those that are there, right or wrong
    right   the right ones of these
    due     the right ones, with those that are missing
    """

    shown: float
    right: float
    due: float


def rows_of(s: Estimate, errors: Precision) -> RowCounts:
    """The rows of a stream with some errors."""
    right = times(s.valid, 1 - errors.false)
    return RowCounts(s.valid, right, right / (1 - errors.missing) if errors.missing < 1 else math.inf)


def errors_of(rows: RowCounts, otherwise: Precision) -> Precision:
    """The errors of some rows; others where their numbers tell nothing."""
    shown, right, due = rows
    return Precision(
        min(1.0, max(0.0, 1 - right / shown)) if 0 < shown < math.inf else otherwise.false,
        min(1.0, max(0.0, 1 - right / due)) if 0 < due < math.inf else otherwise.missing,
    )


Formula = Callable[[Point], Precision]


def same(at: Point) -> Precision:
    """The errors of the only input: each result stems from one row, or from the rows of a group."""
    return at.inputs[0]


def with_missing(errors: Precision, missing: float) -> Precision:
    """Errors of which a further share of the right rows is missing."""
    return errors._replace(missing=1 - (1 - errors.missing) * (1 - missing))


def smaller(at: Point) -> Precision:
    """A window or a sample: the rows are missing by which it is smaller than the best."""
    assert isinstance(at.operator, Adjustable) and isinstance(at.best, Adjustable)
    if at.operator.setting is None:
        return at.inputs[0]
    return with_missing(at.inputs[0], 1 - at.operator.setting / at.best.setting)


def coarser(at: Point) -> Precision:
    """A granularity conversion: rows come and go later, on the average by half of what is added.

        late = (g - finest) / 2

    Rows that are valid for l chronons, of L with the best window below, are wrong in the last l + late - L of
    these, and min(l, L - late) of L are right.
    """
    assert isinstance(at.operator, Granularity) and isinstance(at.best, Granularity)
    (errors,), (s,) = at.inputs, at.arriving
    late = (at.operator.granule - at.best.granule) / 2
    if not late or not s.l or math.isinf(s.l):
        return errors
    if errors.missing == 1:
        return Precision(1.0, 1.0)
    best = s.l / (1 - errors.missing)
    false = min(1.0, max(0.0, s.l + late - best) / s.l)
    right = max(0.0, min(s.l, best - late)) / best
    return Precision(1 - (1 - errors.false) * (1 - false), 1 - right)


def union(at: Point) -> Precision:
    """The errors of the inputs, each with the weight of its rows."""
    valid = [s.valid for s in at.arriving]
    total = math.fsum(valid)
    if not 0 < total < math.inf:
        return Precision(*(max(column) for column in zip(*at.inputs, strict=True)))
    weights = [v / total for v in valid]
    return Precision(
        math.fsum(w * one.false for w, one in zip(weights, at.inputs, strict=True)),
        math.fsum(w * one.missing for w, one in zip(weights, at.inputs, strict=True)),
    )


def together(at: Point) -> Precision:
    """A result is right if both halves are, and there if both are."""
    false, missing = 1.0, 1.0
    for one in at.inputs:
        false *= 1 - one.false
        missing *= 1 - one.missing
    return Precision(1 - false, 1 - missing)


def distinct(at: Point) -> Precision:
    """A row is missing if all that are equal to it are; their number has a Poisson distribution."""
    (errors,), (s,) = at.inputs, at.arriving
    kinds = combinations(at.output.facts, at.output.facts) if at.output.facts else math.inf
    return errors_of(RowCounts(*(different(rows, kinds) for rows in rows_of(s, errors))), errors)


def intersection(at: Point) -> Precision:
    """The smaller number of each kind of rows, of Poisson distributions.

    Fewer rows on one side cost little where it has more than the other side.
    """
    otherwise = together(at)
    kinds = at.costing.kinds(at.costing.node.schema.names)
    if not 0 < kinds < math.inf:
        return otherwise
    left, right = map(rows_of, at.arriving, at.inputs)
    pairs = zip(left, right, strict=True)
    common = RowCounts(*(times(kinds, in_common(mine / kinds, theirs / kinds)) for mine, theirs in pairs))
    return errors_of(common, otherwise)


def semi_join(at: Point) -> Precision:
    """A left row stays while one of its matches is there; their number has a Poisson distribution."""
    left, right = map(rows_of, at.arriving, at.inputs)
    matched = (-math.fsum(times(w, math.expm1(-times(share, n))) for w, share in _shares(at)) for n in right)
    return errors_of(RowCounts(*map(times, left, matched)), together(at))


def anti_join(at: Point) -> Precision:
    """A left row whose only matches are missing is wrong; one that a wrong row matches is missing.

    The number of matches has a Poisson distribution. A right row that comes out has neither right nor wrong
    matches.
    """
    left, right = map(rows_of, at.arriving, at.inputs)
    matches = right._replace(right=right.due + times(right.shown, at.inputs[1].false))
    alone = (math.fsum(times(w, math.exp(-times(share, n))) for w, share in _shares(at)) for n in matches)
    return errors_of(RowCounts(*map(times, left, alone)), without(at))


def _shares(at: Point) -> Shares:
    """The shares of right rows that left rows match, or that equal them."""
    if isinstance(at.operator, Matching):
        return at.costing.shares_of_left_rows
    kinds = at.costing.kinds(at.costing.node.schema.names)
    return [(1.0, 1 / kinds if kinds else 0.0)]


def without(at: Point) -> Precision:
    """A difference: a row that misses its partner on the right is wrong.

    A share ρ of the left rows has a partner, and does not come out. It does where the partner is missing. Of
    the others, some do not come out as a wrong row is taken for a partner.
    """
    (left, right), (s, _) = at.inputs, at.arriving
    removed = 1 - min(1.0, at.output.valid / s.valid) if 0 < s.valid < math.inf else 0.0
    there = (1 - left.missing) * (1 - removed * right.false)
    shown = (1 - removed) * there
    wrong = (1 - left.missing) * removed * right.missing
    if left.false < 1:
        wrong += shown * left.false / (1 - left.false)
    return Precision(wrong / (shown + wrong) if wrong else 0.0, 1 - there)


FORMULAS: dict[str, Formula] = {
    **dict.fromkeys(("filter", "project", "aggregate", "split", "coalesce", "convert"), same),
    **dict.fromkeys(("istream", "dstream"), same),
    **dict.fromkeys(("time_window", "count_window", "partitioned_window", "sample"), smaller),
    "granularity": coarser,
    **dict.fromkeys(("union", "max_union"), union),
    "join": together,
    "semi_join": semi_join,
    "intersection": intersection,
    "distinct": distinct,
    "difference": without,
    **dict.fromkeys(("strict_difference", "anti_join"), anti_join),
}
"""The formulas of operators by their names in the cost model."""
