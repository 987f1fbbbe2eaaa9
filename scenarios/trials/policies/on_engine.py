"""Run policies with the engine: count intermediate results, and measure CPU time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time

from midstream.arrivals import Event
from midstream.autopilot.costs.bill import Move
from midstream.autopilot.costs.policies import Now, Policy
from midstream.autopilot.records import Record
from midstream.autopilot.settings import BALANCED, Settings
from midstream.driving import Command, Migrate, Trial, drive
from midstream.engine import Engine
from midstream.migration.machine import Phase
from midstream.migration.transition import Transition
from midstream.optimizer import INTERMEDIATE
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import Element
from midstream.scenarios.trials.policies.case import Case, Key, Order
from midstream.scenarios.trials.policies.policy import How


@dataclass(frozen=True)
class EngineRun:
    """A policy's run with the engine: counted costs, moves, results, and CPU seconds."""

    total: int
    moves: tuple[Move, ...]
    results: list[Element]
    seconds: float


@dataclass(frozen=True)
class Flight:
    """A run of the engine's autopilot: counted costs, records, results, and CPU seconds."""

    total: int
    records: list[Record]
    results: list[Element]
    seconds: float

    @property
    def moves(self) -> int:
        """The number of migrations that it began."""
        return sum(record.event == "move" for record in self.records)


def plan_of(case: Case, order: Order) -> Plan:
    """The plan that joins two streams first; all orders have the same columns."""
    inputs = {
        name: stream(name, {f"{name}_{column}": _type(case, name, column) for column in columns}).window(
            case.window
        )
        for name, columns in case.columns.items()
    }
    joined, rest = list(order), [name for name in inputs if name not in order]
    result = inputs[order[0]].join(inputs[order[1]], on=[_on(case, order)])
    for name in rest:
        on = [_on(case, one) for one in case.orders if name in one and {*one} - {name} <= {*joined}]
        result = result.join(inputs[name], on=[(a, b) if a in result.schema.names else (b, a) for a, b in on])
        joined.append(name)
    columns = [f"{name}_{column}" for name, names in case.columns.items() for column in names]
    return result.select(*columns).plan()


def events(case: Case) -> Iterator[Event]:
    """All arrivals with heartbeats and marks.

    At each instant, heartbeats advance all streams at once. Then follows a mark, and then the arrivals.
    """
    for time, together in case.instants():
        for name in case.streams:
            yield "advance", name, time
        yield "mark", "", time
        for _, name, row in together:
            yield "push", name, [(time, time + 1, row)]


def run(case: Case, policy: Policy, start: int = 0) -> EngineRun:
    """Run a policy over a case with the engine, beginning with an order by its number.

    Raises   MigrationRefused, and what the engine raises.
    """
    plans = [plan_of(case, order) for order in case.orders]
    results: list[Element] = []
    moves: list[Move] = []
    engine = Engine(plans[start], results.extend)

    def decide(event: Event) -> Iterator[Command]:
        kind, _, time = event
        if kind != "mark" or time == case.first or (trial.moves and not _is_over(trial.moves[-1].migration)):
            return
        running = moves[-1].to if moves else start
        move = policy.decide(Now(time, running, engine.counters().intermediate))
        if move is not None:
            moves.append(move)
            yield Migrate(lambda engine: engine.migrate(plans[move.to], move.strategy, wait=True, note=False))

    trial = Trial(engine, decide, process_time)
    for _ in drive(trial, events(case)):
        pass
    engine.close()
    # During a migration, the elements in the backlog reach the new plan only now.
    return EngineRun(engine.counters().intermediate, tuple(moves), results, trial.seconds)


def fly(case: Case, start: Order, how: How, settings: Settings = BALANCED) -> Flight:
    """Run a case under the engine's autopilot, with few intermediate results as its objective.

    It migrates by GenMig only, or by the cheapest strategy, as `how` says.

    Raises   What the engine raises.
    """
    results: list[Element] = []
    engine = Engine(plan_of(case, start), results.extend)
    strategy = "genmig" if how == "genmig" else "auto"
    # The case counts results, not time.
    pilot = engine.autopilot(objective=INTERMEDIATE, settings=settings.unbounded, strategy=strategy)
    records: list[Record] = []
    pilot.listen(records.append)
    trial = Trial(engine, clock=process_time)
    for _ in drive(trial, events(case)):
        pass
    engine.close()
    (summary,) = pilot.summary.values()
    return Flight(summary["spent"], records, results, trial.seconds)


def _is_over(migration: Transition) -> bool:
    if migration.phase in (Phase.ABORTED, Phase.REFUSED):
        reason = f"{migration.phase.value}, {migration.reason}"
        raise MigrationRefused(f"the policy cannot go on: the migration is {reason}")
    return migration.phase is Phase.DONE


def _on(case: Case, order: Order) -> tuple[str, str]:
    one, other = case.on[order]
    return f"{order[0]}_{one}", f"{order[1]}_{other}"


def _type(case: Case, name: str, column: str) -> str:
    position = case.columns[name].index(column)
    first: Key | None = next((row[position] for _, row in case.streams[name]), None)
    return "string" if isinstance(first, str) else "integer"
