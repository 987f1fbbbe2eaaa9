"""Counts and sums over a whole stream, estimated from a sample of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from midstream.plans.algebra.operators import (
    Aggregate,
    Arrangement,
    Counting,
    Distinct,
    Dstream,
    Filter,
    Granularity,
    Istream,
    Leaf,
    Project,
    Sample,
    TimeWindow,
    Union,
)
from midstream.plans.algebra.operators.sample import Weights
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.aggregates import AggregateCall, Estimate
from midstream.plans.expressions.expressions import Col
from midstream.plans.values.errors import PlanError
from midstream.plans.values.schema import unused

_REASONS: Mapping[type, str] = {
    Leaf: "write stream.sample(…) in Python, or stream SAMPLE(… %) in SQL",
    Counting: "the last rows of a sample are no sample of the last rows",
    Istream: "rows that come and go at one instant cancel each other in the stream, but not in its sample",
    Dstream: "rows that come and go at one instant cancel each other in the stream, but not in its sample",
    Distinct: "a row is there if any of its equals is drawn, and the more there are, the likelier it is",
    Aggregate: "a group is no row of the stream, and if none of its rows is drawn it is not there",
    Union: "scale each of its inputs by itself, and add the results",
}
"""By kind of operator, the reason why nothing above it can be scaled."""

_SEVERAL = "a row of its result needs rows of several streams, so that no share tells how many it stands for"


class Weighted(NamedTuple):
    """A subplan over a weighted sample, and the names of its weights."""

    node: Node
    weights: Weights


def scaled(
    node: Node, calls: Mapping[str, AggregateCall | Estimate]
) -> tuple[Node, tuple[tuple[str, AggregateCall], ...]]:
    """Aggregates over a subplan, with estimates as aggregates of weighted rows; the subplan has the weights.

    Raises   PlanError where the subplan is not of one sampled stream, row by row and in windows of time.

    >>> from midstream.plans.algebra.builder import stream
    >>> from midstream.plans.expressions.aggregates import count
    >>> rows, (number,) = scaled(stream("s", x="integer").sample(0.5).node, {"n": count().scaled()})
    >>> print(*number, rows.operator, *rows.schema.names, sep=" | ")
    n | scaled_sum((1, share)) | sample 50 % with weights | x | share | draw
    """
    if not any(isinstance(call, Estimate) for call in calls.values()):
        return node, tuple((name, call) for name, call in calls.items() if isinstance(call, AggregateCall))
    below, weights = weighted(node)
    made = (
        (name, call.over(*weights, node.schema) if isinstance(call, Estimate) else call)
        for name, call in calls.items()
    )
    return below, tuple(made)


def weighted(node: Node) -> Weighted:
    """A subplan with the weights of its sample behind its columns; raises PlanError where it has none."""
    operator = node.operator
    match operator:
        case Sample():
            names = operator.weights(node.inputs[0].schema)
            return Weighted(Node(replace(operator, weighted=True), node.inputs), names)
        case TimeWindow() | Granularity() | Filter() | Arrangement():
            below, names = weighted(node.inputs[0])
            return Weighted(node.with_inputs((below,)), names)
        case Project(columns):
            below, names = weighted(node.inputs[0])
            above = _unused(names, node.schema.names)
            more = tuple((new, Col(old)) for new, old in zip(above, names, strict=True))
            return Weighted(Node(replace(operator, columns=(*columns, *more)), (below,)), above)
    reason = next((text for kind, text in _REASONS.items() if isinstance(operator, kind)), _SEVERAL)
    raise PlanError(
        f"an estimate: found {operator}, expected filters, projections and time windows of one sampled "
        f"stream; {reason}"
    )


def _unused(names: Weights, taken: Iterable[str]) -> Weights:
    return Weights(*(unused(name, taken) for name in names))
