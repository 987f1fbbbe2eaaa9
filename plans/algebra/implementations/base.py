"""The facts of an implementation of a logical operator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from midstream.plans.algebra.operators import Form, Logical
from midstream.plans.algebra.plan import Node


def always(node: Node) -> None:
    """No obstacle."""


@dataclass(frozen=True, slots=True)
class Implementation:
    """An implementation of a logical operator; a running class in the operators room is bound to it.

    `obstacle` returns the reason why it cannot run a logical or physical node, or None if it can. `formula`
    names its formulas of cost and state in the cost model. It `takes` and `gives` physical streams of one
    form or the other; the planner puts converters between unequal forms. If it `needs_chronons`, a split is
    put in front of it unless its input, so converted, is a chronon stream (thesis, 12.3.2 and 12.3.3).
    """

    name: str
    implements: type[Logical]
    formula: str
    obstacle: Callable[[Node], str | None] = always
    needs_chronons: bool = False
    takes: Form = "intervals"
    gives: Form = "intervals"
