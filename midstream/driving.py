"""The loop that drives an engine over arrivals.

An experiment consists of events, a trial of an engine, and `drive`, which yields each event once the engine
has taken it. The body of the caller's loop counts, prints and compares results: its time is not measured. A
drive yields its events, so that another drive can follow it: then a second engine takes each event after the
first one.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from midstream.arrivals import Event, interleave
from midstream.engine import Engine
from midstream.migration.transition import Transition
from midstream.plans.algebra.builder import AnyPlan, plan_of, require_plan_first
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.arguments import is_data, require_mapping, require_name
from midstream.plans.values.errors import ArgumentError, QueryNote, tell
from midstream.plans.values.schema import suggest
from midstream.plans.values.streams import Chronons, Element
from midstream.results import Results


@dataclass(frozen=True, slots=True)
class Move:
    """A migration that a command began; its report tells its begin, its end and its results.

    results    the number of results that the engine had given before
    seconds    the time to prepare and begin it, by the clock of the trial
    """

    migration: Transition
    results: int
    seconds: float


@dataclass(slots=True)
class Trial:
    """An engine that is driven, with the decider on commands between events.

    decide     called in front of each event; returns the commands to carry out there, often none
    clock      gives seconds, such as `process_time`; None turns timing off
    seconds    the time of events, decisions and commands so far
    moves      the migrations that commands began, in order
    """

    engine: Engine
    decide: Callable[[Event], Iterable[Command]] | None = None
    clock: Callable[[], float] | None = None
    seconds: float = 0.0
    moves: list[Move] = field(default_factory=list)


Command = Callable[[Trial], object]
"""Changes the engine of a trial between two events.

Examples are to abort a migration, to give a window another size, or to add a query.
"""


@dataclass(frozen=True)
class Migrate:
    """The command to begin a migration; the trial keeps the record.

    begin     begins the migration, and first finds the new plan if it is not known beforehand
    Raises    MigrationRefused, which ends the drive if nobody catches it; then there is no record.
    """

    begin: Callable[[Engine], Transition]

    def __call__(self, trial: Trial) -> None:
        """Begin the migration and record it."""
        results = trial.engine.counters().results
        began = trial.clock() if trial.clock else 0.0
        migration = self.begin(trial.engine)
        seconds = trial.clock() - began if trial.clock else 0.0
        trial.moves.append(Move(migration, results, seconds))


@contextmanager
def without_garbage_collector() -> Iterator[None]:
    """Turn the garbage collector off, as timeit does: its time depends on other objects, such as results."""
    gc.collect()
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def drive(trial: Trial, events: Iterable[Event]) -> Iterator[Event]:
    """Send events to the engine of a trial, and yield each after the engine has taken it.

    In front of each event the commands of `trial.decide` are carried out. Events are taken one by one, and
    may be endless. At their end nothing is closed.

    Raises   The errors of the engine and the commands.

    >>> from itertools import count
    >>> from midstream.plans.algebra.builder import stream
    >>> results = []
    >>> trial = Trial(Engine(stream("s", x="integer").window(3).plan(), results.extend))
    >>> for kind, stream, elements in drive(trial, (("push", "s", [(t, t + 1, (t,))]) for t in count())):
    ...     if len(results) == 2:
    ...         break
    >>> results
    [(0, 3, (0,)), (1, 4, (1,))]
    """
    decide, clock = trial.decide, trial.clock
    push, advance, end = trial.engine.push, trial.engine.advance, trial.engine.end
    began = 0.0
    for event in events:
        if clock is not None:
            began = clock()
        if decide is not None:
            for command in decide(event):
                command(trial)
        kind, stream, what = event
        if kind == "push":
            push(stream, what)
        elif kind == "advance":
            advance(stream, what)
        elif kind == "end":
            end(stream)
        elif kind == "tick":
            trial.engine.tick(what)
        if clock is not None:
            trial.seconds += clock() - began
        yield event


def run(
    plan: AnyPlan,
    streams: Mapping[str, Any] | None = None,
    batch_size: int = 1000,
    *,
    time: str | Mapping[str, str] | None = None,
) -> Results:
    """Run a plan over complete streams and return the results of its first output.

    Streams are elements, or data as `Engine.push_rows` takes it: Arrow tables, DataFrames, dicts and
    dataclasses, and tuples where `time` names a column. `time` is the column that holds the timestamp, of all
    streams or by stream. Streams that are read from files, as by `ms.read_csv`, need not be given.

    Raises   ArgumentError where `streams` lacks a stream of the plan; give [] for a stream without elements.

    >>> from midstream.plans.algebra.builder import stream
    >>> run(stream("s", x="integer").window(3).plan(), {"s": [(1, 2, (7,))]})
    [(1, 4, (7,))]
    >>> run(stream("s", x="integer").window(3).plan(), {"s": [{"x": 7, "at": 1}]}, time="at")
    [(1, 4, (7,))]
    """
    require_plan_first("run(plan, streams)", streams)
    results, made = Results(), plan_of("run", plan)
    engine = Engine(made, results)
    recorded = {
        one.stream: Chronons(one.elements, one.unit) for one in made.sources if one.elements is not None
    }
    streams = {**recorded, **({} if streams is None else _as_elements(made, streams, time))}
    batches = interleave(streams, batch_size)
    for name in engine.streams:
        if name not in streams:
            near = suggest(name, streams)
            raise ArgumentError(
                f"run: found no stream {name} among {', '.join(streams) or 'none'}, expected the elements of "
                f"each stream that the plan reads, or []{near}"
            )
    for _ in drive(Trial(engine), _pushes(batches, streams)):
        pass
    engine.close()
    return results


def _as_elements(
    plan: Plan, streams: Mapping[str, Any], time: str | Mapping[str, str] | None
) -> Mapping[str, Iterable[Element]]:
    """The streams with elements in place of rows."""
    require_mapping("run: streams", streams, "elements or rows by the name of their stream")
    columns = time if isinstance(time, Mapping) else {} if time is None else dict.fromkeys(streams, time)
    for name, column in columns.items():
        require_name("run: time", column, "the name of a column")
        if name not in streams:
            raise ArgumentError(
                f"run: time: found a stream {name}, expected one of {', '.join(streams)}"
                f"{suggest(name, streams)}"
            )
    found = dict(streams)
    for source in plan.sources:
        name, data = source.stream, streams.get(source.stream, ())
        first = data[0] if isinstance(data, list | tuple) and data else None
        if name in columns or is_data(data) or is_data(first):
            from midstream.io.sources.pushed import PushedRows  # most programs have elements

            rows = PushedRows(source, columns.get(name))
            if decimals := rows.decimals(data):
                from midstream.plans.sql.notes import limits_of_decimals

                tell(limits_of_decimals(plan, {name: decimals}), QueryNote)
            elements = rows.elements(data)
            found[name] = elements if source.unit is None else Chronons(elements, source.unit)
    return found


def _pushes(
    batches: Iterable[tuple[str, list[Element]]], streams: Mapping[str, Iterable[Element]]
) -> Iterator[Event]:
    """Batches as events; they carry the unit of time if their streams declare it."""
    units = {name: elements.unit for name, elements in streams.items() if isinstance(elements, Chronons)}
    for name, batch in batches:
        unit = units.get(name)
        yield "push", name, batch if unit is None else Chronons(iter(batch), unit)
