"""Counts the intermediate results by which policies are judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from itertools import chain

from midstream.engine import Engine, host_of
from midstream.migration.transition import Transition
from midstream.operators.base.operator import Operator
from midstream.operators.engine.guest import Guest
from midstream.plans.algebra.operators import Project
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import above, input_nodes, logical_node, logical_plan


def priced_nodes(plans: Iterable[Plan]) -> frozenset[Node]:
    """The subplans whose results are intermediate results: those above windows that only some plans have.

    Projections are left out, which pass on what has been counted, and what is the result but for projections.
    What all plans have in common costs the same whichever of them runs.

    >>> from midstream.plans.algebra.builder import stream
    >>> a, b, c = (stream(name, **{name: "integer"}).window(9) for name in "abc")
    >>> a = a.filter(a["a"] > 0)
    >>> one = a.join(b, on=[("a", "b")]).join(c, on=[("b", "c")]).select("a", "b", "c").plan()
    >>> other = b.join(c, on=[("b", "c")]).join(a, on=[("b", "a")]).select("a", "b", "c").plan()
    >>> sorted(str(node.operator) for node in priced_nodes([one, other]))
    ['join a = b', 'join b = c']
    """
    of_plans = [_inner(logical_plan(plan)) for plan in plans]
    common = frozenset.intersection(*of_plans) if len(of_plans) > 1 else frozenset[Node]()
    return frozenset[Node]().union(*of_plans) - common


def _inner(plan: Plan) -> frozenset[Node]:
    last = plan.root
    while isinstance(last.operator, Project):
        last = last.inputs[0]
    nodes = above(plan, input_nodes(plan))
    return frozenset(node for node in nodes if node != last and not isinstance(node.operator, Project))


class PricedResults:
    """Counts what operators gave that carry out some logical nodes, in all plans that ran on an engine."""

    def __init__(self, engine: Engine, nodes: Set[Node]) -> None:
        self._engine, self._nodes = engine, nodes
        self._seen: dict[int, Operator] = {}
        self.look()

    def look(self, migration: Transition | None = None) -> None:
        """Take note of the operators there are; must be called before a migration begins and after that."""
        if self._nodes:
            self._seen |= {id(operator): operator for operator in self._running(migration)}

    def total(self) -> int:
        """The count so far."""
        return sum(operator.emitted for operator in self._seen.values())

    def _running(self, migration: Transition | None) -> Iterator[Operator]:
        inside = () if migration is None else migration.operators()
        for node, operator in chain(host_of(self._engine).operators.items(), inside):
            if not isinstance(operator, Guest) and logical_node(node) in self._nodes:
                yield operator
