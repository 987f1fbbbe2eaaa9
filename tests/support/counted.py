"""Counts what operators give by another way than the engine does: by looking at every operator there is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from inside import graph_of

import midstream as ms
from midstream.migration.machine import Migration
from midstream.operators.base.box import settled
from midstream.operators.base.operator import Operator
from midstream.operators.engine.running.guest import Guest
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.operators.engine.running.queries import RunningQuery
from midstream.plans.algebra.operators import Source
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import reads_stream


def operators_of(box: ms.boxes.Box) -> Iterator[tuple[Node, Operator]]:
    """All operators inside of a Box that may be a migration, and have further ones inside."""
    box = settled(box)
    while hasattr(box, "_box"):  # one that is to fail
        box = box._box
    if isinstance(box, Migration):
        for part in (box.old, box.new):
            yield from () if part is None else operators_of(part)
    elif isinstance(box, PlanBox):
        for node, operator in box._operators.items():
            yield from each(node, operator)


def each(node: Node, operator: Operator) -> Iterator[tuple[Node, Operator]]:
    """An operator that runs, or those of the Box that it stands for. Not what reads relations alone: that
    gives all it has as it is made, and each plan has its own."""
    if isinstance(operator, Guest):
        # One of the guests is enough: all stand for the same Box, which may have guests of its own.
        if operator.hosted.guests[0] is operator:
            yield from operators_of(operator.hosted.box)
    elif reads_stream(node):
        yield node, operator


class CountReference:
    """What an engine's counters must tell. It must look after every step. By itself it sees what comes and
    goes whenever queries are rewired: in one event several migrations may follow each other."""

    def __init__(self, engine: ms.Engine) -> None:
        self._engine = engine
        self.placed: set[Operator] = set()
        """Every operator that ran for a query."""
        self._uses: dict[RunningQuery, dict[Operator, list[tuple[int, int | None]]]] = {}
        """By query, for each time that it used an operator, what that had given when the query began to use
        it, and when it ceased to."""
        self._told: dict[RunningQuery | None, ms.Counters] = {}
        graph = graph_of(engine)
        rewire = graph.rewire

        def seen(*arguments: Any, **named: Any) -> None:
            self._see()
            rewire(*arguments, **named)
            self._see()

        graph.rewire = seen  # type: ignore[method-assign]

    def look(self) -> None:
        """Compare the counters with what operators have given, and with what they were."""
        queries = graph_of(self._engine).queries
        new = [query for query in queries.values() if query not in self._uses]
        self._see()
        for name, query in queries.items():
            counters = self._engine.counters(name)
            given = sum(
                (operator.emitted if until is None else until) - since
                for operator, uses in self._uses[query].items()
                for since, until in uses
            )
            assert _of_operators(counters) == given, name
            assert 0 <= counters.intermediate <= sum(counters.emitted.values()), name
            assert not counters.dead_letters
            assert query not in new or query.plan.relations or counters == _nothing(counters)
            self._compare(query, counters)
        counters = self._engine.counters()
        assert _of_operators(counters) == sum(operator.emitted for operator in self.placed)
        assert counters.results >= sum(self._engine.counters(name).results for name in queries)
        self._compare(None, counters)
        held = sum(self._engine.held().values())
        assert held == sum(operator.size() for operator in graph_of(self._engine).base.running.values())
        in_bytes = sum(self._engine.held(in_bytes=True).values())
        assert in_bytes == ms.boxes.state_size(graph_of(self._engine).base).bytes

    def _see(self) -> None:
        """Take note of operators that have come and gone."""
        queries, known = graph_of(self._engine).queries.values(), set(self.placed)
        self._uses = {query: uses for query, uses in self._uses.items() if query in queries}
        for query in queries:
            self._see_query(query, known)

    def _see_query(self, query: RunningQuery, known: set[Operator]) -> None:
        running = graph_of(self._engine).base.running
        now = {
            operator
            for node in query.physical.nodes
            if node in running
            for _, operator in each(node, running[node])
        }
        self.placed |= now
        uses = self._uses.setdefault(query, {})
        for operator in now:
            times = uses.setdefault(operator, [])
            if not times or times[-1][1] is not None:
                times.append((operator.emitted if operator in known else 0, None))
        for operator, times in uses.items():
            since, until = times[-1]
            if operator not in now and until is None:
                times[-1] = since, operator.emitted

    def _compare(self, query: RunningQuery | None, counters: ms.Counters) -> None:
        """Nothing falls."""
        before = self._told.get(query, counters)
        for name in ("elements", "results", "intermediate"):
            assert getattr(counters, name) >= getattr(before, name), name
        assert all(counters.emitted.get(node, 0) >= number for node, number in before.emitted.items())
        self._told[query] = counters


def _of_operators(counters: ms.Counters) -> int:
    emitted = counters.emitted.items()
    return sum(n for node, n in emitted if reads_stream(node) and not isinstance(node.operator, Source))


def _nothing(counters: ms.Counters) -> ms.Counters:
    return ms.Counters(0, 0, 0, dict.fromkeys(counters.emitted, 0))
