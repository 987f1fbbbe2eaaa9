"""Costs of a query among many: to add, migrate and remove it, and to process an element for it alone."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from time import process_time
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from midstream.driving import run
from midstream.engine import Engine
from midstream.io.progress import counted
from midstream.migration.machine import Phase
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.operands import col
from midstream.plans.values.snapshots import compare, normal_form
from midstream.plans.values.streams import Batch

SIZES = (100, 300, 1_000)
"""The numbers of running queries, by default."""

PUSH_MARK = 2.0
"""The largest time of an element among the most queries, as a multiple of that with one query."""

GROWTH_MARK = 2.0
"""The largest cost of a query among the most queries, as a multiple of that among the fewest."""

WINDOW = 60

MIGRATED = 50
"""The number of queries that are migrated at each size, all at the same time."""

PUSHED = 500
"""Elements per turn."""

TURNS = 11
"""The number of turns of each engine."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Costs of a query among `queries` queries, in CPU seconds."""

    queries: int
    add: float
    migrate: float
    remove: float


@dataclass(frozen=True, slots=True)
class QueriesRun:
    """Measurements with streams for each query, and with streams and windows that all queries share."""

    separate: tuple[Cost, ...]
    shared: tuple[Cost, ...]
    push: tuple[tuple[float, float], ...]
    """Seconds per element in each turn: with one query, and with the most queries."""
    push_shared: float
    """Seconds per element for an element that all of the most queries read."""
    is_right: bool
    """True if the migrations ended, and the results were those of queries that run alone."""

    @property
    def push_ratio(self) -> float:
        """Time of an element among the most queries / time with one query; the median of all turns."""
        return median(most / one for one, most in self.push)

    @property
    def growth(self) -> float:
        """The largest ratio of a query's cost among the most queries to that among the fewest."""
        pairs = [(costs[0], costs[-1]) for costs in (self.separate, self.shared)]
        growths = [(m.add / f.add, m.migrate / f.migrate, m.remove / f.remove) for f, m in pairs]
        return max(map(max, growths))

    @property
    def is_good(self) -> bool:
        """True if both limits are kept, and the results are right."""
        return self.is_right and self.push_ratio <= PUSH_MARK and self.growth <= GROWTH_MARK

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "own_streams": [asdict(cost) for cost in self.separate],
            "shared_streams": [asdict(cost) for cost in self.shared],
            "push_ratio": self.push_ratio,
            "push_seconds": {
                "one": median(one for one, _ in self.push),
                "most": median(most for _, most in self.push),
                "most_shared": self.push_shared,
            },
            "growth": self.growth,
            "right": self.is_right,
        }


def query(number: int, *, is_shared: bool) -> tuple[Plan, Plan]:
    """A query of one of five shapes, by its number, and an equivalent plan.

    >>> [query(number, is_shared=True)[0].root.operator.name for number in range(5)]
    ['filter', 'filter', 'filter', 'filter', 'filter']
    >>> [str(source.stream) for source in query(7, is_shared=False)[0].sources]
    ['a7', 'b7']
    """
    suffix = "" if is_shared else str(number)
    a, b, c = (_window(name, suffix) for name in "abc")
    wanted = col("a_key") >= number % 7
    dear = col("a_value") > -number
    own = a.filter(dear)
    match number % 5:
        case 0:
            before, after = own.filter(wanted), a.filter(wanted).filter(dear)
        case 1:
            before, after = _counts(own).filter(wanted), _counts(own.filter(wanted))
        case 2:
            before, after = _pairs(own, b).filter(wanted), _pairs(own.filter(wanted), b)
        case 3:
            before = _triples(_pairs(own, b), c).filter(wanted)
            after = _triples(_pairs(own.filter(wanted), b), c)
        case _:
            keys = own.select("a_key")
            before, after = keys.distinct().filter(wanted), keys.filter(wanted).distinct()
    return before.plan(), after.plan()


def _window(name: str, suffix: str) -> Stream:
    columns = {f"{name}_key": "integer", f"{name}_value": "integer"}
    return stream(f"{name}{suffix}", columns).window(WINDOW)


def _counts(rows: Stream) -> Stream:
    return rows.group_by("a_key").aggregate(n=count())


def _pairs(left: Stream, right: Stream) -> Stream:
    return left.join(right, on=[("a_key", "b_key")])


def _triples(pairs: Stream, third: Stream) -> Stream:
    return pairs.join(third, on=[("a_key", "c_key")])


def measure_queries(
    sizes: Sequence[int] = SIZES, progress: Callable[[int, int], object] = lambda done, total: None
) -> QueriesRun:
    """Measure at each number of queries, in order, with queries of five shapes in turn.

    >>> run = measure_queries([5, 10])
    >>> [cost.queries for cost in run.separate], run.is_right
    ([5, 10], True)
    """
    sizes = sorted(sizes)
    runs = [(is_shared, size) for is_shared in (False, True) for size in sizes]
    step = counted(progress, len(runs) + 1)
    measured = []
    for is_shared, size in runs:
        measured.append(_measure(size, is_shared=is_shared))
        step()
    costs = [cost for cost, _ in measured]
    pushes = _pushes(sizes[-1])
    step()
    return QueriesRun(
        tuple(costs[: len(sizes)]),
        tuple(costs[len(sizes) :]),
        pushes,
        _push(_engine(sizes[-1], is_shared=True), "a", 0),
        all(is_right for _, is_right in measured),
    )


def _measure(queries: int, *, is_shared: bool) -> tuple[Cost, bool]:
    """The costs, and True if migrations ended and changed no result."""
    plans = [query(number, is_shared=is_shared) for number in range(queries)]
    # The queries that were added last.
    moving = range(queries)[-MIGRATED:]
    results: dict[int, Batch] = {number: [] for number in moving[-5:]}
    engine = Engine()
    arrived: dict[str, Batch] = {}
    add = _seconds(range(queries), lambda number: engine.add(plans[number][0], name=str(number)))
    for number, output in results.items():
        engine.subscribe(output.extend, query=str(number))
    _feed(engine, arrived, 0)
    transitions = []
    moved = _seconds(
        moving, lambda number: transitions.append(engine.migrate(plans[number][1], query=str(number)))
    )
    for time in range(10, 2 * WINDOW, 10):
        _feed(engine, arrived, time)
    engine.close()
    is_right = all(transition.phase is Phase.DONE for transition in transitions) and all(
        compare(normal_form(_alone(plans[number][0], arrived)), normal_form(output))
        for number, output in results.items()
    )
    remove = _seconds(range(queries), lambda number: engine.remove(str(number)))
    return Cost(queries, add, moved, remove), is_right


def _seconds(numbers: Sequence[int], work: Callable[[int], object]) -> float:
    """The mean CPU seconds of `work` for each of some numbers."""
    gc.collect()
    begun = process_time()
    for number in numbers:
        work(number)
    return (process_time() - begun) / len(numbers)


def _feed(engine: Engine, arrived: dict[str, Batch], time: int) -> None:
    """Push an element on every stream, and record it in `arrived`."""
    for stream_name in engine.streams:
        element = (time, time + 1, (time // 10 % 7, time))
        engine.push(stream_name, [element])
        arrived.setdefault(stream_name, []).append(element)


def _alone(plan: Plan, arrived: Mapping[str, Batch]) -> Batch:
    return run(plan, {source.stream: arrived[source.stream] for source in plan.sources})


def _engine(queries: int, *, is_shared: bool) -> Engine:
    engine = Engine()
    for number in range(queries):
        engine.add(query(number, is_shared=is_shared)[0], name=str(number))
    return engine


def _pushes(queries: int) -> tuple[tuple[float, float], ...]:
    """Seconds per element for one query, when it runs alone and among `queries` queries, in turn."""
    one, most = _engine(1, is_shared=False), _engine(queries, is_shared=False)
    gc.collect()
    return tuple((_push(one, "a0", turn), _push(most, "a0", turn)) for turn in range(TURNS))


def _push(engine: Engine, name: str, turn: int) -> float:
    """Seconds per element, pushed one by one."""
    times = range(turn * PUSHED, (turn + 1) * PUSHED)
    batches = [[(time, time + 1, (time % 7, time))] for time in times]
    begun = process_time()
    for batch in batches:
        engine.push(name, batch)
    return (process_time() - begun) / PUSHED


def show_queries(run: QueriesRun, console: Console) -> None:
    """Print the measurements as a table, and the verdict."""
    table = Table("streams", "queries", "add", "migrate", "remove")
    for kind, costs in (("of their own", run.separate), ("shared", run.shared)):
        for cost in costs:
            times = (f"{1000 * seconds:.2f} ms" for seconds in (cost.add, cost.migrate, cost.remove))
            table.add_row(kind, f"{cost.queries:,}", *times)
    console.print(table)
    one, most = (1e6 * median(seconds) for seconds in zip(*run.push, strict=True))
    console.print(
        Text(
            f"An element for one query takes {one:.2f} µs where it is the only one, and {most:.2f} µs among "
            f"{run.shared[-1].queries:,}: {run.push_ratio:.2f} times as long (the mark is {PUSH_MARK:.1f}).\n"
            f"An element for all of {run.shared[-1].queries:,} takes {1e6 * run.push_shared:,.0f} µs.\n"
            f"A query among the most costs up to {run.growth:.2f} times what it costs among the fewest (the "
            f"mark is {GROWTH_MARK:.1f})."
        )
    )
    console.print(Text("Migrations changed no result." if run.is_right else "The results differ."))
