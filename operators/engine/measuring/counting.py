"""The counts of a query graph: elements, results, and results of operators, by query and in all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from midstream.operators.base.box import element_bytes
from midstream.operators.base.operator import Operator
from midstream.operators.engine.input.entrance import Entrance, Entrances
from midstream.operators.engine.running.guest import Guest, operators_inside
from midstream.operators.engine.running.stream_path import StreamPath
from midstream.operators.engine.running.tally import Giver, Kind, Label, Tally
from midstream.plans.algebra.operators import Source
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import counted_node, intermediate, logical_nodes


@dataclass(frozen=True, slots=True)
class Counters:
    """Counts of a query since it was added, or of all queries since the engine was made; none ever falls.

    The counts of a query begin at 0. Each operator counts while the query uses it, whatever is replaced
    meanwhile: operators of old and new plans count, and operators that other queries use as well count in
    full.
    """

    elements: int
    """Elements on the query's streams; for all queries, on all streams."""
    results: int
    """Results given out; for all queries, their sum."""
    intermediate: int
    """Intermediate results as the cost model defines them: results of operators that make any, such as joins.

    Operators that the query's own results come from do not count.
    """
    emitted: Mapping[Node, int]
    """By logical node, the elements that sources and operators gave, in all plans that ran.

    Arrangements, such as splits, have nodes of their own. Of nodes that no plan has any more, the last 256
    are here.
    """
    dead_letters: Mapping[str, int] = field(default_factory=dict)
    """By reason, the elements that were refused; empty for a single query, as streams belong to all."""
    earlier: int = 0
    """The elements that nodes gave which went so long ago that they are no longer in `emitted`."""


class _Arrivals(NamedTuple):
    """The arrivals on a stream, with those that wait to be put in order."""

    path: StreamPath
    entrance: Entrance

    @property
    def emitted(self) -> int:
        return self.path.emitted + self.entrance.manager.size()


class Counting:
    """The tallies of queries, and of all together, brought up to date whenever a query's plan changes.

    A query's tally has the operators that the query uses, also those inside of Boxes, each with its count
    when the query began to use it: 0 if no query did before. An operator that a migration has dropped stays
    until the query changes again, which is as soon as the migration is over.

    The plan with which an operator comes, or in which it goes on, decides whether its results are
    intermediate. This does not change the counts before.

    State    Nothing besides the tallies.
    Cost     O(operators of the query) for a change. Nothing is done as elements flow.
    """

    def __init__(
        self, running: Mapping[Node, Operator], paths: Mapping[str, StreamPath], entrances: Entrances
    ) -> None:
        self._running, self._paths, self._entrances = running, paths, entrances
        self._all = Tally()

    def update(self, tally: Tally, plan: Plan, physical: Plan) -> None:
        """Update the tally of a query that has come, or runs another plan.

        If other givers give its results from now on, the results so far have been counted.
        """
        self._change(tally, self._labels(tally, plan, physical))
        tally.read(giver for root in physical.outputs.values() if (giver := self._giver(root)) is not None)

    def rename(self, tally: Tally, renamed: Callable[[Node], Node]) -> None:
        """Count under other nodes from now on what a query's givers give."""
        before = tally.labels().items()
        self._change(
            tally,
            {
                giver: {renamed(of) if isinstance(of, Node) else of for of in labels}
                for giver, labels in before
            },
        )

    def remove(self, tally: Tally) -> None:
        """Remove a query."""
        tally.count_results()
        tally.read(())
        self._all.add_results(tally.results)
        self._change(tally, {})

    def counters(self, tally: Tally) -> Counters:
        """The counters of a query."""
        return _counters(tally, tally.results)

    def counters_of_all(self, tallies: Iterable[Tally]) -> Counters:
        """The counters of all queries; those that run have these tallies."""
        results = self._all.results + sum(tally.results for tally in tallies)
        return replace(_counters(self._all, results), dead_letters=self._entrances.dead_letters())

    def _giver(self, node: Node) -> Giver | None:
        if isinstance(node.operator, Source):
            return self._paths[node.operator.stream]
        return self._running.get(node)

    def _labels(self, tally: Tally, plan: Plan, physical: Plan) -> dict[Giver, set[Label]]:
        """The givers that a query uses, and the labels under which each is counted."""
        means = logical_nodes(physical.nodes)
        inner = intermediate({*logical_nodes(plan.nodes).values()})
        before = tally.labels()
        labels: dict[Giver, set[Label]] = {}
        for node in physical.nodes:
            giver = self._giver(node)
            if isinstance(giver, Guest):
                # During a migration, each operator keeps the labels that it has in its own plan.
                for inside, operator in operators_inside([(node, giver)]):
                    labels[operator] = before.get(operator) or _labels_of(counted_node(inside), inner)
            elif isinstance(giver, StreamPath):
                labels[giver] = {means[node]}
                labels[_Arrivals(giver, self._entrances[giver.stream])] = {Kind.ELEMENTS}
            elif giver is not None:
                labels[giver] = _labels_of(counted_node(node, means), inner)
        return labels

    def _change(self, tally: Tally, labels: Mapping[Giver, set[Label]]) -> None:
        before = tally.labels()
        coming = {giver: labels[giver] - before.get(giver, set()) for giver in labels}
        # An operator that a query used before has counts already; a new one counts from the beginning.
        since = {
            giver: 0 if isinstance(giver, Operator) and giver not in self._all else giver.emitted
            for giver in coming
        }
        for each in (tally, self._all):
            for giver, added in coming.items():
                for label in added:
                    each.enter(giver, label, since[giver])
            for giver, earlier in before.items():
                for label in earlier - labels.get(giver, set()):
                    each.leave(giver, label)


def held(operators: Mapping[Node, Operator], nodes: Iterable[Node], *, in_bytes: bool) -> Counter[Node]:
    """By logical node, the number of elements that running operators keep, or their bytes."""
    sizes: Counter[Node] = Counter()
    for node in nodes:
        if (operator := operators.get(node)) is None:
            continue
        outside = _size(operator, in_bytes)
        if isinstance(operator, Guest):
            for inside, inner in operators_inside([(node, operator)]):
                size = _size(inner, in_bytes)
                sizes[counted_node(inside)] += size
                outside -= size
        sizes[counted_node(node)] += outside
    return sizes


def _size(operator: Operator, in_bytes: bool) -> int:
    return sum(map(element_bytes, operator.state())) if in_bytes else operator.size()


def _labels_of(counted: Node, inner: frozenset[Node]) -> set[Label]:
    return {counted, Kind.INTERMEDIATE} if counted in inner else {counted}


def _counters(tally: Tally, results: int) -> Counters:
    total = tally.total()
    emitted = {label: number for label, number in total.items() if isinstance(label, Node)}
    return Counters(total[Kind.ELEMENTS], results, total[Kind.INTERMEDIATE], emitted, earlier=tally.earlier)
