"""The parts of a logical operator that running operators need, on intervals and on signs alike."""

from __future__ import annotations

from collections.abc import Sequence

from midstream.operators.base.pairing import Pairing, equal_columns, pairing
from midstream.operators.base.running import operator_of
from midstream.plans.algebra.operators import (
    Aggregate,
    Bounds,
    CountWindow,
    Filter,
    Join,
    Project,
    Ties,
    TimeWindow,
)
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.aggregates import AggregateCall
from midstream.plans.expressions.expressions import Expression
from midstream.plans.values.schema import Schema


def filter_facts(node: Node) -> tuple[Expression, Schema]:
    """The condition and the input schema of a filter."""
    return operator_of(node, Filter).condition, node.inputs[0].schema


def map_facts(node: Node) -> tuple[list[Expression], Schema]:
    """The expressions and the input schema of a map."""
    columns = operator_of(node, Project).columns
    return [expression for _, expression in columns], node.inputs[0].schema


def equi_pairing(node: Node) -> tuple[list[int], list[int], Pairing]:
    """The equal columns of both sides of a join, and the pairing by the other part of its condition."""
    operator = operator_of(node, Join)
    left, right = (child.schema for child in node.inputs)
    mine, theirs, rest = equal_columns(operator.condition, left, right)
    return mine, theirs, pairing(rest, operator.columns, left, right)


def loop_pairing(node: Node) -> Pairing:
    """The pairing of a join by its whole condition."""
    operator = operator_of(node, Join)
    return pairing(operator.condition, operator.columns, *(child.schema for child in node.inputs))


def aggregate_facts(node: Node) -> tuple[Sequence[str], list[AggregateCall], Schema]:
    """The keys, the calls and the input schema of an aggregation."""
    operator = operator_of(node, Aggregate)
    return operator.keys, [call for _, call in operator.calls], node.inputs[0].schema


def time_window_facts(node: Node) -> tuple[int | None, int, Bounds | None]:
    """The size and the slide of a time window, in chronons, and the bounds of its size."""
    operator = operator_of(node, TimeWindow)
    return operator.size, operator.slide, operator.bounds


def count_window_facts(node: Node) -> tuple[int | None, int, Ties, Bounds | None]:
    """The rows, the slide, the treatment of ties and the bounds of a count window."""
    operator = operator_of(node, CountWindow)
    return operator.rows, operator.slide, operator.ties, operator.bounds
