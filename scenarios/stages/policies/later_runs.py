"""Runs of the real engine over the later part of a recording: counted, priced by counted steps, and measured.

Nothing here knows Spark: an executor calls it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from statistics import median
from time import process_time

from midstream.arrivals import Event
from midstream.autopilot.records import Record
from midstream.autopilot.settings import Settings
from midstream.driving import Trial, drive, without_garbage_collector
from midstream.engine import Engine
from midstream.operators.engine.measuring.counting import Counters
from midstream.optimizer import CostModel, Objective, Sample, Statistics, StreamStatistics, UnitCosts
from midstream.plans.algebra.operators import Source
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import above, input_nodes, logical_plan
from midstream.plans.values.streams import Element, Payload
from midstream.scenarios.stages.simulate.grid import Chunk
from midstream.scenarios.stages.simulate.running import digest_of

SAMPLED = 256
"""The most rows of a stream and a window that the cost model looks at."""

REPEATED = 3
"""The number of times that a run is measured; the median counts."""


@dataclass(frozen=True)
class Candidate:
    """A way to run a query: a plan that stays, or an autopilot that begins with it.

    settings, objective, strategy    of the autopilot; without settings, the plan stays
    """

    name: str
    plan: Plan
    settings: Settings | None
    objective: Objective
    strategy: str


@dataclass(frozen=True)
class LaterRun:
    """A run of a way.

    results         intermediate results, counted
    microseconds    processor time of the plans that ran, by counted elements and results and the unit costs
    seconds         measured processor time, with all that an engine does; it depends on the machine
    digest          stands for the snapshots of the output
    """

    name: str
    results: int
    microseconds: float
    moves: int
    seconds: float
    digest: str


def run_all(
    candidates: Sequence[Candidate], chunks: Sequence[Chunk], window: int, units: UnitCosts
) -> list[LaterRun]:
    """Run some candidates over the same chunks: once to count, then by turns to measure.

    window    the time after which counts are priced, in chronons
    """
    counted = [_counted(way, chunks, window, units) for way in candidates]
    measured: list[list[float]] = [[] for _ in candidates]
    for _ in range(REPEATED):
        for way, seconds in zip(candidates, measured, strict=True):
            seconds.append(_measured(way, chunks))
    return [
        LaterRun(way.name, prices.results, prices.microseconds, prices.moves, median(seconds), digest)
        for way, (prices, digest), seconds in zip(candidates, counted, measured, strict=True)
    ]


def _measured(way: Candidate, chunks: Sequence[Chunk]) -> float:
    with without_garbage_collector():
        engine = Engine(way.plan)
        _let_decide(way, engine)
        trial = Trial(engine, clock=process_time)
        for _ in drive(trial, _events(chunks, engine)):
            pass
        return trial.seconds


def _counted(way: Candidate, chunks: Sequence[Chunk], window: int, units: UnitCosts) -> tuple[_Prices, str]:
    results: list[Element] = []
    engine = Engine(way.plan, results.extend)
    prices = _Prices(way.plan, units)
    _let_decide(way, engine, prices)
    due = (chunks[0].first if chunks else 0) + window
    since = due - window
    for kind, name, what in drive(Trial(engine), _events(chunks, engine)):
        if kind == "mark" and what >= due:
            prices.pay(engine.counters(), what - since)
            since, due = what, what + window
        elif kind == "push":
            prices.see(name, [element[2] for element in what])
    prices.pay(engine.counters(), window)
    return prices, digest_of(results)


def _let_decide(way: Candidate, engine: Engine, prices: _Prices | None = None) -> None:
    if way.settings is not None:
        settings = way.settings.unbounded  # as in the replay that advised it
        pilot = engine.autopilot(objective=way.objective, settings=settings, strategy=way.strategy)
        if prices is not None:
            pilot.listen(prices.hear)


def _events(chunks: Sequence[Chunk], engine: Engine) -> Iterator[Event]:
    """Events of chunks: all streams advance to the chunk's start, a mark follows, and then its batches."""
    for chunk in chunks:
        yield from (("advance", stream, chunk.first) for stream in engine.streams)
        yield "mark", "", chunk.first
        yield from (("push", stream, batch) for stream, batch in chunk.batches)
    yield from (("end", stream, None) for stream in engine.streams)


@dataclass
class _Prices:
    """The processor time of the plans that ran, period by period, by the counts of each.

    ran    the plans that ran in the period
    """

    running: Plan
    units: UnitCosts
    ran: set[Plan] = field(default_factory=set)
    is_moving: bool = False
    results: int = 0
    microseconds: float = 0.0
    moves: int = 0
    rows: dict[str, list[Payload]] = field(default_factory=dict)
    before: Counter[Node] = field(default_factory=Counter)

    def see(self, stream: str, rows: Sequence[Payload]) -> None:
        """Note the rows that have arrived on a stream."""
        self.rows.setdefault(stream, []).extend(rows)

    def hear(self, record: Record) -> None:
        """Note what an autopilot does."""
        if record.event == "move" and record.decision is not None and record.decision.to is not None:
            self.ran |= {record.running, record.decision.to}
            self.running, self.moves = record.decision.to, self.moves + 1
        elif record.event in ("done", "aborted", "refused"):
            self.ran |= {self.running, record.running}
            self.running = record.running

    def pay(self, counters: Counters, passed: int) -> None:
        """Add the price of a period of some chronons that is over."""
        self.results = counters.intermediate
        emitted = {node: n - self.before[node] for node, n in counters.emitted.items()}
        plans = {logical_plan(plan) for plan in (*self.ran, self.running)}
        upper = {node for plan in plans for node in above(plan, input_nodes(plan))}
        streams = {node: self._known(node, passed) for plan in plans for node in _sources(plan)}
        rates = {node: n / passed for node, n in emitted.items() if node in upper}
        model = CostModel(Statistics(streams), self.units, rates)
        costs = [
            model.estimate(node).cost for node in sorted(upper, key=repr) if emitted.get(node) is not None
        ]
        self.microseconds += passed * sum(costs)
        self.before, self.ran, self.rows = Counter(counters.emitted), set(), {}

    def _known(self, node: Node, passed: int) -> StreamStatistics:
        assert isinstance(node.operator, Source)
        rows = self.rows.get(node.operator.stream, [])
        if not rows:
            return StreamStatistics(d=inf, l=1.0)
        some = rows[:: -(-len(rows) // SAMPLED)]
        return StreamStatistics(d=passed / len(rows), l=1.0, sample=Sample(node.schema, some))


def _sources(plan: Plan) -> list[Node]:
    return [node for node in plan.nodes if isinstance(node.operator, Source)]
