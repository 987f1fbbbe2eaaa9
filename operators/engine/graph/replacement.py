"""A query replaces another that means something else, at an instant of application time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from midstream.operators.base.walk import Take
from midstream.operators.engine.graph.feed import Feed
from midstream.operators.engine.graph.query_graph import QueryGraph
from midstream.operators.engine.running.queries import RunningQuery
from midstream.plans.algebra.builder import AnyPlan, plan_of
from midstream.plans.values.arguments import require
from midstream.plans.values.errors import PlanError
from midstream.plans.values.streams import FOREVER, Batch, Time

TO_COME = ", to come"
"""The suffix of the name of a query that is going to replace another."""


class Replacement:
    """A query that ends at an instant, and one that begins there.

        results@t  =  old@t before `at`,  new@t from `at` on

    Both run until the old one has given all results that start before `at`. Until then the new one's results
    wait, so that results stay in order.

    Output   As the old query's sinks expect: ordered by start.
    State    That of both queries, and the new one's results until the old one has ended.
    """

    def __init__(self, graph: QueryGraph, feed: Feed, old: RunningQuery, new: RunningQuery, at: Time) -> None:
        self.at = at
        """The instant from which results are those of the new plan."""
        self._graph = graph
        self._old = old
        self._new = new
        new.begins = at
        self._sinks: Mapping[str, list[Take]] = {output: list(sinks) for output, sinks in old.sinks.items()}
        self._waiting: dict[str, Batch] = {output: [] for output in new.sinks}
        self.is_done = False
        """True once the old query has been removed."""
        for query, take in ((old, self._take_old), (new, self._take_new)):
            for output, sinks in query.sinks.items():
                sinks[:] = [partial(take, output)]
                graph.base.subscribed(query.physical.outputs[output])
        if self.step():
            feed.work_in_steps(self)

    def step(self) -> bool:
        """End the old query if it is over; returns False once it has ended."""
        if not self.is_done and self._is_over():
            self._end()
        return not self.is_done

    def _take_old(self, output: str, batch: Batch) -> None:
        self._give(output, [(s, min(e, self.at), row) for s, e, row in batch if s < self.at])

    def _take_new(self, output: str, batch: Batch) -> None:
        taken = [(max(s, self.at), e, row) for s, e, row in batch if e > self.at]
        if self.is_done:
            self._give(output, taken)
        else:
            self._waiting[output] += taken

    def _give(self, output: str, batch: Batch) -> None:
        if batch:
            for sink in self._sinks[output]:
                sink(batch)

    def _is_over(self) -> bool:
        """True if the old query has given all results that start before the instant, or is gone."""
        if self._graph.queries.get(self._old.name) is not self._old:
            return True
        base = self._graph.base
        return all(base.progress_of(root) >= self.at for root in self._old.physical.outputs.values())

    def _end(self) -> None:
        self.is_done = True
        for output, batch in self._waiting.items():
            self._give(output, batch)
        self._waiting.clear()
        if self._graph.queries.get(self._new.name) is self._new:
            self._graph.take_name(self._new, self._old)


def replace(
    graph: QueryGraph,
    feed: Feed,
    plan: AnyPlan,
    query: str | None = None,
    *,
    at: int | None = None,
) -> Replacement:
    """Replace a query as `Engine.replace` does, by default at the earliest possible instant.

    That is when none of the old query's results is valid any more, and the new query lacks none.

    Raises   PlanError also where no instant is late enough, where a part of the old query is being exchanged,
             or where a log is kept of it.
    """
    plan, old = plan_of("replace", plan), graph.query(query)
    if set(plan.outputs) != set(old.plan.outputs):
        raise PlanError(
            f"the new plan has the outputs {', '.join(plan.outputs)}, expected {', '.join(old.plan.outputs)}"
        )
    if old.is_exchanged:
        raise PlanError(f"a migration of {old.name} is under way; wait until it is done, or abort it")
    if old.is_logged:
        raise PlanError(f"a log is kept of {old.name}, which cannot go on; add the new plan as another query")
    if at is not None:
        require("replace: at", at, int, "an instant in chronons")
    new = graph.add(plan, name=old.name + TO_COME)
    valid_until = max(map(graph.ends.largest, old.physical.outputs.values()))
    earliest = max(valid_until, new.complete_from, old.begins)
    if earliest == FOREVER or (at is not None and at < earliest):
        graph.remove(new.name)
        if earliest == FOREVER:
            raise PlanError(
                f"{old.name} cannot be replaced: one of its results, or an element that the new plan would "
                "miss, is valid for ever; add the new plan as another query"
            )
        raise PlanError(f"{old.name} cannot be replaced at {at}, expected {earliest} or later")
    return Replacement(graph, feed, old, new, earliest if at is None else at)
