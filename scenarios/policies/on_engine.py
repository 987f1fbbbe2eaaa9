"""Runs a policy with the engine, or the engine's own autopilot, and counts what all running plans really give
as intermediate results, and the processor's time."""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time

from midstream.autopilot.records import Record
from midstream.engine import Engine
from midstream.migration.machine import Phase
from midstream.migration.report import report
from midstream.migration.transition import Transition
from midstream.optimizer import INTERMEDIATE
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import Element
from midstream.scenarios.policies.case import Case, Key, Order
from midstream.scenarios.policies.policy import How, Move, Now, Policy


@dataclass(frozen=True, slots=True)
class Carried:
    """A migration that was carried out: when it was asked for, and by which arrivals it was over."""

    at: int
    over: int | None
    old: Order
    new: Order
    how: How
    split: int | None


@dataclass(frozen=True)
class Run:
    """What a policy cost, by counting, in how many seconds of the processor, and what came out."""

    start: Order
    total: int
    moves: tuple[Carried, ...]
    results: list[Element]
    seconds: float


@dataclass(frozen=True)
class Flight:
    """The same of the engine's autopilot, with what it did."""

    start: Order
    total: int
    records: list[Record]
    results: list[Element]
    seconds: float

    @property
    def moves(self) -> int:
        """How many migrations it began."""
        return sum(record.event == "move" for record in self.records)


def plan_of(case: Case, order: Order) -> Plan:
    """The plan that joins two streams first. All orders have the same columns."""
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


def run(case: Case, policy: Policy) -> Run:
    """Run a policy over a case with the engine.

    Time comes to every instant on all streams at once, by heartbeats, before what arrives at it.

    Raises   MigrationRefused, and what the engine raises.
    """
    start = running = policy.begin(case)
    plans = {order: plan_of(case, order) for order in case.orders}
    results: list[Element] = []
    engine = Engine(plans[start], results.extend)
    moves: list[Carried] = []
    under_way: tuple[int, Order, Move, Transition] | None = None

    def ended(time: int | None) -> Carried:
        assert under_way is not None
        at, old, move, migration = under_way
        return Carried(at, time, old, move.to, move.how, _chronon(report(migration).split_time))

    begun = process_time()
    for time, together in case.instants():
        for name in case.streams:
            engine.advance(name, time)
        if under_way is not None and _is_over(under_way[3]):
            moves.append(ended(time))
            under_way = None
        if under_way is None and time > case.first:
            wish = policy.decide(Now(time, running, engine.counters().intermediate))
            if wish is not None:
                migration = engine.migrate(plans[wish.to], wish.how, wait=True)
                under_way = time, running, wish, migration
                running = wish.to
        for arrival in together:
            engine.push(arrival[1], [(time, time + 1, arrival[2])])
            policy.observe(arrival)
    if under_way is not None:
        moves.append(ended(None))
    engine.close()
    seconds = process_time() - begun
    # During a migration, what waits in the backlog reaches the new plan only now.
    return Run(start, engine.counters().intermediate, tuple(moves), results, seconds)


def fly(case: Case, start: Order, how: How) -> Flight:
    """Let the engine decide by itself, with the default settings and few intermediate results in mind: by
    GenMig only, or by the strategy that is the cheapest.

    Raises   What the engine raises.
    """
    results: list[Element] = []
    engine = Engine(plan_of(case, start), results.extend)
    pilot = engine.autopilot(objective=INTERMEDIATE, strategy="genmig" if how == "genmig" else "auto")
    records: list[Record] = []
    pilot.listen(records.append)
    begun = process_time()
    for time, together in case.instants():
        for name in case.streams:
            engine.advance(name, time)
        for _, name, row in together:
            engine.push(name, [(time, time + 1, row)])
    engine.close()
    seconds = process_time() - begun
    (summary,) = pilot.summary.values()
    return Flight(start, summary["spent"], records, results, seconds)


def _is_over(migration: Transition) -> bool:
    if migration.phase in (Phase.ABORTED, Phase.REFUSED):
        raise MigrationRefused(
            f"the policy cannot go on: the migration is {migration.phase.value}, {migration.reason}"
        )
    return migration.phase is Phase.DONE


def _on(case: Case, order: Order) -> tuple[str, str]:
    one, other = case.on[order]
    return f"{order[0]}_{one}", f"{order[1]}_{other}"


def _type(case: Case, name: str, column: str) -> str:
    position = case.columns[name].index(column)
    first: Key | None = next((row[position] for _, row in case.streams[name]), None)
    return "string" if isinstance(first, str) else "integer"


def _chronon(split: object) -> int | None:
    return split if isinstance(split, int) else None
