"""What is known of an implementation: how a logical operator can be run, and what that takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from midstream.plans.algebra.operators import Form, Logical
from midstream.plans.algebra.plan import Node


def always(node: Node) -> None:
    """No obstacle."""


@dataclass(frozen=True, slots=True)
class Implementation:
    """A way to run a logical operator. Its running class is in `operators`, bound to this fact.

    `obstacle` tells why it cannot run a node, logical or physical, or None where it can. `formula` is the
    name of its formulas of cost and state in the cost model. Where it `needs_chronons`, a split is put in
    front of it unless its input is a chronon stream anyway (thesis, 12.3.2 and 12.3.3). It `takes` and
    `gives` physical streams of one form or the other; converters are put between what does not fit.
    """

    name: str
    implements: type[Logical]
    formula: str
    obstacle: Callable[[Node], str | None] = always
    needs_chronons: bool = False
    takes: Form = "intervals"
    gives: Form = "intervals"
