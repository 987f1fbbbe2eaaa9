"""Running queries for users."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from midstream.operators.engine.graph.levers import notes
from midstream.operators.engine.graph.query_graph import QueryGraph
from midstream.operators.engine.running.queries import RunningQuery
from midstream.plans.values.near_names import NearNames
from midstream.plans.values.streams import FOREVER

if TYPE_CHECKING:
    from midstream.operators.engine.running.settings import History
    from midstream.plans.algebra.plan import Node, Plan
    from midstream.plans.values.streams import Time


@dataclass(frozen=True, repr=False)
class Query(NearNames):
    """A running query to inspect; its properties are always those of the moment."""

    _graph: QueryGraph
    _running: RunningQuery

    def __repr__(self) -> str:
        return f"<Query {self.name}>"

    @property
    def name(self) -> str:
        """The query's name."""
        return self._running.name

    @property
    def plan(self) -> Plan:
        """The plan as it was given; during a migration, the new plan."""
        return self._running.own_terms.plan(self._running.plan)

    @property
    def physical(self) -> Plan:
        """The physical plan; subplans that are being exchanged are Boxed."""
        return self._running.physical

    @property
    def complete_from(self) -> Time:
        """The instant from which on no result lacks an earlier element; FOREVER if there is none."""
        return self._running.complete_from

    @property
    def results(self) -> int:
        """The number of results so far."""
        return self._running.tally.results

    @property
    def is_exchanged(self) -> bool:
        """True if a part of the plan is being exchanged."""
        return self._running.is_exchanged

    @property
    def is_logged(self) -> bool:
        """True if the query's windows and outputs are logged."""
        return self._running.is_logged

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each lever of another query that could be shared, and why it is not.

        Cost     O(levers of the engine)

        >>> import midstream as ms
        >>> s = ms.stream("s", x="integer")
        >>> engine = ms.Engine(s.window(60, bounds=(10, 120)))
        >>> engine.add(s.window(200, bounds=(150, 300)), name="long").notes[0]
        'window 200 (from 150 to 300) of s runs apart from window 60 (from 10 to 120) of s of query: ...'
        """
        return tuple(notes(self._graph, self._running))

    def settings(self, start: Time | None = None, end: Time = FOREVER) -> dict[Node, History]:
        """The settings of its levers with which results in an interval were computed (thesis, 21.4.3).

        By the node of each lever, the settings of elements that can be valid from `start` up to, not
        including, `end`, each with the instant from which it holds. A lever is a window, a granularity
        conversion or a sample with bounds. By default `start` is the beginning, or the instant before which
        `Engine.forget_settings` has forgotten them.

        Cost     O(levers and their changes)
        Raises   PlanError where settings of an earlier `start` have been forgotten.

        >>> import midstream as ms
        >>> window = ms.stream("s", x="integer").window(60, bounds=(10, 120))
        >>> engine = ms.Engine(window)
        >>> _ = engine.adjust({window: 20}, at=100)
        >>> list(engine.query().settings().values())
        [((-inf, 60), (100, 20))]
        >>> list(engine.query().settings(160, 200).values())
        [((100, 20),)]
        """
        settings, own = self._running.settings, self._running.own_terms
        if start is None:
            start = settings.remembered_from
        between = settings.between(self._running.plan, start, end)
        return {own.node(lever): history for lever, history in between.items()}

    def dump_settings(self) -> str:
        """The settings of its levers, with all changes so far, as JSON for `Engine.load_settings`."""
        return self._running.settings.dump(self._running.plan)

    @property
    def _runs(self) -> bool:
        """False if the query has been removed."""
        return self._graph.queries.get(self.name) is self._running

    def progress(self, output: str | None = None) -> Time:
        """The time before which no later result of an output, by default the first, starts.

        It is FOREVER once the query has been removed.
        """
        root = self.physical.outputs[self._running.output(output)]
        return self._graph.base.progress_of(root) if self._runs else FOREVER
