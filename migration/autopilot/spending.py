"""What a query costs, by counting: the intermediate results of all plans that run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from midstream.migration.transition import Transition
from midstream.operators.base.operator import Operator
from midstream.operators.engine.guest import Guest
from midstream.operators.engine.host import Host
from midstream.operators.engine.queries import RunningQuery, lowest
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import above, logical_node


class Spending:
    """Counts what operators above a query's windows give, but for those that give its results.

    During a migration that is what both plans give. To be asked before a migration begins, right afterwards,
    and when it has ended: else something is missed.

    Cost     O(operators of the query) each time that it is asked.
    """

    def __init__(self, host: Host, query: RunningQuery) -> None:
        self._host, self._query = host, query
        self._total = 0
        self._physical: Plan | None = None
        """The plan whose operators were looked up last; None where those of a migration were, too."""
        self._counted: dict[int, tuple[Operator, int]] = {}
        """By identity, the operators, and how much each had given."""
        for operator in self._running(None):
            self._counted[id(operator)] = operator, operator.emitted

    def total(self, migration: Transition | None = None) -> int:
        """How many so far, also of what runs for a migration under way."""
        running: set[int] | None = None
        if migration is not None or self._query.physical is not self._physical:
            found = {id(operator): operator for operator in self._running(migration)}
            self._counted = {key: (one, 0) for key, one in found.items()} | self._counted
            self._physical = None if migration is not None else self._query.physical
            running = set(found)
        for key, (operator, before) in tuple(self._counted.items()):
            self._total += operator.emitted - before
            if running is None or key in running:
                self._counted[key] = operator, operator.emitted
            else:
                del self._counted[key]
        return self._total

    def _running(self, migration: Transition | None) -> Iterator[Operator]:
        query, running = self._query, self._host.operators
        roots = {
            logical_node(root) for plan in (query.plan, query.physical) for root in plan.outputs.values()
        }
        upper = above(query.physical, lowest(query.physical))
        outside = ((node, running[node]) for node in upper if node in running)
        for node, operator in chain(outside, () if migration is None else migration.operators()):
            if not isinstance(operator, Guest) and logical_node(node) not in roots:
                yield operator
