"""Band and inequality joins of interval streams."""

from __future__ import annotations

from collections.abc import Sequence

from midstream.operators.base.pairing import Pairing, pairing
from midstream.operators.joins.ordered_sweeparea import OrderedSweepArea
from midstream.operators.joins.probes import SIDES, PortNames, Probe, generate
from midstream.operators.joins.sweep_join import SweepJoin
from midstream.plans.expressions.expressions import Bindings, Expression, Kind, compile_row
from midstream.plans.expressions.ranges import (
    Comparison,
    at_least,
    at_most,
    find_range,
    is_exact,
)
from midstream.plans.values.schema import Schema, Type
from midstream.plans.values.streams import FOREVER


class BandJoin(SweepJoin):
    """Pair the elements of two streams whose keys are in range of each other while both are valid.

        join(L, R)@t  =  { l ∘ r | l in L@t, r in R@t, low(r) <= key(l) <= high(r), condition(l, r) }

    Either end of the range may be open or missing: an inequality is a range with one end. A key that is None
    is in no range, as in SQL.

    Input, Output, State    as HashJoin
    Cost     O(log n + elements in range) per element; purging O(log n) per purged element.
    Source   thesis, Algorithm 6 with ordered SweepAreas; band joins are named in 11.3.2

    >>> from midstream.plans.expressions.operands import col
    >>> near = col("x").between(col("y") - 5, col("y") + 5).expression
    >>> join = BandJoin(near, ["x", "y"], Schema.of(x="integer"), Schema.of(y="integer"))
    >>> join.push(0, [(0, 9, (10,)), (0, 9, (20,))])
    []
    >>> join.push(1, [(0, 6, (14,))])
    [(0, 6, (10, 14))]
    """

    def __init__(
        self,
        condition: Expression,
        columns: Sequence[str],
        left: Schema,
        right: Schema,
    ) -> None:
        bounds = find_range(condition, left, right)
        assert bounds is not None, f"{condition} has no range"
        pairs = pairing(bounds.residual, columns, left, right)
        areas = [
            OrderedSweepArea(compile_row(key, schema))
            for key, schema in zip(bounds.keys, (left, right), strict=True)
        ]
        mirrored = [comparison.mirrored() for comparison in bounds.comparisons]
        probes = (
            _range_probe(SIDES[0], mirrored, pairs, right, left),
            _range_probe(SIDES[1], bounds.comparisons, pairs, left, right),
        )
        super().__init__((areas[0], areas[1]), probes)


def _range_probe(
    side: PortNames, comparisons: Sequence[Comparison], pairing: Pairing, kept: Schema, mine: Schema
) -> Probe:
    """A probe, with rows of `mine`, of an area of rows of `kept` in order of the comparisons' left key.

    An entry of the area is `(key, number, element)`, so the bound `(v,)` is below all entries of key v, and
    `(v, FOREVER)` above.
    """
    scope = Bindings(kept.concat(mine), {}, dict(pairing.names))
    guards: list[str] = []
    ends: dict[bool, list[str]] = {True: [], False: []}
    for number, comparison in enumerate(comparisons):
        bound, name = comparison.right.expression, f"bound{number}"
        of_row = scope.bind(compile_row(bound, mine))
        guards.append(f"for {name} in ({of_row}({side.mine}),){_is_known(name, bound.kind(mine))}")
        is_closed = comparison.operator in (">=", "<=")
        if comparison.left.shift and is_exact(comparison, scope.schema):
            name = f"{name} - {comparison.left.shift}"
        elif comparison.left.shift:
            widened = scope.bind(at_least if comparison.is_lower else at_most)
            name = f"{widened}({name}, {scope.bind(comparison.left.shift)})"
            is_closed = True
        is_above = is_closed != comparison.is_lower
        ends[comparison.is_lower].append(f"({name}, {scope.bind(FOREVER)})" if is_above else f"({name},)")
    lower, upper = _tightest("max", ends[True]), _tightest("min", ends[False])
    candidates = f"for _, _, (start2, end2, {side.theirs}) in among({lower}, {upper})"
    return generate(
        side,
        Pairing(pairing.condition, pairing.payload, scope.names),
        prepare="among = index.irange",
        candidates=" ".join([*guards, candidates]),
    )


def _tightest(function: str, ends: list[str]) -> str:
    if not ends:
        return "None"
    return ends[0] if len(ends) == 1 else f"{function}({', '.join(ends)})"


def _is_known(name: str, kind: Kind) -> str:
    """The conditions of a probe on a bound: NULL and NaN compare with nothing."""
    asks = [f"{name} is not None"] if kind.nullable else []
    asks += [f"{name} == {name}"] if kind.type is Type.FLOAT else []
    return f" if {' and '.join(asks)}" if asks else ""
