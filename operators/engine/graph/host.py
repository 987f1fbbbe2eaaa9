"""The host: the queries as a migration sees and changes them."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import count

from midstream.operators.base.operator import Operator
from midstream.operators.base.walk import Tap
from midstream.operators.engine.graph.feed import Feed
from midstream.operators.engine.graph.levers import plans_in_force
from midstream.operators.engine.graph.query_graph import QueryGraph
from midstream.operators.engine.measuring.counting import Counters
from midstream.operators.engine.running.base import Base
from midstream.operators.engine.running.guest import Guest
from midstream.operators.engine.running.log import Log
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.operators.engine.running.queries import RunningQuery, Stepwise, carried_out, lowest
from midstream.plans.algebra.operators import Relation
from midstream.plans.algebra.physical import Boxed
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_node, reads_stream
from midstream.plans.values.errors import Note
from midstream.plans.values.observations import Observation
from midstream.plans.values.streams import BEGINNING, Batch, Time


class Host:
    """A query graph and its feed, with all that a migration may ask of the queries and do to them.

    A migration asks first, while nothing changes. Then it builds its Boxes (`running_box`, `new_box`), puts
    them among the operators (`box_nodes`, `exchange`), gives out the results that are ready at once (`emit`),
    and lets the operators of Boxes that have become plans run with all others (`adopt_plans`). A query is
    named; None is the first.

    Nothing is checked here: callers that change the queries are responsible for it. Users change them through
    the engine, which checks.
    """

    def __init__(self, graph: QueryGraph, feed: Feed) -> None:
        self._graph = graph
        self._feed = feed
        self._numbers = count(1)
        """The numbers of Boxes to come."""
        self.watch = feed.watch
        """Lets a watcher watch streams, by default all that are read now, and look at instants of a grid."""
        self.unwatch = feed.unwatch
        """Ends a watch."""

    @property
    def queries(self) -> Mapping[str, RunningQuery]:
        """The queries that run, by name."""
        return self._graph.queries

    @property
    def operators(self) -> Mapping[Node, Operator]:
        """The running operators of all queries by their nodes, as a live view."""
        return self._graph.base.running

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of the streams that queries read."""
        return self._feed.streams

    def query(self, name: str | None = None) -> RunningQuery:
        """A query by name; the first one without a name.

        Raises   UnknownStreamError where there is none.
        """
        return self._graph.query(name)

    def reached(self, stream: str) -> Time:
        """The instant to which a stream has run; elements behind it wait for a look, or have yet to come."""
        return self._graph.base.paths[stream].reached

    def plans_in_force(self) -> dict[str, Plan]:
        """The plans of all queries, in which levers have the bounds that all their queries allow.

        Cost     O(plans)
        """
        return plans_in_force(self._graph)

    def remember_settings(self, chronons: Time) -> None:
        """Keep the settings of results on record for so many chronons from now on (thesis, 21.4.3)."""
        self._graph.remember_settings = chronons

    def has_ended(self, streams: Iterable[str] | None = None) -> bool:
        """True if streams have ended, by default all, so that none of their elements comes any more."""
        return self._graph.has_ended(streams)

    # Running nodes, and their elements so far

    def exchangeable_inputs(self, query: str | None = None) -> dict[Node, Node]:
        """The inputs of a query's exchangeable part: windows, and nodes shared with other queries.

        The physical node that runs, by its logical node.
        """
        return carried_out(self.query(query).physical, self.shared(query))

    def shared(self, query: str | None = None) -> Container[Node]:
        """The nodes that run for other queries, too.

        Cost     O(1) to ask for one
        """
        return self._graph.shared(self.query(query))

    def max_end(self, node: Node) -> Time:
        """The largest end timestamp that a running node can have given."""
        return self._graph.ends.largest(node)

    def max_ends(self, query: str | None = None) -> dict[Node, Time]:
        """By logical node, the largest end that a query's windows and shared nodes can have given."""
        physical = self.query(query).physical
        ends: dict[Node, Time] = {}
        for node in (*lowest(physical), *lowest(physical, self.shared(query))):
            meaning = logical_node(node)
            ends[meaning] = max(self.max_end(node), ends.get(meaning, BEGINNING))
        return ends

    def progress_of(self, node: Node) -> Time:
        """The instant before which a running node has promised to give nothing."""
        return self._graph.base.progress_of(node)

    def log(self, node: Node) -> Log | None:
        """The log of a window, if one is kept."""
        return self._graph.log(node)

    def emitted(self, node: Node) -> int:
        """The number of elements that a running node has given."""
        return self._graph.base.made(node)

    def counters(self, query: str) -> Counters:
        """The counts of a query since it runs."""
        return self._graph.counters(query)

    def observe(self, query: str | None = None) -> dict[Node, Observation]:
        """The observations of a query's windows, by their logical nodes.

        Raises   StatisticsError where one gives positive and negative elements.
        """
        return self._graph.observe(query)

    def observe_relations(self, plan: Plan) -> dict[Node, Observation]:
        """The observations of a plan's relations.

        Raises   UnknownStreamError where the rows of one are missing.
        """
        return self._graph.observe_relations(plan)

    # Boxes

    def running_box(self, roots: Sequence[Node], inputs: Sequence[Node]) -> PlanBox:
        """The running operators between input nodes and the roots above, as a Box to take them over."""
        plan, base = _numbered(roots), self._graph.base
        return PlanBox(
            plan,
            inputs,
            relations=_no_rows(plan),
            running=base.running,
            reached=[base.progress_of(node) for node in inputs],
            compile=self._graph.is_compiled,
        )

    def new_box(self, roots: Sequence[Node], inputs: Sequence[Node]) -> PlanBox:
        """Operators with empty state between some running nodes and new ones above them, as a Box."""
        plan = _numbered(roots)
        self._graph.check_relations(plan)
        return PlanBox(plan, inputs, relations=self._graph.relations, compile=self._graph.is_compiled)

    def box_nodes(self, roots: Sequence[Node], inputs: Sequence[Node]) -> list[Node]:
        """Nodes for the outputs of a Box that replaces some roots in plans."""
        number = next(self._numbers)
        return [
            Node(Boxed(number, output, len(inputs), root.schema, root), tuple(inputs))
            for output, root in enumerate(roots)
        ]

    # Changes

    def exchange(
        self,
        query: str,
        plan: Plan,
        physical: Plan,
        moved: Mapping[Node, Node],
        operators: Mapping[Node, Operator],
    ) -> None:
        """Give a query another plan, and a physical plan with some other `operators`, guests among them.

        `moved` holds the new nodes of operators that stay. The ends of elements that passed the removed
        windows are remembered.
        """
        chosen = self.query(query)
        self._graph.ends.outlast(chosen, set(lowest(chosen.physical)) - set(lowest(physical)))
        self._graph.rewire(moved, {query: (plan, physical)}, operators)

    def emit(self, node: Node, batch: Batch) -> None:
        """Give out elements in the place of a node, outside of any event.

        Operators above it take them, and results go to the sinks.
        """
        query = self._graph.query_of(node)
        if query is None:
            return
        if batch:
            results = _results_of(self._graph.base, query.physical, node, batch, self._graph.meters)
            for output, sinks in query.sinks.items():
                if results.get(output):
                    for sink in sinks:
                        sink(results[output])
        if isinstance(guest := self.operators.get(node), Guest):
            guest.hosted.look()

    def adopt_plans(self) -> None:
        """Let the operators of Boxes that have become plans run with all others.

        Then the migrations that wait for that take their turns.
        """
        self._graph.adopt_plans()

    def compile_routes(self, query: str) -> None:
        """Compile the code for the next elements of a query's streams now, so that these need not wait."""
        for source in self.query(query).plan.sources:
            self._feed.open(source.stream)

    def count_results(self, query: str | None = None) -> None:
        """Count the results of a query up to now, before its operators are replaced.

        Some operators are ended and still give results; the replacement gives these out, and counts them.
        """
        self.query(query).tally.count_results()

    # Watching

    def listen(self, listener: Callable[[], object]) -> None:
        """Call a function whenever queries have come, gone, or taken the place of others."""
        self._graph.listeners.append(listener)

    def unlisten(self, listener: Callable[[], object]) -> None:
        """Stop calling the function."""
        self._graph.listeners.remove(listener)

    # Later

    def work_in_steps(self, work: Stepwise) -> None:
        """Do work a step at a time, one behind each push, heartbeat and end.

        So it never holds up elements for long. The last step comes behind the end of all streams.
        """
        self._feed.work_in_steps(work)

    def fail(self, error: Exception) -> None:
        """Raise an error once the present event is over; at once where there is none."""
        self._feed.fail(error)

    def tell(self, note: str, category: type[Note]) -> None:
        """Warn of a note once the work of the present call of the engine is done."""
        self._feed.note(note, category)

    def step(self) -> None:
        """Do a step of waiting work, as the queries have changed: at once, or behind the present event."""
        self._feed.step()


def _numbered(roots: Sequence[Node]) -> Plan:
    return Plan({str(i): root for i, root in enumerate(roots)})


def _no_rows(plan: Plan) -> Mapping[str, Batch]:
    """Empty relations for operators that go on: they have the rows already."""
    return {node.operator.relation: [] for node in plan.nodes if isinstance(node.operator, Relation)}


def _results_of(
    base: Base, physical: Plan, node: Node, ready: Batch, taps: Mapping[Node, Tap]
) -> dict[str, Batch]:
    """By output, the results of a running plan when a node gives some elements outside of any event.

    No other query has the node.
    """
    operators = base.running
    operators[node].emitted += len(ready)
    upper = {node: None}
    for other in physical.nodes:
        if any(child in upper for child in other.inputs):
            upper[other] = None
    beside = (child for other in upper if other is not node for child in other.inputs if child not in upper)
    inputs = list(dict.fromkeys([node, *filter(reads_stream, beside)]))
    plan = Plan({name: root for name, root in physical.outputs.items() if root in upper})
    view = PlanBox(
        plan,
        inputs,
        relations=_no_rows(plan),
        running=operators,
        reached=[base.progress_of(child) for child in inputs],
        taps=taps,
        compile=False,
    )
    results = view.process(0, ready, base.progress_of(node))
    return dict(zip(view.outputs, results, strict=True))
