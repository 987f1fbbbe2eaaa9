"""Which running operator carries out an implementation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from midstream.operators.base.operator import Operator
from midstream.plans.algebra.implementations import Implementation
from midstream.plans.algebra.operators import Aggregate, CountWindow, Logical, Ties, TimeWindow
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import logical
from midstream.plans.expressions.aggregates import AggregateCall
from midstream.plans.values.schema import Schema

Make = Callable[[Node], Operator]
"""Builds the running operator of a physical node, whose inputs are physical too."""

Running = Mapping[Implementation, Make]
"""Every module with running operators ends in one."""

L = TypeVar("L", bound=Logical)


def operator_of(node: Node, kind: type[L]) -> L:
    """The logical operator that a node carries out, which is of the kind that its implementation is for."""
    operator = logical(node)
    assert isinstance(operator, kind)
    return operator


def aggregate_facts(node: Node) -> tuple[Sequence[str], list[AggregateCall], Schema]:
    """What an aggregation takes."""
    operator = operator_of(node, Aggregate)
    return operator.keys, [call for _, call in operator.calls], node.inputs[0].schema


def time_window_facts(node: Node) -> tuple[int | None, int]:
    """What a time window takes."""
    operator = operator_of(node, TimeWindow)
    return operator.size, operator.slide


def count_window_facts(node: Node) -> tuple[int | None, int, Ties]:
    """What a count window takes."""
    operator = operator_of(node, CountWindow)
    return operator.rows, operator.slide, operator.ties
