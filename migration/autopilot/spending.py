"""What a query costs, by counting: the results of all operators that run for it above its windows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from midstream.migration.transition import Transition
from midstream.operators.base.operator import Operator
from midstream.operators.engine.guest import Guest
from midstream.operators.engine.host import Host
from midstream.operators.engine.queries import RunningQuery, lowest
from midstream.plans.algebra.operators import Arrangement, OverTime
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import above, logical, logical_node, logical_plan, makers


@dataclass(frozen=True, slots=True)
class Spent:
    """So far, since the query is watched.

    results        by logical node, how many results its operators gave, in all plans that ran
    intermediate   how many of them are intermediate results, as the cost model has them: of operators with
                   state, such as joins, but for those that the query's results come from
    """

    results: Mapping[Node, int]
    intermediate: int


class Spending:
    """Counts what operators above a query's windows give.

    During a migration that is what both plans give. To be asked before a migration begins, right afterwards,
    and when it has ended: else something is missed.

    Cost     O(operators of the query) each time that it is asked.
    """

    def __init__(self, host: Host, query: RunningQuery) -> None:
        self._host, self._query = host, query
        self._results: Counter[Node] = Counter()
        self._intermediate = 0
        self._physical: Plan | None = None
        """The plan whose operators were looked up last; None where those of a migration were, too."""
        self._makers: frozenset[Node] = frozenset()
        """The logical nodes that results come from, of this plan and of the one before a migration."""
        self._plan: Plan | None = None
        """The plan of which these are the only ones; None while there may be others."""
        self._is_inner: dict[Node, bool] = {}
        """By logical node, whether its results are intermediate ones: as it is found out."""
        self._counted: dict[int, tuple[Node, Operator, int]] = {}
        """By identity, the operators, their logical nodes, and how much each had given."""
        for node, operator in self._running(None):
            self._counted[id(operator)] = node, operator, operator.emitted
        self._find_makers()

    def spent(self, migration: Transition | None = None) -> Spent:
        """How much so far, also of what runs for a migration under way."""
        running: set[int] | None = None
        if migration is not None or self._query.physical is not self._physical:
            found = {id(operator): (node, operator) for node, operator in self._running(migration)}
            self._counted = {key: (*one, 0) for key, one in found.items()} | self._counted
            self._physical = None if migration is not None else self._query.physical
            running = set(found)
            self._find_makers()
        for key, (node, operator, before) in tuple(self._counted.items()):
            self._add(node, operator.emitted - before)
            if running is None or key in running:
                self._counted[key] = node, operator, operator.emitted
            else:
                del self._counted[key]
        if migration is None and self._plan is not self._query.plan:
            self._makers = frozenset()
            self._find_makers()
            self._plan = self._query.plan
        return Spent(dict(self._results), self._intermediate)

    def _add(self, node: Node, results: int) -> None:
        self._results[node] += results
        if node not in self._is_inner:
            is_made = not (logical(node).is_stateless or isinstance(logical(node), OverTime))
            self._is_inner[node] = is_made and node not in self._makers
        if self._is_inner[node]:
            self._intermediate += results

    def _find_makers(self) -> None:
        self._makers |= makers(logical_plan(self._query.plan).nodes)
        self._plan, self._is_inner = None, {}

    def _running(self, migration: Transition | None) -> Iterator[tuple[Node, Operator]]:
        physical, running = self._query.physical, self._host.operators
        upper = above(physical, lowest(physical))
        outside = ((node, running[node]) for node in upper if node in running)
        for node, operator in chain(outside, () if migration is None else migration.operators()):
            if not isinstance(operator, Guest) and not isinstance(logical(node), Arrangement):
                yield logical_node(node), operator
