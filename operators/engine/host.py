"""Host: what a migration may ask of running queries, and how it changes them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence, Set
from typing import Protocol

from midstream.operators.base.operator import Operator
from midstream.operators.engine.log import Log
from midstream.operators.engine.plan_box import PlanBox
from midstream.operators.engine.queries import RunningQuery
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.observations import Observation
from midstream.plans.values.streams import Batch, Time


class Host(Protocol):
    """The running queries, as a migration sees them: all that it may ask of them, and do to them.

    A migration asks first, while nothing changes. Then it builds its Boxes (`running_box`, `new_box`), puts
    them among the operators (`box_nodes`, `exchange`), gives out what is ready at once (`emit`), and lets
    what has become a plan already run with all others (`adopt_plans`). A query is named; None is the first.

    Nothing is checked here: who changes the queries answers for its being right. Users change them by the
    engine, which checks.
    """

    @property
    def queries(self) -> Mapping[str, RunningQuery]:
        """The queries that run, by name."""

    @property
    def operators(self) -> Mapping[Node, Operator]:
        """The running operators of all queries, by their nodes; true whenever one is looked at."""

    def query(self, name: str | None = None) -> RunningQuery:
        """A query by name; the first one without. Raises UnknownStreamError where there is none."""

    def has_ended(self) -> bool:
        """Whether all streams have ended: nothing comes any more."""

    # What runs, and what went through it

    def exchangeable_inputs(self, query: str | None = None) -> dict[Node, Node]:
        """Where the part of a query begins that can be exchanged: its windows, and what it shares with other
        queries. By the logical node the physical one that runs."""

    def shared(self, query: str | None = None) -> Set[Node]:
        """The nodes that run for other queries. To ask for one costs O(1)."""

    def emitted(self, node: Node) -> int:
        """How many elements a running node has given."""

    def max_end(self, node: Node) -> Time:
        """The largest end timestamp that a running node can have given."""

    def log(self, node: Node) -> Log | None:
        """The log of a window, where one is kept."""

    def observe(self, query: str | None = None) -> dict[Node, Observation]:
        """What was seen of each of a query's windows, by their logical nodes. Raises StatisticsError where
        one gives positive and negative elements."""

    # Boxes

    def running_box(self, roots: Sequence[Node], inputs: Sequence[Node]) -> PlanBox:
        """What runs between some nodes and others above them, as a Box, for whoever takes it over."""

    def new_box(self, roots: Sequence[Node], inputs: Sequence[Node]) -> PlanBox:
        """Operators with empty state between some running nodes and new ones above them, as a Box."""

    def box_nodes(self, roots: Sequence[Node], inputs: Sequence[Node]) -> list[Node]:
        """Nodes for the outputs of a Box that stands for some roots; plans have them in their place."""

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
        `moved` tells under which nodes operators that stay go on."""

    def emit(self, node: Node, batch: Batch) -> None:
        """Give out elements in the place of a node, outside of any event: operators above it take them, and
        what becomes a result goes to the sinks."""

    def adopt_plans(self) -> None:
        """Let the operators of Boxes that have become plans run with all others; then begin what waits for
        that."""

    def compile_routes(self, query: str) -> None:
        """Compile now what the next elements of a query's streams take, so that these need not wait."""

    def count_results(self, query: str | None = None) -> None:
        """Bring the count of a query's results up to date, before its operators change."""

    # Later

    def when_free(self, query: RunningQuery, action: Callable[[], object]) -> None:
        """Do something as soon as no part of a query is being exchanged, behind all that waits for it."""

    def work_in_steps(self, work: Generator[None, None, None]) -> None:
        """Do work a step at a time, one at each push, heartbeat and end, so that it never holds up elements
        for long. It is closed when all streams have ended. It must have taken its first step."""
