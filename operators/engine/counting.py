"""The counts of a query graph: elements, results, and what operators give; of each query, and of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple, Protocol

from midstream.operators.base.box import element_bytes
from midstream.operators.base.operator import Operator
from midstream.operators.engine.entrance import Entrance, Entrances
from midstream.operators.engine.guest import Guest, operators_inside
from midstream.operators.engine.ways import Way
from midstream.plans.algebra.operators import Source
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import counted_node, intermediate, logical_nodes


@dataclass(frozen=True, slots=True)
class Counters:
    """Counts of a query since it was added, or of all queries since the engine was made. None ever falls.

    A query's begin at 0. Each operator counts while the query uses it, whatever is exchanged meanwhile: those
    of old plans and of new ones, and in full those that other queries use as well.
    """

    elements: int
    """Elements that came on the query's streams; of all queries, on all streams."""
    results: int
    """Results that were given out; those of all queries together."""
    intermediate: int
    """Intermediate results, as the cost model has them: of operators that make results, such as joins, but
    for those that the query's own results come from."""
    emitted: Mapping[Node, int]
    """By logical node, the elements that sources and operators gave, in all plans that ran. Arrangements,
    such as splits, have nodes of their own."""
    dead_letters: Mapping[str, int] = field(default_factory=dict)
    """By reason, the elements that were refused; empty for a single query, as streams belong to all."""


class Giver(Protocol):
    """Gives elements, and counts them."""

    @property
    def emitted(self) -> int:
        """Elements so far; it never falls."""


class _Kind(Enum):
    ELEMENTS = "elements"
    INTERMEDIATE = "intermediate"


Label = Node | _Kind
"""The place of a count: a logical node, or all of a kind."""


class _Arrivals(NamedTuple):
    """The arrivals on a stream, with those that wait to be put in order."""

    way: Way
    entrance: Entrance

    @property
    def emitted(self) -> int:
        return self.way.emitted + self.entrance.manager.size()


class Tally:
    """Counts what givers give while they are in use, and remembers what those gave that no longer are.

    State    The givers in use; a number for each label that there was.
    Cost     O(givers in use) to read, O(1) to enter and to leave.
    """

    def __init__(self) -> None:
        self._past: Counter[Label] = Counter()
        self._uses: dict[Giver, dict[Label, tuple[int, int]]] = {}
        """By giver and label, what it had given when its use began, and how often it is in use."""
        self._results = 0
        self._outputs: list[tuple[Giver, int]] = []
        """The givers of results, each with the part of what it has given that is counted."""

    def __contains__(self, giver: Giver) -> bool:
        return giver in self._uses

    def labels(self) -> dict[Giver, set[Label]]:
        """The givers in use, and where each is counted."""
        return {giver: set(uses) for giver, uses in self._uses.items()}

    def enter(self, giver: Giver, label: Label, since: int) -> None:
        """Use a giver, or use it once more. What it gives counts from where it had given so much."""
        uses = self._uses.setdefault(giver, {})
        begun, users = uses.get(label, (since, 0))
        uses[label] = begun, users + 1

    def leave(self, giver: Giver, label: Label) -> None:
        """Use a giver no longer, or once less."""
        uses = self._uses[giver]
        begun, users = uses.pop(label)
        if users > 1:
            uses[label] = begun, users - 1
            return
        self._past[label] += giver.emitted - begun
        if not uses:
            del self._uses[giver]

    def total(self) -> Counter[Label]:
        """The counts so far, by label."""
        total = Counter(self._past)
        for giver, uses in self._uses.items():
            for label, (begun, _) in uses.items():
                total[label] += giver.emitted - begun
        return total

    @property
    def results(self) -> int:
        """The results so far."""
        return self._results + sum(giver.emitted - counted for giver, counted in self._outputs)

    def add_results(self, number: int) -> None:
        """Count results that no giver gave."""
        self._results += number

    def count_results(self) -> None:
        """Count what the outputs have given, before something else gives the results."""
        self._results = self.results
        self._outputs = [(giver, giver.emitted) for giver, _ in self._outputs]

    def read(self, outputs: Iterable[Giver]) -> None:
        """Take results from these from now on. What others gave since results were counted last is none."""
        counted = dict(self._outputs)
        self._outputs = [(giver, counted.get(giver, giver.emitted)) for giver in outputs]


class Counting:
    """The tallies of queries, and of all together, brought up to date whenever a query's plan changes.

    A query's tally has the operators that the query uses, those inside of Boxes included, each with what it
    had given when the query began to use it: nothing, if nobody did before. An operator that a migration has
    dropped stays until the query changes again, which is as soon as the migration is over.

    Whether results of an operator are intermediate ones follows from the plan with which it comes, or in
    which it goes on. What it has given before that stays what it was.

    State    Besides the tallies nothing. That of all remembers each logical node that ever ran.
    Cost     O(operators of the query) for a change. Nothing is done as elements flow.
    """

    def __init__(
        self, running: Mapping[Node, Operator], ways: Mapping[str, Way], entrances: Entrances
    ) -> None:
        self._running, self._ways, self._entrances = running, ways, entrances
        self._all = Tally()

    def update(self, tally: Tally, plan: Plan, physical: Plan) -> None:
        """A query has come, or runs another plan. Its results have been counted up to now, where something
        else gives them from now on."""
        self._change(tally, self._labels(tally, plan, physical))
        tally.read(giver for root in physical.outputs.values() if (giver := self._giver(root)) is not None)

    def remove(self, tally: Tally) -> None:
        """A query goes."""
        tally.count_results()
        tally.read(())
        self._all.add_results(tally.results)
        self._change(tally, {})

    def counters(self, tally: Tally) -> Counters:
        """Those of a query."""
        return _counters(tally, tally.results)

    def counters_of_all(self, tallies: Iterable[Tally]) -> Counters:
        """Those of all queries, of which the ones that run have these tallies."""
        results = self._all.results + sum(tally.results for tally in tallies)
        return replace(_counters(self._all, results), dead_letters=self._entrances.dead_letters())

    def _giver(self, node: Node) -> Giver | None:
        if isinstance(node.operator, Source):
            return self._ways[node.operator.stream]
        return self._running.get(node)

    def _labels(self, tally: Tally, plan: Plan, physical: Plan) -> dict[Giver, set[Label]]:
        """The givers that a query uses, and where each is counted."""
        means = logical_nodes(physical.nodes)
        inner = intermediate({*logical_nodes(plan.nodes).values()})
        before = tally.labels()
        labels: dict[Giver, set[Label]] = {}
        for node in physical.nodes:
            giver = self._giver(node)
            if isinstance(giver, Guest):
                # Of both plans of a migration, each operator is what it was in its own.
                for inside, operator in operators_inside([(node, giver)]):
                    labels[operator] = before.get(operator) or _labels_of(counted_node(inside), inner)
            elif isinstance(giver, Way):
                labels[giver] = {means[node]}
                labels[_Arrivals(giver, self._entrances[giver.stream])] = {_Kind.ELEMENTS}
            elif giver is not None:
                labels[giver] = _labels_of(counted_node(node, means), inner)
        return labels

    def _change(self, tally: Tally, labels: Mapping[Giver, set[Label]]) -> None:
        before = tally.labels()
        coming = {giver: labels[giver] - before.get(giver, set()) for giver in labels}
        # What another query uses, or this one did, has counted before; what is new counts from the beginning.
        since = {
            giver: 0 if isinstance(giver, Operator) and giver not in self._all else giver.emitted
            for giver in coming
        }
        for one in (tally, self._all):
            for giver, added in coming.items():
                for label in added:
                    one.enter(giver, label, since[giver])
            for giver, known in before.items():
                for label in known - labels.get(giver, set()):
                    one.leave(giver, label)


def held(operators: Mapping[Node, Operator], nodes: Iterable[Node], *, in_bytes: bool) -> Counter[Node]:
    """By logical node, how many elements running operators keep, or how many bytes these take."""
    found: Counter[Node] = Counter()
    for node in nodes:
        if (operator := operators.get(node)) is None:
            continue
        counted, rest = counted_node(node), _size(operator, in_bytes)
        if isinstance(operator, Guest):
            for inside, one in operators_inside([(node, operator)]):
                size = _size(one, in_bytes)
                found[counted_node(inside)] += size
                rest -= size
        found[counted] += rest
    return found


def _size(operator: Operator, in_bytes: bool) -> int:
    return sum(map(element_bytes, operator.state())) if in_bytes else operator.size()


def _labels_of(counted: Node, inner: frozenset[Node]) -> set[Label]:
    return {counted, _Kind.INTERMEDIATE} if counted in inner else {counted}


def _counters(tally: Tally, results: int) -> Counters:
    total = tally.total()
    emitted = {label: number for label, number in total.items() if isinstance(label, Node)}
    return Counters(total[_Kind.ELEMENTS], results, total[_Kind.INTERMEDIATE], emitted)
