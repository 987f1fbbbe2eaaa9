"""Parts of running queries are exchanged: Boxes come in as guests, and their operators stay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, cast

from midstream.operators.base.box import settled
from midstream.operators.base.operator import Operator
from midstream.operators.engine.base import Base
from midstream.operators.engine.guest import Guest
from midstream.operators.engine.hosting import Incoming, box_of, given, no_rows
from midstream.operators.engine.plan_box import PlanBox
from midstream.operators.engine.queries import Query, carried_out, lowest
from midstream.operators.engine.query_graph import QueryGraph
from midstream.plans.algebra.physical import Boxed
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.values.streams import Batch, Time


class ExchangeableGraph(QueryGraph):
    """A query graph in which subplans can be exchanged while it runs.

    A Box runs in the place of the subplan until it has become a plan: then its operators run with all others.
    What the Box does is not known here (see migration/).
    """

    def exchangeable_inputs(self, query: str | None = None) -> dict[Node, Node]:
        """The inputs of a query's exchangeable part: its windows, and what it shares with other queries. By
        the logical node the physical one that runs."""
        chosen = self.query(query)
        return carried_out(chosen.physical, self.shared(chosen.name))

    def _lowest(self, query: str | None) -> tuple[Node, ...]:
        """The same as running nodes, each of several that mean the same."""
        chosen = self.query(query)
        return lowest(chosen.physical, self.shared(chosen.name))

    def shared(self, query: str | None = None) -> Set[Node]:
        """The nodes that run for other queries. To ask for one costs O(1)."""
        return _Shared(self.base(), self.query(query).name)

    def part(self, query: str | None = None) -> PlanBox:
        """The exchangeable part of a query, as a Box to be looked at."""
        return self._view(self.query(query))

    def running_box(self, roots: Sequence[Node], inputs: Sequence[Node]) -> PlanBox:
        """What runs between some nodes and others above them, as a Box: for whoever takes it over."""
        base = self.base()
        plan = _numbered(roots)
        return PlanBox(
            plan,
            inputs,
            relations=no_rows(plan),
            running=self.operators,
            reached=[base.progress_of(node) for node in inputs],
            compile=self._is_compiled,
        )

    def new_box(self, roots: Sequence[Node], inputs: Sequence[Node]) -> PlanBox:
        """Operators with empty state between some running nodes and new ones above them, as a Box."""
        plan = _numbered(roots)
        self._check_relations(plan)
        return PlanBox(plan, inputs, relations=self._relations, compile=self._is_compiled)

    def box_nodes(self, roots: Sequence[Node], inputs: Sequence[Node]) -> list[Node]:
        """Nodes for the outputs of a Box that is to become a plan with some roots."""
        number = next(self._numbers)
        return [
            Node(Boxed(number, output, len(inputs), root.schema, root), tuple(inputs))
            for output, root in enumerate(roots)
        ]

    def exchange(
        self,
        query: str,
        plan: Plan,
        physical: Plan,
        moved: Mapping[Node, Node],
        more: Mapping[Node, Operator],
    ) -> None:
        """Give a query another plan, and a physical plan with some other operators, guests among them.
        `moved` tells under which nodes operators that stay go on. The caller answers for its being right."""
        chosen = self.query(query)
        self._outlast(chosen, set(lowest(chosen.physical)) - set(lowest(physical)))
        self.rename(moved, {chosen.name: (plan, physical)}, more)

    @property
    def operators(self) -> Mapping[Node, Operator]:
        """The running operators of all queries by their nodes, as they are whenever one is looked at."""
        return self._base.running

    def emitted(self, node: Node) -> int:
        """How many elements a running node has given."""
        return self._base.made(node)

    def when_free(self, query: Query, action: Callable[[], object]) -> None:
        """Do something as soon as no part of a query is being exchanged, behind all that waits for it."""
        query.waiting.append(action)

    def compile_routes(self, query: str) -> None:
        """Compile now what the next elements of a query's streams take: who exchanges a part of it waits for
        that, and not the elements."""
        for source in self.query(query).plan.sources:
            if source.stream not in self.inlets:
                self._open_inlet(source.stream)

    def emit(self, node: Node, ready: Batch) -> None:
        """Pass on what a Box has ready, in the place of a node, outside of any event."""
        query = self._query_of(node)
        if query is None:
            return
        if ready:
            found = given(self._base, query.physical, node, ready, self._meters)
            for output, sinks in query.sinks.items():
                if found.get(output):
                    for sink in sinks:
                        sink(found[output])
        if isinstance(guest := self._base.running.get(node), Guest):
            guest.hosted.look()

    def input_progress(self, query: str | None = None) -> list[Time]:
        """The progress of each input of a query's exchangeable part."""
        base = self.base()
        return [base.progress_of(node) for node in self._lowest(query)]

    def input_max_ends(self, query: str | None = None) -> list[Time]:
        """The largest end timestamp seen on each input of a query's exchangeable part."""
        return [self.max_end(node) for node in self._lowest(query)]

    def adopt_plans(self) -> None:
        """Once a Box has handed over to a plan, let its operators run with all others; and go on with what
        waits for that."""
        seen: dict[str, Query] = {}
        while self._come_to_be_plans:
            guest = self._come_to_be_plans.pop(0)
            query = self._query_of(guest)
            if query is not None:
                seen[query.name] = query
                self._take_in(guest, query)
        for query in seen.values():
            while query.waiting and not query.is_exchanged:
                query.waiting.popleft()()

    def _query_of(self, guest: Node) -> Query | None:
        """The query that has a guest, as far as the guest is still there."""
        return next((self.queries[name] for name in self._base.users(guest)), None)

    def _take_in(self, guest: Node, query: Query) -> None:
        """Let the operators of a Box that has become a plan run with all others, where they do not run
        already; else they stay apart until those are gone, or the query changes."""
        operators = self.base().running
        box = settled(cast(Guest, operators[guest]).hosted.box)
        if not isinstance(box, PlanBox):
            return
        number = box_of(guest)
        seats = [node for node in query.physical.nodes if box_of(node) == number]
        coming = Incoming(seats, box, query.physical)
        if clashes := coming.clashes(operators):
            query.apart.add(cast(Boxed, guest.operator).number)
            for node in clashes:
                self._blocked.setdefault(node, []).append(guest)
            return
        becomes = logical_plan(coming.physical)
        plan = query.plan if becomes == logical_plan(query.plan) else becomes
        self.rename(coming.moved, {query.name: (plan, coming.physical)}, coming.operators)

    def _view(self, query: Query) -> PlanBox:
        """A Box of the running operators of a query's exchangeable part, while the base runs them."""
        base = self.base()
        running = base.running
        operators = {node: running[node] for node in query.physical.nodes if node in running}
        inputs = self._lowest(query.name)
        view = self._views.get(query.name)
        if view is None or view.nodes != inputs:
            view = PlanBox(query.physical, inputs, relations=self._relations, running=operators)
            self._views[query.name] = view
        view.is_at([base.progress_of(node) for node in inputs], [base.made(node) for node in inputs])
        return view


class _Shared(Set[Node]):
    """The nodes that run for other queries than one."""

    def __init__(self, base: Base, name: str) -> None:
        self._base = base
        self._name = name

    @classmethod
    def _from_iterable(cls, nodes: Iterable[Any]) -> set[Any]:
        return set(nodes)

    def __contains__(self, node: object) -> bool:
        users = self._base.users(node) if isinstance(node, Node) else {}
        return len(users) > (self._name in users)

    def __iter__(self) -> Iterator[Node]:
        return (node for node in self._base.plan.nodes if node in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _numbered(roots: Sequence[Node]) -> Plan:
    return Plan({str(i): root for i, root in enumerate(roots)})
