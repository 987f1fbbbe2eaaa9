"""A query graph as the host of migrations: Boxes come in as guests, and their operators stay."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence, Set
from itertools import count

from midstream.operators.base.operator import Operator
from midstream.operators.engine.feed import Feed
from midstream.operators.engine.guest import Guest
from midstream.operators.engine.host import Host
from midstream.operators.engine.hosting import no_rows, results_of
from midstream.operators.engine.log import Log
from midstream.operators.engine.plan_box import PlanBox
from midstream.operators.engine.queries import RunningQuery, carried_out
from midstream.operators.engine.query_graph import QueryGraph
from midstream.plans.algebra.physical import Boxed
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.observations import Observation
from midstream.plans.values.streams import Batch, Time


class GraphHost(Host):
    """Lets migrations exchange parts of the queries of a graph, which is fed.

    A Box runs in the place of a subplan until it has become a plan: then its operators run with all others.
    What the Box does is not known here (see migration/).
    """

    def __init__(self, graph: QueryGraph, feed: Feed) -> None:
        self._graph = graph
        self._feed = feed
        self._numbers = count(1)
        """Of Boxes to come."""

    @property
    def queries(self) -> Mapping[str, RunningQuery]:
        return self._graph.queries

    @property
    def operators(self) -> Mapping[Node, Operator]:
        return self._graph.base.running

    def query(self, name: str | None = None) -> RunningQuery:
        return self._graph.query(name)

    def has_ended(self) -> bool:
        return self._graph.has_ended()

    def exchangeable_inputs(self, query: str | None = None) -> dict[Node, Node]:
        return carried_out(self.query(query).physical, self.shared(query))

    def shared(self, query: str | None = None) -> Set[Node]:
        return self._graph.shared(self.query(query))

    def emitted(self, node: Node) -> int:
        return self._graph.base.made(node)

    def max_end(self, node: Node) -> Time:
        return self._graph.max_end(node)

    def log(self, node: Node) -> Log | None:
        return self._graph.log(node)

    def observe(self, query: str | None = None) -> dict[Node, Observation]:
        return self._graph.observe(query)

    def running_box(self, roots: Sequence[Node], inputs: Sequence[Node]) -> PlanBox:
        plan, base = _numbered(roots), self._graph.base
        reached = [base.progress_of(node) for node in inputs]
        return PlanBox(
            plan,
            inputs,
            relations=no_rows(plan),
            running=base.running,
            reached=reached,
            compile=self._graph.is_compiled,
        )

    def new_box(self, roots: Sequence[Node], inputs: Sequence[Node]) -> PlanBox:
        plan = _numbered(roots)
        self._graph.check_relations(plan)
        return PlanBox(plan, inputs, relations=self._graph.relations, compile=self._graph.is_compiled)

    def box_nodes(self, roots: Sequence[Node], inputs: Sequence[Node]) -> list[Node]:
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
        operators: Mapping[Node, Operator],
    ) -> None:
        self._graph.exchange(self.query(query), plan, physical, moved, operators)

    def emit(self, node: Node, batch: Batch) -> None:
        query = self._graph.query_of(node)
        if query is None:
            return
        if batch:
            results = results_of(self._graph.base, query.physical, node, batch, self._graph.meters)
            for output, sinks in query.sinks.items():
                if results.get(output):
                    for sink in sinks:
                        sink(results[output])
        if isinstance(guest := self.operators.get(node), Guest):
            guest.hosted.look()

    def adopt_plans(self) -> None:
        self._graph.adopt_plans()

    def compile_routes(self, query: str) -> None:
        for source in self.query(query).plan.sources:
            self._feed.open(source.stream)

    def count_results(self, query: str | None = None) -> None:
        self._graph.count_results(self.query(query))

    def when_free(self, query: RunningQuery, action: Callable[[], object]) -> None:
        query.waiting.append(action)

    def work_in_steps(self, work: Generator[None, None, None]) -> None:
        self._feed.work_in_steps(work)


def _numbered(roots: Sequence[Node]) -> Plan:
    return Plan({str(i): root for i, root in enumerate(roots)})
