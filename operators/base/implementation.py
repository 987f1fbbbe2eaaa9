"""How the tables say that an operator can be run: every module with running operators has one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from midstream.operators.base.operator import Operator
from midstream.plans.algebra.operators import Form, Logical
from midstream.plans.algebra.plan import Node


def always(node: Node) -> None:
    """No obstacle."""


@dataclass(frozen=True, slots=True)
class Implementation:
    """A way to run a logical operator.

    `make` builds the running operator of a physical node, whose inputs are physical too. `obstacle` tells
    why it cannot, or None where it can. Where `needs_chronons`, a split is put in front of it unless its
    input is a chronon stream anyway (thesis, 12.3.2 and 12.3.3). It `takes` and `gives` physical streams of
    one form or the other; converters are put between what does not fit.
    """

    name: str
    make: Callable[[Node], Operator]
    obstacle: Callable[[Node], str | None] = always
    needs_chronons: bool = False
    takes: Form = "intervals"
    gives: Form = "intervals"


Table = Mapping[type[Logical], tuple[Implementation, ...]]
"""The implementations of each logical operator, the preferred one first."""
