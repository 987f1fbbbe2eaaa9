"""Parts of running queries are exchanged: Boxes come in as guests, and their operators stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from midstream.operators.box import settled
from midstream.operators.guest import Guest
from midstream.operators.hosting import Incoming, given, no_rows
from midstream.operators.operator import Operator
from midstream.operators.plan_box import PlanBox
from midstream.operators.queries import Query, carried_out
from midstream.operators.query_graph import QueryGraph
from midstream.plans.physical import Boxed
from midstream.plans.plan import Node, Plan
from midstream.plans.properties import above, logical_plan
from midstream.plans.streams import Batch, Time


class ExchangeableGraph(QueryGraph):
    """A query graph in which subplans can be exchanged while it runs.

    A Box runs in the place of the subplan until it has become a plan: then its operators run with all others.
    What the Box does is not known here (see migration/).
    """

    def forks(self, query: str | None = None) -> dict[Node, Node]:
        """The inputs of a query's exchangeable part: its windows, and what it shares with other queries. By
        the logical node the physical one that runs."""
        chosen = self.query(query)
        return carried_out(chosen.physical, self.shared(chosen.name))

    def shared(self, query: str | None = None) -> set[Node]:
        """The nodes that run for other queries."""
        chosen = self.query(query)
        return {node for one in self.queries.values() if one is not chosen for node in one.physical.nodes}

    def part(self, query: str | None = None) -> PlanBox:
        """The exchangeable part of a query, as a Box to be looked at."""
        return self._view(self.query(query))

    def old_part(self, roots: Sequence[Node], inputs: Sequence[Node]) -> PlanBox:
        """What runs between some nodes and others above them, as a Box: for whoever takes it over."""
        base = self.base()
        plan = _numbered(roots)
        return PlanBox(
            plan,
            inputs,
            relations=no_rows(plan),
            running=base.operators(),
            reached=[base.progress_of(node) for node in inputs],
        )

    def new_part(self, roots: Sequence[Node], inputs: Sequence[Node]) -> PlanBox:
        """Operators with empty state between some running nodes and new ones above them, as a Box."""
        plan = _numbered(roots)
        self._check_relations(plan)
        return PlanBox(plan, inputs, relations=self._relations)

    def seats(self, roots: Sequence[Node], inputs: Sequence[Node]) -> list[Node]:
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
        gone = set(carried_out(chosen.physical).values()) - set(carried_out(physical).values())
        chosen.lasting = max([chosen.lasting, *map(self.max_end, gone)])
        self.rename(moved, {chosen.name: (plan, physical)}, more)

    def give(self, node: Node, ready: Batch) -> None:
        """Pass on what a Box has ready, in the place of a node, outside of any event."""
        if ready:
            base = self.base()
            found = given(base, node, ready, self._meters)
            for name, (_, sinks) in zip(base.outputs, self._direct, strict=True):
                if found.get(name):
                    for sink in sinks:
                        sink(found[name])

    def input_progress(self, query: str | None = None) -> list[Time]:
        """The progress of each input of a query's exchangeable part."""
        base = self.base()
        return [base.progress_of(node) for node in self.forks(query).values()]

    def input_max_ends(self, query: str | None = None) -> list[Time]:
        """The largest end timestamp seen on each input of a query's exchangeable part."""
        return [self.max_end(node) for node in self.forks(query).values()]

    def settle(self) -> None:
        """Once a Box has handed over to a plan, let its operators run with all others; and go on with what
        waits for that."""
        self._take_in()
        for query in tuple(self.queries.values()):
            while query.waiting and not query.is_exchanged:
                query.waiting.popleft()()

    def _take_in(self) -> None:
        """Let the operators of Boxes that have become plans run with all others, where they do not run
        already; else they stay apart until the queries change."""
        operators = self.base().operators()
        for guest in tuple(self._guests):
            box = settled(cast(Guest, operators[guest]).host.box)
            if not isinstance(box, PlanBox):
                continue
            number = cast(Boxed, guest.operator).number
            seats = [node for node in self._guests if cast(Boxed, node.operator).number == number]
            (query,) = (one for one in self.queries.values() if guest in one.physical.nodes)
            coming = Incoming(seats, box, query.physical)
            if coming.clashes(operators):
                query.apart.add(number)
                self._guests.remove(guest)
                self._find_hosts()
                self._open_inlets()
                continue
            becomes = logical_plan(coming.physical)
            plan = query.plan if becomes == logical_plan(query.plan) else becomes
            self.rename(coming.moved, {query.name: (plan, coming.physical)}, coming.operators)
            return self._take_in()
        return None

    def _view(self, query: Query) -> PlanBox:
        """A Box of the running operators of a query's exchangeable part, while the base runs them."""
        base = self.base()
        running = base.operators()
        inputs = tuple(self.forks(query.name).values())
        view = self._views.get(query.name)
        if view is None:
            upper = above(query.physical, inputs)
            view = self._views[query.name] = PlanBox(
                query.physical,
                inputs,
                relations=self._relations,
                running={node: running[node] for node in upper if node in running},
            )
        view.is_at([base.progress_of(node) for node in inputs], [base.made(node) for node in inputs])
        return view


def _numbered(roots: Sequence[Node]) -> Plan:
    return Plan({str(i): root for i, root in enumerate(roots)})
