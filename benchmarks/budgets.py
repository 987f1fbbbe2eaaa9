"""Costs of keeping queries within a budget: processor time, errors of forecasts, and changes among many."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import wraps
from itertools import count, islice
from time import process_time
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from midstream.autopilot.managing import ResourceManager
from midstream.engine import Engine
from midstream.io.progress import counted
from midstream.optimizer import Sample, Statistics, StreamStatistics
from midstream.optimizer.allocation.allocator import Allocator
from midstream.optimizer.allocation.limits import Limits
from midstream.plans.algebra.builder import Stream
from midstream.plans.algebra.operators import Source, TimeWindow
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import is_lever, logical
from midstream.scenarios.streams.stream_spec import Poisson
from midstream.scenarios.trials.costs.forecast_errors import LevelError, growth, overall
from midstream.scenarios.trials.costs.random_queries import COLUMNS, RandomQueries
from midstream.scenarios.trials.simulator.scenario import Scenario, load_scenario
from midstream.scenarios.trials.simulator.simulating import simulate
from midstream.scenarios.trials.simulator.workload import random_queries

SCENARIO = "figure-24-6"

SHARE_MARK = 0.05
"""The largest share of processor time that looks may take."""

GROWTH_MARK = 0.01
"""The largest growth of the error of forecasts from joins of a level to those of the next."""

MARKS = {"adjust_one": 0.030, "adjust_all": 3.0, "first": 10.0, "later": 2.0}
"""The longest times with 5,000 queries, in seconds; see `ManyTimes`."""

MANY = 5_000

CHANGED = 10
"""The number of streams whose statistics change before a later allocation."""

TURNS = 5
"""The number of times that changes of one window, and later allocations, are repeated."""

BYTES = 60_000.0
"""The budget of a query, in bytes; it is that of the scenario."""

SAMPLED = 1_000
"""Rows in the sample of a stream."""


@dataclass(frozen=True, slots=True)
class ManyTimes:
    """CPU seconds among many queries.

    windows      the number of time windows
    adjust_one   `adjust` of one window and the next push of its stream; the largest of some
    adjust_all   `adjust` of all windows and the next push of every stream
    first        the first allocation
    later        an allocation when the statistics of ten streams have changed; the largest of some
    """

    queries: int
    windows: int
    adjust_one: float
    adjust_all: float
    first: float
    later: float


@dataclass(frozen=True, slots=True)
class BudgetRun:
    """The measurements.

    looks       CPU seconds of each look, and of gathering since the one before it, in the scenario
    total       CPU seconds of all processing in it, looks included
    errors      the errors of forecasts by level of the plans
    """

    looks: tuple[float, ...]
    total: float
    errors: tuple[LevelError, ...]
    times: ManyTimes

    @property
    def share(self) -> float:
        """The share of looks in the processor time."""
        return sum(self.looks) / self.total

    @property
    def broken(self) -> tuple[str, ...]:
        """The names of the marks that are missed."""
        growing = growth(self.errors)
        missed = ["share"] if self.share > SHARE_MARK else []
        missed += ["growth"] if growing is None or growing > GROWTH_MARK else []
        return (*missed, *(name for name, mark in MARKS.items() if getattr(self.times, name) > mark))

    @property
    def is_good(self) -> bool:
        """True if all marks are kept."""
        return not self.broken

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "looks": list(self.looks),
            "processing": self.total,
            "share": self.share,
            "errors": [asdict(one) for one in self.errors],
            "error": overall(self.errors),
            "growth": growth(self.errors),
            "many": asdict(self.times),
            "broken": list(self.broken),
        }


def measure_budgets(
    queries: int = MANY,
    scenario: Scenario | None = None,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> BudgetRun:
    """Run a scenario within its first budget, by default figure-24-6, and change settings of many queries."""
    step = counted(progress, 2)
    made = load_scenario(SCENARIO) if scenario is None else scenario
    name = next(iter(made.budgets))
    spec = made.spec.model_copy(update={"measures": made.spec.measures.model_copy(update={"bytes": False})})
    once = replace(made, spec=spec, budgets={name: made.budgets[name]}, claims=())
    with timed_looks() as looks:
        (run,) = simulate(once).runs
    step()
    assert spec.workload is not None
    times = measure_times(random_queries(spec.workload), queries)
    step()
    return BudgetRun(tuple(looks), run.totals.cpu, run.errors, times)


@contextmanager
def timed_looks() -> Iterator[list[float]]:
    """Time the looks of resource managers while the block runs, each with what it took to gather for it."""
    took: list[float] = []
    gathered = [0.0]

    def timed(method: Callable[..., Any], *, is_look: bool) -> Callable[..., Any]:
        @wraps(method)
        def call(*arguments: Any) -> Any:
            began = process_time()
            try:
                return method(*arguments)
            finally:
                gathered[0] += process_time() - began
                if is_look:
                    took.append(gathered[0])
                    gathered[0] = 0.0

        return call

    look, take = ResourceManager.look, ResourceManager.take
    with _methods(look=timed(look, is_look=True), take=timed(take, is_look=False)):
        yield took
        if gathered[0]:
            took.append(gathered[0])


@contextmanager
def _methods(**methods: Any) -> Iterator[None]:
    """Give the resource manager other methods while the block runs."""
    before = {name: getattr(ResourceManager, name) for name in methods}
    for name, method in methods.items():
        setattr(ResourceManager, name, method)
    try:
        yield
    finally:
        for name, method in before.items():
            setattr(ResourceManager, name, method)


def measure_times(terms: RandomQueries, queries: int) -> ManyTimes:
    """The times among some random queries."""
    plans = {f"query {i}": plan for i, plan in enumerate(islice(terms.plans(), queries))}
    engine = Engine()
    for name, plan in plans.items():
        engine.add(plan, lambda batch: None, name)
    clock = count(1)
    _push(engine, engine.streams, next(clock))
    windows = sum(len(_windows(plan)) for plan in plans.values())
    gc.collect()
    ones = []
    for name in list(plans)[:: max(1, queries // TURNS)]:
        lever = _windows(engine.query(name).plan)[0]
        began = process_time()
        engine.adjust({lever: _middle(lever)})
        _push(engine, [_stream(lever)], next(clock))
        ones.append(process_time() - began)
    settings: dict[Node | Stream, float] = {
        lever: _middle(lever, 0.25) for query in engine.queries.values() for lever in _windows(query.plan)
    }
    began = process_time()
    engine.adjust(settings)
    _push(engine, engine.streams, next(clock))
    all_at_once = process_time() - began
    del engine
    first, later = _allocations(terms, plans)
    return ManyTimes(queries, windows, max(ones), all_at_once, first, later)


def _allocations(terms: RandomQueries, plans: Mapping[str, Plan]) -> tuple[float, float]:
    """The time of the first allocation, and of one with other statistics of some streams."""
    rates = {
        name: one.arrivals.rate
        for name, one in terms.streams().items()
        if isinstance(one.arrivals, Poisson) and isinstance(one.arrivals.rate, float)
    }
    sources = {node for plan in plans.values() for node in plan.nodes if isinstance(node.operator, Source)}
    by_name = {source.operator.stream: source for source in sources if isinstance(source.operator, Source)}
    chance = random.Random(1)
    keys = {
        name: [(chance.randrange(terms.keys[name]),) * len(source.schema) for _ in range(SAMPLED)]
        for name, source in sorted(by_name.items())
    }

    def statistics(factor: Mapping[str, float]) -> Statistics:
        return Statistics(
            {
                source: StreamStatistics(
                    1_000 / (rates[name] * factor.get(name, 1.0)),
                    1.0,
                    sample=Sample(source.schema, keys[name]),
                )
                for name, source in by_name.items()
            }
        )

    limits = Limits(memory=BYTES * len(plans))
    gc.collect()
    began = process_time()
    allocator: Allocator[str] = Allocator(statistics({}))
    allocator.set_plans(plans)
    allocator.allocate(limits)
    first = process_time() - began
    laters = []
    for turn in range(1, TURNS + 1):
        changed = sorted(by_name)[turn::5][:CHANGED]
        new = statistics(dict.fromkeys(changed, 1 + turn / 10))
        began = process_time()
        allocator.set_statistics(new, [by_name[name] for name in changed])
        allocator.allocate(limits)
        laters.append(process_time() - began)
    return first, max(laters)


def _windows(plan: Plan) -> list[Node]:
    return [node for node in plan.nodes if is_lever(node) and isinstance(logical(node), TimeWindow)]


def _middle(lever: Node, fraction: float = 0.5) -> Any:
    """The setting at a fraction of a window's bounds."""
    operator = logical(lever)
    assert isinstance(operator, TimeWindow)
    return operator.at_fraction(fraction)


def _stream(lever: Node) -> str:
    (source,) = Plan(lever).sources
    return source.stream


def _push(engine: Engine, streams: Iterable[str], time: int) -> None:
    """Push an element on each of some streams."""
    for name in streams:
        engine.push(name, [(time, time + 1, (time,) * len(COLUMNS))])


def show_budgets(run: BudgetRun, console: Console) -> None:
    """Print the measurements as tables, and the verdict."""
    table = Table("level", "joins", "elements expected", "held", "error")
    for one in run.errors:
        cells = (f"{one.operators:,}", f"{one.expected:,.0f}", f"{one.held:,.0f}", f"{one.error:+.1%}")
        table.add_row(f"{one.level}", *cells)
    console.print(table)
    table = Table("", "CPU seconds", "mark")
    for name, label in LABELS.items():
        table.add_row(label, f"{getattr(run.times, name):.3f}", f"{MARKS[name]:.3f}")
    console.print(table)
    growing = growth(run.errors)
    growing_text = "not known" if growing is None else f"{growing:+.1%}"
    console.print(
        Text(
            f"{len(run.looks)} looks took {sum(run.looks):.2f} s of {run.total:.2f} s: {run.share:.1%} (the "
            f"mark is {SHARE_MARK:.0%}).\n"
            f"The error of forecasts grows by {growing_text} a level (the mark is {GROWTH_MARK:.0%}).\n"
            f"{run.times.queries:,} queries had {run.times.windows:,} windows."
        )
    )
    console.print(Text(f"Missed: {', '.join(run.broken)}." if run.broken else "All marks are kept."))


LABELS = {
    "adjust_one": "adjust a window, next push",
    "adjust_all": "adjust all windows, next push of all streams",
    "first": "first allocation",
    "later": f"allocation with other statistics of {CHANGED} streams",
}
"""The times of `MARKS`, as tables name them."""
