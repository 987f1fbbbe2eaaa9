"""Statistics of several parts of streams, or of several studies, merged into one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from midstream.optimizer.cost.estimate import inverse
from midstream.optimizer.cost.mapped_facts import mixed
from midstream.optimizer.statistics import Distribution, Sample, Statistics, StreamStatistics
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Expression
from midstream.plans.values.errors import StatisticsError

Weighed = Sequence[tuple[float, StreamStatistics]]
"""Statistics of a stream, each with its weight: elements per chronon, or the rows of a relation."""


def together(parts: Sequence[Statistics]) -> Statistics:
    """The statistics of streams whose parts came at the same time, as from several partitions.

    Rates add up; shares and lengths are averages, weighted by rates.

    >>> import midstream as ms
    >>> s = ms.stream("s", x="integer").node
    >>> east, west = (Statistics({s: StreamStatistics(d=d, l=1.0)}) for d in (10.0, 40.0))
    >>> together([east, west]).streams[s].d
    8.0
    """
    return _merged(parts, [1.0] * len(parts))


def averaged(studies: Sequence[Statistics], weights: Sequence[float] | None = None) -> Statistics:
    """The statistics of streams that several studies observed, one after the other: rates are averages too.

    A study counts by its weight, such as its duration; by default all have the same weight.

    >>> import midstream as ms
    >>> s = ms.stream("s", x="integer").node
    >>> monday, tuesday = (Statistics({s: StreamStatistics(d=d, l=1.0)}) for d in (10.0, 40.0))
    >>> averaged([monday, tuesday]).streams[s].d
    16.0
    """
    found = [1.0] * len(studies) if weights is None else list(weights)
    if len(found) != len(studies) or not all(0 < weight < math.inf for weight in found):
        raise StatisticsError(f"found weights {found}, expected a positive one for each of {len(studies)}")
    total = math.fsum(found)
    return _merged(studies, [weight / total for weight in found], is_average=True)


def _merged(known: Sequence[Statistics], weights: Sequence[float], is_average: bool = False) -> Statistics:
    if not known:
        raise StatisticsError("found no statistics to be merged, expected some")
    streams: dict[Node, StreamStatistics] = {}
    for node in dict.fromkeys(node for one in known for node in one.streams):
        of_node = [
            (weight, one.streams[node])
            for weight, one in zip(weights, known, strict=True)
            if node in one.streams
        ]
        # A study that did not observe a stream tells nothing about its rate.
        scale = math.fsum(weight for weight, _ in of_node) if is_average else 1.0
        streams[node] = _stream([(weight / scale * _amount(one), one) for weight, one in of_node])
    return Statistics(
        streams,
        _selectivities(known, weights),
        _average_by_column([(weight, one.distributions) for weight, one in zip(weights, known, strict=True)]),
    )


def _amount(one: StreamStatistics) -> float:
    """Elements per chronon, or the rows of a constant relation."""
    return one.rate or one.always


def _stream(parts: Weighed) -> StreamStatistics:
    first = parts[0][1]
    total = math.fsum(amount for amount, _ in parts)
    if len(parts) == 1 and total == _amount(first):
        return first
    is_constant = not any(one.rate for _, one in parts)
    coming = [(amount, one) for amount, one in parts if one.rate]
    rate = math.fsum(amount for amount, _ in coming)
    return StreamStatistics(
        d=inverse(rate),
        l=first.l if is_constant else math.fsum(amount / rate * one.l for amount, one in coming),
        g=math.gcd(*(one.g for _, one in parts)),
        sample=_sample([(amount, one.sample) for amount, one in parts if one.sample is not None]),
        always=total if is_constant else math.fsum(one.always for _, one in parts),
        even=len(parts) == 1 and first.even,
        distributions=_average_by_column([(amount, one.distributions) for amount, one in parts]),
    )


def _sample(parts: Sequence[tuple[float, Sample]]) -> Sample | None:
    parts = [(weight, sample) for weight, sample in parts if weight and sample.rows]
    return mixed(parts[0][1].schema, parts) if parts else None


def _average_by_column(parts: Sequence[tuple[float, Mapping[str, Distribution]]]) -> dict[str, Distribution]:
    columns = dict.fromkeys(column for _, of in parts for column in of)
    return {
        column: _average([(weight, of[column]) for weight, of in parts if column in of]) for column in columns
    }


def _average(parts: Sequence[tuple[float, Mapping[Any, float]]]) -> dict[Any, float]:
    """The weighted average of shares."""
    total = math.fsum(weight for weight, _ in parts)
    found: dict[Any, float] = {}
    for weight, shares in parts:
        for value, share in shares.items():
            found[value] = found.get(value, 0.0) + (weight / total * share if total else 0.0)
    return found


def _selectivities(known: Sequence[Statistics], weights: Sequence[float]) -> dict[Expression, float]:
    """The share of rows, or of pairs of rows, that satisfy a condition, weighted by their number."""
    found: dict[Expression, float] = {}
    for condition in dict.fromkeys(condition for one in known for condition in one.selectivities):
        parts = [
            (weight * _asked(condition, one), one.selectivities[condition])
            for weight, one in zip(weights, known, strict=True)
            if condition in one.selectivities
        ]
        total = math.fsum(weight for weight, _ in parts)
        found[condition] = (
            math.fsum(weight * share for weight, share in parts) / total
            if total
            else math.fsum(share for _, share in parts) / len(parts)
        )
    return found


def _asked(condition: Expression, known: Statistics) -> float:
    """Number of rows, or of pairs of rows, that a condition is evaluated on in a chronon, up to a factor.

    It is the product of the rates of the streams that have some of its columns.
    """
    columns = condition.columns()
    return math.prod(
        _amount(one) for node, one in known.streams.items() if columns & frozenset(node.schema.names)
    )
