"""The running operators of implementations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from midstream.operators.base.operator import Operator
from midstream.plans.algebra.implementations import Implementation
from midstream.plans.algebra.operators import Logical
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import logical

Make = Callable[[Node], Operator]
"""Builds the running operator of a physical node, whose inputs are physical too."""

Running = Mapping[Implementation, Make]
"""A table from implementations to running operators; every module with running operators ends in one."""

L = TypeVar("L", bound=Logical)


def operator_of(node: Node, kind: type[L]) -> L:
    """The logical operator of a node, of the kind that its implementation is for."""
    operator = logical(node)
    assert isinstance(operator, kind)
    return operator
